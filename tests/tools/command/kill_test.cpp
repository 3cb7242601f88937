// `merge`, `prune` and a build killed at random moments: the bundle is the old one or the new one, whole, and what was
// acknowledged is there; the same command then ends well and leaves nothing else behind.
#include "build_fixture.hpp"
#include "command.hpp"
#include "release/synthetic_bundle.hpp"
#include "samples.hpp"
#include "system/kills.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <filesystem>

namespace clbake::tool::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Runs `clbake ARGUMENTS` silently, in this process group; true for exit status 0.
bool runs(const Arguments& arguments) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int nowhere = ::open("/dev/null", O_RDWR);
    for (const int standard : {0, 1, 2}) ::dup2(nowhere, standard);
    std::vector<char*> all = {const_cast<char*>("clbake")};
    for (const std::string& argument : arguments) all.push_back(const_cast<char*>(argument.c_str()));
    all.push_back(nullptr);
    ::execv(CLBAKE_COMMAND, all.data());
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

unsigned microseconds_of(const std::function<void()>& work) {
  const Clock::time_point start = Clock::now();
  work();
  return static_cast<unsigned>(std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count());
}

// Two hours pass, and the command runs once more: nothing but `files` is left.
void check_leftovers_are_removed(const Directory& directory, const Arguments& command, std::size_t files) {
  for (const std::string& name : directory.files()) {
    fs::last_write_time(directory.path(name), fs::file_time_type::clock::now() - std::chrono::hours(2));
  }
  BOOST_TEST(runs(command));
  BOOST_TEST(directory.files().size() == files);
}

// Runs the two commands, which write different bundles to `output`, again and again, and kills them.
void check_kills(const Directory& directory, const Arguments (&commands)[2], const std::string& output,
                 std::size_t kills) {
  std::string written[2];
  unsigned longest = 0;
  for (const int which : {1, 0}) {
    longest = std::max(longest, microseconds_of([&] { BOOST_REQUIRE(runs(commands[which])); }));
    written[which] = read_file(output);
  }
  BOOST_REQUIRE((written[0] != written[1]));
  const std::size_t files = directory.files().size();
  int last = 0;  // whose bundle is there
  std::size_t steps = 0, changed = 0;
  for (std::size_t i = 1; i <= kills; ++i) {
    const std::size_t done = run_and_kill(
        [&](int acknowledge) {
          for (int which = 1 - last; runs(commands[which]) && ::write(acknowledge, "+", 1) == 1; which = 1 - which) {
          }
        },
        2 * longest, static_cast<unsigned>(i));
    const std::string found = read_file(output);
    BOOST_REQUIRE((found == written[0] || found == written[1]));
    const int acknowledged = done % 2 == 0 ? last : 1 - last;
    const int now = found == written[0] ? 0 : 1;
    changed += now == acknowledged ? 0 : 1;  // replaced, but killed before that was said: as good
    last = now;
    steps += done;
    show_kills(i, kills);
  }
  BOOST_TEST_MESSAGE(steps << " commands ended, " << changed << " were killed after they had replaced the bundle");
  check_leftovers_are_removed(directory, commands[0], files);
}

}  // namespace

BOOST_AUTO_TEST_CASE(AKilledMergeLeavesTheOldOrTheNewBundle) {
  const Directory directory;
  const std::string a = directory.write("a.clbake", cache::test::small_bundle());
  const std::string b = directory.write("b.clbake", cache::test::packed_bundle());
  const std::string output = directory.path("out.clbake");
  check_kills(directory, {{"merge", a, "-o", output}, {"merge", b, "-o", output}}, output, kills_wanted(30));
}

BOOST_AUTO_TEST_CASE(AKilledPruneLeavesTheOldOrTheNewBundle) {
  const Directory directory;
  const std::string all = directory.write("all.clbake", encoded(synthetic_bundle({2, 2, 3, 20, 1})));
  const std::string output = directory.path("out.clbake");
  const auto pruned = [&](const char* trans) { return Arguments{"prune", all, "-o", output, "--trans", trans}; };
  check_kills(directory, {pruned("nn"), pruned("nn,nt,tn,tt")}, output, kills_wanted(30));
}

// The next split removes what the killed ones left.
BOOST_AUTO_TEST_CASE(AKilledSplitLeavesAWholeIndexAndTheNextNothingElse) {
  const Directory directory;
  const std::string store = directory.path("store"), index = store + "/index.clbake-index";
  const auto command = [&](const char* file, int release) {
    const std::string bundle = directory.write(file, encoded(synthetic_bundle({6, 2, 3, 4000, 1})));
    return Arguments{"split", bundle, "-o", store, "--release", std::to_string(release)};
  };
  // Without unfinished indexes, which go after an hour: their writers take no turns.
  const auto files = [&] {
    return std::count_if(fs::directory_iterator(store), fs::directory_iterator(), [](const fs::directory_entry& file) {
      return file.path().filename().string().find(".clbake-index.tmp.") == std::string::npos;
    });
  };
  const Arguments second = command("b.clbake", 2), first = command("a.clbake", 1);
  BOOST_REQUIRE(runs(second));
  const std::string newer = read_file(index);
  fs::remove(index);  // of a later release
  const unsigned time = microseconds_of([&] { BOOST_REQUIRE(runs(first)); });
  const std::string older = read_file(index);
  const auto all = files();
  const std::size_t kills = kills_wanted(30);
  std::ptrdiff_t most = 0;
  for (std::size_t i = 1; i <= kills; ++i) {
    for (const fs::directory_entry& file : fs::directory_iterator(store)) {
      if (file.path().extension() == ".clbake")
        write_file(file.path().string(), "damaged, so that it is written again");
    }
    run_and_kill([&](int) { runs(second); }, time, static_cast<unsigned>(i));
    const std::string found = read_file(index);
    BOOST_REQUIRE((found == older || found == newer));
    most = std::max<std::ptrdiff_t>(most, files() - all);
    show_kills(i, kills);
  }
  BOOST_TEST_MESSAGE("at most " << most << " files were left");
  fs::remove(index);
  BOOST_REQUIRE(runs(first));
  BOOST_TEST(files() == all);
  BOOST_TEST((read_file(index) == older));
  BOOST_TEST(runs({"merge", store, "-o", directory.path("merged.clbake")}));
}

BOOST_AUTO_TEST_CASE(AKilledBuildGoesOnAndEndsAsIfNothingHadHappened) {
  builder::test::BuildFixture fixture;
  const unsigned time = microseconds_of([&] { BOOST_REQUIRE(fixture.build().ok()); });
  const std::string& output = fixture.options.output;
  const std::string whole = read_file(output);
  const std::size_t kills = kills_wanted(20);
  std::size_t ended = 0;
  for (std::size_t i = 1; i <= kills; ++i) {
    if (fs::exists(output)) fs::remove(output);  // begins anew; else goes on with what the killed one left
    const std::size_t done = run_and_kill(
        [&](int acknowledge) {
          if (fixture.build().ok()) static_cast<void>(::write(acknowledge, "+", 1));
        },
        time, static_cast<unsigned>(i));
    BOOST_TEST((fs::exists(output) || done == 0));
    if (fs::exists(output)) BOOST_REQUIRE((read_file(output) == whole));
    ended += fs::exists(output) ? 1 : 0;
    show_kills(i, kills);
  }
  BOOST_TEST_MESSAGE(ended << " builds ended");
  BOOST_REQUIRE(fixture.build().ok());
  BOOST_TEST((read_file(output) == whole));
  for (const std::string& name : fixture.files()) {
    if (name == "gemm.clbake") continue;
    // Only what a killed writer of the output itself left; the next hour's writer removes it.
    BOOST_TEST(contains(name, "gemm.clbake.tmp."), name);
  }
}

}  // namespace clbake::tool::test
