// Contents that the writer refuses; a failed write leaves nothing behind.
#include "forge.hpp"
#include "system/temporary_directory.hpp"

#include <clbake/cache/limits.hpp>
#include <clbake/cache/pack.hpp>
#include <clbake/cache/writer.hpp>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

using namespace clbake;
using namespace clbake::cache;
using namespace clbake::cache::test;
using clbake::tests::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

Bytes content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

bool begins_with(const std::string& text, const std::string& prefix) { return text.rfind(prefix, 0) == 0; }

}  // namespace

BOOST_AUTO_TEST_CASE(ContentsAgainstTheFormatAreRefused) {
  const std::pair<const char*, std::function<void(Contents&)>> cases[] = {
      // Indices of nothing.
      {"variant 0", [](Contents& c) { c.variants[0].source = 2; }},
      {"profile 0", [](Contents& c) { c.profiles[0].target = 3; }},
      {"entry 0", [](Contents& c) { c.entries[0].target = 3; }},
      {"entry 0", [](Contents& c) { c.entries[0].variant = 3; }},
      // Two of a kind; equal targets become one, which then has two profiles.
      {"variant", [](Contents& c) { c.variants[1].name = c.variants[0].name; }},
      {"entr", [](Contents& c) { c.entries[1].form = Form::native; }},
      {"profile", [](Contents& c) { c.profiles[1].target = 0; }},
      {"profile", [](Contents& c) { c.targets[2] = c.targets[0]; }},
      // Impossible values.
      {"entry 2: the program is empty", [](Contents& c) { c.entries[2].program.clear(); }},
      {"entry 0", [](Contents& c) { c.entries[0].form = static_cast<Form>(3); }},
      {"variant 0", [](Contents& c) { c.variants[0].precision = static_cast<Precision>(9); }},
      {"variant 0", [](Contents& c) { c.variants[0].launches.clear(); }},
      {"variant 0", [](Contents& c) { c.variants[0].launches[0].role = {}; }},
      {"variant 0", [](Contents& c) { c.variants[0].block_k = 0; }},
      {"variant 0",
       [](Contents& c) { c.variants[0].launches.resize(kMaxLaunches + 1, Launch(c.variants[0].launches[0])); }},
      {"variant 0", [](Contents& c) { c.variants[0].launches[0].local[1] = 0; }},
      {"variant 0", [](Contents& c) { c.variants[0].launches[0].tile_n = 0; }},
      // Programs of applications and products do not mix.
      {"a product with a program's trial", [](Contents& c) { c.variants[0].trial = 1; }},
      {"a product with a program's trial", [](Contents& c) { c.variants[0].content[31] = 1; }},
      {"a product with a program's trial", [](Contents& c) { c.variants[0].parts.resize(1); }},
      {"names a trial that does not exist",
       [](Contents& c) {
         c.variants[0].precision = no_precision, c.variants[0].trans_b = false, c.variants[0].trial = 3;
       }},
      {"a product with a program's launch", [](Contents& c) { c.variants[0].launches[0].role = Role::kernel; }},
      {"a program with a launch of a product",
       [](Contents& c) { c.variants[0].precision = no_precision, c.variants[0].trans_b = false; }},
      {"a program with operands of a product", [](Contents& c) { c.variants[0].precision = no_precision; }},
      // Sizes over the limits.
      {"target 0", [](Contents& c) { c.targets[0].vendor.resize(65536); }},
      {"variant 0", [](Contents& c) { c.variants[0].build_options.resize(1048576); }},
      {"source 0", [](Contents& c) { c.sources[0].text.resize(16U << 20U); }},
      {"entry 0", [](Contents& c) { c.entries[0].proof.note.resize(65450); }},
      {"the log is longer than 16 KiB", [](Contents& c) { c.entries[0].proof.log.resize(16385); }},
      {"targets", [](Contents& c) { c.targets.resize(65537); }},
      // Proofs that contradict themselves.
      {"entry 0: the proof: tool 1 has no name", [](Contents& c) { c.entries[0].proof.tools[1].name.clear(); }},
      {"entry 0: the proof: has a device, but is not proven", [](Contents& c) { c.entries[0].proof.proven = false; }},
      {"entry 0: the proof: has a driver, but is not proven",
       [](Contents& c) { c.entries[0].proof.proven = false, c.entries[0].proof.device.clear(); }}};
  for (const auto& [named, change] : cases) {
    Contents contents = small_contents();
    change(contents);
    const Status status = encode(contents).status();
    BOOST_TEST(outcome(status) == "invalid argument", named);
    BOOST_TEST(status.message().find(named) != std::string::npos, named << ": " << status.message());
  }
}

BOOST_AUTO_TEST_CASE(ValuesAtTheLimitsAreWritten) {
  static_assert(kMaxLaunches == 4096, "as cache/FORMAT.md says");
  Contents contents = small_contents();
  contents.variants[0].split_k = 0;  // only the tail is cut
  contents.entries[0].proof.note.resize(65449);
  BOOST_TEST(outcome(encode(contents)) == "ok");
}

BOOST_AUTO_TEST_CASE(WrittenFileIsTheBundleAndReplacesTheOldOne) {
  const TemporaryDirectory directory;
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

BOOST_AUTO_TEST_CASE(MissingDirectoryIsReportedWithPathAndCause) {
  const Status status = write_file("/nonexistent-directory/a.clbake", view_of(small_bundle()));
  BOOST_TEST(outcome(status) == "input/output");
  BOOST_TEST(begins_with(status.message(), "/nonexistent-directory/a.clbake: "));
  BOOST_TEST(status.message().find("the directory does not exist") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(ADirectoryInTheWayStaysAsItIs) {
  const TemporaryDirectory directory;
  const std::string folder = directory.file("folder");
  fs::create_directories(folder + "/inside");
  const Status status = write_file(folder, view_of(small_bundle()));
  BOOST_TEST(outcome(status) == "input/output");
  BOOST_TEST(status.message() == folder + ": exists and is not a regular file; it stays as it is");
  BOOST_TEST(fs::is_directory(folder + "/inside"));
}

BOOST_AUTO_TEST_CASE(UnreadableFilesAreToldApart) {
  const TemporaryDirectory directory;
  const std::string text = directory.file("text"), empty = directory.file("empty");
  std::ofstream(text) << "GEMM kernels, listed by hand\n";
  std::ofstream(empty).flush();
  BOOST_TEST(outcome(Bundle::open(directory.file("missing"))) == "not found");
  BOOST_TEST(outcome(Bundle::open(directory.path)) == "input/output");
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
