// The file of problems that users write.
#include "build_fixture.hpp"

#include <clbake/builder/shape/shapes_file.hpp>

#include <sys/stat.h>
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <thread>

namespace clbake::builder::test {
using namespace process;
namespace {

const std::vector<GemmKind> kSingleNN = {{}};

Result<std::vector<Shape>> parsed(const std::string& text, const std::vector<GemmKind>& kinds = kSingleNN) {
  return parse_shapes(text, "FILE", kinds);
}

// One shape on each line.
std::string lines(const Result<std::vector<Shape>>& shapes) {
  if (!shapes) return shapes.status().message();
  std::string text;
  for (const Shape& shape : *shapes) text += weighted_name(shape) + '\n';
  return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(ALineHasPrecisionTransposesSizesBatchAndWeight) {
  const std::string text =
      "# what we multiply\r\n"
      "\n"
      "  512x256x64\t\r\n"
      "16x16x16 batch 100   # many small ones\n"
      "single nt 1024x512x64 batch 16 weight 2.5\n"
      "double 7x7x7 weight 1e-6\n"
      "tt 1x2147483647x1 batch 1 weight 1\n"
      "   # nothing\n"
      "8x8x8 weight 1000000000";
  BOOST_TEST(lines(parsed(text)) ==
             "single nn 512x256x64\n"
             "single nn 16x16x16 batch 100\n"
             "single nt 1024x512x64 batch 16 weight 2.5\n"
             "double nn 7x7x7 weight 1e-06\n"
             "single tt 1x2147483647x1\n"
             "single nn 8x8x8 weight 1e+09\n");
}

BOOST_AUTO_TEST_CASE(WhatALineLeavesOutStandsForAllKinds) {
  const Precision single_precision = Precision::single_precision, double_precision = Precision::double_precision;
  const std::vector<GemmKind> kinds = {
      {double_precision, false, false}, {double_precision, true, false}, {single_precision, true, false}};
  BOOST_TEST(lines(parsed("5x5x5 weight 3", kinds)) ==
             "double nn 5x5x5 weight 3\ndouble tn 5x5x5 weight 3\nsingle tn 5x5x5 weight 3\n");
  BOOST_TEST(lines(parsed("half 5x5x5", kinds)) == "half nn 5x5x5\nhalf tn 5x5x5\n");
  BOOST_TEST(lines(parsed("nt 5x5x5", kinds)) == "double nt 5x5x5\nsingle nt 5x5x5\n");
  BOOST_TEST(lines(parsed("half tt 5x5x5", kinds)) == "half tt 5x5x5\n");
  const auto unnamed = [](const std::string& text) {
    Unnamed left_out;
    required(parse_shapes(text, "FILE", kSingleNN, &left_out));
    return std::string(left_out.precision ? "precision " : "") + (left_out.transposes ? "transposes" : "");
  };
  BOOST_TEST(unnamed("single nn 5x5x5").empty());
  BOOST_TEST(unnamed("half nn 5x5x5\nnn 5x5x5\n") == "precision ");
  BOOST_TEST(unnamed("half 5x5x5\nsingle tt 5x5x5") == "transposes");
}

BOOST_AUTO_TEST_CASE(AByteOrderMarkIsNoWord) {
  BOOST_TEST(lines(parsed("\xEF\xBB\xBFnn 5x6x7\n")) == "single nn 5x6x7\n");
  BOOST_TEST(lines(parsed("\xEF\xBB\xBF\n")) == "FILE: no shape in it");
}

BOOST_AUTO_TEST_CASE(TheWeightsOfAProblemThatStandsThereTwiceAddUp) {
  BOOST_TEST(lines(parsed("5x5x5\nsingle nn 5x5x5 batch 1 weight 0.5\n5x5x5 batch 2\n")) ==
             "single nn 5x5x5 weight 1.5\nsingle nn 5x5x5 batch 2\n");
  BOOST_TEST(lines(parsed("5x5x5 weight 1e9\n\n5x5x5")) == "FILE: line 3: the weights of single nn 5x5x5 exceed 1e9");
}

// The third line of four.
BOOST_AUTO_TEST_CASE(ABadLineIsNamedWithFileNumberAndCause) {
  const auto check = [](const std::string& line, const std::string& cause) {
    const Result<std::vector<Shape>> shapes = parsed("# first\n7x7x7\r\n" + line + "\n8x8x8\n");
    BOOST_TEST(outcome(shapes) == "malformed", line);
    BOOST_TEST(contains(shapes.status().message(), "FILE: line 3: " + cause), shapes.status().message());
  };
  for (const char* size : {"5x5", "5x5x5x5", "5xx5", "5x5x", "0x5x5", "5x0x5", "5.0x5x5", "5e2x5x5", "0x10x5x5",
                           "2147483648x5x5", "99999999999999999999x5x5", "5X5X5", "5*5*5", "5"}) {
    check(size, "'" + std::string(size) + "' is no size: MxNxK");
  }
  for (const char* word :
       {"sngle", "SINGLE", "x5x5", "-5x5x5", "+5x5x5", "batch", "weight", "//", "\xef\xbb\xbf\x35x5x5"}) {
    check(word, "'" + std::string(word) + "' is no precision (" + std::string(precision_names) + "), no transposes");
  }
  for (const char* word : {"n", "nnn", "NN", "double"}) {
    check("single " + std::string(word) + " 5x5x5",
          "'" + std::string(word) + "' is no transposes (nn, nt, tn, tt) and");
  }
  check("nn single 5x5x5", "'single' is no size");
  check("single nn", "no size: MxNxK");
  for (const char* batch : {"0", "-1", "2147483648", "1.5", "many", "batch", "weight"}) {
    check("5x5x5 batch " + std::string(batch), "'" + std::string(batch) + "' is no batch");
  }
  check("5x5x5 batch", "no batch");
  for (const char* weight : {"0", "-1", "9.9e-7", "1.1e9", "1e999", "nan", "inf", "+1", "0x1", "1,5", "2kg"}) {
    check("5x5x5 weight " + std::string(weight), "'" + std::string(weight) + "' is no weight");
  }
  check("5x5x5 batch 2 weight", "no weight");
  check("5x5x5 7", "'7' is no part");
  check("5x5x5 batch 2 3", "'3' is no part");
  check("5x5x5 Batch 2", "'Batch' is no part");
  check("5x5x5 weight 2 batch 2", "'batch' is no part");
  check("5x5x5 weight 2 weight 2", "'weight' is no part");
}

BOOST_AUTO_TEST_CASE(ALongBadLineIsCutShort) {
  for (const char letter : {'x', '5'}) {
    const Result<std::vector<Shape>> shapes = parsed(std::string(100000, letter));
    BOOST_TEST(outcome(shapes) == "malformed");
    BOOST_TEST(shapes.status().message().size() < 1000U);
  }
}

BOOST_AUTO_TEST_CASE(ATextWithoutAShapeIsRefused) {
  for (const char* text : {"", "\n\n", "# 5x5x5\n", " \t\r\n"})
    BOOST_TEST(lines(parsed(text)) == "FILE: no shape in it");
}

BOOST_AUTO_TEST_CASE(AFileIsNamedWhetherItIsThereOrNot) {
  const ScratchDirectory directory = required(ScratchDirectory::create());
  const std::string file = directory.path() + "/shapes.txt";
  write_file(file, "5x6x7\n8x8\n");
  BOOST_TEST(contains(lines(read_shapes(file, kSingleNN)), file + ": line 2: '8x8'"));
  write_file(file, "5x6x7\n");
  BOOST_TEST(lines(read_shapes(file, kSingleNN)) == "single nn 5x6x7\n");
  write_file(file, std::string((1U << 20U) + 1, '\n') + "5x6x7\n");  // as large as a recording may be
  BOOST_TEST(lines(read_shapes(file, kSingleNN)) == "single nn 5x6x7\n");
  const Result<std::vector<Shape>> missing = read_shapes("/no/such/file", kSingleNN);
  BOOST_TEST(outcome(missing) == "not found");
  BOOST_TEST(contains(missing.status().message(), "/no/such/file"), missing.status().message());
  const Result<std::vector<Shape>> folder = read_shapes(directory.path(), kSingleNN);
  BOOST_TEST(outcome(folder) == "input/output");
  BOOST_TEST(contains(folder.status().message(), directory.path()), folder.status().message());
}

#ifndef _WIN32
BOOST_AUTO_TEST_CASE(APipeIsReadToItsEnd) {
  BOOST_TEST(lines(read_shapes("/dev/zero", kSingleNN)) == "/dev/zero: it has more than 64 MiB");
  const ScratchDirectory directory = required(ScratchDirectory::create());
  const std::string pipe = directory.path() + "/pipe";
  BOOST_REQUIRE_EQUAL(mkfifo(pipe.c_str(), 0600), 0);
  const auto write = [&](const std::string& text) { std::ofstream(pipe) << text << std::flush << "8x8\n"; };
  std::thread writer(write, std::string(1U << 20U, '\n') + "5x6x7\n");
  const std::string read = lines(read_shapes(pipe, kSingleNN));
  writer.join();
  BOOST_TEST(contains(read, pipe + ": line 1048578: '8x8'"), read);
}
#endif

BOOST_AUTO_TEST_CASE(LeadingDimensionsAreNamedWhereRowsHaveGaps) {
  const std::vector<GemmKind> kinds = {{Precision::single_precision, false, false},
                                       {Precision::single_precision, true, false}};
  BOOST_TEST(lines(parsed("100x200x300 lda 304 ldb 200\nnn 1x2x3 ldb 7 batch 5 weight 2", kinds)) ==
             "single nn 100x200x300 lda 304\nsingle tn 100x200x300 lda 304\nsingle nn 1x2x3 ldb 7 batch 5 weight 2\n");
  // A stored row of A has k elements or, transposed, m.
  BOOST_TEST(lines(parsed("tn 100x200x300 lda 100")) == "single tn 100x200x300\n");
  for (const char* lda : {"lda", "lda 299", "lda 2147483648", "lda -1"}) {
    const std::string failure = lines(parsed("100x200x300 " + std::string(lda)));
    BOOST_TEST(contains(failure, "no leading dimension: a number from 300"), failure);
  }
  const Problem problem = problem_of(required(parse_shape("double nt 10x20x30 lda 31 ldb 33 batch 2")));
  BOOST_TEST(check(problem).ok());
  BOOST_TEST(problem.lda == 31U);
  BOOST_TEST(problem.b_stride == 20U * 33);
  BOOST_TEST(name(shape_of(problem)) == "double nt 10x20x30 lda 31 ldb 33 batch 2");
}

// Its kernels see the real parts and, behind each, the imaginary ones: FORMAT.md has no complex variants.
BOOST_AUTO_TEST_CASE(AComplexShapeIsTunedAsTheRealProductThatComputesIt) {
  const auto real = [](const char* text) { return name(real_shape(required(parse_shape(text)))); };
  BOOST_TEST(real("complex-single nn 8x16x24") == "single nn 8x32x48");
  BOOST_TEST(real("complex-double nn 5x6x7 lda 9") == "double nn 5x12x14 lda 18 ldb 16");
}

// One problem on each line, with its calls as the weight; then whether the last line was torn.
std::string lines(const Result<Recording>& recording) {
  if (!recording) return recording.status().message();
  return lines(Result<std::vector<Shape>>(recording->shapes)) + (recording->torn ? "torn\n" : "");
}

BOOST_AUTO_TEST_CASE(ARecordingHasAProblemAndItsCallsOnEachLine) {
  BOOST_TEST(lines(parse_recording("# comment\nsingle nt 5x6x7 batch 2 calls 3\n\ndouble nn 5x6x7 calls 1\n"
                                   "single nt 5x6x7 batch 2 calls 1000000000000\n",
                                   "FILE")) == "single nt 5x6x7 batch 2 weight 1000000000003\ndouble nn 5x6x7\n");
  BOOST_TEST(lines(parse_recording("", "FILE")) == "");
}

BOOST_AUTO_TEST_CASE(ALastLineWithoutAnEndIsLeftOut) {
  const std::string text = "single nn 5x5x5 calls 12\nsingle nn 6x6x6 calls 34\n";
  for (std::size_t end = text.find('\n') + 2; end < text.size(); ++end) {
    BOOST_TEST(lines(parse_recording(text.substr(0, end), "FILE")) == "single nn 5x5x5 weight 12\ntorn\n");
  }
}

BOOST_AUTO_TEST_CASE(ABadLineOfARecordingIsNamedWithItsNumber) {
  const auto check = [](const std::string& line, const std::string& cause) {
    const Result<Recording> recording = parse_recording("single nn 5x5x5 calls 1\n" + line + "\n", "FILE");
    BOOST_TEST(outcome(recording) == "malformed", line);
    BOOST_TEST(contains(recording.status().message(), "FILE: line 2: " + cause), recording.status().message());
  };
  for (const char* calls : {"0", "-1", "1.5", "1e3", "many", "1000000000000000000", "calls"}) {
    check("single nn 5x5x5 calls " + std::string(calls), "'" + std::string(calls) + "' is no number of calls");
  }
  check("single nn 5x5x5", "'5x5x5' is no number of calls");
  check("calls", "'calls' is no number of calls");
  check("calls 5", "no precision");
  check("5x5x5 calls 5", "'5x5x5' is no precision");
  check("single 5x5x5 calls 5", "'5x5x5' is no transposes");
  check("single nn 5x0x5 calls 5", "'5x0x5' is no size");
  check("single nn 5x5x5 btch 2 calls 5", "'btch' is no part");
}

BOOST_AUTO_TEST_CASE(RecordingsAreJoinedTheMostCalledProblemFirst) {
  const Recording a = required(parse_recording("single nn 5x5x5 calls 2\nsingle nn 6x6x6 calls 3\n", "A"));
  const Recording b = required(parse_recording("single nn 5x5x5 calls 2\ndouble nn 5x5x5 calls 1\n", "B"));
  BOOST_TEST(shapes_text(joined({a, b}), "comment") ==
             "# comment\nsingle nn 5x5x5 weight 4\nsingle nn 6x6x6 weight 3\ndouble nn 5x5x5\n");
  BOOST_TEST(joined({}).empty());
}

// Any number of calls makes a shapes file.
BOOST_AUTO_TEST_CASE(MoreCallsThanAWeightCanBeKeepTheirRatios) {
  const std::string text = "single nn 5x5x5 calls 30000000000\nsingle nn 6x6x6 calls 1000\nsingle nn 7x7x7 calls 1\n";
  const std::string written = shapes_text(required(parse_recording(text, "FILE")).shapes, "");
  BOOST_TEST(lines(parsed(written)) ==
             "single nn 5x5x5 weight 3e+08\nsingle nn 6x6x6 weight 10\nsingle nn 7x7x7 weight 0.01\n");
  Shape most, least;
  most.weight = 9e17;
  least.m = 2;
  BOOST_TEST(lines(parsed(shapes_text({most, least}, ""))) ==
             "single nn 1x1x1 weight 9e+08\nsingle nn 2x1x1 weight 1e-06\n");
}

BOOST_AUTO_TEST_CASE(ClassesAreAsUsersSpeakOfThem) {
  const std::pair<const char*, const char*> wanted[] = {
      {"128x128x128", "small"},          {"1x1x1", "small"},          {"129x129x129", "square"},
      {"1024x256x512", "square"},        {"1024x255x512", "oblong"},  {"128x1024x1024", "thin-m"},
      {"1024x128x1024", "thin-n"},       {"1024x1024x128", "thin-k"}, {"16x16x1024", "thin-mn"},
      {"1024x16x16", "thin-nk"},         {"16x1024x16", "thin-mk"},   {"129x1024x1024", "oblong"},
      {"512x512x512 batch 2", "batched"}};
  for (const auto& [shape, wanted_class] : wanted) {
    BOOST_TEST(shape_class(*parse_shape(std::string("single nn ") + shape)) == wanted_class, shape);
  }
}

BOOST_AUTO_TEST_CASE(ShapesAreReadAsTheyAreWritten) {
  for (const char* text :
       {"single nn 1x2x3", "double tt 512x512x512", "half nt 2147483647x1x1", "single tn 4x5x6 batch 7",
        "single nn 1x2x3 weight 2.5", "single nn 1x2x3 batch 4 weight 0.30000000000000004"}) {
    const Shape shape = required(parse_shape(text));
    BOOST_TEST(weighted_name(shape) == text);
    BOOST_TEST(name(shape) == std::string(text).substr(0, std::string(text).find(" weight")));
  }
  for (const char* text : {"", "single", "single nn", "float nn 1x2x3", "single n 1x2x3", "single nnn 1x2x3",
                           "single NN 1x2x3", "single nn 1x2", "single nn 1x2x3 batch", "single nn 1x2x3 batch 4 5"}) {
    BOOST_TEST(outcome(parse_shape(text)) == "malformed", text);
  }
}

}  // namespace clbake::builder::test
