#include <clbake/cache/reader.hpp>
#include <clbake/exceptions_to_status.hpp>

namespace clbake::cache {
namespace {

// Appends what `read` gives for 0 .. count-1.
template <typename T, typename Read>
Status collect(std::vector<T>& into, std::uint32_t count, Read read) {
  into.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    Result<T> item = read(i);
    if (!item) return item.status();
    into.push_back(std::move(*item));
  }
  return {};
}

Result<Entry> read_whole_entry(const Bundle& bundle, std::uint32_t i) {
  Result<EntryInfo> info = bundle.entry(i);
  if (!info) return info.status();
  Result<Bytes> program = bundle.program(*info);
  if (!program) return program.status();
  return Entry{info->target,           info->variant,       info->form,
               std::move(info->proof), std::move(*program), info->newer_driver};
}

}  // namespace

Result<Contents> Bundle::decode() const {
  return exceptions_to_status([&]() -> Result<Contents> {
    Contents all;
    Status status = collect(all.targets, target_count(), [&](std::uint32_t i) { return target(i); });
    if (status) status = collect(all.sources, source_count(), [&](std::uint32_t i) { return source(i); });
    if (status) status = collect(all.variants, variant_count(), [&](std::uint32_t i) { return variant(i); });
    if (status) status = collect(all.profiles, profile_count(), [&](std::uint32_t i) { return profile(i); });
    if (status) {
      status = collect(all.entries, entry_count(), [&](std::uint32_t i) { return read_whole_entry(*this, i); });
    }
    if (!status) return status;
    return all;
  });
}

}  // namespace clbake::cache
