// Writers that are killed, by TerminateProcess on Windows: an entry of the overlay, and a file, is the last one that
// was reported or the one that was being written, and never damaged.
#include "overlay/overlay_samples.hpp"
#include "system/temporary_directory.hpp"

#include <clbake/os/child.hpp>
#include <clbake/os/environment.hpp>
#include <clbake/os/files.hpp>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

namespace clbake::test {
namespace {

constexpr std::uintmax_t kMost = 1U << 20U;  // bytes of a file

class Writer {
 public:
  // Starts a writer of the version after `last` and kills it; returns how many versions it reported.
  std::uint64_t run_and_kill(std::uint64_t last, unsigned seed) const {
    const std::string log = root_.file("log");
    os::remove_file(log);
    Result<os::Child> child =
        os::Child::start({{CLBAKE_KILLED_WRITER, root_.path, std::to_string(last + 1)}, os::variables(), log});
    BOOST_REQUIRE_MESSAGE(child.ok(), child.status().message());
    while (!child->has_ended() && reported(log).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::microseconds(std::mt19937(seed)() % 12000));
    const bool killed = os::was_killed(child->kill());
    BOOST_REQUIRE_MESSAGE(killed, "the writer ended by itself: " + reported(log));
    return reported(log).size();
  }

  // The version in the overlay; fails the test unless it is whole.
  std::uint64_t in_overlay() const {
    const Result<Overlay> overlay = Overlay::open({root_.file("overlay"), OverlayMode::read_only, kMost});
    BOOST_REQUIRE(overlay.ok());
    const Result<Bundle> bundle = overlay->find(sample_key(1));
    BOOST_REQUIRE_MESSAGE(bundle.ok(), bundle.status().message());
    const Result<cache::Bytes> program = bundle->program(*bundle->find_entry(0, 0));
    BOOST_REQUIRE_MESSAGE((program && is_sample(*program, 1)), "other bytes than were written");
    std::uint64_t version = 0;
    std::memcpy(&version, program->data() + sizeof version, sizeof version);
    return version;
  }

  std::uint64_t in_file() const {
    const Result<std::string> text = os::read_file(root_.file("file"), kMost);
    BOOST_REQUIRE_MESSAGE(text.ok(), text.status().message());
    const std::size_t digits = text->find_first_not_of('x');
    BOOST_REQUIRE(digits == 100000U);
    return std::strtoull(text->c_str() + digits, nullptr, 10);
  }

 private:
  static std::string reported(const std::string& log) {
    const Result<std::string> text = os::read_file(log, kMost);
    return text ? *text : std::string();
  }

  tests::TemporaryDirectory root_;
};

std::size_t kills_wanted() {
  const char* wanted = std::getenv("CLBAKE_KILLS");
  return wanted ? std::strtoul(wanted, nullptr, 10) : 10;
}

}  // namespace

BOOST_AUTO_TEST_CASE(NothingThatWasReportedIsLost) {
  const Writer writer;
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < kills_wanted(); ++i) {
    const std::uint64_t reported = writer.run_and_kill(last, static_cast<unsigned>(i));
    const std::uint64_t overlay = writer.in_overlay(), file = writer.in_file();
    BOOST_TEST_CONTEXT("kill " << i) {
      BOOST_TEST(overlay >= last + reported);
      BOOST_TEST(overlay <= last + reported + 1);
      BOOST_TEST(file >= last + reported);
      BOOST_TEST(file <= overlay);
    }
    last = overlay;
  }
  BOOST_TEST(last > 0U);
}

}  // namespace clbake::test
