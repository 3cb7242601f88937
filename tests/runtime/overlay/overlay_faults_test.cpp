// The overlay when its system calls or allocations fail, its process is killed or the power goes: an entry is the old
// one or the new one, to the last byte, acknowledged bytes are there, a failure is told, and leftovers are removed
// later.
#include "overlay/overlay_samples.hpp"
#include "system/faulty_calls.hpp"
#include "system/faulty_memory.hpp"
#include "system/kills.hpp"
#include "system/temporary_directory.hpp"

#include <unistd.h>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace fs = std::filesystem;

namespace clbake::test {
namespace {

using namespace clbake::tests;

struct Scene {
  // With an entry of writer 1, made once: a store compresses for a long time.
  void add_entry() const {
    static const std::string bytes = [] {
      const Scene first;
      BOOST_REQUIRE(first.open().store(sample_key(0), sample_entries(0, 1)).ok());
      std::ifstream file(first.file(), std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(file), {});
    }();
    open();
    std::ofstream(file(), std::ios::binary) << bytes;
    fs::permissions(file(), fs::perms::owner_read | fs::perms::owner_write);
  }

  std::string file() const { return options.directory + "/" + sample_key(0).hash + ".clbake"; }

  Overlay open() const {
    Result<Overlay> overlay = Overlay::open(options);
    BOOST_REQUIRE_EQUAL(overlay.status().message(), "");
    return std::move(*overlay);
  }

  std::size_t temporary_files() const {
    std::size_t count = 0;
    for (const fs::directory_entry& file : fs::directory_iterator(options.directory)) {
      count += file.path().filename().string().find(".tmp.") == std::string::npos ? 0 : 1;
    }
    return count;
  }

  // Two hours pass, and somebody writes.
  void check_leftovers_are_removed() const {
    if (temporary_files() == 0) return;
    for (const fs::directory_entry& file : fs::directory_iterator(options.directory)) {
      fs::last_write_time(file.path(), fs::file_time_type::clock::now() - std::chrono::hours(2));
    }
    BOOST_TEST(open().mark_rejected(sample_key(7), 1).message() == "");
    BOOST_TEST(temporary_files() == 0U);
  }

  TemporaryDirectory directory;
  const std::string& root = directory.path;
  OverlayOptions options = {directory.file("a/overlay"), OverlayMode::read_write};
};

// The writer of the key's entry; 0 when there is none. Anything else than a whole entry fails the test.
std::uint64_t writer_of(const Overlay& overlay, std::uint64_t number) {
  const Result<Bundle> bundle = overlay.find(sample_key(number));
  if (bundle.status().code() == Code::no_entry) return 0;
  BOOST_REQUIRE_EQUAL(bundle.status().message(), "");
  const Result<cache::Bytes> program = bundle->program(*bundle->find_entry(0, 0));
  BOOST_REQUIRE(program.ok());
  BOOST_REQUIRE(is_sample(*program, number));
  std::uint64_t writer = 0;
  std::memcpy(&writer, program->data() + sizeof writer, sizeof writer);
  return writer;
}

// The steps of one process; the entries are made before faults begin.
struct Steps {
  std::vector<cache::Entry> replacing = sample_entries(0, 2);
  OverlayKey key = sample_key(0);
  Status opened, stored, found, marked;

  void run(const OverlayOptions& options) {
    const Result<Overlay> overlay = Overlay::open(options);
    if (!overlay) return static_cast<void>(opened = overlay.status());
    stored = overlay->store(key, std::move(replacing));
    found = overlay->find(key).status();
    marked = overlay->mark_rejected(key, 17);
  }
};

// Checks the overlay once the faults are over. `told`: a failure has a message that names the directory.
void check(const Scene& scene, const Steps& steps, bool told) {
  for (const Status* status : {&steps.opened, &steps.stored, &steps.found, &steps.marked}) {
    if (status->ok()) continue;
    if (told) BOOST_TEST(status->message().find(scene.root) != std::string::npos, "message: " << status->message());
    const bool expected = status->code() == Code::io || status->code() == Code::not_found ||
                          status->code() == Code::out_of_memory || status->code() == Code::no_entry;
    BOOST_TEST(expected, name(status->code()));
  }
  const Overlay overlay = scene.open();
  const std::uint64_t writer = writer_of(overlay, 0);
  BOOST_TEST((writer == 1 || writer == 2));
  if (steps.opened) {
    if (steps.stored) BOOST_TEST(writer == 2U);
    if (steps.marked) BOOST_TEST(overlay.is_rejected(sample_key(0), 17));
  }
  scene.check_leftovers_are_removed();
}

// False when fewer calls are made.
bool run_with_failing_call(const CallFault& fault) {
  const Scene scene;
  scene.add_entry();
  Steps steps;
  fail_calls(fault);
  steps.run(scene.options);
  const char* failed = stop_failing_calls();
  if (!failed) return false;
  BOOST_TEST_CONTEXT("call " << fault.at << ", " << failed << ": " << std::strerror(fault.error)
                             << (fault.and_all_after ? ", and all after it" : "")) {
    check(scene, steps, true);
  }
  return true;
}

bool run_with_failing_allocation(std::size_t at, bool and_all_that_follow) {
  const Scene scene;
  scene.add_entry();
  Steps steps;
  fail_allocation(at, and_all_that_follow);
  steps.run(scene.options);
  const bool failed = stop_failing_allocations();
  BOOST_TEST_CONTEXT("allocation " << at) { check(scene, steps, false); }
  return failed;
}

// Stores versions 1, 2, 3 ... of one entry until it is killed.
void store_versions(const OverlayOptions& options, std::uint64_t from, int acknowledge) {
  const Result<Overlay> overlay = Overlay::open(options);
  if (!overlay) return;
  for (std::uint64_t version = from;; ++version) {
    if (!overlay->store(sample_key(0), sample_entries(0, version, 2000))) return;
    if (::write(acknowledge, "+", 1) != 1) return;
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(EverySystemCallMayFail) {
  for (const CallFault& kind : {CallFault{0, EIO, false},
                                {0, EIO, true},
                                {0, ENOSPC, true},
                                {0, ENOMEM, false},
                                {0, EINTR, false},
                                {0, 0, false}}) {
    CallFault fault = kind;
    while (run_with_failing_call(fault)) ++fault.at;
    BOOST_TEST_MESSAGE(fault.at << " calls failed: " << std::strerror(fault.error));
    BOOST_TEST(fault.at >= (fault.error == 0 ? 1U : 20U));  // short: writes only
  }
}

BOOST_AUTO_TEST_CASE(EveryAllocationMayFail) {
  for (const bool and_all_that_follow : {false, true}) {
    std::size_t at = 0;
    while (run_with_failing_allocation(at, and_all_that_follow)) ++at;
    BOOST_TEST_MESSAGE(at << " allocations failed");
    BOOST_TEST(at > 50U);
  }
}

// At every moment, with what had been synced, with all names but unsynced bytes, and with arbitrary parts.
BOOST_AUTO_TEST_CASE(APowerLossLosesNothingThatWasAcknowledged) {
  const Scene scene;
  constexpr std::uint64_t versions = 3;
  record_changes(scene.root);
  {
    const Result<Overlay> overlay = Overlay::open(scene.options);
    for (std::uint64_t version = 1; version <= versions; ++version) {
      BOOST_REQUIRE(overlay.ok() && overlay->store(sample_key(0), sample_entries(0, version)).ok());
      record_acknowledgement();
    }
  }
  const std::vector<FileChange> changes = stop_recording();
  BOOST_TEST(changes.size() > 12U);
  const Scene after;
  for (std::size_t count = 0; count <= changes.size(); ++count) {
    std::uint64_t acknowledged = 0;
    for (std::size_t i = 0; i < count; ++i) acknowledged += changes[i].kind == FileChange::Kind::acknowledged ? 1 : 0;
    for (unsigned seed = 0; seed < 8; ++seed) {
      const Survival survival = seed == 0 ? Survival::synced : seed == 1 ? Survival::names : Survival::random_choice;
      write_disk(after_power_loss(changes, count, survival, seed), scene.root, after.root);
      BOOST_TEST_CONTEXT("after " << count << " changes, seed " << seed) {
        const std::uint64_t found = writer_of(after.open(), 0);
        BOOST_TEST(found >= acknowledged);
        BOOST_TEST(found <= acknowledged + 1);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(AKilledWriterLeavesTheOldOrTheNewEntry) {
  const Scene scene;
  const std::size_t kills = kills_wanted(30);
  std::uint64_t last = 0;
  for (std::size_t i = 1; i <= kills || last == 0; ++i) {  // on a busy machine the first ones come too early
    const std::size_t stored =
        run_and_kill([&](int acknowledge) { store_versions(scene.options, last + 1, acknowledge); }, 12000,
                     static_cast<unsigned>(i));
    const std::uint64_t found = writer_of(scene.open(), 0);
    BOOST_TEST(found >= last + stored);
    BOOST_TEST(found <= last + stored + 1);
    last = found;
    show_kills(i, kills);
  }
  BOOST_TEST(last > 0U);
  scene.check_leftovers_are_removed();
}

}  // namespace clbake::test
