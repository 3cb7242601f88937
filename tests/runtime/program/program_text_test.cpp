// The text of a program as bytes, and the digest by which it is found.
#include <clbake/program_text.hpp>

#include "system/temporary_directory.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <fstream>

using clbake::content_digest;
using clbake::ProgramText;
namespace data = boost::unit_test::data;

namespace {

ProgramText of(std::vector<std::string> sources, std::string options = {}) {
  ProgramText text;
  text.sources = std::move(sources);
  text.options = std::move(options);
  return text;
}

ProgramText with_header(const std::string& name, const std::string& content) {
  ProgramText text = of({"#include \"a.h\""});
  text.headers = {{name, content}};
  return text;
}

ProgramText with_il(const std::string& il) {
  ProgramText text;
  text.il = il;
  return text;
}

ProgramText linked(std::vector<ProgramText> parts, std::string options = {}) {
  ProgramText text;
  text.parts = std::move(parts);
  text.options = std::move(options);
  return text;
}

const ProgramText programs[] = {
    of({}),
    of({"kernel"}),
    of({"kernel"}, "-w"),
    of({"kernel"}, "-w -w"),
    of({std::string("\x01") + "clbake program 1"}),
    of({std::string("a\0b", 3)}),
    with_il("kernel"),
    with_header("a.h", "1"),
    with_header("a.h", "2"),
    with_header("b.h", "1"),
    linked({of({"kernel"})}),
    linked({of({"kernel"}, "-w")}),
    linked({of({"kernel"})}, "-w"),
    linked({of({"kernel"}), of({"kernel"})}),
    linked({linked({of({"kernel"})})}),
    linked({with_header("a.h", "1")}),
};
const std::size_t count = std::size(programs);

}  // namespace

BOOST_DATA_TEST_CASE(TextSurvivesEncoding, data::xrange(count), i) {
  const auto decoded = clbake::decode_program_text(encode(programs[i]));
  BOOST_TEST_REQUIRE(decoded.ok());
  BOOST_TEST(encode(*decoded) == encode(programs[i]));
}

BOOST_AUTO_TEST_CASE(DifferentTextsHaveDifferentDigests) {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      BOOST_TEST((*content_digest(programs[i]) != *content_digest(programs[j])), i << " and " << j);
    }
  }
}

BOOST_AUTO_TEST_CASE(PlainSourceIsItsOwnEncoding) { BOOST_TEST(encode(of({"kernel"})) == "kernel"); }

BOOST_AUTO_TEST_CASE(ConstantThatPyopenclAddsDoesNotCount) {
  const auto digest = [](const std::string& end) { return *content_digest(of({"kernel" + end})); };
  const std::string constant = "\n\n__constant int pyopencl_defeat_cache_0123456789abcdef0123456789abcdef = ";
  BOOST_TEST((digest(constant + "0;") == digest("")));
  BOOST_TEST((digest(constant + "1;") != digest("")));
  BOOST_TEST((digest(constant + "0; ") != digest("")));
}

BOOST_AUTO_TEST_CASE(JoinedStringsCount) {
  BOOST_TEST((*content_digest(of({"ker", "nel"})) == *content_digest(of({"kernel"}))));
}

BOOST_AUTO_TEST_CASE(BlanksBetweenOptionsDoNotCount) {
  BOOST_TEST((*content_digest(of({"kernel"}, " -a   -b")) == *content_digest(of({"kernel"}, "-a -b "))));
}

BOOST_AUTO_TEST_CASE(NameIsMadeOfTheDigest) {
  clbake::ContentDigest digest{};
  digest[0] = 0xA1;
  BOOST_TEST(clbake::content_name(digest) == "content-a1" + std::string(62, '0'));
}

BOOST_AUTO_TEST_CASE(PartsOfPartsHaveDigests) {
  const auto digests = clbake::part_digests(linked({of({"a"}), linked({of({"b"})})}));
  BOOST_TEST(
      (*digests == std::vector<clbake::ContentDigest>{*content_digest(of({"a"})), *content_digest(linked({of({"b"})})),
                                                      *content_digest(of({"b"}))}));
}

BOOST_AUTO_TEST_CASE(ContentOfAnIncludedFileCounts) {
  const clbake::tests::TemporaryDirectory folder;
  const ProgramText text = of({"#include \"a.h\""}, "-I " + folder.path);
  const auto absent = content_digest(text);
  std::ofstream(folder.file("a.h")) << "1";
  const auto first = content_digest(text);
  std::ofstream(folder.file("a.h")) << "2";
  const auto second = content_digest(text);
  BOOST_TEST((*absent != *first && *first != *second && *absent != *second));
}

BOOST_AUTO_TEST_CASE(PlaceOfAnIncludedFileDoesNotCount) {
  const clbake::tests::TemporaryDirectory one, two;
  for (const auto* folder : {&one, &two}) std::ofstream(folder->file("a.h")) << "1";
  BOOST_TEST((*content_digest(of({"#include \"a.h\""}, "-I " + one.path)) ==
              *content_digest(of({"#include \"a.h\""}, "-I " + two.path))));
}

BOOST_AUTO_TEST_CASE(SelfContainedTextHasTheSameDigest) {
  const clbake::tests::TemporaryDirectory folder;
  std::filesystem::create_directory(folder.file("inc"));
  std::ofstream(folder.file("inc/a.h")) << "#include \"b.h\"";
  std::ofstream(folder.file("inc/b.h")) << "int b;";
  const ProgramText text = linked({of({"#include \"inc/a.h\""}, "-w -I " + folder.path)});
  const auto whole = self_contained(text);
  BOOST_TEST_REQUIRE(whole.ok());
  BOOST_TEST(whole->parts[0].headers.size() == 2U);
  BOOST_TEST((*content_digest(*whole) == *content_digest(text)));
}

BOOST_DATA_TEST_CASE(CutOrLongerBytesAreRefused, data::xrange(count), i) {
  const std::string bytes = encode(programs[i]);
  if (bytes[0] != '\x01') return;
  std::size_t accepted = 0;
  for (std::size_t size = 16; size < bytes.size(); ++size) {
    accepted += clbake::decode_program_text(std::string_view(bytes).substr(0, size)).ok();
  }
  accepted += clbake::decode_program_text(bytes + '\0').ok();
  BOOST_TEST(accepted == 0U);
}

BOOST_AUTO_TEST_CASE(TextOfANewerVersionIsNamedSo) {
  BOOST_TEST((clbake::decode_program_text("\x01"
                                          "clbake program 2")
                  .status()
                  .code() == clbake::Code::unsupported_version));
}

BOOST_AUTO_TEST_CASE(TooDeeplyLinkedProgramsAreRefused) {
  ProgramText text = of({"kernel"});
  for (int i = 0; i < 20; ++i) text = linked({text});
  BOOST_TEST(!content_digest(text));
}
