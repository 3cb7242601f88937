// Child processes: how they start, how they end, and that nothing of them is left.
#include <clbake/os/child.hpp>
#include <clbake/os/environment.hpp>
#include <clbake/os/line_channel.hpp>
#include <clbake/os/lock.hpp>
#include <clbake/os/paths.hpp>
#include <clbake/os/program.hpp>
#include <clbake/os/usage.hpp>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "system/temporary_directory.hpp"

namespace clbake::tests {
namespace {

namespace fs = std::filesystem;

constexpr auto kMoment = std::chrono::milliseconds(2);

// Waits as long as it takes: a test that hangs shows what does not happen.
template <typename Condition>
void wait_until(const Condition& condition) {
  while (!condition()) std::this_thread::sleep_for(kMoment);
}

// A directory with a name that needs care, and children in it.
class Room {
 public:
  explicit Room(const std::string& name) : path_(parent_.file("clbake os " + name)) {
    fs::create_directory(os::native(path_));
  }

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

  os::Launch launch(std::vector<std::string> arguments) const {
    os::Launch launch;
    launch.arguments = {OS_CHILD};
    launch.arguments.insert(launch.arguments.end(), arguments.begin(), arguments.end());
    launch.environment = os::variables();
    launch.environment["OS_CHILD"] = OS_CHILD;
    launch.log = path("log");
    return launch;
  }

  os::Child start(std::vector<std::string> arguments) const { return started(launch(std::move(arguments))); }

  static os::Child started(const os::Launch& launch) {
    Result<os::Child> child = os::Child::start(launch);
    BOOST_REQUIRE_MESSAGE(child.status(), child.status().message());
    return std::move(*child);
  }

  std::string log() const {
    std::ostringstream text;
    text << std::ifstream(os::native(path("log")), std::ios::binary).rdbuf();
    return text.str();
  }

  bool is_held(const std::string& name) const {
    const Result<os::LockFile> lock = os::LockFile::open(path(name));
    BOOST_REQUIRE_MESSAGE(lock.status(), lock.status().message());
    const Result<bool> taken = lock->try_lock(0);
    return taken && !*taken;
  }

 private:
  TemporaryDirectory parent_;
  std::string path_;
};

os::Exit end_of(os::Child child) {
  std::optional<os::Exit> exit;
  wait_until([&] { return (exit = child.ended()).has_value(); });
  return *exit;
}

const std::string kWord = "w\xc3\xb6rd \xe6\x97\xa5";  // "wörd 日"

}  // namespace

BOOST_AUTO_TEST_CASE(ArgumentsArriveAsTheyAre) {
  const Room room("\xc3\xa9");
  const std::vector<std::string> arguments = {"plain",  "two words", "",      "\"quoted\"",    "back\\slash",
                                              "end\\",  "a b\\",     "\\\"",  "\\\\\"x y\\\\", "'single'",
                                              "%PATH%", "^&|<>",     "*.cpp", "tab\there",     kWord};
  std::vector<std::string> words = {"print"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  BOOST_TEST(end_of(room.start(words)).ok());
  std::string wanted;
  for (const std::string& argument : arguments) wanted += "<" + argument + ">\n";
  BOOST_TEST(room.log() == wanted);
}

BOOST_AUTO_TEST_CASE(TheEnvironmentIsWhatWasGiven) {
  const Room room("environment");
  os::Launch launch = room.launch({"variable", "CLBAKE_OS_TEST"});
  BOOST_TEST(end_of(room.started(launch)).ok());
  BOOST_TEST(room.log() == "not set");
  launch.environment["CLBAKE_OS_TEST"] = kWord + "=;x";
  BOOST_TEST(end_of(room.started(launch)).ok());
  BOOST_TEST(room.log() == kWord + "=;x");
}

BOOST_AUTO_TEST_CASE(AChildRunsInTheDirectoryThatWasGiven) {
  const Room room("directory " + kWord);
  os::Launch launch = room.launch({"directory"});
  launch.directory = room.path();
  BOOST_TEST(end_of(room.started(launch)).ok());
  BOOST_TEST(fs::exists(os::native(room.path("here"))));
}

BOOST_AUTO_TEST_CASE(ManyBytesOfOutputAreInTheLog) {
  const Room room("flood");
  BOOST_TEST(end_of(room.start({"flood", "300"})).ok());
  BOOST_TEST(room.log() == std::string(300000, 'x'));
}

BOOST_AUTO_TEST_CASE(EndsAreDescribed) {
  const Room room("ends");
  BOOST_TEST(os::describe(end_of(room.start({"status", "4"}))) == "exit status 4");
  BOOST_TEST(os::status_of(end_of(room.start({"status", "4"}))) == 4);
  const os::Exit crashed = end_of(room.start({"crash"}));
  const std::string text = os::describe(crashed);
  BOOST_TEST_CONTEXT(text) {
    BOOST_TEST(crashed.signal != 0);
    BOOST_TEST(!crashed.ok());
    BOOST_TEST(!os::was_killed(crashed));
    BOOST_TEST((text.find("(Segmentation fault)") != text.npos || text.find("(access violation)") != text.npos));
  }
}

BOOST_AUTO_TEST_CASE(AMissingProgramIsAnIoFailureThatNamesIt) {
  const Room room("missing");
  os::Launch launch = room.launch({});
  launch.arguments = {room.path("no program")};
  const Status status = os::Child::start(launch).status();
  BOOST_TEST((status.code() == Code::io));
  BOOST_TEST(status.message().rfind(room.path("no program") + ": cannot start: ", 0) == 0U, status.message());
}

BOOST_AUTO_TEST_CASE(AKilledChildTakesWithItWhatItStarted) {
  const Room room("tree");
  os::Child child = room.start({"start", room.path("held"), "stay"});
  wait_until([&] { return room.is_held("held"); });
  BOOST_TEST(!child.ended().has_value());
  BOOST_TEST(os::was_killed(child.kill()));
  wait_until([&] { return !room.is_held("held"); });
}

BOOST_AUTO_TEST_CASE(AnObjectThatGoesKillsItsChild) {
  const Room room("destroyed");
  {
    const os::Child child = room.start({"start", room.path("held"), "stay"});
    wait_until([&] { return room.is_held("held"); });
  }
  wait_until([&] { return !room.is_held("held"); });
}

// Nobody asks for its end meanwhile, which would kill what it left.
BOOST_AUTO_TEST_CASE(ADeadParentTakesItsChildWithIt) {
  for (const char* death : {"die", "end"}) {
    const Room room("parent");
    os::Child child = room.start({"start", room.path("held"), death});
    wait_until([&] { return child.has_ended(); });
    wait_until([&] { return !room.is_held("held"); });
    BOOST_TEST(child.kill().ok() == (std::string(death) == "end"));
  }
}

BOOST_AUTO_TEST_CASE(TheProcessorTimeOfAChildIsSeen) {
  const Room room("time");
  const os::Child child = room.start({"spin"});
  wait_until([&] { return child.processor_time() > std::chrono::milliseconds(150); });
}

BOOST_AUTO_TEST_CASE(AProgramInThePlaceOfAnotherEndsInItsWay) {
  const Room room("become");
  BOOST_TEST(end_of(room.start({"become", "status", "6"})).code == 6);
  BOOST_TEST(end_of(room.start({"become", "print", kWord})).ok());
  BOOST_TEST(room.log() == "<" + kWord + ">\n");
  const os::Exit crashed = end_of(room.start({"become", "crash"}));
  BOOST_TEST(crashed.signal != 0);
  os::Child child = room.start({"become", "hold", room.path("held")});
  wait_until([&] { return room.is_held("held"); });
  child.kill();
  wait_until([&] { return !room.is_held("held"); });
}

BOOST_AUTO_TEST_CASE(LinesGoBothWays) {
  const Room room("lines");
  os::LineChannel child = *os::LineChannel::start(room.launch({"converse", "7"}));
  const std::string longest(100000, 'l');
  for (const std::string& line : {kWord, std::string(), longest}) {
    child.send(line);
    std::optional<std::string> heard;
    while (!(heard = child.receive())) os::LineChannel::wait({&child}, 1000);
    BOOST_TEST((*heard == "heard " + line));
  }
  BOOST_TEST(!child.ended().has_value());
  child.send("end");
  std::optional<os::Exit> exit;
  while (!(exit = child.ended())) os::LineChannel::wait({&child}, 10);
  BOOST_TEST(exit->code == 7);
  child.send("nobody hears this");
}

BOOST_AUTO_TEST_CASE(AWaitEndsWithTheFirstThatSpeaks) {
  const Room room("wait");
  os::LineChannel quiet = *os::LineChannel::start(room.launch({"converse", "0"}));
  os::LineChannel loud = *os::LineChannel::start(room.launch({"converse", "0"}));
  loud.send("a");
  while (!loud.receive()) os::LineChannel::wait({&quiet, &loud}, 1000000);
  os::LineChannel moved = std::move(quiet);
  moved.send("b");
  while (!moved.receive()) os::LineChannel::wait({&moved, &loud}, 1000000);
}

BOOST_AUTO_TEST_CASE(TracesOfThisProcessAreSeen) {
  const Room room("traces");
  BOOST_TEST((os::processor_time() > std::chrono::microseconds(0)));
  BOOST_TEST(!os::loaded_libraries().empty());
  const std::size_t before = os::running_children().size();
  os::Child child = room.start({"hold", room.path("held")});
  BOOST_TEST(os::running_children().size() == before + 1);
  child.kill();
  BOOST_TEST(os::running_children().size() == before);
  BOOST_TEST(!os::host_name().empty());
}

}  // namespace clbake::tests
