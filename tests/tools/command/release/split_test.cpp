// `clbake split`, `clbake merge` of slices, and the figures of a large release. Needs no OpenCL device.
#include "command/release/release_files.hpp"

#include <clbake/builder/merge_bundles.hpp>
#include <clbake/builder/release/split.hpp>
#include <clbake/cache/pack.hpp>
#include <clbake/delivery/slice_index.hpp>
#include <clbake/os/lock.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>

namespace clbake::tool::test {
namespace {

namespace fs = std::filesystem;

// A release and a place for its slices.
struct Delivery {
  ReleaseFiles files;
  const Directory& directory = files.directory;
  std::string store = directory.path("store"), index = store + "/index.clbake-index";

  // The bundle as `clbake merge` writes it.
  std::string whole = merged(files.bundle);

  nlohmann::json split(const std::string& bundle, const std::string& release = "1") const {
    return json_of(clbake({"split", bundle, "-o", store, "--release", release, "--json"}, no_platform()));
  }
  std::string merged(const std::string& from) const {
    const std::string output = directory.path("merged.clbake");
    BOOST_TEST(clbake({"merge", from, "-o", output}, no_platform()).status == 0);
    return read_file(output);
  }
  std::set<std::string> slices() const {
    std::set<std::string> names;
    for (const fs::directory_entry& file : fs::directory_iterator(store)) {
      if (file.path().extension() == ".clbake") names.insert(file.path().filename().string());
    }
    return names;
  }
};

// A program of the application's, on the first two targets.
void add_program(cache::Contents& contents) {
  cache::Variant variant;
  variant.name = "softmax";
  variant.family = "program";
  variant.precision = no_precision;
  variant.contract = cache::kProgramContract;
  contents.sources.push_back({"softmax.cl", "kernel void softmax() {}"});
  variant.source = static_cast<std::uint32_t>(contents.sources.size() - 1);
  contents.sources.push_back({"trial.json", "{}"});
  variant.trial = static_cast<std::uint32_t>(contents.sources.size());
  contents.variants.push_back(variant);
  for (std::uint32_t target = 0; target < 2; ++target) {
    cache::Entry entry = contents.entries.front();
    entry.form = cache::Form::native;
    entry.target = target;
    entry.variant = static_cast<std::uint32_t>(contents.variants.size() - 1);
    contents.entries.push_back(entry);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(SlicesBecomeTheSameBundleAgain) {
  Delivery delivery;
  cache::Contents contents = delivery.files.contents;
  add_program(contents);
  const std::string bundle = delivery.directory.write("b.clbake", encoded(contents));
  const std::string whole = delivery.merged(bundle);
  const nlohmann::json report = delivery.split(bundle, "3");
  BOOST_TEST(report["release"] == 3);
  BOOST_TEST(report["public_key"].is_null());
  BOOST_TEST(report["slices"] == delivery.slices().size());
  BOOST_TEST(report["slices"] == 3 + 2 + 1);  // single precision, programs, and the source of all programs
  BOOST_TEST(report["written"] == report["slices"]);
  BOOST_TEST((delivery.merged(delivery.index) == whole));
  BOOST_TEST((delivery.merged(delivery.store) == whole));
  // Split from what the merging wrote, too, with the defaults for other devices.
  const std::string again = delivery.directory.write("again.clbake", whole);
  BOOST_TEST(delivery.split(again, "3")["slices"] > report["slices"]);
  BOOST_TEST((delivery.merged(delivery.store) == whole));
  for (const std::string& name : delivery.slices()) {
    BOOST_TEST(clbake({"verify", delivery.store + "/" + name}).status == 0);  // ordinary bundles
  }
  const Outcome text = clbake({"split", again, "-o", delivery.store, "--release", "3"});
  BOOST_TEST(contains(text.out, delivery.index + ": "), text.out);
  BOOST_TEST(contains(text.out, "release 3, not signed\n"), text.out);
  BOOST_TEST(contains(text.out, "; 0 written, 0 bytes;"), text.out);
}

BOOST_AUTO_TEST_CASE(ASliceKeepsItsNameWhateverElseChanges) {
  const Delivery delivery;
  delivery.split(delivery.files.bundle);
  const std::set<std::string> before = delivery.slices();
  const std::string index = read_file(delivery.index);
  // A store that nobody may write to will do where nothing is new.
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(10);
  for (const fs::directory_entry& file : fs::directory_iterator(delivery.store)) fs::last_write_time(file, long_ago);
  BOOST_TEST(delivery.split(delivery.files.bundle)["written"] == 0);
  for (const fs::directory_entry& file : fs::directory_iterator(delivery.store)) {
    BOOST_TEST((file.last_write_time() - long_ago < std::chrono::hours(1)), file.path());
  }
  BOOST_TEST((read_file(delivery.index) == index));
  cache::Contents contents = delivery.files.contents;
  contents.entries.front().program.push_back(1);  // of one driver
  add_program(contents);
  const nlohmann::json report = delivery.split(delivery.directory.write("b.clbake", encoded(contents)), "2");
  BOOST_TEST(report["written"] == 1 + 3);
  const std::set<std::string> after = delivery.slices();
  BOOST_TEST(std::includes(after.begin(), after.end(), before.begin(), before.end()));
  BOOST_TEST((read_file(delivery.index) != index));
}

BOOST_AUTO_TEST_CASE(AKeySignsTheIndex) {
  const Delivery delivery;
  const std::string key = delivery.directory.path("release.key");
  const nlohmann::json made = json_of(clbake({"keygen", "-o", key, "--json"}));
  const Outcome signs = clbake({"split", delivery.files.bundle, "-o", delivery.store, "--release", "5", "--key", key});
  BOOST_TEST(signs.status == 0);
  BOOST_TEST(contains(signs.out, "signed by " + made["public_key"].get<std::string>()), signs.out);
  const auto verify = [&](const char* release) {
    return clbake({"verify", delivery.index, "--public-key", key + ".pub", "--minimum-release", release});
  };
  BOOST_TEST(verify("5").status == 0);
  check_refused(verify("6"), 1, {"release 5 is older than 6"});
  const nlohmann::json report = json_of(clbake({"inspect", delivery.index, "--json"}));
  BOOST_TEST(report["release"] == 5);
  BOOST_TEST(report["signatures"][0]["valid"] == true);
  for (const nlohmann::json& slice : report["slices"]) {
    BOOST_TEST(fs::file_size(delivery.store + "/" + slice["file"].get<std::string>()) == slice["bytes"]);
    BOOST_TEST(slice["kinds"] == nlohmann::json({"single"}));
  }
  const Outcome text = clbake({"inspect", delivery.index});
  BOOST_TEST(contains(text.out, "an index of release 5, "), text.out);
  BOOST_TEST(contains(text.out, "\nsigned by "), text.out);
  // Signed later: the number is that of the index.
  const std::string signed_index = read_file(delivery.index);
  delivery.split(delivery.files.bundle, "5");
  check_refused(verify("5"), 1, {"it is not signed"});
  check_refused(clbake({"sign", delivery.index, "--key", key, "--release", "6"}), 1, {"of release 5, not 6"});
  BOOST_TEST(clbake({"sign", delivery.index, "--key", key}).status == 0);
  BOOST_TEST((read_file(delivery.index) == signed_index));
  BOOST_TEST((delivery.merged(delivery.store) == delivery.whole));
}

BOOST_AUTO_TEST_CASE(SlicesThatAreNotThoseOfTheIndexAreRefused) {
  const Delivery delivery;
  delivery.split(delivery.files.bundle);
  const std::vector<std::string> names = [&] {
    const std::set<std::string> all = delivery.slices();
    return std::vector<std::string>(all.begin(), all.end());
  }();
  const std::string first = delivery.store + "/" + names[0], second = delivery.store + "/" + names[1];
  const std::string output = delivery.directory.write("out.clbake", std::string());
  const std::string bytes = read_file(first);
  const auto refused = [&](const std::string& cause) {
    check_refused(clbake({"merge", delivery.store, "-o", output}), 1, {"clbake merge: " + first, cause});
  };
  write_file(first, bytes.substr(0, bytes.size() / 2));
  refused("truncated");
  write_file(first, read_file(second));
  refused("its digest is another one");
  fs::remove(first);
  refused(no_such_file());
  // A slice that is not whole is written again.
  write_file(first, bytes.substr(0, bytes.size() / 2));
  BOOST_TEST(delivery.split(delivery.files.bundle)["written"] == 1);
  BOOST_TEST((read_file(first) == bytes));
  check_refused(clbake({"merge", first, delivery.directory.path("none.clbake-index"), "-o", output}), 1,
                {no_such_file()});
  write_file(delivery.index, read_file(delivery.index).substr(0, 500));
  check_refused(clbake({"merge", delivery.store, "-o", output}), 1, {delivery.index, "truncated"});
}

// Leftovers of killed writers go; what another one is writing, under the store's lock, stays, and so do others' files.
BOOST_AUTO_TEST_CASE(UnfinishedFilesOfDeadWritersAreRemoved) {
  const Delivery delivery;
  delivery.split(delivery.files.bundle);
  fs::permissions(delivery.store, fs::perms::owner_all);
  const auto file = [&](const std::string& name) { return delivery.store + "/" + name; };
  const std::string slice = file(*delivery.slices().begin()), index = delivery.index;
  const std::vector<std::string> stay = {file("thesis.tmp.1"), file("mine.clbake.tmp.1.0"), slice + ".tmp.1.part",
                                         index + ".tmp.1.0"};
  const std::vector<std::string> go = {slice + ".tmp.1.0", index + ".tmp.2.7"};
  for (const std::string& path : stay + go) write_file(path, "x");
  const auto two_hours_ago = fs::file_time_type::clock::now() - std::chrono::hours(2);
  for (const std::string& path : {go[1], stay[0], stay[1], stay[2]}) fs::last_write_time(path, two_hours_ago);
  std::optional<os::LockFile> writer(required(os::LockFile::open(file("slices.lock"))));
  BOOST_REQUIRE(writer->lock(0));
  std::thread split([&] { delivery.split(delivery.files.bundle); });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  for (const std::string& path : stay + go) BOOST_TEST(fs::exists(path), path);
  writer.reset();
  split.join();
  for (const std::string& path : stay) BOOST_TEST(fs::exists(path), path);
  for (const std::string& path : go) BOOST_TEST(!fs::exists(path), path);
#ifndef _WIN32  // by the modes of its directory
  // Those that share a store may have no right to its lock.
  fs::permissions(delivery.store, fs::perms::owner_all | fs::perms::group_all);
  write_file(go[0], "x");
  delivery.split(delivery.files.bundle);
  BOOST_TEST(fs::exists(go[0]));
  fs::last_write_time(go[0], two_hours_ago);
  delivery.split(delivery.files.bundle);
  BOOST_TEST(!fs::exists(go[0]));
#endif
}

BOOST_AUTO_TEST_CASE(WaitingForAnotherWriterCanBeCancelled) {
  const Delivery delivery;
  delivery.split(delivery.files.bundle, "0");
  const os::LockFile writer = required(os::LockFile::open(delivery.store + "/slices.lock"));
  BOOST_REQUIRE(writer.lock(0));
  const std::atomic<bool> cancel{true};
  builder::release::SplitOptions options;
  options.pack.cancel = &cancel;
  const auto split = builder::release::split(delivery.files.contents, delivery.store, options);
  BOOST_TEST((split.status().code() == Code::cancelled));
}

// Two that begin at the same time both find no later index.
BOOST_AUTO_TEST_CASE(ALaterIndexThatComesMeanwhileStays) {
  const Delivery delivery;
  delivery.split(delivery.files.bundle, "2");
  const std::string later = read_file(delivery.index);
  fs::remove(delivery.index);
  std::optional<os::LockFile> writer(required(os::LockFile::open(delivery.store + "/slices.lock")));
  BOOST_REQUIRE(writer->lock(0));
  builder::release::SplitOptions options;
  options.release = 1;
  Result<builder::release::SplitReport> split = builder::release::SplitReport();
  std::thread earlier([&] { split = builder::release::split(delivery.files.contents, delivery.store, options); });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  write_file(delivery.index, later);
  writer.reset();
  earlier.join();
  BOOST_TEST((split.status().code() == Code::invalid_argument));
  BOOST_TEST((read_file(delivery.index) == later));
}

BOOST_AUTO_TEST_CASE(AFailedSplitLeavesTheIndexAsItWas) {
  const Delivery delivery;
  delivery.split(delivery.files.bundle, "0");
  const std::string index = read_file(delivery.index);
  const auto refused = [&](const Arguments& arguments, int status, const std::string& cause) {
    check_refused(clbake(Arguments{"split"} + arguments), status, {"clbake split", cause});
    BOOST_TEST((read_file(delivery.index) == index));
  };
  const std::string& bundle = delivery.files.bundle;
  refused({bundle, "-o", delivery.store, "--key", delivery.directory.path("none")}, 1, "none");
  refused({bundle, "-o", bundle}, 1, bundle);  // a file
  refused({delivery.directory.path("none"), "-o", delivery.store}, 1, "none");
  refused({delivery.index, "-o", delivery.store}, 1, "is an index of slices");
  refused({bundle}, 2, "output");
  refused({bundle, "-o", delivery.store, "--release", "x"}, 2, "release");
}

BOOST_AUTO_TEST_CASE(AnOlderReleaseReplacesNoIndexUnlessItIsRemoved) {
  const Delivery delivery;
  delivery.split(delivery.files.bundle, "5");
  const std::string index = read_file(delivery.index);
  const std::set<std::string> slices = delivery.slices();
  cache::Contents contents = delivery.files.contents;
  contents.entries.front().program.push_back(1);
  const std::string changed = delivery.directory.write("b.clbake", encoded(contents));
  check_refused(clbake({"split", changed, "-o", delivery.store, "--release", "4"}), 1,
                {"clbake split: " + delivery.index + ": is of release 5, and 4 is older; remove it to go back"});
  check_refused(clbake({"split", changed, "-o", delivery.store}), 1, {"is of release 5, and 0 is older"});
  BOOST_TEST((read_file(delivery.index) == index));
  BOOST_TEST((delivery.slices() == slices));
  BOOST_TEST(delivery.split(changed, "5")["release"] == 5);
  fs::remove(delivery.index);
  BOOST_TEST(delivery.split(changed, "4")["release"] == 4);
  write_file(delivery.index, read_file(delivery.index).substr(0, 500));
  BOOST_TEST(delivery.split(changed, "3")["release"] == 3);
}

// A release for a hundred drivers, of which one changes in the next.
BOOST_AUTO_TEST_CASE(AHundredDriversAndOneThatChanges) {
  const Directory directory;
  SyntheticSettings settings;
  settings.targets = 100;
  settings.variants_of_kind = 25;
  settings.program_bytes = 16;
  cache::Contents contents = synthetic_bundle(settings);
  BOOST_TEST(contents.entries.size() >= 10000U);
  const builder::release::SplitReport first = required(builder::release::split(contents, directory.path("store"), {}));
  BOOST_TEST(first.index_bytes <= 64U * 1024);
  BOOST_TEST(first.largest_target * 100 <= 2 * first.bytes);
  const SliceIndex old = required(SliceIndex::open(directory.path("store/index.clbake-index")));
  const Target& changed = contents.targets[42];
  for (cache::Entry& entry : contents.entries) {
    if (entry.target == 42) entry.program.back() ^= 1U;
  }
  const builder::release::SplitReport second = required(builder::release::split(contents, directory.path("store"), {}));
  BOOST_TEST(second.written == 1U);
  const SliceIndex next = required(SliceIndex::open(directory.path("store/index.clbake-index")));
  std::size_t fetching = 0;
  for (const Target& target : contents.targets) {
    SliceQuery query;
    query.device = target;
    query.problems = {make_problem({Precision::single_precision}, 512, 512, 512)};
    const NeededSlices before = required(old.needed(query)), after = required(next.needed(query));
    BOOST_REQUIRE_EQUAL(before.slices.size(), 1U);
    BOOST_REQUIRE_EQUAL(after.slices.size(), 1U);
    BOOST_TEST(after.bytes() * 100 <= 2 * second.bytes);
    if (before.slices[0].name == after.slices[0].name) continue;
    ++fetching;
    BOOST_TEST((target == changed));
  }
  BOOST_TEST(fetching == 1U);
}

}  // namespace clbake::tool::test
