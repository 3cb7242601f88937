// A child process that is talked to: what it hears and says, and all ways in which it ends.
#include "build_fixture.hpp"

#include <clbake/builder/process.hpp>
#include <clbake/os/line_channel.hpp>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <thread>

namespace clbake::builder::test {
using namespace process;
using os::LineChannel;
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLong{30};  // never reached unless something is broken

// A directory, and children in it that say a script's output and hear its input: both go over standard input.
class Room {
 public:
  Room() : directory_(required(ScratchDirectory::create())) {}
  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }

  LineChannel start(const std::string& script) const {
    Command command;
    command.arguments = {"/bin/sh", "-c", "exec >&0; cd '" + directory_.path() + "'; " + script};
    command.log = path("log");
    return required(LineChannel::start(launch_of(command)));
  }

 private:
  ScratchDirectory directory_;
};

// Waits; nothing when the child has ended, or after far too long.
std::optional<std::string> next_line(LineChannel& child) {
  for (const auto end = Clock::now() + kLong; Clock::now() < end;) {
    if (std::optional<std::string> line = child.receive()) return line;
    LineChannel::wait({&child}, 10);
  }
  return std::nullopt;
}

std::optional<Exit> end_of(LineChannel& child) {
  for (const auto end = Clock::now() + kLong; Clock::now() < end;) {
    if (const std::optional<Exit> exit = child.ended()) return exit;
    LineChannel::wait({&child}, 10);
  }
  return std::nullopt;
}

}  // namespace

BOOST_AUTO_TEST_CASE(LinesGoBothWaysInTheirOrder) {
  const Room room;
  LineChannel child = room.start("while read -r line; do echo \"heard $line\"; echo; done");
  child.send("first");
  child.send("");
  child.send("a \\ 'b' \t\"c\"");
  for (const char* line : {"heard first", "", "heard ", "", "heard a \\ 'b' \t\"c\"", ""}) {
    BOOST_TEST(next_line(child).value_or("nothing") == line);
  }
  BOOST_TEST(!child.receive().has_value());
  BOOST_TEST(!child.ended().has_value());
}

BOOST_AUTO_TEST_CASE(LongLinesArriveWhole) {
  const Room room;
  LineChannel child = room.start("cat");
  for (const std::size_t size : {4095U, 4096U, 4097U, 100000U}) {
    const std::string line(size, 'x');
    child.send(line);
    const std::optional<std::string> heard = next_line(child);
    BOOST_REQUIRE(heard.has_value());
    BOOST_TEST((*heard == line));
  }
}

BOOST_AUTO_TEST_CASE(AChildThatEndsIsHeardToItsLastLine) {
  for (int i = 0; i < 20; ++i) {
    const Room room;
    LineChannel child = room.start("echo one; echo two; printf half; exit 7");
    std::vector<std::string> lines;
    std::optional<Exit> exit;
    for (const auto end = Clock::now() + kLong; !exit && Clock::now() < end;) {
      while (const std::optional<std::string> line = child.receive()) lines.push_back(*line);
      exit = child.ended();
    }
    BOOST_REQUIRE(exit.has_value());
    BOOST_TEST(exit->code == 7);
    BOOST_TEST((lines == std::vector<std::string>{"one", "two"}));
  }
}

BOOST_AUTO_TEST_CASE(ItEndsOnlyOnce) {
  const Room room;
  LineChannel child = room.start("echo one; exit 3");
  BOOST_TEST(next_line(child).value_or("nothing") == "one");
  const std::optional<Exit> exit = end_of(child);
  BOOST_REQUIRE(exit.has_value());
  BOOST_TEST(exit->code == 3);
  BOOST_TEST(!child.receive().has_value());
  child.send("to nobody");
  BOOST_TEST(!child.ended().has_value());
}

BOOST_AUTO_TEST_CASE(AChildWithoutAnEndOfItsOwnIsKilledWithAllItStarted) {
  const Room room;
  {
    LineChannel child = room.start("trap '' TERM INT; sleep 300 & echo $! > child; echo $$ > self; echo up; wait");
    BOOST_TEST(next_line(child).value_or("nothing") == "up");
    BOOST_TEST(is_running(trimmed(read_file(room.path("self")))));
  }
  BOOST_TEST(ends(trimmed(read_file(room.path("self")))));
  BOOST_TEST(ends(trimmed(read_file(room.path("child")))));
}

BOOST_AUTO_TEST_CASE(WhatAChildLeftBehindIsKilledToo) {
  for (const char* end : {"exit 0", "kill -SEGV $$"}) {
    const Room room;
    {
      LineChannel child = room.start(std::string("sleep 300 & echo $! > child; ") + end);
      BOOST_TEST(end_of(child).has_value());
    }
    BOOST_TEST(ends(trimmed(read_file(room.path("child")))), end);
  }
}

BOOST_AUTO_TEST_CASE(AMovedConversationGoesOnAndOnlyTheLastOwnerEndsIt) {
  const Room room;
  LineChannel first = room.start("echo $$ > first; while read -r line; do echo first; done");
  std::string pid;
  {
    LineChannel second = room.start("while read -r line; do echo second; done");
    LineChannel moved = std::move(first);
    moved.send("");
    BOOST_TEST(next_line(moved).value_or("nothing") == "first");
    pid = trimmed(read_file(room.path("first")));
    second = std::move(moved);
    second.send("");
    BOOST_TEST(next_line(second).value_or("nothing") == "first");
    BOOST_TEST(is_running(pid));
  }
  BOOST_TEST(ends(pid));
}

BOOST_AUTO_TEST_CASE(AFloodWithoutALineIsNoLineAndHasBounds) {
  const Room room;
  LineChannel child = room.start("echo before; exec tr '\\0' x < /dev/zero");
  BOOST_TEST(next_line(child).value_or("nothing") == "before");
  for (int i = 0; i < 50; ++i) {
    BOOST_TEST(!child.receive().has_value());
    BOOST_TEST(!child.ended().has_value());
    LineChannel::wait({&child}, 1);
  }
}

BOOST_AUTO_TEST_CASE(AChildThatHangsUpButLivesOnHasNotEnded) {
  const Room room;
  LineChannel child = room.start("echo bye; exec 0<&- 1>&- 2>&-; until [ -e leave ]; do sleep 0.01; done; exit 5");
  BOOST_TEST(next_line(child).value_or("nothing") == "bye");
  for (int i = 0; i < 20; ++i) {
    LineChannel::wait({&child}, 5);
    BOOST_TEST(!child.receive().has_value());
    BOOST_TEST(!child.ended().has_value());
  }
  child.send("are you there?");
  write_file(room.path("leave"), "");
  const std::optional<Exit> exit = end_of(child);
  BOOST_REQUIRE(exit.has_value());
  BOOST_TEST(exit->code == 5);
}

BOOST_AUTO_TEST_CASE(WaitingEndsWhenAnyOfThemSpeaks) {
  const Room room;
  const LineChannel quiet = room.start("sleep 300");
  LineChannel loud = room.start("echo now; sleep 300");
  LineChannel::wait({&quiet, &loud}, 30000);
  BOOST_TEST(loud.receive().value_or("nothing") == "now");
  LineChannel::wait({}, 1);
}

}  // namespace clbake::builder::test
