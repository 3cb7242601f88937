// Machine code that is found by content, without any object of OpenCL.
#include <clbake/baked_programs.hpp>
#include <clbake/cache/writer.hpp>
#include <clbake/overlay_directory.hpp>
#include "files.hpp"
#include "system/temporary_directory.hpp"

#include <boost/test/unit_test.hpp>

using namespace clbake;
using clbake::tests::required;

namespace {

Target device(const std::string& driver) {
  Target target;
  target.platform_name = "NVIDIA CUDA";
  target.device_name = "D";
  target.driver_version = driver;
  target.architecture = "sm_90";
  target.address_bits = 64;
  return target;
}

ContentDigest content(std::uint8_t number) {
  ContentDigest digest{};
  digest[0] = number;
  return digest;
}

cache::Variant program(const std::string& name, std::uint8_t number) {
  cache::Variant program;
  program.name = name;
  program.family = "program";
  program.precision = no_precision;
  program.contract = 1;
  program.launches = {{cache::Role::kernel, "rows", {64, 1, 1}, 1, 1}};
  program.content = content(number);
  return program;
}

cache::Entry entry(std::uint32_t target, std::uint32_t variant, const std::string& text,
                   cache::Form form = cache::Form::native) {
  cache::Entry entry;
  entry.target = target;
  entry.variant = variant;
  entry.form = form;
  entry.program.assign(text.begin(), text.end());
  entry.proof.log = "log of " + text;
  return entry;
}

Bundle bundle_of(const cache::Contents& contents) {
  const cache::Bytes bytes = required(cache::encode(contents));
  return required(Bundle::copy_of({bytes.data(), bytes.size()}));
}

// Content 1 under two names, for drivers 1 and 2; content 2 for driver 1, portable; content 3 without machine code.
struct Scene {
  Scene() {
    contents.targets = {device("1"), device("2")};
    contents.sources = {{"a.cl", "kernel"}};
    contents.variants = {program("named", 1), program("other-name", 1), program("portable", 2), program("none", 3)};
    contents.variants[0].parts = {content(7)};
    contents.entries = {entry(0, 0, "first"), entry(1, 1, "second"), entry(0, 2, "text", cache::Form::portable)};
  }

  void store(std::uint8_t number, const std::string& text, cache::Form form = cache::Form::native) const {
    OverlayOptions where = overlay;
    where.mode = OverlayMode::read_write;
    cache::Variant learned = program(content_name(content(number)), number);
    learned.parts = {content(8)};
    const OverlayKey key = overlay_key(device("1"), {"a.cl", "kernel"}, learned);
    const Status stored = required(Overlay::open(where)).store(key, {entry(0, 0, text, form)});
    if (!stored) throw std::runtime_error(stored.message());
  }

  BakedPrograms open() const { return required(BakedPrograms::open({bundle_of(contents)}, overlay)); }

  // The program's bytes, or the reason of the miss.
  std::string found(const Target& target, std::uint8_t number) const {
    const Result<BakedBinary> binary = open().find(target, content(number));
    if (!binary) return std::string(name(binary.status().code()));
    return (binary->from_overlay ? "overlay " : "") + std::string(binary->program.begin(), binary->program.end());
  }

  void use_overlay(OverlayMode mode = OverlayMode::read_write) { overlay = {directory.path, mode}; }

  tests::TemporaryDirectory directory;
  cache::Contents contents;
  OverlayOptions overlay;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(EntryOfThisDriverIsFoundUnderAnyName, Scene) {
  BOOST_TEST(found(device("1"), 1) == "first");
  BOOST_TEST(found(device("2"), 1) == "second");
}

BOOST_FIXTURE_TEST_CASE(FoundBinaryTellsWhatItIs, Scene) {
  const BakedBinary binary = required(open().find(device("1"), content(1)));
  BOOST_TEST(binary.variant.name == "named");
  BOOST_TEST(binary.proof.log == "log of first");
}

BOOST_FIXTURE_TEST_CASE(PortableOneServesWhereNothingElseDoes, Scene) { BOOST_TEST(found(device("1"), 2) == "text"); }

BOOST_FIXTURE_TEST_CASE(ReasonsOfMissesAreNamed, Scene) {
  BOOST_TEST(found(device("1"), 9) == "no program");
  BOOST_TEST(found(device("1"), 3) == "no entry");
  BOOST_TEST(found(device("3"), 1) == "other driver");
  Target other = device("1");
  other.device_name = "E";
  other.architecture = "sm_80";
  BOOST_TEST(found(other, 1) == "no target");
}

BOOST_FIXTURE_TEST_CASE(OverlayServesWhatNoBundleHas, Scene) {
  use_overlay();
  store(9, "learned");
  BOOST_TEST(found(device("1"), 9) == "overlay learned");
  BOOST_TEST(found(device("2"), 9) == "no program");
  overlay.mode = OverlayMode::read_only;
  BOOST_TEST(found(device("1"), 9) == "overlay learned");
}

BOOST_FIXTURE_TEST_CASE(MachineCodeOfTheOverlayComesBeforePortableCode, Scene) {
  use_overlay();
  store(2, "learned");
  BOOST_TEST(found(device("1"), 2) == "overlay learned");
}

BOOST_FIXTURE_TEST_CASE(PortableCodeOfTheOverlayComesLast, Scene) {
  use_overlay();
  store(2, "learned", cache::Form::portable);
  BOOST_TEST(found(device("1"), 2) == "text");
}

BOOST_FIXTURE_TEST_CASE(RejectedProgramIsPassedOver, Scene) {
  const BakedPrograms programs = open();
  const BakedBinary binary = required(programs.find(device("1"), content(1)));
  BOOST_TEST(programs.reject(device("1"), content(1), binary).ok());
  const Result<BakedBinary> other = programs.find(device("1"), content(1));
  BOOST_TEST(std::string(name(other.status().code())) == "driver rejected");
}

BOOST_FIXTURE_TEST_CASE(LaterProcessesKnowThatItWasRejected, Scene) {
  use_overlay();
  const BakedPrograms programs = open();
  BOOST_TEST(programs.reject(device("1"), content(1), required(programs.find(device("1"), content(1)))).ok());
  BOOST_TEST(found(device("1"), 1) == "driver rejected");
}

BOOST_FIXTURE_TEST_CASE(PartsOfLinkedProgramsAreKnown, Scene) {
  use_overlay();
  store(9, "learned");
  const BakedPrograms programs = open();
  BOOST_TEST(programs.is_part(device("1"), content(7)));
  BOOST_TEST(programs.is_part(device("1"), content(8)));
  BOOST_TEST(!programs.is_part(device("2"), content(8)));
  BOOST_TEST(!programs.is_part(device("1"), content(1)));
}

BOOST_FIXTURE_TEST_CASE(DamagedProgramIsNeverReturned, Scene) {
  cache::Bytes bytes = required(cache::encode(contents, cache::Packing::plain));
  const std::string text = "first";
  const auto at = std::search(bytes.begin(), bytes.end(), text.begin(), text.end());
  BOOST_REQUIRE(at != bytes.end());
  *at ^= 1;
  const BakedPrograms programs =
      required(BakedPrograms::open({required(Bundle::from_memory({bytes.data(), bytes.size()}))}, {}));
  BOOST_TEST(std::string(name(programs.find(device("1"), content(1)).status().code())) == "checksum");
}

BOOST_FIXTURE_TEST_CASE(OverlayThatCannotBeOpenedIsNamed, Scene) {
  overlay = {directory.file("none"), OverlayMode::read_only};
  const auto opened = BakedPrograms::open({}, overlay);
  BOOST_TEST(opened.status().message().find(directory.file("none")) == 0U);
}
