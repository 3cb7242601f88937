// write_file, which writes all bundles, when its system calls or allocations fail and when the power goes: the file is
// the old one or the new one, acknowledged bytes are there, a failure names the file, and leftovers are removed later.
#include "samples.hpp"
#include "system/faulty_calls.hpp"
#include "system/faulty_memory.hpp"
#include "system/temporary_directory.hpp"

#include <clbake/cache/pack.hpp>
#include <clbake/cache/writer.hpp>

#include <unistd.h>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace clbake::cache::test {
namespace {

namespace fs = std::filesystem;
using namespace clbake::tests;

struct Scene : TemporaryDirectory {
  Bytes found() const {
    std::ifstream in(bundle, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::string bundle = file("gemm.clbake");
};

const Bytes& old_bundle() { return small_bundle(); }
const Bytes& new_bundle() { return packed_bundle(); }

void check(const Scene& scene, const Status& status, bool told) {
  const Bytes found = scene.found();
  BOOST_TEST((found == old_bundle() || found == new_bundle()));
  if (status) BOOST_TEST((found == new_bundle()));
  if (!status && told) BOOST_TEST(status.message().find(scene.bundle) != std::string::npos, status.message());
  if (scene.files() == 1) return;
  // A temporary file that could not be removed: two hours later, the next writer does it.
  for (const fs::directory_entry& file : fs::directory_iterator(scene.path)) {
    fs::last_write_time(file.path(), fs::file_time_type::clock::now() - std::chrono::hours(2));
  }
  BOOST_TEST(write_file(scene.bundle, view_of(new_bundle())).message() == "");
  BOOST_TEST(scene.files() == 1U);
}

bool run_with_failing_call(const CallFault& fault) {
  const Scene scene;
  BOOST_REQUIRE(write_file(scene.bundle, view_of(old_bundle())).ok());
  fail_calls(fault);
  const Status status = write_file(scene.bundle, view_of(new_bundle()));
  const char* failed = stop_failing_calls();
  if (!failed) return false;
  BOOST_TEST_CONTEXT("call " << fault.at << ", " << failed << ": " << std::strerror(fault.error)) {
    check(scene, status, true);
  }
  return true;
}

bool run_with_failing_allocation(std::size_t at) {
  const Scene scene;
  BOOST_REQUIRE(write_file(scene.bundle, view_of(old_bundle())).ok());
  fail_allocation(at);
  const Status status = write_file(scene.bundle, view_of(new_bundle()));
  const bool failed = stop_failing_allocations();
  BOOST_TEST_CONTEXT("allocation " << at) { check(scene, status, false); }
  return failed;
}

// Reads the bundle while calls fail: whole, or a failure that names the file.
bool read_with_failing_call(const CallFault& fault) {
  const Scene scene;
  BOOST_REQUIRE(write_file(scene.bundle, view_of(old_bundle())).ok());
  fail_calls(fault);
  const Result<Bundle> bundle = Bundle::open(scene.bundle);
  const Status verified = bundle ? bundle->verify() : Status();
  const char* failed = stop_failing_calls();
  if (bundle) BOOST_TEST(verified.message() == "");
  if (!bundle) BOOST_TEST(bundle.status().message().find(scene.bundle) != std::string::npos, bundle.status().message());
  return failed != nullptr;
}

bool read_with_failing_allocation(std::size_t at) {
  const Scene scene;
  BOOST_REQUIRE(write_file(scene.bundle, view_of(new_bundle())).ok());
  fail_allocation(at);
  const Result<Bundle> bundle = Bundle::open(scene.bundle);
  const Status verified = bundle ? bundle->verify() : Status();
  const bool failed = stop_failing_allocations();
  for (const Status& status : {bundle.status(), verified}) {
    if (!status) BOOST_TEST(outcome(status) == "out of memory");
  }
  return failed;
}

}  // namespace

BOOST_AUTO_TEST_CASE(EverySystemCallOfAWriterMayFail) {
  for (const CallFault& kind :
       {CallFault{0, EIO, false}, {0, EIO, true}, {0, ENOSPC, true}, {0, EINTR, false}, {0, 0, false}}) {
    CallFault fault = kind;
    while (run_with_failing_call(fault)) ++fault.at;
    BOOST_TEST(fault.at >= (fault.error == 0 ? 1U : 8U));
  }
}

BOOST_AUTO_TEST_CASE(EverySystemCallOfAReaderMayFail) {
  for (const int error : {EIO, ENOMEM, EMFILE, EINTR}) {
    CallFault fault{0, error, false};
    while (read_with_failing_call(fault)) ++fault.at;
    BOOST_TEST(fault.at >= 3U);  // open, fstat, mmap
  }
}

BOOST_AUTO_TEST_CASE(EveryAllocationMayFail) {
  std::size_t writing = 0, reading = 0;
  while (run_with_failing_allocation(writing)) ++writing;
  while (read_with_failing_allocation(reading)) ++reading;
  BOOST_TEST(writing >= 2U);
  BOOST_TEST(reading >= 10U);
}

// In whichever of its threads.
BOOST_AUTO_TEST_CASE(EveryAllocationOfAPackerMayFail) {
  const Contents contents = similar_contents();
  const Bytes& whole = packed_bundle();
  std::size_t at = 0;
  for (bool failed = true; failed; ++at) {
    PackOptions options;
    options.threads = 2;
    fail_allocation(at);
    const Result<Bytes> packed = pack(contents, options);
    failed = stop_failing_allocations();
    if (packed) BOOST_TEST((*packed == whole));
    if (!packed) BOOST_TEST(outcome(packed) == "out of memory");
  }
  BOOST_TEST(at > 100U);
}

BOOST_AUTO_TEST_CASE(APowerLossLeavesTheOldOrTheNewFile) {
  const Scene scene;
  record_changes(scene.path);
  for (const Bytes* bytes : {&old_bundle(), &new_bundle()}) {
    BOOST_REQUIRE(write_file(scene.bundle, view_of(*bytes)).ok());
    record_acknowledgement();
  }
  const std::vector<FileChange> changes = stop_recording();
  BOOST_TEST(changes.size() >= 12U);  // create, write, sync, rename, sync of the directory, acknowledged
  const Scene after;
  for (std::size_t count = 0; count <= changes.size(); ++count) {
    std::size_t acknowledged = 0;
    for (std::size_t i = 0; i < count; ++i) acknowledged += changes[i].kind == FileChange::Kind::acknowledged ? 1 : 0;
    for (unsigned seed = 0; seed < 20; ++seed) {
      const Survival survival = seed == 0 ? Survival::synced : seed == 1 ? Survival::names : Survival::random_choice;
      write_disk(after_power_loss(changes, count, survival, seed), scene.path, after.path);
      const Bytes found = after.found();
      const std::size_t version = found == new_bundle() ? 2 : found == old_bundle() ? 1 : 0;
      BOOST_TEST_CONTEXT("after " << count << " changes, seed " << seed) {
        BOOST_TEST((version > 0 || !fs::exists(after.bundle)));
        BOOST_TEST(version >= acknowledged);
      }
    }
  }
}

// Readers open it, and go on with what they had opened, while it is replaced again and again.
BOOST_AUTO_TEST_CASE(AReplacedBundleIsWholeForAllThatUseIt) {
  const Scene scene;
  BOOST_REQUIRE(write_file(scene.bundle, view_of(old_bundle())).ok());
  const Bundle opened = *Bundle::open(scene.bundle);
  const std::string contents[] = {fingerprint(*opened.decode()), fingerprint(*open_bytes(new_bundle())->decode())};
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0}, reads{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      while (!stop || reads < 20) {
        const Result<Bundle> bundle = Bundle::open(scene.bundle);
        const Result<Contents> found = bundle ? bundle->decode() : bundle.status();
        const std::string text = found ? fingerprint(*found) : "";
        const bool kept = opened.verify().ok() && fingerprint(*opened.decode()) == contents[0];
        if ((text != contents[0] && text != contents[1]) || !kept) ++wrong;
        ++reads;
      }
    });
  }
  for (int i = 0; i < 200; ++i) BOOST_TEST(write_file(scene.bundle, view_of(i % 2 ? old_bundle() : new_bundle())).ok());
  stop = true;
  for (std::thread& reader : readers) reader.join();
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(OnlyOwnTemporaryFilesAreRemovedAndOnlyOldOnes) {
  const Scene scene;
  const auto add = [&](const std::string& name, int hours) {
    const std::string path = scene.file(name);
    std::ofstream(path) << "x";
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
    return path;
  };
  const std::string abandoned = add("gemm.clbake.tmp.123.0", 2);
  const std::vector<std::string> others = {add("gemm.clbake.tmp.123.1", 0), add("gemm.clbake.tmp.mine", 2),
                                           add("other.clbake.tmp.123.0", 2), add("gemm.clbake.tmp.", 2)};
  fs::create_symlink(others[1], scene.file("gemm.clbake.tmp.1.1"));
  BOOST_TEST(write_file(scene.bundle, view_of(old_bundle())).message() == "");
  BOOST_TEST(!fs::exists(abandoned));
  for (const std::string& other : others) BOOST_TEST(fs::exists(other), other);
  BOOST_TEST(fs::is_symlink(scene.file("gemm.clbake.tmp.1.1")));
}

}  // namespace clbake::cache::test
