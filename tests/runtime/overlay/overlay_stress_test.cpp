// 64 processes of 8 threads share an overlay that is empty at first, while another process evicts from it and some
// writers are killed, with a clock that goes right or jumps: no entry is ever incomplete or the wrong one, and in the
// end all are hits.
#include "overlay/overlay_samples.hpp"
#include "system/temporary_directory.hpp"

#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <random>
#include <thread>

namespace fs = std::filesystem;

namespace {

std::atomic<bool> clock_jumps{false};

}  // namespace

// In place of the C library's: up to ten days ahead or back, another time at each call.
extern "C" std::time_t time(std::time_t* where) noexcept {
  timespec now = {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  thread_local std::minstd_rand random(static_cast<unsigned>(now.tv_nsec));
  if (clock_jumps) now.tv_sec += static_cast<std::time_t>(random() % 1728000) - 864000;
  if (where) *where = now.tv_sec;
  return now.tv_sec;
}

namespace clbake::test {
namespace {

constexpr std::uint64_t kProcesses = 64;
constexpr std::uint64_t kThreads = 8;
constexpr std::uint64_t kKeys = 24;
constexpr std::uint64_t kKilled = 4;

// The exit status of a child.
enum Ending : int { kFine = 0, kWrong = 1 };

pid_t in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  return child;
}

int ending_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool complain(const char* what, const Status& status) {
  std::fprintf(stderr, "process %d: %s: %s: %s\n", static_cast<int>(::getpid()), what,
               std::string(name(status.code())).c_str(), status.message().c_str());
  return false;
}

// True when the overlay has no entry or the right one.
bool check_find(const Overlay& overlay, std::uint64_t number, bool& hit) {
  const Result<Bundle> bundle = overlay.find(sample_key(number));
  hit = bundle.ok();
  if (!hit) return bundle.status().code() == Code::no_entry || complain("find", bundle.status());
  const Result<cache::EntryInfo> entry = bundle->find_entry(0, 0);
  if (!entry) return complain("find_entry", entry.status());
  const Result<cache::Bytes> program = bundle->program(*entry);
  if (!program) return complain("program", program.status());
  return is_sample(*program, number) || complain("program", {Code::wrong_result, "wrong bytes"});
}

bool find_or_store(const Overlay& overlay, std::uint64_t number, std::uint64_t writer) {
  bool hit = false;
  if (!check_find(overlay, number, hit)) return false;
  if (hit) return true;
  const Status status = overlay.store(sample_key(number), sample_entries(number, writer, 200 + 40 * number));
  // A clock that says that an hour has passed makes another process remove what this one is writing.
  const bool removed = clock_jumps && status.code() == Code::io;
  return status.ok() || removed || complain("store", status);
}

// One process: in each round each of its threads uses the overlay once.
int use(const OverlayOptions& options, std::uint64_t process, std::uint64_t rounds) {
  const Result<Overlay> overlay = Overlay::open(options);
  if (!overlay) return complain("open", overlay.status()), kWrong;
  std::atomic<bool> fine{true};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const std::uint64_t writer = process * kThreads + t;
      std::mt19937_64 random(writer);
      for (std::uint64_t i = 0; i < rounds && fine; ++i) {
        if (!find_or_store(*overlay, random() % kKeys, writer * rounds + i)) fine = false;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return fine ? kFine : kWrong;
}

// Until it is killed: evicts entries again and again.
int evict(const std::string& path) {
  const Result<os::PrivateDirectory> directory = os::PrivateDirectory::open(path, true);
  if (!directory) return complain("open", directory.status()), kWrong;
  for (;;) {
    const Status status = clbake::evict(*directory, kKeys * 4096, {});
    if (!status) return complain("evict", status), kWrong;
    ::usleep(2000);
  }
}

// Until it is killed.
int write_on(const OverlayOptions& options, std::uint64_t writer) {
  const Result<Overlay> overlay = Overlay::open(options);
  if (!overlay) return kWrong;
  for (;; ++writer) {
    const std::uint64_t number = writer % kKeys;
    const Status status = overlay->store(sample_key(number), sample_entries(number, writer));
    if (!status && !(clock_jumps && status.code() == Code::io)) return kWrong;
  }
}

class Stress {
 public:
  void run(std::uint64_t rounds_in_all) {
    const std::uint64_t rounds = (rounds_in_all + kProcesses - 1) / kProcesses;
    const pid_t evictor = in_child([&] { return evict(options_.directory); });
    std::vector<pid_t> users, victims;
    for (std::uint64_t p = 0; p < kProcesses; ++p) {
      users.push_back(in_child([&] { return use(options_, p, rounds); }));
      if (p % (kProcesses / kKilled) != 0) continue;
      victims.push_back(in_child([&] { return write_on(options_, p << 32U); }));
    }
    ::usleep(100000);
    for (const pid_t victim : victims) BOOST_TEST(killed(victim) == 128 + SIGKILL);
    for (const pid_t user : users) BOOST_TEST(ending_of(user) == kFine);
    BOOST_TEST(killed(evictor) == 128 + SIGKILL);
  }

  // Stores what was evicted, and then looks at each entry in a process of its own.
  void check_that_all_hit() const {
    const pid_t filler =
        in_child([&] { return all([](const Overlay& o, std::uint64_t k) { return find_or_store(o, k, 0); }); });
    BOOST_TEST(ending_of(filler) == kFine);
    const pid_t reader = in_child([&] {
      return all([](const Overlay& o, std::uint64_t k) {
        bool hit = false;
        return check_find(o, k, hit) && hit;
      });
    });
    BOOST_TEST(ending_of(reader) == kFine);
  }

 private:
  static int killed(pid_t child) {
    ::kill(child, SIGKILL);
    return ending_of(child);
  }

  int all(bool (*good)(const Overlay&, std::uint64_t)) const {
    const Result<Overlay> overlay = Overlay::open(options_);
    if (!overlay) return kWrong;
    for (std::uint64_t number = 0; number < kKeys; ++number) {
      if (!good(*overlay, number)) return kWrong;
    }
    return kFine;
  }

  tests::TemporaryDirectory root_;
  OverlayOptions options_ = {root_.file("overlay"), OverlayMode::read_write};
};

// Rounds of all threads together; the soak has more.
std::uint64_t rounds() {
  const char* wanted = std::getenv("CLBAKE_SOAK_ROUNDS");
  return wanted ? std::strtoull(wanted, nullptr, 10) : 1000;
}

}  // namespace

BOOST_AUTO_TEST_CASE(NoEntryIsIncompleteAndAllHitInTheEnd) {
  Stress stress;
  stress.run(rounds());
  stress.check_that_all_hit();
}

BOOST_AUTO_TEST_CASE(NoEntryIsIncompleteWhenTheClockJumps) {
  Stress stress;
  clock_jumps = true;
  stress.run(rounds());
  clock_jumps = false;
  stress.check_that_all_hit();
}

}  // namespace clbake::test
