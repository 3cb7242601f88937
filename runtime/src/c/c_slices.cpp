// The C API of releases in slices.
#include <clbake/delivery/slice_index.hpp>

#include "c/c_api.hpp"

using namespace clbake::c;

struct clbake_slice_index {
  clbake::SliceIndex index;
};

struct clbake_slice_list {
  clbake::NeededSlices needed;
};

namespace {

clbake::IndexOptions options_of(std::uint64_t minimum_release, const clbake_trust* trust) {
  return {minimum_release, trust ? trust->trust : nullptr};
}

const clbake::SliceIndex& index_of(const clbake_slice_index* index) { return given(index, "index")->index; }

}  // namespace

clbake_code clbake_slice_index_open(const char* path, std::uint64_t minimum_release, const clbake_trust* trust,
                                    clbake_slice_index** index, clbake_error* error) {
  return make(error, index, "index",
              [&] { return clbake::SliceIndex::open(given(path, "path"), options_of(minimum_release, trust)); });
}

clbake_code clbake_slice_index_copy_memory(const void* bytes, std::size_t size, std::uint64_t minimum_release,
                                           const clbake_trust* trust, clbake_slice_index** index, clbake_error* error) {
  return make(error, index, "index",
              [&] { return clbake::SliceIndex::copy_of(view_of(bytes, size), options_of(minimum_release, trust)); });
}

void clbake_slice_index_release(clbake_slice_index* index) { delete index; }

std::uint64_t clbake_slice_index_number(const clbake_slice_index* index) { return index ? index->index.release() : 0; }

clbake_code clbake_slice_index_needed(const clbake_slice_index* index, cl_device_id device, int newer_driver,
                                      const clbake_problem* problems, std::size_t problem_count,
                                      const char* const* programs, std::size_t program_count, clbake_slice_list** list,
                                      clbake_error* error) {
  return run(error, [&] {
    const clbake::SliceIndex& from = index_of(index);
    clbake_slice_list** const to = given(list, "list", clbake::Argument::output);
    const std::vector<clbake::Problem> all = problems_of(problems, problem_count, "problems");
    if (program_count > 0) given(programs, "programs");
    std::vector<std::string> names;
    for (std::size_t i = 0; i < program_count; ++i) names.emplace_back(given(programs[i], "a program of the list"));
    return hand_over(from.needed(device, all, names, newer_driver != 0), to);
  });
}

void clbake_slice_list_release(clbake_slice_list* list) { delete list; }

std::size_t clbake_slice_list_count(const clbake_slice_list* list) {
  return list ? list->needed.slices.size() + list->needed.instead.size() : 0;
}

clbake_code clbake_slice_list_get(const clbake_slice_list* list, std::size_t i, clbake_slice* slice,
                                  clbake_error* error) {
  return run(error, [&]() -> clbake::Status {
    const clbake::NeededSlices& needed = given(list, "list")->needed;
    check_size(given(slice, "slice", clbake::Argument::output)->struct_size, sizeof *slice, "slice", true);
    const std::size_t count = needed.slices.size();
    if (i >= count + needed.instead.size()) return {clbake::Argument::other, "the list has no such slice"};
    const clbake::NeededSlice& from = i < count ? needed.slices[i] : needed.instead[i - count];
    copy_text(slice->name, from.name);
    slice->bytes = from.bytes;
    slice->origin = static_cast<clbake_origin>(from.origin);
    slice->instead = i < count ? 0 : 1;
    return {};
  });
}

const char* clbake_slice_list_unserved(const clbake_slice_list* list, std::size_t i) {
  return list && i < list->needed.unserved.size() ? list->needed.unserved[i].c_str() : nullptr;
}

clbake_code clbake_slice_index_open_slice(const clbake_slice_index* index, const char* name, const char* path,
                                          clbake_bundle** bundle, clbake_error* error) {
  return run(error, [&] {
    const clbake::SliceIndex& from = index_of(index);
    clbake_bundle** const to = given(bundle, "bundle", clbake::Argument::output);
    return hand_over(from.open_slice(given(name, "name"), given(path, "path")), to);
  });
}

clbake_code clbake_slice_index_copy_slice(const clbake_slice_index* index, const char* name, const void* bytes,
                                          std::size_t size, clbake_bundle** bundle, clbake_error* error) {
  return run(error, [&] {
    const clbake::SliceIndex& from = index_of(index);
    clbake_bundle** const to = given(bundle, "bundle", clbake::Argument::output);
    return hand_over(from.copy_slice(given(name, "name"), view_of(bytes, size)), to);
  });
}
