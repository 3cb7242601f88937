// `clbake build` with this machine's devices: where it refuses to write, and how it is interrupted.
#include "command.hpp"

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <thread>

namespace clbake::tool::test {
namespace {

namespace fs = std::filesystem;

// Lines of progress when stderr is no terminal: "[3/24] compiled X, 0:05 left". The number of the last one.
std::size_t steps_done(const std::string& output) {
  const std::size_t at = output.rfind('[');
  return at == std::string::npos ? 0 : std::stoul(output.substr(at + 1));
}

std::vector<std::string> compiled(const std::string& work_directory) {
  std::vector<std::string> names;
  if (!fs::exists(work_directory)) return names;
  for (const auto& entry : fs::directory_iterator(work_directory)) {
    if (entry.path().extension() == ".compiled") names.push_back(entry.path().filename());
  }
  return names;
}

// Whether a process has `text` on its command line.
bool is_named(const std::string& text) {
  std::error_code gone;
  for (const auto& process : fs::directory_iterator("/proc", gone)) {
    if (contains(read_file(process.path() / "cmdline"), text)) return true;
  }
  return false;
}

// Tries for ten seconds.
bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 2000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return condition();
}

// Starts a build, interrupts it after its first step; the number of compiled variants that it kept.
std::size_t interrupt(const std::string& output, int signal) {
  Running build({"build", "--device", "0", "--precision", "single", "--jobs", "1", "-o", output});
  BOOST_REQUIRE_MESSAGE(build.wait_for("[1/"), build.output());
  build.send(signal);
  BOOST_TEST(build.wait() == 130);
  BOOST_TEST(contains(build.output(), "clbake build: interrupted"), build.output());
  BOOST_TEST(!fs::exists(output));
  BOOST_TEST(fs::is_directory(output + ".work"));
  const std::size_t kept = compiled(output + ".work").size();
  BOOST_TEST(kept >= steps_done(build.output()));
  return kept;
}

}  // namespace

BOOST_AUTO_TEST_CASE(AnInterruptedBuildKeepsWhatIsDoneAndGoesOn) {
  baked_bundle();  // or skipped
  const Directory directory;
  const std::string output = directory.path("new.clbake");
  const std::size_t first = interrupt(output, SIGINT);
  BOOST_TEST(first >= 1U);

  // The next one counts what is there before it compiles anything: with nothing to wait for, all at once.
  Running again({"build", "--device", "0", "--precision", "single", "--jobs", "1", "-o", output});
  BOOST_REQUIRE_MESSAGE(again.wait_for("[" + std::to_string(first + 1) + "/"), again.output());
  again.send(SIGTERM);
  BOOST_TEST(again.wait() == 130);
  BOOST_TEST(compiled(output + ".work").size() >= first + 1);
  for (const std::string& file : directory.files()) BOOST_TEST(file == "new.clbake.work");
}

BOOST_AUTO_TEST_CASE(AKilledBuildLeavesNoOutputAndNoProcesses) {
  baked_bundle();
  const Directory directory;
  const std::string output = directory.path("new.clbake");
  {
    Running build({"build", "--device", "0", "--precision", "single", "--jobs", "2", "-o", output});
    BOOST_REQUIRE_MESSAGE(build.wait_for("[1/"), build.output());
    build.send(SIGKILL);
    BOOST_TEST(build.wait() == 128 + SIGKILL);
  }
  BOOST_TEST(comes_true([&] { return !is_named(output); }));  // as the workers do on their command lines
  BOOST_TEST(!fs::exists(output));
  interrupt(output, SIGINT);  // the next one can take the lock
}

BOOST_AUTO_TEST_CASE(ARebuildOfWhatIsBakedTakesEverythingOver) {
  const Directory directory;
  const std::string output = directory.path("copy.clbake");
  fs::copy_file(baked_bundle(), output);
  const Outcome outcome = clbake({"build", "-o", output});
  BOOST_REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  BOOST_TEST(contains(outcome.out, "(0 baked"), outcome.out);
  BOOST_TEST((read_file(output) == read_file(baked_bundle())));
  BOOST_TEST((directory.files() == std::vector<std::string>{"copy.clbake"}));
}

BOOST_AUTO_TEST_CASE(ATextFileAsOutputIsRefusedAndStays) {
  baked_bundle();
  const Directory directory;
  const std::string output = directory.write("letter.txt", std::string("Dear all,\n"));
  check_refused(clbake({"build", "-o", output}), 1, {"clbake build", output, "not a bundle"});
  BOOST_TEST(read_file(output) == "Dear all,\n");
  BOOST_TEST((directory.files() == std::vector<std::string>{"letter.txt"}));
}

BOOST_AUTO_TEST_CASE(AnOutputThatCannotBeWrittenIsNamed) {
  baked_bundle();
  const Directory directory;
  const std::string file = directory.write("file", std::string("text"));
  const std::vector<std::string> outputs = {directory.path("missing/new.clbake"), file + "/new.clbake",
                                            directory.path(""), "/proc/new.clbake", "/dev/null"};
  for (const std::string& output : outputs) check_refused(clbake({"build", "-o", output}), 1, {"clbake build", output});
  check_refused(clbake({"build", "-o", ""}), 1, {"clbake build", "name"});
  BOOST_TEST((directory.files() == std::vector<std::string>{"file"}));
  BOOST_TEST(read_file(file) == "text");
}

// Root may write everywhere: nothing to test then.
boost::test_tools::assertion_result not_root(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(geteuid() != 0);
  result.message() << "root may write everywhere";
  return result;
}

BOOST_AUTO_TEST_CASE(AnOutputFolderWithoutTheRightToWriteIsNamed, *boost::unit_test::precondition(not_root)) {
  baked_bundle();
  const Directory directory;
  const std::string output = directory.path("closed/new.clbake");
  fs::create_directory(directory.path("closed"));
  fs::permissions(directory.path("closed"), fs::perms::owner_read | fs::perms::owner_exec);
  check_refused(clbake({"build", "-o", output}), 1, {"clbake build", output, "Permission denied"});
  fs::permissions(directory.path("closed"), fs::perms::owner_all);
}

BOOST_AUTO_TEST_CASE(AFullDiskIsNamedAndLeavesNoPartialOutput) {
  baked_bundle();
  const Directory directory;
  const std::string output = directory.path("new.clbake");
  const Outcome outcome = shell("ulimit -f 2; exec \"$CLBAKE\" build -o '" + output + "'");
  check_refused(outcome, 1, {"clbake build", output, "File too large"});
  for (const std::string& file : directory.files()) BOOST_TEST(file == "new.clbake.work");
}

// Everything is taken over; only the bundle itself does not fit.
BOOST_AUTO_TEST_CASE(AFullDiskWhilePackingLeavesTheEarlierBundle) {
  const Directory directory;
  const std::string output = directory.path("new.clbake");
  cache::Contents contents = baked_contents();
  contents.profiles.clear();
  const std::string before = read_file(directory.write("new.clbake", encoded(contents)));
  const Outcome outcome = shell("ulimit -f 64; exec \"$CLBAKE\" build -o '" + output + "'");
  check_refused(outcome, 1, {"clbake build", output, "File too large"});
  BOOST_TEST((read_file(output) == before));
  for (const std::string& file : directory.files())
    BOOST_TEST((file == "new.clbake" || file == "new.clbake.work"), file);
}

BOOST_AUTO_TEST_CASE(AnUnknownDeviceIsNamedWithTheDevicesThereAre) {
  const std::string name =
      json_of(clbake({"devices", "--json"})).at("devices").at(0).at("target").at("device_name").get<std::string>();
  const Directory directory;
  check_refused(clbake({"build", "--device", "no such device", "-o", directory.path("new.clbake")}), 1,
                {"clbake build", "--device", "'no such device'", name});
  BOOST_TEST(directory.files().empty());
}

}  // namespace clbake::tool::test
