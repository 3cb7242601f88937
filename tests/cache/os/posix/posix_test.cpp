#include <clbake/os/child.hpp>
#include <clbake/os/directories.hpp>
#include <clbake/os/environment.hpp>
#include <clbake/os/libraries.hpp>
#include <clbake/os/private_directory.hpp>
#include <clbake/os/program.hpp>

#include "os/room.hpp"

#include <sys/stat.h>
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>

namespace clbake::os::test {
namespace {

unsigned mode_of(const std::string& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 07777U : 0;
}

BOOST_AUTO_TEST_CASE(PrivateIsForTheUserAlone) {
  const Room room;
  BOOST_REQUIRE(create_file(room.path("one"), "x", Access::user).ok());
  BOOST_REQUIRE(write_private_file(room.path("two"), "x").ok());
  const Result<PrivateDirectory> directory = PrivateDirectory::open(room.path("directory"), true);
  BOOST_REQUIRE(directory.ok());
  BOOST_REQUIRE(directory->write("three", "x").ok());
  for (const char* name : {"one", "two", "directory/three"}) BOOST_TEST(mode_of(room.path(name)) == 0600U, name);
  BOOST_TEST(mode_of(room.path("directory")) == 0700U);
}

BOOST_AUTO_TEST_CASE(WhatOthersCanWriteIsRefused) {
  const Room room;
  const Result<PrivateDirectory> directory = PrivateDirectory::open(room.path("directory"), true);
  BOOST_REQUIRE(directory.ok());
  BOOST_REQUIRE(directory->write("file", "x").ok());
  BOOST_REQUIRE(::chmod(room.path("directory/file").c_str(), 0620) == 0);
  BOOST_TEST(!directory->find("file").has_value());
  BOOST_REQUIRE(::chmod(room.path("directory").c_str(), 0770) == 0);
  BOOST_TEST((PrivateDirectory::open(room.path("directory"), false).status().code() == Code::io));
}

BOOST_AUTO_TEST_CASE(ASecretThatOthersCanReadIsRefused) {
  const Room room;
  BOOST_REQUIRE(create_file(room.path("key"), "secret", Access::everyone).ok());
  std::string text;
  BOOST_TEST((read_secret(room.path("key"), text, 100).code() == Code::invalid_argument));
  BOOST_TEST(text == "");
}

BOOST_AUTO_TEST_CASE(APathNeedNotBeUtf8) {
  const Room room;
  const std::string path = room.path("\xFF\xFE");
  BOOST_TEST(write_file(path, "x").ok());
  BOOST_TEST(utf8(native(path)) == path);
  BOOST_TEST(text_of(path) == "x");
}

BOOST_AUTO_TEST_CASE(APipeIsNoFileToMap) {
  const Room room;
  BOOST_REQUIRE(::mkfifo(room.path("pipe").c_str(), 0600) == 0);
  BOOST_TEST(map_file(room.path("pipe")).status().message() == room.path("pipe") + ": not a regular file");
  BOOST_TEST(read_file(room.path("pipe"), 10).status().message() == room.path("pipe") + ": not a regular file");
  BOOST_TEST((write_file(room.path("pipe"), "x").code() == Code::io));
}

// As under some supervisors and services of CI.
class EndsOfChildrenAreIgnored {
 public:
  EndsOfChildrenAreIgnored() : before_(std::signal(SIGCHLD, SIG_IGN)) {}
  EndsOfChildrenAreIgnored(const EndsOfChildrenAreIgnored&) = delete;
  EndsOfChildrenAreIgnored& operator=(const EndsOfChildrenAreIgnored&) = delete;
  ~EndsOfChildrenAreIgnored() { std::signal(SIGCHLD, before_); }

 private:
  void (*before_)(int);
};

Exit end_of(const char* script) {
  const Room room;
  Result<Child> child = Child::start({{"/bin/sh", "-c", script}, variables(), room.path("log")});
  BOOST_REQUIRE(child.ok());
  std::optional<Exit> exit;
  for (int ms = 0; !exit && ms < 10000; ++ms) {
    exit = child->ended();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  BOOST_REQUIRE(exit.has_value());
  return *exit;
}

BOOST_AUTO_TEST_CASE(AProgramWhoseParentIgnoresTheEndsOfChildrenSeesThem) {
  const EndsOfChildrenAreIgnored ignored;
  begin_program(0, nullptr);
  BOOST_TEST(end_of("exit 3").code == 3);
}

// A library in a program that wants it so.
BOOST_AUTO_TEST_CASE(AnEndThatNobodyIsToldIsNoSuccess) {
  const EndsOfChildrenAreIgnored ignored;
  const Exit exit = end_of("exit 0");
  BOOST_TEST(!exit.ok());
  BOOST_TEST(describe(exit) == "ended in an unknown way, as the program ignores SIGCHLD");
  const Room room;
  Result<Child> child = Child::start({{"/bin/sleep", "1000"}, variables(), room.path("log")});
  BOOST_REQUIRE(child.ok());
  BOOST_TEST(!child->has_ended());
  BOOST_TEST(!child->kill().ok());
}

BOOST_AUTO_TEST_CASE(ALibraryHasItsFunctions) {
  const Result<LibraryHandle> library = open_library("libm.so.6");
  BOOST_REQUIRE(library.ok());
  BOOST_TEST(symbol(*library, "cos") != nullptr);
  BOOST_TEST(symbol(*library, "no_such_function") == nullptr);
  BOOST_TEST(path_of_module(symbol(*library, "cos")).find("libm") != std::string::npos);
  BOOST_TEST(is_absolute("/a"));
  BOOST_TEST(path_in("/f/", "/a") == "/a");
  BOOST_TEST(path_in("/f/", "a") == "/f/a");
  BOOST_TEST(path_in("/f/", "") == "");
}

}  // namespace
}  // namespace clbake::os::test
