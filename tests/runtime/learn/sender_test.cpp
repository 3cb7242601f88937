// The layer's end of learning, with a learner that only notes what it gets.
#include "learn/sender.hpp"
#include "learn/noted.hpp"

#include <clbake/os/environment.hpp>
#include <clbake/os/program.hpp>

#ifndef _WIN32
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#endif
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace clbake::learn {
namespace {

const std::string kFakeLearner = CLBAKE_FAKE_LEARNER;

Request request_of(const std::string& program) {
  Request request;
  request.program = program;
  return request;
}

class Place : public tests::Noted {
 public:
  SenderSettings settings(const std::string& overlay = "overlay") const { return {kFakeLearner, path(overlay), 0, {}}; }
};

bool has_line(const std::string& lines, const std::string& line) {
  return ("\n" + lines).find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(TheLearnerGetsEveryRequestAndSeesTheEnd) {
  const Place place;
  const std::string large(5 << 20, 'x');  // more than any socket holds
  {
    Sender sender(place.settings());
    BOOST_TEST(sender.send(request_of("first")).ok());
    BOOST_TEST(sender.send(request_of(large)).ok());
    place.wait_for("request-", 2);
    BOOST_TEST(place.noted("end-").empty());
  }
  place.wait_for("end-");
  const std::string behind = "\n" + os::working_directory();
  BOOST_TEST((place.noted("request-") == std::vector<std::string>{"first" + behind, large + behind}));
  BOOST_TEST(place.noted("start-").size() == 1);
}

BOOST_AUTO_TEST_CASE(TheLearnerHasNothingOfTheProgramsButItsDirectoryAndEnvironment) {
  const Place place;
  for (const char* name : {"OPENCL_LAYERS", "LD_PRELOAD", "MY_OWN"}) os::set_variable(name, "x");
  for (const char* name : {"CLBAKE_BUNDLE", "CLBAKE_LEARN", "CLBAKE_CONFIG"}) os::set_variable(name, "mine");
#ifndef _WIN32
  const int file = open("/dev/null", O_RDONLY);  // not closed on exec
  BOOST_REQUIRE(file > 2);
#endif
  SenderSettings settings = place.settings();
  settings.bytes = 4096;
  settings.log = "/some/log";
  Sender sender(settings);
  BOOST_TEST(sender.send(request_of("p")).ok());
  const std::string start = place.wait_for("start-").front();
  for (const char* name : {"OPENCL_LAYERS", "LD_PRELOAD"}) {
    BOOST_TEST(!has_line(start, std::string("variable ") + name), name);
    os::unset_variable(name);
  }
  for (const char* name : {"CLBAKE_BUNDLE", "CLBAKE_LEARN", "CLBAKE_CONFIG"}) os::unset_variable(name);
  BOOST_TEST(start.find("=mine\n") == std::string::npos);
  // A layer that the loader finds by itself neither serves the learner nor learns from it.
  for (const char* setting : {"CLBAKE_LEARN=off", "CLBAKE_BUNDLE=", "CLBAKE_RECORD="}) {
    BOOST_TEST(has_line(start, std::string("variable ") + setting), setting);
  }
  BOOST_TEST(has_line(start, "variable MY_OWN"));
#ifndef _WIN32
  close(file);
  BOOST_TEST(has_line(start, "file 2"));
  BOOST_TEST(start.find("file 3") == std::string::npos);
  BOOST_TEST(has_line(start, "leads its session"));
#endif
  BOOST_TEST(has_line(start, "directory " + os::working_directory()));
  const std::string arguments = "argument learn\nargument --overlay\nargument " + settings.overlay +
                                "\nargument --max-bytes\nargument 4096\nargument --log\nargument /some/log\n";
  BOOST_TEST(start.rfind(arguments, 0) == 0);
}

BOOST_AUTO_TEST_CASE(AMissingLearnerIsReportedOnce) {
  const Place place;
  SenderSettings settings = place.settings();
  settings.learner = "/missing/clbake";
  Sender sender(settings);
  const Status first = sender.send(request_of("p"));
  BOOST_TEST((first.code() == Code::io));
  BOOST_TEST(first.message().rfind("/missing/clbake: cannot start: ", 0) == 0, first.message());
  BOOST_TEST(sender.send(request_of("p")).ok());
}

BOOST_AUTO_TEST_CASE(ALearnerThatEndedIsFollowedByAnother) {
  const Place place;
  Sender sender(place.settings("short"));
  BOOST_TEST(sender.send(request_of("a")).ok());
  place.wait_for("end-");
  // The file is there a moment before the process has ended.
  for (int i = 0; i < 6000 && place.noted("request-").size() < 2; ++i) {
    static_cast<void>(sender.send(request_of("b")));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  BOOST_TEST(place.noted("request-").size() >= 2);
}

BOOST_AUTO_TEST_CASE(ALearnerThatDoesNotReadDoesNotBlockTheProgram) {
  const Place place;
  Sender sender(place.settings("deaf"));
  std::size_t refused = 0;
  for (int i = 0; i < 5000; ++i) {
    const Status sent = sender.send(request_of("p"));
    if (!sent) ++refused;
    if (!sent) BOOST_TEST((sent.code() == Code::io), sent.message());
  }
  BOOST_TEST(refused > 0);
  std::ofstream(place.path("stop")) << "";
  place.wait_for("end-");
}

BOOST_AUTO_TEST_CASE(ThreadsSendAtOnce) {
  const Place place;
  std::atomic<std::size_t> refused{0};
  {
    Sender sender(place.settings());
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 10; ++i) refused += sender.send(request_of("p")) ? 0 : 1;
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  place.wait_for("end-");
  BOOST_TEST(refused == 0);
  BOOST_TEST(place.noted("request-").size() == 40);
  BOOST_TEST(place.noted("start-").size() == 1);
}

#ifndef _WIN32
static int signals = 0;
static void count_signal(int) { ++signals; }

BOOST_AUTO_TEST_CASE(TheProgramSeesNoChildAndNoSignal) {
  const Place place;
  const auto before = std::signal(SIGCHLD, count_signal);
  {
    Sender sender(place.settings());
    BOOST_TEST(sender.send(request_of("p")).ok());
  }
  place.wait_for("end-");
  BOOST_TEST(signals == 0);
  BOOST_TEST(waitpid(-1, nullptr, WNOHANG | __WALL) == -1);
  BOOST_TEST(errno == ECHILD);
  std::signal(SIGCHLD, before);
}

// A daemon closes all files that it does not know, and its own then have their numbers.
BOOST_AUTO_TEST_CASE(NothingIsSentIntoAFileThatTookTheSocketsNumber) {
  const Place place;
  Sender sender(place.settings());
  BOOST_TEST(sender.send(request_of("a")).ok());
  place.wait_for("request-");
  const pid_t child = fork();
  if (child == 0) {
    for (int file = 3; file < 1024; ++file) close(file);
    int own[2] = {};
    for (int i = 0; i < 10; ++i) static_cast<void>(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, own));
    const bool sent = sender.send(request_of("b")).ok();
    bool touched = false;
    for (int file = 3; file < 23; ++file) {
      char byte = 0;
      touched = touched || recv(file, &byte, 1, MSG_DONTWAIT) > 0;
    }
    _exit(sent && !touched ? 0 : 1);
  }
  int status = 0;
  BOOST_REQUIRE(waitpid(child, &status, 0) == child);
  BOOST_TEST(status == 0);
  place.wait_for("request-", 2);
}
#endif

}  // namespace clbake::learn
