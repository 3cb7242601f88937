// Messages to a process that is nobody's child.
#include <clbake/os/environment.hpp>
#include <clbake/os/files.hpp>
#include <clbake/os/message_sender.hpp>
#include <clbake/os/messages.hpp>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <optional>
#include <thread>

namespace clbake::tests {
namespace {

constexpr std::size_t kMost = std::size_t{11} << 20;

// The file in which the receiver notes what it got; removed before and behind.
class Notes {
 public:
  explicit Notes(const std::string& name) : path_("clbake-os-messages-" + name) { os::remove_file(path_); }
  Notes(const Notes&) = delete;
  Notes& operator=(const Notes&) = delete;
  ~Notes() { os::remove_file(path_); }

  Result<os::MessageSender> start(const std::string& messages) const {
    return os::MessageSender::start({OS_CHILD, "receive", path_, messages}, os::variables());
  }

  // Waits until the receiver has written them.
  std::string wait() const {
    while (true) {
      const Result<std::string> text = os::read_file(path_, kMost);
      if (text) return *text;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

 private:
  std::string path_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(MessagesOfAnySizeArriveInTheirOrderAndThenTheEnd) {
  const Notes notes("order");
  {
    const Result<os::MessageSender> sender = notes.start("9");
    BOOST_REQUIRE_MESSAGE(sender.status(), sender.status().message());
    for (const std::string& message : {std::string("first"), std::string(5 << 20, 'x'), std::string("y")}) {
      const Status sent = sender->send(message);
      BOOST_TEST(sent.ok(), sent.message());
    }
    BOOST_TEST(sender->send(std::string(kMost, 'z')).ok());
  }
  BOOST_TEST(notes.wait() == "5f\n5242880x\n1y\na message is no file, or too large\nend");
}

BOOST_AUTO_TEST_CASE(AReceiverThatHasEndedIsNoticed) {
  const Notes notes("ended");
  const Result<os::MessageSender> sender = notes.start("1");
  BOOST_REQUIRE_MESSAGE(sender.status(), sender.status().message());
  BOOST_TEST(sender->send("one").ok());
  BOOST_TEST(notes.wait() == "3o\nenough");
  while (sender->send("two").code() != Code::not_found) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

BOOST_AUTO_TEST_CASE(AMissingReceiverIsAnIoFailureThatNamesIt) {
  const Status status = os::MessageSender::start({"/no/program", "x"}, os::variables()).status();
  BOOST_TEST((status.code() == Code::io));
  BOOST_TEST(status.message().rfind("/no/program: cannot start: ", 0) == 0U, status.message());
  BOOST_TEST(!os::is_message_channel());
}

}  // namespace clbake::tests
