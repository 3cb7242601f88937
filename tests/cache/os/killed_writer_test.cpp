#include <clbake/os/child.hpp>
#include <clbake/os/environment.hpp>

#include "os/room.hpp"

#include <thread>

namespace clbake::os::test {
namespace {

// Whole: one letter many times.
bool is_whole(const std::string& text) {
  return text.size() >= 20000 && text.find_first_not_of(text[0]) == std::string::npos;
}

// Killed at any moment, while it and this process map the file: the old one or the new one is there.
BOOST_AUTO_TEST_CASE(AKilledWriterLeavesAWholeFile) {
  const Room room;
  const std::string path = room.path("file");
  const int kills = std::stoi(variable("CLBAKE_KILLS").value_or("15"));
  for (int i = 0; i < kills; ++i) {
    Result<Child> writer = Child::start({{OS_CHILD, "write", path}, variables(), room.path("log")});
    BOOST_REQUIRE_MESSAGE(writer.ok(), writer.status().message());
    const std::string before = text_of(path);
    while (text_of(path) == before && !writer->has_ended()) std::this_thread::yield();
    const Result<Mapping> mapping = map_file(path);
    std::this_thread::sleep_for(std::chrono::microseconds(i * 997 % 5000));
    BOOST_TEST(was_killed(writer->kill()));
    BOOST_REQUIRE_MESSAGE(is_whole(text_of(path)), "after kill " << i << ": " << text_of(path).substr(0, 100));
    if (mapping) BOOST_TEST(is_whole(text_of(*mapping)));
  }
  for (const std::string& name : room.names()) {
    if (name.find("file.") == 0) make_old(room.path(name), std::chrono::hours(2));
  }
  BOOST_TEST(write_file(path, "last").message() == "");
  for (const std::string& name : room.names()) BOOST_TEST((name == "file" || name == "log"), name);
}

}  // namespace
}  // namespace clbake::os::test
