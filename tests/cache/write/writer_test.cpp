// What the writer refuses; a failed write leaves nothing behind.
#include "forge.hpp"

#include <clbake/cache/pack.hpp>
#include <clbake/cache/writer.hpp>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

using namespace clbake;
using namespace clbake::cache;
using namespace clbake::cache::test;
namespace fs = std::filesystem;

namespace {

// The outcome of encoding the small contents after a change.
std::string encoding_after(const std::function<void(Contents&)>& change) {
  Contents contents = small_contents();
  change(contents);
  return outcome(encode(contents));
}

struct Directory {
  Directory() : path(fs::temp_directory_path() / ("clbake-cache-test-" + std::to_string(::getpid()))) {
    fs::create_directories(path);
  }
  ~Directory() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
  }
  std::string file(const char* name) const { return (path / name).string(); }

  fs::path path;
};

Bytes content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

bool begins_with(const std::string& text, const std::string& prefix) { return text.rfind(prefix, 0) == 0; }

}  // namespace

BOOST_AUTO_TEST_CASE(IndexThatPointsNowhereIsRefused) {
  BOOST_TEST(encoding_after([](Contents& c) { c.variants[0].source = 2; }) == "invalid argument");
  BOOST_TEST(encoding_after([](Contents& c) { c.profiles[0].target = 3; }) == "invalid argument");
  BOOST_TEST(encoding_after([](Contents& c) { c.entries[0].target = 3; }) == "invalid argument");
  BOOST_TEST(encoding_after([](Contents& c) { c.entries[0].variant = 3; }) == "invalid argument");
}

BOOST_AUTO_TEST_CASE(AmbiguousContentsAreRefused) {
  BOOST_TEST(encoding_after([](Contents& c) { c.variants[1].name = c.variants[0].name; }) == "invalid argument");
  BOOST_TEST(encoding_after([](Contents& c) { c.entries[1].form = Form::native; }) == "invalid argument");
  BOOST_TEST(encoding_after([](Contents& c) { c.profiles[1].target = 0; }) == "invalid argument");
  // Equal targets become one, which then has two profiles.
  BOOST_TEST(encoding_after([](Contents& c) { c.targets[2] = c.targets[0]; }) == "invalid argument");
}

BOOST_AUTO_TEST_CASE(ImpossibleValuesAreRefused) {
  BOOST_TEST(encoding_after([](Contents& c) { c.entries[0].program.clear(); }) == "invalid argument");
  BOOST_TEST(encoding_after([](Contents& c) { c.entries[0].form = static_cast<Form>(3); }) == "invalid argument");
  BOOST_TEST(encoding_after([](Contents& c) { c.variants[0].precision = {}; }) == "invalid argument");
  BOOST_TEST(encoding_after([](Contents& c) { c.variants[0].launches.clear(); }) == "invalid argument");
  BOOST_TEST(encoding_after([](Contents& c) { c.variants[0].launches[0].role = {}; }) == "invalid argument");
  BOOST_TEST(encoding_after([](Contents& c) { c.variants[0].split_k = 0; }) == "ok");  // the tail alone is cut
  BOOST_TEST(encoding_after([](Contents& c) { c.variants[0].block_k = 0; }) == "invalid argument");
  BOOST_TEST(encoding_after([](Contents& c) { c.variants[0].launches.resize(1025); }) == "invalid argument");
  BOOST_TEST(encoding_after([](Contents& c) { c.variants[0].launches[0].local[1] = 0; }) == "invalid argument");
  BOOST_TEST(encoding_after([](Contents& c) { c.variants[0].launches[0].tile_n = 0; }) == "invalid argument");
}

BOOST_AUTO_TEST_CASE(SizesOverTheLimitsAreRefused) {
  BOOST_TEST(encoding_after([](Contents& c) { c.targets[0].vendor.resize(65536); }) == "invalid argument");
  BOOST_TEST(encoding_after([](Contents& c) { c.variants[0].build_options.resize(1048576); }) == "invalid argument");
  BOOST_TEST(encoding_after([](Contents& c) { c.sources[0].text.resize(16U << 20U); }) == "invalid argument");
  BOOST_TEST(encoding_after([](Contents& c) { c.entries[0].proof.note.resize(65454); }) == "invalid argument");
  BOOST_TEST(encoding_after([](Contents& c) { c.entries[0].proof.note.resize(65453); }) == "ok");
  BOOST_TEST(encoding_after([](Contents& c) { c.targets.resize(65537); }) == "invalid argument");
}

BOOST_AUTO_TEST_CASE(AProofsToolsHaveNamesAndOnlyAProvenOneHasADevice) {
  const auto message_after = [](const auto& change) {
    Contents contents = small_contents();
    change(contents.entries[0].proof);
    return encode(contents).status().message();
  };
  BOOST_TEST(message_after([](Proof& p) { p.tools[1].name.clear(); }) == "entry 0: the proof: tool 1 has no name");
  BOOST_TEST(message_after([](Proof& p) { p.proven = false; }) ==
             "entry 0: the proof: has a device, but is not proven");
  const auto driver_alone = [](Proof& p) {
    p.proven = false;
    p.device.clear();
  };
  BOOST_TEST(message_after(driver_alone) == "entry 0: the proof: has a driver, but is not proven");
}

BOOST_AUTO_TEST_CASE(MessageNamesTheThingAndTheCause) {
  Contents contents = small_contents();
  contents.entries[2].program.clear();
  BOOST_TEST(encode(contents).status().message() == "entry 2: the program is empty");
}

BOOST_AUTO_TEST_CASE(WrittenFileIsTheBundleAndReplacesTheOldOne) {
  const Directory directory;
  const std::string path = directory.file("a.clbake");
  BOOST_REQUIRE(write_file(path, {small_bundle().data(), 5}).ok());
  BOOST_TEST(outcome(Bundle::open(path)) == "truncated");
  BOOST_REQUIRE(write_file(path, view_of(small_bundle())).ok());
  BOOST_TEST((content_of(path) == small_bundle()));
  BOOST_TEST(directory.files() == 1U);
  const Result<Bundle> bundle = Bundle::open(path);
  BOOST_REQUIRE(bundle.ok());
  BOOST_TEST(bundle->verify().ok());
}

BOOST_AUTO_TEST_CASE(OpenBundleSurvivesThatItsFileIsReplaced) {
  const Directory directory;
  const std::string path = directory.file("a.clbake");
  BOOST_REQUIRE(write_file(path, view_of(small_bundle())).ok());
  const Result<Bundle> bundle = Bundle::open(path);
  BOOST_REQUIRE(bundle.ok());
  BOOST_REQUIRE(write_file(path, view_of(encoded({}))).ok());
  BOOST_TEST(bundle->verify().ok());
  BOOST_TEST(Bundle::open(path)->entry_count() == 0U);
}

BOOST_AUTO_TEST_CASE(MissingDirectoryIsReportedWithPathAndCause) {
  const Status status = write_file("/nonexistent-directory/a.clbake", view_of(small_bundle()));
  BOOST_TEST(outcome(status) == "input/output");
  BOOST_TEST(begins_with(status.message(), "/nonexistent-directory/a.clbake: "));
  BOOST_TEST(status.message().find("the directory does not exist") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(DirectoryInTheWayIsReportedAndNothingIsLeft) {
  const Directory directory;
  fs::create_directories(directory.path / "a.clbake" / "inside");
  BOOST_TEST(outcome(write_file(directory.file("a.clbake"), view_of(small_bundle()))) == "input/output");
  BOOST_TEST(directory.files() == 1U);
}

BOOST_AUTO_TEST_CASE(APipeInTheWayStaysAsItIs) {
  const Directory directory;
  const std::string pipe = directory.file("pipe"), link = directory.file("link");
  BOOST_REQUIRE_EQUAL(::mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink(pipe, link);
  for (const std::string& path : {pipe, link}) {
    const Status status = write_file(path, view_of(small_bundle()));
    BOOST_TEST(outcome(status) == "input/output");
    BOOST_TEST(status.message() == path + ": exists and is not a regular file; it stays as it is");
  }
  BOOST_TEST(fs::is_fifo(pipe));
  BOOST_TEST(fs::is_symlink(link));
  BOOST_TEST(directory.files() == 2U);
}

BOOST_AUTO_TEST_CASE(FullDiskIsReportedAndTheOldFileStays) {
  const Directory directory;
  const std::string path = directory.file("a.clbake");
  BOOST_REQUIRE(write_file(path, {small_bundle().data(), 9}).ok());
  // A limit on the size of files acts like a full disk: a short write, then an error.
  rlimit before = {};
  BOOST_REQUIRE_EQUAL(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 1000;
  BOOST_REQUIRE_EQUAL(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = write_file(path, view_of(small_bundle()));
  BOOST_REQUIRE_EQUAL(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  BOOST_TEST(outcome(status) == "input/output");
  BOOST_TEST(status.message().find("write: File too large") != std::string::npos);
  BOOST_TEST(directory.files() == 1U);
  BOOST_TEST(content_of(path).size() == 9U);
}

BOOST_AUTO_TEST_CASE(UnreadableFilesAreToldApart) {
  const Directory directory;
  const std::string text = directory.file("text"), empty = directory.file("empty");
  std::ofstream(text) << "GEMM kernels, listed by hand\n";
  std::ofstream(empty).flush();
  BOOST_TEST(outcome(Bundle::open(directory.file("missing"))) == "not found");
  BOOST_TEST(outcome(Bundle::open(directory.path.string())) == "input/output");
  BOOST_TEST(outcome(Bundle::open("/dev/null")) == "input/output");
  BOOST_TEST(outcome(Bundle::open(text)) == "not a bundle");
  BOOST_TEST(outcome(Bundle::open(empty)) == "truncated");
  BOOST_TEST(begins_with(Bundle::open(text).status().message(), text + ": "));
}

BOOST_AUTO_TEST_CASE(ProofsMoveNothingThatWasBaked) {
  Contents contents = similar_contents();
  Forge before(pack(contents).value());
  contents.entries[3].proof.steady_us = 7;
  contents.entries[5].proof.note = "a note, which is longer than none";
  Forge after(pack(contents).value());
  BOOST_TEST(before.bytes.size() < after.bytes.size());
  const auto bytes_of = [](Forge& forge, format::SectionType type) {
    const auto begin = forge.bytes.begin() + static_cast<std::ptrdiff_t>(forge.section_offset(type));
    return Bytes(begin, begin + static_cast<std::ptrdiff_t>(load64(forge.section(type) + format::section::kBytesAt)));
  };
  for (std::uint32_t i = 1; i <= format::kRequiredTypes; ++i) {
    const auto type = static_cast<format::SectionType>(i);
    const bool measured = type == format::SectionType::proofs || type == format::SectionType::bodies;
    BOOST_TEST((bytes_of(before, type) != bytes_of(after, type)) == measured, "section " << i);
  }
}
