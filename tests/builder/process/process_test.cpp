// Child processes and the directories they work in.
#include "build_fixture.hpp"

#include <clbake/builder/platforms.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/builder/scratch.hpp>

#include <unistd.h>
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>

namespace clbake::builder::test {
using namespace process;
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr seconds kLong{60};  // never reached unless something is broken

// A directory, and shell scripts that run in it.
class Scripts {
 public:
  Scripts() : directory_(std::move(*ScratchDirectory::create())) {}

  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }

  Command command(const std::string& script) {
    Command command;
    command.arguments = {"/bin/sh", "-c", "cd '" + directory_.path() + "'; " + script};
    command.log = path("log." + std::to_string(count_++));
    return command;
  }

  Exit run(const std::string& script, seconds timeout = kLong) {
    commands = {command(script)};
    Exit result;
    BOOST_TEST(outcome(run_all(commands, 1, timeout, never_, [&](std::size_t, const Exit& exit) { result = exit; })) ==
               "ok");
    return result;
  }

  std::vector<Command> commands;  // of the last run

 private:
  ScratchDirectory directory_;
  std::size_t count_ = 0;
  const std::atomic<bool> never_{false};
};

}  // namespace

BOOST_AUTO_TEST_CASE(EachCommandEndsOnceWithItsOwnStatus) {
  Scripts scripts;
  std::vector<Command> commands;
  for (int i = 0; i < 9; ++i) commands.push_back(scripts.command("exit " + std::to_string(i)));
  const std::atomic<bool> never{false};
  std::map<std::size_t, int> codes;
  const auto done = [&](std::size_t index, const Exit& exit) {
    BOOST_TEST(codes.emplace(index, exit.code).second);
    BOOST_TEST(exit.signal == 0);
    BOOST_TEST(!exit.timed_out);
    BOOST_TEST(exit.ok() == (index == 0));
  };
  BOOST_TEST(outcome(run_all(commands, 3, kLong, never, done)) == "ok");
  BOOST_TEST(codes.size() == 9U);
  for (const auto& [index, code] : codes) BOOST_TEST(static_cast<std::size_t>(code) == index);
}

BOOST_AUTO_TEST_CASE(NoMoreThanTheAllowedRunAtATime) {
  for (const unsigned parallel : {1U, 3U}) {
    Scripts scripts;
    std::vector<Command> commands;
    for (int i = 0; i < 8; ++i) {
      commands.push_back(scripts.command("touch running.$$; set -- running.*; echo $#; sleep 0.02; rm running.$$"));
    }
    const std::atomic<bool> never{false};
    BOOST_TEST(outcome(run_all(commands, parallel, kLong, never, [](std::size_t, const Exit&) {})) == "ok");
    for (const Command& command : commands) {
      const int seen = std::stoi(read_file(command.log));
      BOOST_TEST(seen >= 1);
      BOOST_TEST(seen <= static_cast<int>(parallel));
    }
  }
}

BOOST_AUTO_TEST_CASE(CommandsAddedOnTheWayRunAsWell) {
  Scripts scripts;
  std::vector<Command> commands = {scripts.command("exit 0")};
  const std::atomic<bool> never{false};
  std::vector<std::size_t> ended;
  const auto done = [&](std::size_t index, const Exit&) {
    ended.push_back(index);
    if (commands.size() < 4) commands.push_back(scripts.command("exit 0"));
  };
  BOOST_TEST(outcome(run_all(commands, 2, kLong, never, done)) == "ok");
  BOOST_TEST((ended == std::vector<std::size_t>{0, 1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(ACommandThatTakesTooLongIsKilledWithItsChildren) {
  Scripts scripts;
  const Exit exit = scripts.run("trap '' TERM INT; sleep 300 & echo $! > child; echo $$ > self; wait", seconds(1));
  BOOST_TEST(exit.timed_out);
  BOOST_TEST(!exit.ok());
  BOOST_TEST(describe(exit, scripts.commands[0], seconds(1)) == "no end after 1 s");
  BOOST_TEST(ends(trimmed(read_file(scripts.path("self")))));
  BOOST_TEST(ends(trimmed(read_file(scripts.path("child")))));
}

BOOST_AUTO_TEST_CASE(ACommandThatComputesForEverIsKilled) {
  Scripts scripts;
  BOOST_TEST(scripts.run("while :; do :; done", seconds(1)).timed_out);
}

BOOST_AUTO_TEST_CASE(ACommandThatWaitsForEverAfterSomeWorkIsKilled) {
  Scripts scripts;
  BOOST_TEST(scripts.run("i=0; while [ $i -lt 1000 ]; do i=$((i + 1)); done; exec sleep 300", seconds(1)).timed_out);
}

// A script that serves as a worker does: each command writes the number of its process into its file.
struct Serving : Scripts {
  Serving() {
    write_file(path("worker"),
               "work() { case $1 in hang) sleep 300 ;; bad) exit 7 ;; once) [ -e tried ] || { : > tried; exit 7; } ;; "
               "esac; echo $$ > $2; }\n"
               "cd \"${0%/*}\" || exit 1\n"
               "[ \"$1\" = serve ] || { work \"$@\"; exit 0; }\n"
               "while read -r verb file; do work $verb $file; echo done >&0; done\n");
  }

  // How the commands "VERB FILE" ended, one after the other; -2: not in time.
  std::vector<int> run_served(const std::vector<std::string>& verbs, seconds timeout = kLong) {
    for (std::size_t i = 0; i < verbs.size(); ++i) {
      Command command;
      command.arguments = {"/bin/sh", path("worker"), verbs[i], std::to_string(i)};
      command.host = "script";
      command.log = path("log");
      commands.push_back(command);
    }
    std::vector<int> codes(verbs.size(), -1);
    const std::atomic<bool> never{false};
    const auto done = [&](std::size_t index, const Exit& exit) { codes[index] = exit.timed_out ? -2 : exit.code; };
    BOOST_TEST(outcome(run_all(commands, 1, timeout, never, done)) == "ok");
    return codes;
  }
  std::string process_of(std::size_t command) const { return read_file(path(std::to_string(command))); }
};

BOOST_FIXTURE_TEST_CASE(CommandsOfOneHostShareAProcess, Serving) {
  BOOST_TEST((run_served({"good", "good", "good"}) == std::vector<int>{0, 0, 0}));
  BOOST_TEST(process_of(0) == process_of(1));
  BOOST_TEST(process_of(0) == process_of(2));
}

BOOST_FIXTURE_TEST_CASE(AFailureAfterOthersIsTriedOnceMoreAlone, Serving) {
  BOOST_TEST((run_served({"good", "once", "good", "bad", "good"}) == std::vector<int>{0, 0, 0, 7, 0}));
  BOOST_TEST(process_of(1) != process_of(0));
  BOOST_TEST(process_of(2) != process_of(1));
}

BOOST_FIXTURE_TEST_CASE(ACommandThatHangsAfterOthersIsKilled, Serving) {
  BOOST_TEST((run_served({"good", "hang", "good"}, seconds(1)) == std::vector<int>{0, -2, 0}));
  BOOST_TEST(process_of(2) != process_of(0));
}

BOOST_FIXTURE_TEST_CASE(AFirstFailureIsFinal, Serving) { BOOST_TEST((run_served({"once"}) == std::vector<int>{7})); }

BOOST_AUTO_TEST_CASE(CancellationKillsWhatRunsAndStartsNothingMore) {
  Scripts scripts;
  std::vector<Command> commands = {scripts.command("echo $$ > self; touch started; sleep 300"),
                                   scripts.command("until [ -e started ]; do sleep 0.01; done"),
                                   scripts.command("touch never")};
  std::atomic<bool> cancel{false};
  const auto done = [&](std::size_t, const Exit&) { cancel = true; };
  BOOST_TEST(outcome(run_all(commands, 2, kLong, cancel, done)) == "cancelled");
  BOOST_TEST(ends(trimmed(read_file(scripts.path("self")))));
  BOOST_TEST(!fs::exists(scripts.path("never")));
}

BOOST_AUTO_TEST_CASE(AMissingExecutableIsAnIoFailure) {
  Scripts scripts;
  std::vector<Command> commands = {scripts.command("exit 0")};
  commands[0].arguments = {"/no/such/executable"};
  const std::atomic<bool> never{false};
  const Status status = run_all(commands, 1, kLong, never, [](std::size_t, const Exit&) {});
  BOOST_TEST(outcome(status) == "input/output");
  BOOST_TEST(contains(status.message(), "/no/such/executable"), status.message());
}

BOOST_AUTO_TEST_CASE(TheEnvironmentIsTheCallersWithTheCommandsOnTop) {
  Scripts scripts;
  setenv("CLBAKE_TEST_KEPT", "kept", 1);
  setenv("CLBAKE_TEST_REPLACED", "old", 1);
  std::vector<Command> commands = {scripts.command("env | grep CLBAKE_TEST_ | sort")};
  commands[0].environment = {{"CLBAKE_TEST_REPLACED", "new"}, {"CLBAKE_TEST_ADDED", "a=b"}};
  const std::atomic<bool> never{false};
  BOOST_TEST(outcome(run_all(commands, 1, kLong, never, [](std::size_t, const Exit&) {})) == "ok");
  BOOST_TEST(read_file(commands[0].log) == "CLBAKE_TEST_ADDED=a=b\nCLBAKE_TEST_KEPT=kept\nCLBAKE_TEST_REPLACED=new\n");
  unsetenv("CLBAKE_TEST_KEPT");
  unsetenv("CLBAKE_TEST_REPLACED");
}

BOOST_AUTO_TEST_CASE(TheLogHasStdoutAndStderrAndStdinIsEmpty) {
  Scripts scripts;
  scripts.run("echo out; echo err >&2; cat; echo end");
  BOOST_TEST(read_file(scripts.commands[0].log) == "out\nerr\nend\n");
}

BOOST_AUTO_TEST_CASE(AnInterruptOfTheTerminalDoesNotReachTheChildren) {
  Scripts scripts;
  scripts.run("echo $$; cut -d' ' -f5 /proc/$$/stat");
  const std::string log = read_file(scripts.commands[0].log);
  const std::size_t line = log.find('\n');
  BOOST_TEST(log.substr(0, line) == trimmed(log.substr(line + 1)));  // leads a process group of its own
}

BOOST_AUTO_TEST_CASE(DescriptionsNameWhatHappened) {
  Scripts scripts;
  const auto description = [&](const std::string& script) {
    const Exit exit = scripts.run(script);
    return describe(exit, scripts.commands[0], kLong);
  };
  BOOST_TEST(description("echo first; echo 'the cause' >&2; echo; exit 4") == "the cause");
  BOOST_TEST(description("exit 4") == "exit status 4");
  BOOST_TEST(description("kill -SEGV $$") == "killed by signal 11 (Segmentation fault)");
  BOOST_TEST(description("echo words; kill -KILL $$") == "killed by signal 9 (Killed)");
}

BOOST_AUTO_TEST_CASE(AScratchDirectoryIsPrivateAndGoesWithAllItHolds) {
  std::string path;
  {
    const Result<ScratchDirectory> scratch = ScratchDirectory::create();
    BOOST_REQUIRE_EQUAL(outcome(scratch), "ok");
    path = scratch->path();
    BOOST_TEST((fs::status(path).permissions() == fs::perms::owner_all));
    fs::create_directories(path + "/a/b");
    write_file(path + "/a/b/file", "text");
  }
  BOOST_TEST(!fs::exists(path));
}

BOOST_AUTO_TEST_CASE(NoTemporaryDirectoryIsAnIoFailure) {
  const char* before = std::getenv("TMPDIR");
  const std::string saved = before ? before : "";
  setenv("TMPDIR", "/no/such/directory", 1);
  BOOST_TEST(outcome(ScratchDirectory::create()) == "input/output");
  before ? setenv("TMPDIR", saved.c_str(), 1) : unsetenv("TMPDIR");
}

BOOST_AUTO_TEST_CASE(EveryPlatformHasARowOfTheBuilder) {
  for (const char* name : {"Portable Computing Language", "NVIDIA CUDA", "AMD Accelerated Parallel Processing",
                           "Intel(R) OpenCL HD Graphics", "Intel(R) OpenCL Graphics", "Intel(R) OpenCL", "rusticl",
                           "Oclgrind", "Somebody's"}) {
    Target target;
    target.platform_name = name;
    BOOST_TEST((builder_platform_of(target).id == platform_of(target).id), name);
  }
  BOOST_TEST((platform_named("Intel(R) OpenCL Graphics").id == PlatformId::intel_gpu));
  BOOST_TEST((platform_named("Intel(R) OpenCL").id == PlatformId::intel_cpu));
  BOOST_TEST((platform_named("").id == PlatformId::other));
}

BOOST_AUTO_TEST_CASE(AWorkerThatIsKilledIsNamedWithWhatItTriedLast) {
  Scripts scripts;
  const auto failure = [&](const std::string& script, seconds timeout = kLong) {
    const Exit exit = scripts.run("echo 'trying kernel a'; echo 'trying kernel b'; " + script, timeout);
    return failure_of(exit, scripts.commands[0], timeout);
  };
  BOOST_TEST(failure("sleep 300", seconds(1)) == "kernel b: no end after 1 s");
  BOOST_TEST(failure("kill -SEGV $$") ==
             "kernel b: killed by signal 11 (Segmentation fault); perhaps the kernel "
             "accesses memory outside of its buffers");
  BOOST_TEST(failure("echo cause; exit 1") == "cause");
}

// No file fits into /proc.
BOOST_AUTO_TEST_CASE(AWorkerThatFailsOnAFullDiskSaysWhere) {
  Command command;
  command.log = "/proc/worker.log";
  Exit crashed;
  crashed.signal = SIGABRT;
  BOOST_TEST(failure_of(crashed, command, kLong) == "no space left on the disk of /proc");
  BOOST_TEST(is_full_disk(crashed, command));
  BOOST_TEST(!is_full_disk(Exit(), command));
}

BOOST_AUTO_TEST_CASE(AWorkDirectoryWithAPathTooLongForDriversIsRefused) {
  const Result<WorkDirectory> refused = WorkDirectory::open("/" + std::string(800, 'd'));
  BOOST_TEST((refused.status().code() == Code::io));
  BOOST_TEST(refused.status().message().find("801 bytes, at most 700") != std::string::npos);
}

}  // namespace clbake::builder::test
