// The learner, from the layer's requests to the overlay's entries, with workers that need no driver.
#include "build_fixture.hpp"
#include "learn/layer_end.hpp"
#include "learn/work_lock.hpp"
#include "system/temporary_directory.hpp"

#include <clbake/overlay_directory.hpp>
#include <clbake/program_text.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace clbake::builder::test {
namespace {

namespace fs = std::filesystem;
using clbake::learn::Request;
using clbake::learn::SeenLaunch;
using clbake::learn::SenderSettings;
using tests::Layer;

const std::string kFakeWorker = FAKE_WORKER;
const SeenLaunch kSmall = {"f", {64, 1, 1}, true, true};
const SeenLaunch kLarge = {"f", {64, 1, 1}, true, false};
const SeenLaunch kOther = {"g", {8, 8, 1}, true, true};
const SeenLaunch kUnknown = {"f", {}, true, true};

ProgramText text_of(const std::string& source, const std::string& options = {}) {
  ProgramText text;
  text.sources = {source};
  text.options = options;
  return text;
}

Request request_of(const ProgramText& text, const std::vector<SeenLaunch>& launches = {},
                   const std::string& platform = "Made Up") {
  Request request;
  request.target.platform_name = platform;
  request.target.device_name = "Device";
  request.target.driver_version = "1.0";
  const Result<ContentDigest> digest = content_digest(text);
  BOOST_REQUIRE(digest.ok());
  request.digest = *digest;
  request.program = encode(text);
  request.launches = launches;
  request.log = "the program's own log";
  return request;
}

Request pocl_request(const std::vector<SeenLaunch>& launches) {
  return request_of(text_of("kernel void f() {} kernel void g() {}"), launches, "Portable Computing Language");
}

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool wait_until(const std::function<bool()>& holds) {
  for (int i = 0; i < 6000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// An overlay, a log and workers of a test.
class Place {
 public:
  Place() {
    setenv("FAKE_WORKER_LOG", path("calls").c_str(), 1);
    misbehave("");
  }

  std::string path(const std::string& name) const { return directory_.file(name); }
  SenderSettings settings() const { return {kFakeWorker, path("overlay"), bytes, path("log")}; }
  static void misbehave(const std::string& rules) { setenv("FAKE_WORKER_MISBEHAVE", rules.c_str(), 1); }

  // As a program does that ends after its requests.
  void learn(const std::vector<Request>& requests) const {
    const Layer layer(settings());
    for (const Request& request : requests) layer.send(request);
    layer.end();
  }

  Overlay overlay() const {
    Result<Overlay> opened = Overlay::open({path("overlay"), OverlayMode::read_write});
    BOOST_REQUIRE_MESSAGE(opened.ok(), opened.status().message());
    return std::move(*opened);
  }
  Result<Bundle> find(const Request& request) const {
    return overlay().find(overlay_key(request.target, request.digest));
  }
  cache::Contents entry(const Request& request) const {
    const Result<Bundle> bundle = find(request);
    BOOST_REQUIRE_MESSAGE(bundle.ok(), bundle.status().message() << "; log: " << content(path("log")));
    Result<cache::Contents> contents = bundle->decode();
    BOOST_REQUIRE(contents.ok());
    return *contents;
  }

  // The words behind this one in the workers' log.
  std::vector<std::string> logged(const std::string& word) const {
    std::ifstream file(path("calls"));
    std::vector<std::string> rest;
    for (std::string line; std::getline(file, line);) {
      if (line.rfind(word + " ", 0) == 0) rest.push_back(line.substr(word.size() + 1));
    }
    return rest;
  }
  std::size_t calls(const std::string& verb) const { return logged(verb).size(); }
  std::string log() const { return content(path("log")); }

  // Names in the overlay and in its directory for work.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& file : fs::recursive_directory_iterator(path("overlay"))) {
      names.push_back(file.path().lexically_relative(path("overlay")));
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::uint64_t bytes = 0;

 private:
  tests::TemporaryDirectory directory_;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_CASE(AProgramThatWasCompiledIsInTheOverlayAfterwards) {
  Place place;
  Place::misbehave("compile-learned:signs:content");  // the driver compiles when it builds
  const Request request = request_of(text_of("kernel void f() {}", "-cl-mad-enable"), {kSmall});
  place.learn({request});
  const cache::Contents kept = place.entry(request);
  BOOST_TEST(kept.entries.size() == 1);
  BOOST_TEST(kept.entries[0].proof.jit_free);
  BOOST_TEST(!kept.entries[0].proof.proven);  // nothing was launched
  BOOST_TEST(kept.entries[0].proof.log == "the program's own log");
  BOOST_TEST(kept.variants[0].build_options == "-cl-mad-enable");
  BOOST_TEST((kept.variants[0].content == request.digest));
  BOOST_TEST(kept.sources[0].text == "kernel void f() {}");
  BOOST_TEST(has(place.log(), ": learned in "));
}

BOOST_AUTO_TEST_CASE(ItIsLearnedWhileTheProgramIsSilent) {
  Place place;
  const Request request = request_of(text_of("kernel void f() {}"));
  clbake::learn::Sender sender(place.settings());
  BOOST_TEST(sender.send(request).ok());
  BOOST_TEST(wait_until([&] { return place.find(request).ok(); }));
}

BOOST_AUTO_TEST_CASE(APlatformThatIsAnotherOneHasAnEntryOfItsOwn) {
  Place place;
  Request old = request_of(text_of("kernel void f() {}"));
  Request updated = old;
  updated.target.driver_version = "1.1";
  place.learn({old, updated});
  BOOST_TEST(place.find(old).ok());
  BOOST_TEST(place.find(updated).ok());
  BOOST_TEST(place.calls("compile-learned") == 2);
}

BOOST_AUTO_TEST_CASE(NothingIsLearnedTwice) {
  Place place;
  const Request request = request_of(text_of("kernel void f() {}"), {kSmall});
  place.learn({request, request});
  place.learn({request});
  BOOST_TEST(place.calls("compile-learned") == 1);
}

BOOST_AUTO_TEST_CASE(TwoLearnersAtOnceCompileAProgramOnce) {
  Place place;
  const Request request = request_of(text_of("kernel void f() {}"));
  const Layer one(place.settings());
  const Layer two(place.settings());
  one.send(request);
  two.send(request);
  shutdown(one.socket(), SHUT_WR);
  two.end();
  one.end();
  BOOST_TEST(place.find(request).ok());
  BOOST_TEST(place.calls("compile-learned") == 1);
}

BOOST_AUTO_TEST_CASE(PoclGetsTheFunctionsOfTheLaunchesThatWereSeen) {
  Place place;
  const Request request = pocl_request({kSmall, kLarge, kOther, kUnknown});
  place.learn({request});
  const cache::Contents kept = place.entry(request);
  const std::vector<std::string> wanted = {"f 64-1-1-goffs0", "f 64-1-1-goffs0-smallgrid", "g 8-8-1-goffs0-smallgrid"};
  for (const std::string& function : wanted) {
    const std::vector<std::string>& present = kept.entries[0].proof.specialisations;
    BOOST_TEST((std::find(present.begin(), present.end(), function) != present.end()), function);
  }
  BOOST_TEST(kept.entries[0].proof.jit_free);  // "0-0-0" serves the launch without a size
}

BOOST_AUTO_TEST_CASE(ALaunchOfAProgramThatTheOverlayServesAddsItsFunction) {
  Place place;
  const Request first = pocl_request({kSmall});
  place.learn({first});
  Request later = pocl_request({kOther});
  later.program.clear();
  place.learn({later});
  const cache::Contents kept = place.entry(first);
  const std::vector<std::string>& present = kept.entries[0].proof.specialisations;
  for (const char* function : {"f 64-1-1-goffs0-smallgrid", "g 8-8-1-goffs0-smallgrid"}) {
    BOOST_TEST((std::find(present.begin(), present.end(), function) != present.end()), function);
  }
  place.learn({later});
  BOOST_TEST(place.calls("compile-learned") == 2);  // the last request added nothing
}

BOOST_AUTO_TEST_CASE(FunctionsThatPoclDoesNotMakeAreNotTriedAgain) {
  Place place;
  Place::misbehave("prove-learned:no-functions:content");
  const Request request = pocl_request({kSmall});
  place.learn({request});
  BOOST_TEST(place.find(request).ok());
  place.learn({request});
  BOOST_TEST(place.calls("compile-learned") == 1);
}

BOOST_AUTO_TEST_CASE(APlainFailureIsRememberedForThisDriver) {
  struct Case {
    const char* rule;
    const char* why;
  };
  const Case cases[] = {
      {"compile-learned:message:content", "the driver has lost its mind"},
      {"compile-learned:silent:content", "No such file or directory"},
      {"prove-learned:message:content", "the driver has lost its mind"},
      {"prove-learned:not-jit-free:content", "proven by the fake worker"},
      {"prove-learned:other-variant:content", "the worker left no proof"},
  };
  for (const Case& c : cases) {
    Place place;
    Place::misbehave(c.rule);
    const Request request = request_of(text_of("kernel void f() {}"));
    place.learn({request});
    BOOST_TEST((place.find(request).status().code() == Code::no_entry), c.rule);
    BOOST_TEST(has(place.log(), "not learned: "), c.rule);
    BOOST_TEST(has(place.log(), c.why), c.rule << ": " << place.log());
    const std::size_t calls = place.calls("compile-learned");
    Place::misbehave("");
    place.learn({request});
    BOOST_TEST(place.calls("compile-learned") == calls, c.rule);
    Request updated = request;
    updated.target.driver_version = "1.1";
    place.learn({updated});
    BOOST_TEST(place.find(updated).ok(), c.rule);
  }
}

BOOST_AUTO_TEST_CASE(AfterALoadAloneNothingIsCalledJitFree) {
  Place place;
  const Request request = request_of(text_of("kernel void f() {}"), {kSmall});
  place.learn({request});
  const cache::Proof proof = place.entry(request).entries[0].proof;
  BOOST_TEST(!proof.jit_free);
  BOOST_TEST(has(proof.note, "launches not judged"), proof.note);
}

// Memory may be short, and the machine slow, on one day and not on the next.
BOOST_AUTO_TEST_CASE(AfterASignalOrASlowLoadThereAreThreeTries) {
  for (const char* const rule : {"compile-learned:crash:content", "prove-learned:slow:content"}) {
    Place place;
    Place::misbehave(rule);
    const Request request = request_of(text_of("kernel void f() {}"));
    for (std::size_t tries = 1; tries <= 4; ++tries) {
      place.learn({request});
      BOOST_TEST(place.calls("compile-learned") == std::min<std::size_t>(tries, 3), rule);
    }
  }
}

BOOST_AUTO_TEST_CASE(AFullDiskIsNotTheProgramsFault) {
  Place place;
  Place::misbehave("compile-learned:full-disk:content");
  const Request request = request_of(text_of("kernel void f() {}"));
  place.learn({request});
  BOOST_TEST(!place.find(request).ok());
  BOOST_TEST(has(place.log(), "no space left on device"));
  Place::misbehave("");
  place.learn({request});
  BOOST_TEST(place.find(request).ok());
}

BOOST_AUTO_TEST_CASE(OneProgramThatFailsDoesNotStopTheNext) {
  Place place;
  const Request bad = request_of(text_of("kernel void f() {}"));
  const Request good = request_of(text_of("kernel void g() {}"));
  Place::misbehave("compile-learned:crash:" + content_name(bad.digest));
  place.learn({bad, good});
  BOOST_TEST(!place.find(bad).ok());
  BOOST_TEST(place.find(good).ok());
}

BOOST_AUTO_TEST_CASE(AKilledLearnerLeavesNothingThatTheNextCannotUse) {
  Place place;
  Place::misbehave("compile-learned:hang:content");
  const Request request = request_of(text_of("kernel void f() {}"));
  const Layer layer(place.settings());
  layer.send(request);
  shutdown(layer.socket(), SHUT_WR);
  BOOST_REQUIRE(wait_until([&] { return place.calls("compile-learned") == 1; }));
  kill(std::stoi(place.logged("learner").front()), SIGKILL);
  layer.end();
  for (const std::string& file : place.files()) BOOST_TEST(file.rfind("learning", 0) == 0, file);
  Place::misbehave("");
  place.learn({request});
  BOOST_TEST(place.find(request).ok());
  std::vector<std::string> rest = place.files();
  rest.erase(std::remove_if(rest.begin(), rest.end(), [](const std::string& name) { return is_entry_name(name); }),
             rest.end());
  BOOST_TEST((rest == std::vector<std::string>{"learning", "learning/lock"}));
}

BOOST_AUTO_TEST_CASE(AFileThatChangedSinceTheBuildIsNotLearned) {
  Place place;
  std::ofstream(place.path("inc.h")) << "#define A 1\n";
  const Request request = request_of(text_of("#include \"inc.h\"\nkernel void f() {}", "-I " + place.path("")));
  std::ofstream(place.path("inc.h")) << "#define A 2\n";
  place.learn({request});
  BOOST_TEST(!place.find(request).ok());
  BOOST_TEST(has(place.log(), "a file that it includes has changed"));
  BOOST_TEST(place.calls("compile-learned") == 0);
}

BOOST_AUTO_TEST_CASE(IncludedFilesGoIntoTheEntry) {
  Place place;
  std::ofstream(place.path("inc.h")) << "#define A 1\n";
  Request request = request_of(text_of("#include \"inc.h\"\nkernel void f() {}", "-I " + place.path("")));
  place.learn({request});
  fs::remove(place.path("inc.h"));
  const cache::Contents kept = place.entry(request);
  Result<ProgramText> text = decode_program_text(kept.sources[0].text);
  BOOST_REQUIRE(text.ok());
  BOOST_TEST(text->headers.size() == 1);
  text->options = kept.variants[0].build_options;
  BOOST_TEST((*content_digest(*text) == request.digest));
}

BOOST_AUTO_TEST_CASE(GarbageOnTheSocketIsPassedOver) {
  Place place;
  const Layer layer(place.settings());
  BOOST_TEST(send(layer.socket(), "hello", 5, MSG_NOSIGNAL) == 5);
  layer.send_bytes("");
  layer.send_bytes("garbage that is no message");
  layer.send_file(open("/", O_RDONLY));
  int ends[2] = {};
  BOOST_REQUIRE(pipe(ends) == 0);
  layer.send_file(ends[0]);  // to read from it would wait for ever
  const Request request = request_of(text_of("kernel void f() {}"));
  layer.send(request);
  layer.end();
  close(ends[1]);
  BOOST_TEST(place.find(request).ok());
  BOOST_TEST(has(place.log(), "a message carries no file"));
  BOOST_TEST(has(place.log(), "a message is no file, or too large"));
  BOOST_TEST(has(place.log(), "not a message of clbake's layer"));
}

BOOST_AUTO_TEST_CASE(AnOverlayThatCannotBeWrittenIsReported) {
  Place place;
  std::ofstream(place.path("overlay")) << "a file";
  place.learn({request_of(text_of("kernel void f() {}"))});
  BOOST_TEST(has(place.log(), "overlay"));
  BOOST_TEST(content(place.path("overlay")) == "a file");
}

BOOST_AUTO_TEST_CASE(ProgramsThatAreLargerThanTheOverlayAreNotKept) {
  Place place;
  place.bytes = 8192;
  const Request request = request_of(text_of("kernel void f() {}"));
  place.learn({request});
  BOOST_TEST(!place.find(request).ok());
  BOOST_TEST(has(place.log(), "more than the overlay may take"));
}

BOOST_AUTO_TEST_CASE(FewLearnersWait) {
  Place place;
  fs::create_directories(place.path("overlay/learning"));
  fs::permissions(place.path("overlay/learning"), fs::perms::owner_all);
  const int file = open(place.path("overlay/learning/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  struct flock places = {};
  places.l_type = F_WRLCK;
  places.l_whence = SEEK_SET;
  places.l_start = 1;
  places.l_len = learn::WorkLock::kMostWaiting;
  BOOST_REQUIRE(fcntl(file, F_OFD_SETLK, &places) == 0);
  BOOST_TEST(outcome(learn::WorkLock::take(place.path("overlay"))) == "cancelled");
  close(file);
  BOOST_TEST(outcome(learn::WorkLock::take(place.path("overlay"))) == "ok");
}

}  // namespace clbake::builder::test
