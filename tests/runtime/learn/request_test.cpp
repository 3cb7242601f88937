// Requests of the layer as messages.
#include <clbake/launch_kind.hpp>
#include <clbake/learn_request.hpp>

#include <boost/test/unit_test.hpp>
#include <string>

namespace clbake::learn {
namespace {

Request sample() {
  Request request;
  request.target = {"Platform", "OpenCL 3.0", "Vendor", "Device", "Version", "1.2", "cpu-z", 64};
  for (std::size_t i = 0; i < request.digest.size(); ++i) request.digest[i] = static_cast<std::uint8_t>(i * 7);
  request.program = std::string("kernel void f() {}\0more", 23);
  request.directory = "/some/where";
  request.log = "warning: none";
  request.launches = {{"f", {64, 2, 1}, true, false}, {"g", {}, false, true}};
  return request;
}

std::string encoded(const Request& request) {
  const Result<std::string> message = encode(request);
  BOOST_REQUIRE_MESSAGE(message.ok(), message.status().message());
  return *message;
}

}  // namespace

BOOST_AUTO_TEST_CASE(ARequestIsReadAsItWasWritten) {
  const Request sent = sample();
  const Result<Request> read = decode(encoded(sent));
  BOOST_REQUIRE_MESSAGE(read.ok(), read.status().message());
  BOOST_TEST((read->target == sent.target));
  BOOST_TEST((read->digest == sent.digest));
  BOOST_TEST(read->program == sent.program);
  BOOST_TEST(read->directory == sent.directory);
  BOOST_TEST(read->log == sent.log);
  BOOST_TEST((read->launches == sent.launches));
}

BOOST_AUTO_TEST_CASE(NoPartOfAMessageIsARequest) {
  const std::string whole = encoded(sample());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    BOOST_TEST((decode(whole.substr(0, size)).status().code() == Code::malformed), size << " bytes");
  }
  BOOST_TEST((decode(whole + "x").status().code() == Code::malformed));
}

BOOST_AUTO_TEST_CASE(AnyByteMayBeAnyOther) {
  const std::string whole = encoded(sample());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {1, 0x80, 0xff}) {
      std::string other = whole;
      other[at] = static_cast<char>(other[at] ^ change);
      const Result<Request> read = decode(other);  // the sanitizers see what it reads
      if (read) BOOST_TEST(encode(*read).ok(), "byte " << at);
    }
  }
}

BOOST_AUTO_TEST_CASE(AnotherVersionIsNamed) {
  std::string message = encoded(sample());
  message[4] = 99;
  BOOST_TEST((decode(message).status().code() == Code::unsupported_version));
}

BOOST_AUTO_TEST_CASE(ALongLogIsCut) {
  Request request = sample();
  request.log = std::string(kMaxLogBytes, 'a') + "b";
  const Result<Request> read = decode(encoded(request));
  BOOST_REQUIRE(read.ok());
  BOOST_TEST((read->log == std::string(kMaxLogBytes, 'a')));
}

BOOST_AUTO_TEST_CASE(RequestsAboveALimitAreRefused) {
  Request many = sample();
  many.launches.assign(kMaxLaunches + 1, SeenLaunch());
  BOOST_TEST((encode(many).status().code() == Code::invalid_argument));
  Request large = sample();
  large.program.assign(kMaxMessage, ' ');
  BOOST_TEST((encode(large).status().code() == Code::invalid_argument));
}

BOOST_AUTO_TEST_CASE(LaunchesAreSeenAsDriversTellThemApart) {
  struct Case {
    const char* what;
    std::vector<std::size_t> offset, global, local;
    SeenLaunch seen;
  };
  const Case cases[] = {
      {"one dimension", {}, {1024}, {64}, {"k", {64, 1, 1}, true, true}},
      {"no local size", {}, {1024, 4}, {}, {"k", {}, true, true}},
      {"three dimensions", {0, 0, 0}, {64, 64, 64}, {8, 4, 2}, {"k", {8, 4, 2}, true, true}},
      {"an offset", {0, 8}, {64, 64}, {8, 4}, {"k", {8, 4, 1}, false, true}},
      {"the largest small grid", {}, {65534, 65534}, {1, 1}, {"k", {1, 1, 1}, true, true}},
      {"large in x", {}, {65535}, {1}, {"k", {1, 1, 1}, true, false}},
      {"large in y", {}, {1, 65535}, {1, 1}, {"k", {1, 1, 1}, true, false}},
      {"large in z", {}, {1, 1, 65535}, {1, 1, 1}, {"k", {1, 1, 1}, true, true}},
  };
  const auto pointer = [](const std::vector<std::size_t>& list) { return list.empty() ? nullptr : list.data(); };
  for (const Case& c : cases) {
    const auto dimensions = static_cast<std::uint32_t>(c.global.size());
    BOOST_TEST((seen_launch("k", dimensions, pointer(c.offset), pointer(c.global), pointer(c.local)) == c.seen),
               c.what);
    const bool is_small = launch_kind("", c.global, c.offset).find("large") == std::string::npos;
    BOOST_TEST(is_small == c.seen.small_grid, c.what);  // a recording's trials are those that learning tells apart
  }
}

}  // namespace clbake::learn
