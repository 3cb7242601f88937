// A release in slices, as an application meets it: which slices a device needs, and that nothing else is opened.
#include "api/c_scene.hpp"
#include "files.hpp"
#include "trust/trust_scene.hpp"

#include <clbake/builder/release/split.hpp>
#include <clbake/cache/slices.hpp>
#include <clbake/delivery/slice_index.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>

using namespace clbake;
using namespace clbake::test;
using clbake::tests::read_file;
using clbake::tests::required;
using clbake::tests::write_file;

namespace {

// A directory with the slices of a bundle.
struct Store : tests::TemporaryDirectory {
  explicit Store(const cache::Contents& contents, std::uint64_t release = 5) { put(contents, release); }

  void put(const cache::Contents& contents, std::uint64_t release) const {
    builder::release::SplitOptions options;
    options.release = release;
    required(builder::release::split(contents, path, options));
  }
  std::string index() const { return file(builder::release::kIndexName); }
  void sign(const Key& key, std::uint64_t release) const {
    const std::string text = read_file(index());
    const cache::Bytes bytes = signed_by({key}, release, cache::Bytes(text.begin(), text.end()));
    write_file(index(), std::string(bytes.begin(), bytes.end()));
  }
};

SliceIndex opened_index(const Store& store, const IndexOptions& options = {}) {
  return required(SliceIndex::open(store.index(), options));
}

// "single nn: native 120"; sizes differ from slice to slice.
std::string text_of(const std::vector<NeededSlice>& slices) {
  std::string text;
  for (const NeededSlice& slice : slices) text += std::string(text.empty() ? "" : " ") + name(slice.origin);
  return text;
}

std::vector<Bundle> fetched(const Store& store, const SliceIndex& index, const NeededSlices& needed) {
  std::vector<Bundle> bundles;
  for (const NeededSlice& slice : needed.slices) {
    bundles.push_back(required(index.open_slice(slice.name, store.file(slice.name))));
  }
  return bundles;
}

std::vector<Problem> all_problems() {
  std::vector<Problem> problems;
  for (const Case which : kWithComplex) problems.push_back(problem_of(which));
  return problems;
}

Target gpu(const std::string& device, const std::string& driver, const std::string& architecture = "sm_90") {
  return {"NVIDIA CUDA", "OpenCL 3.0 CUDA", "NVIDIA Corporation", device, "OpenCL 3.0 CUDA", driver, architecture, 64};
}

cache::Entry entry(std::uint32_t target, std::uint32_t variant, cache::Form form, bool newer_driver = false) {
  cache::Entry e;
  e.target = target;
  e.variant = variant;
  e.form = form;
  e.newer_driver = newer_driver;
  e.program = cache::Bytes(40 + 7 * target, static_cast<std::uint8_t>('a' + variant));
  return e;
}

// Single precision on two drivers of one GPU, natively and as PTX of an offline compiler; a program of the second
// driver alone; and the defaults of every GPU.
cache::Contents nvidia() {
  cache::Contents all;
  all.targets = {gpu("NVIDIA H200", "1.0"), gpu("NVIDIA H200", "2.0"), gpu("", "0.5", "sm_80"),
                 cache::any_device(false)};
  all.sources = {{"a.cl", "kernel void gemm() {}"}, {"mine.cl", "kernel void mine() {}"}};
  cache::Variant product, mine;
  product.name = "product";
  product.launches.resize(1);
  mine.name = "mine";
  mine.precision = no_precision;
  mine.contract = 1;
  mine.source = 1;
  mine.family = "program";
  mine.content.fill(0xAB);
  all.variants = {product, mine};
  for (std::uint32_t t = 0; t < 4; ++t) {
    cache::Rule rule;
    cache::Profile profile;
    profile.target = t;
    profile.defaults = {rule};
    all.profiles.push_back(profile);
  }
  all.entries = {entry(0, 0, cache::Form::native, true), entry(1, 0, cache::Form::native, true),
                 entry(1, 1, cache::Form::native), entry(2, 0, cache::Form::portable)};
  return all;
}

// The index of the slice's target in the contents above, "any" for one without.
std::string target_of(const Store& store, const std::string& slice) {
  const Bundle bundle = required(Bundle::open(store.file(slice)));
  if (bundle.target_count() == 0) return "any";
  const std::vector<Target> targets = nvidia().targets;
  return std::to_string(std::find(targets.begin(), targets.end(), *bundle.target(0)) - targets.begin());
}

SliceQuery query(const Target& device, std::vector<std::string> programs = {}) {
  return {device, false, false, {make_problem({}, 8, 8, 8)}, std::move(programs)};
}

}  // namespace

BOOST_AUTO_TEST_CASE(ADeviceIsServedByItsSlicesAsByTheWholeBundle) {
  {
    const Scene scene;
    const Store store(bundle_contents());
    const SliceIndex index = opened_index(store, {5, nullptr});
    BOOST_TEST(index.release() == 5U);
    const NeededSlices needed = required(index.needed(scene.device, all_problems()));
    BOOST_TEST(text_of(needed.slices) == "native source native");  // single, double, the kernels of complex products
    BOOST_TEST(needed.unserved.empty());
    std::uint64_t bytes = 0;
    for (const NeededSlice& slice : needed.slices) bytes += std::filesystem::file_size(store.file(slice.name));
    BOOST_TEST(needed.bytes() == bytes);
    std::vector<Bundle> slices = fetched(store, index, needed);
    std::reverse(slices.begin(), slices.end());  // in any order
    const Library by_slices = required(Library::create(scene.context, scene.device, slices));
    const Library whole = required(Library::create(scene.context, scene.device, {opened(bundle_bytes())}));
    for (const Problem& problem : all_problems()) {
      const Explanation a = required(by_slices.explain(problem)), b = required(whole.explain(problem));
      BOOST_TEST(a.variant == b.variant);
      BOOST_TEST((a.origin == b.origin));
      BOOST_TEST((a.miss == b.miss));
    }
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(OnlyWhatIsAskedForIsNeeded) {
  const Scene scene;
  const Store store(bundle_contents());
  const SliceIndex index = opened_index(store);
  BOOST_TEST(required(index.needed(scene.device, {})).slices.empty());
  BOOST_TEST(required(index.needed(scene.device, {problem_of(Case::native)})).slices.size() == 1U);
  Problem impossible = problem_of(Case::native);
  impossible.lda = 1;
  BOOST_TEST((index.needed(scene.device, {impossible}).status().argument() == Argument::lda));
  BOOST_TEST((index.needed(nullptr, {}).status().code() == Code::invalid_argument));
  const NeededSlices none = required(index.needed(scene.device, {problem_of(Case::native)}, {"softmax", "softmax"}));
  BOOST_TEST(none.slices.size() == 1U);
  BOOST_TEST(none.unserved == std::vector<std::string>{"softmax"}, boost::test_tools::per_element());
  Problem half = problem_of(Case::native);
  half.precision = Precision::half_precision;
  BOOST_TEST(required(index.needed(scene.device, {half})).unserved.front() == "half nn");
}

BOOST_AUTO_TEST_CASE(TheBestSliceIsNeededAndTheNextBestIsNamed) {
  const Store store(nvidia());
  const SliceIndex index = opened_index(store);
  const auto needed = [&](const SliceQuery& asked) { return required(index.needed(asked)); };
  const auto check = [&](const NeededSlices& got, const char* origins, const char* targets, const char* instead) {
    BOOST_TEST(text_of(got.slices) == origins);
    std::string of;
    for (const NeededSlice& slice : got.slices) of += target_of(store, slice.name) + " ";
    BOOST_TEST(of == targets);
    BOOST_TEST(text_of(got.instead) == instead);
  };
  check(needed(query(gpu("NVIDIA H200", "2.0"))), "native", "1 ", "portable");
  check(needed(query(gpu("NVIDIA H200", "2.0"), {"mine"})), "native native", "1 1 ", "portable source");
  check(needed(query(gpu("NVIDIA H100", "1.0"))), "native", "0 ", "portable");  // one driver, one architecture
  check(needed(query(gpu("NVIDIA H200", "3.0"), {"mine"})), "portable source", "2 any ", "source");
  SliceQuery newer = query(gpu("NVIDIA H200", "3.0"));
  newer.newer_driver = true;
  check(needed(newer), "native", "1 ", "portable");  // of the newest that is older
  check(needed(query(gpu("NVIDIA A100", "3.0", "sm_70"))), "source", "3 ", "");
  SliceQuery cpu = query({});
  cpu.is_cpu = true;
  BOOST_TEST(needed(cpu).unserved.front() == "single nn");  // there are no defaults for CPUs
}

// A program, or a kind, is not native because its neighbours in the slice are.
BOOST_AUTO_TEST_CASE(EachProgramAndKindHasItsOwnForms) {
  cache::Contents contents = nvidia();
  cache::Variant other = contents.variants[1], transposed = contents.variants[0];
  other.name = "other";
  other.content.fill(0xCD);
  transposed.name = "transposed";
  transposed.trans_b = true;
  contents.variants.push_back(other);
  contents.variants.push_back(transposed);
  cache::Rule rule;
  rule.trans_b = true;
  rule.variant = 3;
  for (cache::Profile& profile : contents.profiles) profile.defaults.push_back(rule);
  // On driver 2.0 these are PTX; "other" is machine code of driver 1.0, too.
  contents.entries.push_back(entry(1, 2, cache::Form::portable));
  contents.entries.push_back(entry(1, 3, cache::Form::portable));
  contents.entries.push_back(entry(0, 2, cache::Form::native, true));
  const Store store(contents);
  const SliceIndex index = opened_index(store);
  const auto needed = [&](const std::string& driver, bool newer_driver, const std::vector<std::string>& programs,
                          bool with_problem) {
    SliceQuery asked = query(gpu("NVIDIA H200", driver), programs);
    asked.newer_driver = newer_driver;
    asked.problems.clear();
    if (with_problem) asked.problems = {make_problem({Precision::single_precision, false, true}, 8, 8, 8)};
    const NeededSlices got = required(index.needed(asked));
    std::string targets;
    for (const NeededSlice& slice : got.slices) targets += " " + target_of(store, slice.name);
    return text_of(got.slices) + targets + ", instead " + text_of(got.instead);
  };
  BOOST_TEST(needed("2.0", false, {"mine"}, false) == "native 1, instead source");
  BOOST_TEST(needed("2.0", false, {"other"}, false) == "portable 1, instead source");
  BOOST_TEST(needed("2.0", false, {"mine", "other"}, false) == "portable 1, instead source");  // the last of both
  BOOST_TEST(needed("2.0", false, {}, true) == "portable 1, instead source");
  BOOST_TEST(needed("2.0", true, {"other"}, false) == "native 0, instead portable");
  BOOST_TEST(needed("2.0", true, {"mine", "other"}, false) == "native native 1 0, instead source");
  BOOST_TEST(needed("1.0", false, {"mine"}, false) == "source any, instead ");  // "other" alone is there
}

// Machine code for a CPU that has less serves; that for one that has more does not.
BOOST_AUTO_TEST_CASE(ACpuNeedsTheSliceThatAsksForNoFeatureOfOthers) {
  cache::Contents contents = nvidia();
  for (Target* target : {&contents.targets[0], &contents.targets[1]}) {
    *target = contents.targets[0];
    target->platform_name = "a platform of CPUs";
  }
  contents.targets[0].cpu_features = "avx2";
  contents.targets[1].cpu_features = "avx2 avx512f";
  contents.targets[3] = cache::any_device(true);
  const Store store(contents);
  const SliceIndex index = opened_index(store);
  SliceQuery asked = query(contents.targets[0]);
  asked.is_cpu = true;
  const auto serves = [&](const char* features) {
    asked.device.cpu_features = features;
    const NeededSlices needed = required(index.needed(asked));
    const Bundle slice = required(Bundle::open(store.file(needed.slices.at(0).name)));
    return text_of(needed.slices) + " " + slice.target(0)->cpu_features;
  };
  BOOST_TEST(serves("avx2") == "native avx2");
  BOOST_TEST(serves("avx2 fma") == "native avx2");
  BOOST_TEST(serves("avx2 avx512f fma") == "native avx2 avx512f");
  BOOST_TEST(serves("sse4.1") == "source ");
}

BOOST_AUTO_TEST_CASE(ProgramsAreFoundByNameAndByContent) {
  const Store store(nvidia());
  const SliceIndex index = opened_index(store);
  std::string content = "content-";
  for (int i = 0; i < 32; ++i) content += "ab";
  for (const std::string& name : {std::string("mine"), content}) {
    SliceQuery asked = query(gpu("NVIDIA H200", "2.0"), {name});
    asked.problems.clear();
    BOOST_TEST(text_of(required(index.needed(asked)).slices) == "native", name);
  }
  // Another name for it, on the other driver alone.
  cache::Contents two_names = nvidia();
  two_names.variants.push_back(two_names.variants[1]);
  two_names.variants[2].name = "a name of its own";
  two_names.entries.push_back(entry(0, 2, cache::Form::native));
  const Store both(two_names);
  for (const char* driver : {"1.0", "2.0"}) {
    SliceQuery asked = query(gpu("NVIDIA H200", driver), {content});
    asked.problems.clear();
    BOOST_TEST(text_of(required(opened_index(both).needed(asked)).slices) == "native", driver);
  }
  content.back() = 'x';
  content[8] = '0';
  BOOST_TEST(required(index.needed(query({}, {content}))).unserved.back() == content);
}

BOOST_AUTO_TEST_CASE(WhatIsNotTheSliceIsRefused) {
  const Store store(nvidia()), other(nvidia());
  cache::Contents changed = nvidia();
  changed.entries[1].program.back() ^= 1U;
  other.put(changed, 6);
  const SliceIndex index = opened_index(store), later = opened_index(other);
  const std::string name = required(index.needed(query(gpu("NVIDIA H200", "2.0")))).slices[0].name;
  const std::string next = required(later.needed(query(gpu("NVIDIA H200", "2.0")))).slices[0].name;
  BOOST_TEST(name != next);
  const std::string unchanged = required(index.needed(query(gpu("NVIDIA H200", "1.0")))).slices[0].name;
  BOOST_TEST(required(later.needed(query(gpu("NVIDIA H200", "1.0")))).slices[0].name == unchanged);
  const std::string whole = read_file(store.file(name));
  const auto refusal = [&](const std::string& bytes) {
    const std::string path = store.file("fetched");
    write_file(path, bytes);
    const Status by_path = index.open_slice(name, path).status();
    BOOST_TEST(has(by_path.message(), path));
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    BOOST_TEST((index.copy_slice(name, {data, bytes.size()}).status().code() == by_path.code()));
    return by_path.code();
  };
  BOOST_TEST((refusal(read_file(store.file(unchanged))) == Code::checksum));  // swapped
  BOOST_TEST((refusal(read_file(other.file(next))) == Code::checksum));       // of another release
  for (std::size_t size = 0; size < whole.size(); size += 11) {
    BOOST_TEST((refusal(whole.substr(0, size)) == Code::truncated), size);
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    BOOST_TEST((refusal(damaged) != Code::ok), at);
  }
  BOOST_TEST((refusal(whole + "x") == Code::malformed));
  BOOST_TEST((index.open_slice(next, other.file(next)).status().code() == Code::invalid_argument));
  BOOST_TEST((index.open_slice(name, store.file("none")).status().code() == Code::not_found));
  // A slice that is half there is completed, and then opened.
  write_file(store.file("half"), whole.substr(0, 100));
  BOOST_TEST((index.open_slice(name, store.file("half")).status().code() == Code::truncated));
  write_file(store.file("half"), read_file(store.file("half")) + whole.substr(100));
  BOOST_TEST(index.open_slice(name, store.file("half")).status().message() == "");
}

BOOST_AUTO_TEST_CASE(AnOlderIndexOrNoIndexIsRefused) {
  const Store store(nvidia(), 4);
  const Result<SliceIndex> older = SliceIndex::open(store.index(), {5, nullptr});
  BOOST_TEST((older.status().code() == Code::not_trusted));
  BOOST_TEST(has(older.status().message(), "release 4, older than 5"), older.status().message());
  BOOST_TEST(SliceIndex::open(store.index(), {4, nullptr}).ok());
  const cache::Bytes& bundle = bundle_bytes();
  BOOST_TEST((SliceIndex::copy_of({bundle.data(), bundle.size()}).status().code() == Code::not_a_bundle));
  BOOST_TEST((SliceIndex::open(store.file("none")).status().code() == Code::not_found));
}

// A new release is written over the index that is open; then the store goes.
BOOST_AUTO_TEST_CASE(AnOpenIndexIsItsOwn) {
  const Store store(nvidia(), 5);
  const SliceIndex index = opened_index(store);
  const SliceQuery asked = query(gpu("NVIDIA H200", "2.0"), {"mine"});
  const std::string before = required(index.needed(asked)).slices.at(0).name;
  write_file(store.index(), "");
  BOOST_TEST(required(index.needed(asked)).slices.at(0).name == before);
  BOOST_TEST((SliceIndex::open(store.index()).status().code() == Code::truncated));
  for (const auto& file : std::filesystem::directory_iterator(store.path)) std::filesystem::remove(file);
  BOOST_TEST(index.release() == 5U);
  BOOST_TEST((index.open_slice(before, store.file(before)).status().code() == Code::not_found));
}

BOOST_AUTO_TEST_CASE(TheIndexVouchesForItsSlices) {
  {
    const Scene scene;
    const Key key(1), other(2);
    const Store store(bundle_contents(), 5);
    const std::vector<Problem> problems = {problem_of(Case::native)};
    const Options options = trusting({key}, 5);
    BOOST_TEST((SliceIndex::open(store.index(), {0, options.trust}).status().code() == Code::not_trusted));
    store.sign(other, 5);
    BOOST_TEST((SliceIndex::open(store.index(), {0, options.trust}).status().code() == Code::not_trusted));
    store.sign(key, 5);
    BOOST_TEST((SliceIndex::open(store.index(), {0, trusting({key}, 6).trust}).status().code() == Code::not_trusted));
    const SliceIndex index = opened_index(store, {5, options.trust});
    const NeededSlices needed = required(index.needed(scene.device, problems));
    // Changing the file later changes nothing: a library with the trust reads a private copy.
    const std::string file = store.file(needed.slices[0].name);
    const std::vector<Bundle> slices = fetched(store, index, needed);
    write_file(file, std::string(read_file(file).size(), 'x'));
    const Library library = required(Library::create(scene.context, scene.device, slices, options));
    BOOST_TEST((required(library.explain(problems[0])).origin == Origin::native));
    BOOST_TEST(required(library.prepare(problems[0])).explanation().variant == "native");
    store.put(bundle_contents(), 5);  // mends the slice; not signed any more
    // An index that nobody had to trust vouches for nothing, nor does that of another trust.
    for (const std::shared_ptr<const Trust>& trust : {std::shared_ptr<const Trust>(), trusting({key}).trust}) {
      if (trust) store.sign(key, 5);
      const SliceIndex of_others = opened_index(store, {0, trust});
      const std::vector<Bundle> untrusted = fetched(store, of_others, needed);
      const Library refusing = required(Library::create(scene.context, scene.device, untrusted, options));
      BOOST_TEST((refusing.explain(problems[0]).status().code() == Code::not_trusted));
    }
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(TheSameInC) {
  {
    CScene scene;
    clbake_error& error = scene.error;
    const Store store(bundle_contents());
    clbake_slice_index* index = nullptr;
    BOOST_TEST(clbake_slice_index_open(store.index().c_str(), 6, nullptr, &index, &error) == CLBAKE_NOT_TRUSTED);
    BOOST_TEST(index == nullptr);
    BOOST_REQUIRE(clbake_slice_index_open(store.index().c_str(), 5, nullptr, &index, &error) == CLBAKE_OK);
    BOOST_TEST(clbake_slice_index_number(index) == 5U);
    const clbake_problem problem = c_problem_of(Case::native);
    const char* const programs[] = {"softmax"};
    clbake_slice_list* list = nullptr;
    BOOST_REQUIRE(clbake_slice_index_needed(index, scene.device, 0, &problem, 1, programs, 1, &list, &error) ==
                  CLBAKE_OK);
    BOOST_TEST(clbake_slice_list_count(list) == 1U);
    BOOST_TEST(clbake_slice_list_unserved(list, 0) == std::string("softmax"));
    BOOST_TEST(clbake_slice_list_unserved(list, 1) == nullptr);
    clbake_slice slice;
    clbake_slice_init(&slice);
    BOOST_TEST(clbake_slice_list_get(list, 1, &slice, &error) == CLBAKE_INVALID_ARGUMENT);
    BOOST_TEST(clbake_slice_list_get(list, 0, &slice, &error) == CLBAKE_OK);
    BOOST_TEST(slice.origin == CLBAKE_NATIVE);
    BOOST_TEST(slice.instead == 0);
    const std::string file = store.file(slice.name), bytes = read_file(file);
    BOOST_TEST(slice.bytes == bytes.size());
    clbake_bundle *from_file = nullptr, *from_memory = nullptr, *other = nullptr;
    BOOST_TEST(clbake_slice_index_open_slice(index, slice.name, file.c_str(), &from_file, &error) == CLBAKE_OK);
    BOOST_TEST(clbake_slice_index_copy_slice(index, slice.name, bytes.data(), bytes.size(), &from_memory, &error) ==
               CLBAKE_OK);
    BOOST_TEST(clbake_slice_index_copy_slice(index, slice.name, bytes.data(), 99, &other, &error) == CLBAKE_TRUNCATED);
    BOOST_TEST(clbake_slice_index_open_slice(index, "none", file.c_str(), &other, &error) == CLBAKE_INVALID_ARGUMENT);
    BOOST_TEST(other == nullptr);
    clbake_library* library = nullptr;
    BOOST_TEST(clbake_library_create(scene.context, scene.device, &from_file, 1, nullptr, &library, &error) ==
               CLBAKE_OK);
    BOOST_TEST(clbake_library_contains(library, &problem) == 1);
    clbake_library_release(library);
    clbake_bundle_release(from_file);
    clbake_bundle_release(from_memory);
    clbake_slice_list_release(list);
    const std::string text = read_file(store.index());
    clbake_slice_index* copy = nullptr;
    BOOST_TEST(clbake_slice_index_copy_memory(text.data(), text.size(), 0, nullptr, &copy, &error) == CLBAKE_OK);
    BOOST_TEST(clbake_slice_index_copy_memory(nullptr, 1, 0, nullptr, &copy, &error) == CLBAKE_INVALID_ARGUMENT);
    BOOST_TEST(clbake_slice_index_needed(nullptr, scene.device, 0, nullptr, 0, nullptr, 0, &list, &error) ==
               CLBAKE_INVALID_ARGUMENT);
    clbake_slice_index_release(copy);
    clbake_slice_index_release(index);
    clbake_slice_index_release(nullptr);
    BOOST_TEST(clbake_slice_list_count(nullptr) == 0U);
  }
  check_nothing_is_left();
}
