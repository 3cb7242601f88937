// Programs that close descriptors which are not theirs.
#include "layer/recorded.hpp"

#include <fcntl.h>
#include <unistd.h>

using namespace clbake;
using namespace clbake::test;

namespace {

// The number of this process's file with that ending; -1: none is open.
int descriptor_of(const std::string& ending) {
  for (int number = 3; number < 256; ++number) {
    char path[4096] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(number);
    if (::readlink(link.c_str(), path, sizeof path - 1) < 0) continue;
    const std::string name = path;
    if (name.size() > ending.size() && name.substr(name.size() - ending.size()) == ending) return number;
  }
  return -1;
}

}  // namespace

// The program closes all descriptors but its own three, and opens a file of its own at the journal's number.
BOOST_AUTO_TEST_CASE(AProgramThatTakesTheJournalsDescriptorKeepsItsFileAndTheRecordingGoesOn) {
  {
    Recorded recorded;
    recorded.start();
    tests::TemporaryDirectory directory;
    const std::string own = directory.file("own");
    const int number = descriptor_of(".jsonl");
    BOOST_REQUIRE(number >= 0);
    const int file = ::open(own.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    BOOST_REQUIRE(::dup2(file, number) == number);
    BOOST_TEST(recorded.launch(recorded.scene.queue, 1) == CL_SUCCESS);
    BOOST_TEST(recorded.result() == Floats({2, 2}));
    BOOST_TEST(text_in(own) == "");
    BOOST_TEST(count_of(recorded.journal(), "clbake_recording") == 2U);
    BOOST_TEST(recorded.content(1) == Recorded::bytes({1, 1}));
    ::close(number);
    ::close(file);
  }
  check_nothing_is_left();
}
