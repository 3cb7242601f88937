// The manifest of an application's own programs: what is read, and what is refused by file, field and cause.
#include <clbake/builder/programs.hpp>

#include "build_fixture.hpp"
#include "program/trial_run.hpp"

#include <boost/test/unit_test.hpp>

#include <clbake/program_text.hpp>

#include <cstring>
#include <filesystem>

namespace clbake::builder::test {
using namespace program;
namespace {

constexpr const char* kArguments =
    R"([{"buffer": "float", "count": 4}, {"scalar": "int", "value": -2}, {"local": 64}])";

std::string kernel(const std::string& arguments = kArguments, const std::string& global = "[128, 2]") {
  return R"({"name": "scale", "work_group_sizes": [[64], [8, 2]], "trials": [{"global": )" + global +
         R"(, "arguments": )" + arguments + "}]}";
}

std::string manifest(const std::string& kernels, const std::string& more = R"(, "options": "-DN=1")") {
  return R"({"version": 2, "programs": [{"name": "vector", "source": "vector.cl")" + more + R"(, "kernels": [)" +
         kernels + "]}]}";
}

// Reads a manifest beside a source.
Result<std::vector<Program>> programs_of(const std::string& text) {
  const process::ScratchDirectory directory = required(process::ScratchDirectory::create());
  write_file(directory.path() + "/vector.cl", "kernel void scale() {}\n");
  std::filesystem::create_directory(directory.path() + "/inc");
  write_file(directory.path() + "/inc/helper.h", "int helper;\n");
  write_file(directory.path() + "/uses.cl", "\xEF\xBB\xBF#include \"helper.h\"\n");
  write_file(directory.path() + "/data.bin", "\1\2\3\4\5\6\7\10");
  write_file(directory.path() + "/programs.json", text);
  return parse_programs(text, "programs.json", directory.path());
}

void check_refused(const std::string& text, const std::string& message) {
  const Result<std::vector<Program>> programs = programs_of(text);
  BOOST_TEST(outcome(programs) == "malformed");
  BOOST_TEST(programs.status().message() == "programs.json: " + message);
}

void check_argument_refused(const std::string& argument, const std::string& message) {
  check_refused(manifest(kernel("[" + argument + "]")), "programs[0].kernels[0].trials[0].arguments[0]" + message);
}

std::vector<TriedKernel> kernels_of(const std::string& kernel) {
  const std::vector<Program> programs = required(programs_of(manifest(kernel)));
  BOOST_TEST(programs.at(0).failure == "");
  return required(parse_trial(programs.at(0).trial));
}

TrialArgument argument_of(const std::string& argument) {
  return kernels_of(kernel("[" + argument + "]")).at(0).trials.at(0).arguments.at(0);
}

std::string image(const std::string& fields) {
  return R"({"order": "RGBA", "type": "UNORM_INT8", "width": 4, )" + fields + "}";
}

}  // namespace

BOOST_AUTO_TEST_CASE(AProgramBecomesAVariant) {
  const std::vector<Program> programs = required(programs_of(manifest(kernel("[]", "[128, 2]"))));
  BOOST_REQUIRE_EQUAL(programs.size(), 1U);
  BOOST_TEST(programs[0].failure == "");
  const Job job = make_job(made_up_device().target, programs[0]);
  BOOST_TEST(job.source.name == "vector.cl");
  BOOST_TEST(job.source.text == "#line 1 \"vector.cl\"\nkernel void scale() {}\n");
  BOOST_TEST(job.variant.name == "vector");
  BOOST_TEST(job.variant.is_program());
  BOOST_TEST(job.variant.build_options == "-DN=1");
  BOOST_REQUIRE_EQUAL(job.variant.launches.size(), 2U);
  BOOST_TEST(job.variant.launches[1].kernel_name == "scale");
  BOOST_TEST(job.variant.launches[1].local[0] == 8U);
  BOOST_TEST(job.variant.launches[1].local[1] == 2U);
  BOOST_TEST(job.variant.launches[1].local[2] == 1U);
  const Result<cache::Bytes> bytes = encode_job(job, cache::Packing::plain);
  BOOST_TEST(bytes.status().message() == "");
  const std::vector<TriedKernel> kernels = required(parse_trial(job.trial));
  BOOST_TEST(cases_of(kernels).size() == 2U);
  BOOST_TEST(cases_of(kernels)[1].name() == "kernel scale, work-group size 8x2x1");
}

// The text of a program, stated by its fields in a manifest, and what the application gives the driver.
BOOST_AUTO_TEST_CASE(AProgramIsFoundByWhatTheApplicationGives) {
  const std::string vector = "kernel void scale() {}\n", uses = "\xEF\xBB\xBF#include \"helper.h\"\n";
  const ProgramText part{{vector}, {}, "-DPART", {}, {}};
  const struct {
    const char* fields;
    ProgramText given;
    std::string options, text;  // in the bundle
  } kCases[] = {
      {R"("source": "vector.cl", "options": "-DN=1  -cl-mad-enable")",
       {{vector}, {}, "-DN=1 -cl-mad-enable", {}, {}},
       "-DN=1 -cl-mad-enable",
       "#line 1 \"vector.cl\"\n" + vector},
      {R"("source": "vector.cl", "options": "-D 'PLUS(a,b)=a + b' -w -DN")",
       {{vector}, {}, "-D 'PLUS(a,b)=a + b' -w -DN", {}, {}},
       "-w",
       "#define PLUS(a,b) a + b\n#define N 1\n#line 1 \"vector.cl\"\n" + vector},
      {R"("sources": ["vector.cl", {"text": "int x;"}])",
       {{vector, "int x;"}, {}, {}, {}, {}},
       "",
       "#line 1 \"vector.cl\"\n" + vector + "int x;\n"},
      {R"("source": "uses.cl", "options": "-I inc -DX")",
       {{uses}, {}, "-DX", {{"helper.h", "int helper;\n"}}, {}},
       "-DX",
       "#line 1 \"uses.cl\"\n#line 1 \"inc/helper.h\"\nint helper;\n#line 2 \"uses.cl\"\n"},
      {R"("source": "uses.cl", "headers": [{"name": "helper.h", "source": "inc/helper.h"}])",
       {{uses}, {}, {}, {{"helper.h", "int helper;\n"}}, {}},
       "",
       "#line 1 \"uses.cl\"\n#line 1 \"helper.h\"\nint helper;\n#line 2 \"uses.cl\"\n"},
      {R"("il": "data.bin", "options": "-w")",
       {{}, "\1\2\3\4\5\6\7\10", "-w", {}, {}},
       "-w",
       encode(ProgramText{{}, "\1\2\3\4\5\6\7\10", {}, {}, {}})},
      {R"("parts": [{"source": "vector.cl", "options": "-DPART"}], "options": "-create-library")",
       {{}, {}, "-create-library", {}, {part}},
       "-create-library",
       encode(ProgramText{{}, {}, {}, {}, {{{"#line 1 \"vector.cl\"\n" + vector}, {}, "-DPART", {}, {}}}})},
  };
  for (const auto& [fields, given, options, text] : kCases) {
    BOOST_TEST_CONTEXT(fields) {
      const std::vector<Program> programs = required(programs_of(
          R"({"version": 2, "programs": [{)" + std::string(fields) + R"(, "kernels": [)" + kernel() + "]}]}"));
      BOOST_TEST(programs.at(0).failure == "");
      BOOST_TEST((programs[0].content == required(content_digest(given))));
      BOOST_TEST(programs[0].name == content_name(programs[0].content));
      BOOST_TEST(programs[0].parts.size() == given.parts.size());
      BOOST_TEST(programs[0].options == options);
      BOOST_TEST(programs[0].source.text == text);
    }
  }
}

BOOST_AUTO_TEST_CASE(AProgramHasOneKindOfText) {
  const auto with = [](const std::string& fields) {
    return R"({"version": 2, "programs": [{)" + fields + R"("kernels": [)" + kernel() + "]}]}";
  };
  const std::string message = R"(programs[0]: has none of "source", "sources", "il" and "parts", or several)";
  check_refused(with(""), message);
  check_refused(with(R"("source": "vector.cl", "il": "data.bin", )"), message);
  const std::string one = R"({"source": "vector.cl", "kernels": [)" + kernel() + "]}";
  check_refused(R"({"version": 2, "programs": [)" + one + ", " + one + "]}", "programs[1]: is an earlier program, too");
  BOOST_TEST(contains(required(programs_of(with(R"("source": "vector.cl", "options": "-include x.h", )")))[0].failure,
                      "the option -include includes files"));
}

// The example that users copy.
BOOST_AUTO_TEST_CASE(ThePagesManifestIsRead) {
  const std::string page = read_file(PAGE);
  const std::string begin = "```json\n";
  const std::size_t at = page.find(begin);
  BOOST_REQUIRE(at != std::string::npos);
  const std::string text = page.substr(at + begin.size(), page.find("```", at + begin.size()) - at - begin.size());
  const std::vector<Program> programs = required(programs_of(text));
  BOOST_REQUIRE_EQUAL(programs.size(), 1U);
  BOOST_TEST(programs[0].name == "vector");
  BOOST_TEST(programs[0].launches.size() == 3U);
}

BOOST_AUTO_TEST_CASE(ArgumentsAreReadAndFilled) {
  const TrialArgument numbers = argument_of(R"({"buffer": "short", "count": 3, "fill": [1, -2, 3]})");
  const std::int16_t shorts[] = {1, -2, 3};
  BOOST_TEST((content_of(numbers, 0).size() == sizeof shorts));
  BOOST_TEST(std::memcmp(content_of(numbers, 0).data(), shorts, sizeof shorts) == 0);
  const TrialArgument same = argument_of(R"({"buffer": "double", "count": 2, "fill": 0.5})");
  BOOST_TEST(same.element.number->load(&content_of(same, 0)[8]) == 0.5);
  BOOST_TEST(same.tolerance == 1e-12);
  const TrialArgument random = argument_of(R"({"buffer": "int", "count": 500, "fill": {"random": [-2, 2]}})");
  std::set<double> seen;
  for (std::size_t i = 0; i < 500; ++i) seen.insert(random.element.number->load(&content_of(random, 7)[4 * i]));
  BOOST_TEST((seen == std::set<double>{-2, -1, 0, 1, 2}));
  BOOST_TEST((content_of(random, 7) == content_of(random, 7)));
  BOOST_TEST((content_of(random, 7) != content_of(random, 8)));
  const TrialArgument expected =
      argument_of(R"({"buffer": "float", "count": 2, "expected": [1, 2], "tolerance": 0.1})");
  BOOST_TEST((expected.expected == std::vector<Number>{1, 2}));
  BOOST_TEST(expected.tolerance == 0.1);
  const TrialArgument vector = argument_of(R"({"scalar": "float4", "value": [1, 2, 3, 4]})");
  BOOST_TEST(vector.element.width == 4U);
  BOOST_TEST(argument_of(R"({"buffer": "half", "count": 1, "fill": 1.5})").size() == 2U);
}

BOOST_AUTO_TEST_CASE(ContentsHaveTheBytesOfTheirTypes) {
  const struct {
    const char* argument;
    std::size_t bytes;
    const char* content;  // in hexadecimal digits; empty: not compared
  } kCases[] = {
      {R"({"buffer": "float4", "count": 3})", 48, ""},
      {R"({"buffer": "short3", "count": 2, "fill": [1, 2, 3, 4, 5, 6]})", 16, "01000200030000000400050006000000"},
      {R"({"buffer": "half2", "count": 1, "fill": [1, -2]})", 4, "003c00c0"},
      {R"({"buffer": "bytes", "count": 3, "hex": "0aFf01"})", 3, "0aff01"},
      {R"({"buffer": "int", "count": 2, "hex": "07000000", "truncated": true})", 8, "0700000000000000"},
      {R"({"buffer": "uchar", "count": 4, "fill": 7, "offset": 4096})", 4, "07070707"},
      {R"({"buffer": "uint", "count": 2, "file": "data.bin"})", 8, "0102030405060708"},
      {R"({"bytes": "0102"})", 2, "0102"},
      {R"({"bytes": {"file": "data.bin"}})", 8, "0102030405060708"},
      {R"({"scalar": "ulong", "value": 9007199254740993})", 8, "0100000000002000"},
      {R"({"scalar": "ulong", "value": 18446744073709551615})", 8, "ffffffffffffffff"},
      {R"({"scalar": "long", "value": -9223372036854775808})", 8, "0000000000000080"},
      {R"({"scalar": "float3", "value": [1, 0, 0]})", 16, "0000803f000000000000000000000000"},
      {R"({"image": "2d", "order": "RGBA", "type": "UNORM_INT8", "width": 2, "height": 3})", 24, ""},
      {R"({"image": "1d", "order": "R", "type": "FLOAT", "width": 1, "fill": 1})", 4, "0000803f"},
      {R"({"image": "3d", "order": "RG", "type": "HALF_FLOAT", "width": 2, "height": 2, "depth": 2})", 32, ""},
      {R"({"image": "2d_array", "order": "R", "type": "UNSIGNED_INT16", "width": 2, "height": 2, "array_size": 3})", 24,
       ""},
      {R"({"image": "1d_array", "order": "A", "type": "SIGNED_INT8", "width": 2, "array_size": 3})", 6, ""},
      {R"({"image": "1d_buffer", "order": "BGRA", "type": "UNORM_INT8", "width": 2})", 8, ""},
      {R"({"image": "2d", "order": "RGB", "type": "UNORM_SHORT_565", "width": 2, "height": 1})", 4, ""},
  };
  for (const auto& [text, bytes, content] : kCases) {
    BOOST_TEST_CONTEXT(text) {
      const cache::Bytes made = content_of(argument_of(text), 0);
      BOOST_TEST(made.size() == bytes);
      if (content[0] != 0) BOOST_TEST(hex_of(made.data(), made.size()) == content);
    }
  }
}

BOOST_AUTO_TEST_CASE(ArgumentsWithoutContentAreRead) {
  using Kind = TrialArgument::Kind;
  BOOST_TEST((argument_of(R"({"buffer": null})").kind == Kind::null));
  BOOST_TEST((argument_of(R"({"local": 12})").size() == 12U));
  const TrialArgument sampler =
      argument_of(R"({"sampler": {"normalized": true, "addressing": "REPEAT", "filter": "LINEAR"}})");
  BOOST_TEST((sampler.kind == Kind::sampler && sampler.sampler.normalized));
  BOOST_TEST(sampler.sampler.addressing == static_cast<cl_addressing_mode>(CL_ADDRESS_REPEAT));
  BOOST_TEST(sampler.sampler.filter == static_cast<cl_filter_mode>(CL_FILTER_LINEAR));
  const auto two = kernels_of(kernel(R"([{"buffer": "int", "count": 4}, {"same": 0}])"));
  BOOST_TEST((two.at(0).trials.at(0).arguments.at(1).kind == Kind::same));
}

BOOST_AUTO_TEST_CASE(SizesOfTrialsJoinThoseOfTheList) {
  std::string many;
  for (int i = 1; i <= 17; ++i) many += (i == 1 ? "" : " ") + std::to_string(i) + "x1x1";
  const struct {
    const char* sizes;
    const char* local;   // field of the trial
    std::string listed;  // by the bundle
    std::string tried;
  } kCases[] = {
      {"[[64], [8, 2]]", "", "64x1x1 8x2x1", "64x1x1 8x2x1"},
      {"[[64]]", R"("local": [32], )", "64x1x1 32x1x1", "32x1x1"},
      {"[[64], null]", "", "64x1x1 NULL", "64x1x1 NULL"},
      {"[[64]]", R"("local": null, )", "64x1x1 NULL", "NULL"},
      {"[]", "", "NULL", "NULL"},
      {"[]", R"("local": [3, 3], )", "3x3x1", "3x3x1"},
      {"[[1], [2], [3], [4], [5], [6], [7], [8], [9], [10], [11], [12], [13], [14], [15], [16], [17]]", "", many, many},
  };
  const auto joined = [](const std::vector<Extents3>& sizes) {
    std::string text;
    for (const Extents3& size : sizes) text += (text.empty() ? "" : " ") + size_text(size);
    return text;
  };
  for (const auto& [sizes, local, listed, tried] : kCases) {
    const auto kernels = kernels_of(R"({"name": "a", "work_group_sizes": )" + std::string(sizes) +
                                    R"(, "trials": [{"global": [64], )" + local + R"("arguments": []}]})");
    BOOST_TEST(joined(kernels.at(0).work_group_sizes) == listed);
    BOOST_TEST(joined(kernels.at(0).trials.at(0).sizes) == tried);
  }
}

BOOST_AUTO_TEST_CASE(AKernelNeedsNoTrial) {
  const auto kernels = kernels_of(R"({"name": "a", "work_group_sizes": [], "trials": []})");
  BOOST_TEST(cases_of(kernels).empty());
}

BOOST_AUTO_TEST_CASE(EveryNumberTypeKeepsItsNumbers) {
  for (const char* name :
       {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double"}) {
    const NumberType& type = *number_type(name);
    for (const double value : {0.0, 1.0, 100.0, type.name[0] == 'u' ? 2.0 : -100.0}) {
      std::uint8_t bytes[8] = {};
      type.store(value, bytes);
      BOOST_TEST(type.load(bytes) == value, name);
    }
  }
  BOOST_TEST(number_type("float4") == nullptr);
  BOOST_TEST(number_type("size_t") == nullptr);
}

BOOST_AUTO_TEST_CASE(MalformedManifestsAreNamedByField) {
  check_refused("", "is empty");
  check_refused("[]", "is not an object");
  check_refused("{}", "version: is missing");
  check_refused(R"({"version": 1, "programs": []})", "version: is not 2, the version that this clbake knows");
  check_refused(R"({"version": 2, "programs": []})", "programs: is empty");
  check_refused(R"({"version": 2, "program": []})", "program: is no field of this format");
  check_refused(R"({"programs": [{"a": 1}, {"a": 2, "b": {}, "a": 3}]})", "\"a\" is there twice in an object");
  std::string many = R"({"version": 2)";
  for (int i = 0; i < 64; ++i) many += ", \"" + std::to_string(i) + "\": 0";
  check_refused(many + "}", "an object has more than 64 fields");
  check_refused(R"({"version": 2, "include": "x", "programs": []})", "include: is not a list");
  check_refused(manifest(kernel(), R"(, "option": "")"), "programs[0].option: is no field of this format");
  check_refused(manifest(""), "programs[0].kernels: has 0 items, not 1 to 4096");
  check_refused(manifest(R"({"name": "a-b", "work_group_sizes": [[1]], "trials": []})"),
                "programs[0].kernels[0].name: is no name of a kernel");
  check_refused(manifest(R"({"name": "a", "work_group_sizes": [64], "trials": []})"),
                "programs[0].kernels[0].work_group_sizes[0]: is not a list of one to three sizes");
  check_refused(manifest(R"({"name": "a", "work_group_sizes": [[0]], "trials": []})"),
                "programs[0].kernels[0].work_group_sizes[0][0]: is not between 1 and 2^30");
  check_refused(manifest(kernel("[]", "[]")),
                "programs[0].kernels[0].trials[0].global: is not a list of one to three sizes");
}

BOOST_AUTO_TEST_CASE(NamesMustBePlainAndUnique) {
  const auto named = [](const std::string& name) {
    return R"({"version": 2, "programs": [{"name": ")" + name + R"(", "source": "vector.cl", "kernels": [)" +
           kernel("[]", "[128, 2]") + "]}]}";
  };
  const std::string rule = "programs[0].name: is no name of 1 to 64 letters, digits, '_', '-' and '.'";
  for (const char* name : {"", "a/b", "../a", ".a", "-a", "a b"}) check_refused(named(name), rule);
  check_refused(named(std::string(65, 'a')), rule);
  check_refused(named("content-0"), "programs[0].name: begins with 'content-', as those of programs without a name do");
  for (const char* name : {"tutorial-1", "direct-s-nn-1x1x1-1x1x1-v1"}) {
    check_refused(named(name), "programs[0].name: is the name of a variant of GEMM");
  }
  const std::string one = R"({"name": "a", "source": "vector.cl", "kernels": [)" + kernel("[]", "[128, 2]") + "]}";
  check_refused(R"({"version": 2, "programs": [)" + one + "," + one + "]}",
                "programs[1].name: is the name of an earlier program, too");
}

BOOST_AUTO_TEST_CASE(MalformedArgumentsAreNamed) {
  const std::string numbers = "char, uchar, short, ushort, int, uint, long, ulong, half, float or double";
  const std::string types = numbers + ", nor such a vector of 2, 3, 4, 8 or 16";
  const struct {
    std::string argument, message;
  } kCases[] = {
      {"{}",
       ": is no argument: it has none of \"buffer\", \"same\", \"image\", \"sampler\", \"scalar\", \"bytes\" and "
       "\"local\""},
      {"7", ": is not an object"},
      {R"({"buffer": "float5", "count": 1})", ".buffer: is none of bytes, " + types},
      {R"({"buffer": "float", "count": 0})", ".count: is 0; {\"buffer\": null} is a buffer that is NULL"},
      {R"({"buffer": "float", "count": 30000000000})", ".count: the buffer has more than 4 GiB"},
      {R"({"buffer": null, "count": 1})", ".count: is no field of this format"},
      {R"({"buffer": "uchar", "count": 1, "fill": 256})", ".fill: is no uchar"},
      {R"({"buffer": "int", "count": 1, "fill": 0.5})", ".fill: is no int"},
      {R"({"buffer": "int", "count": 2, "fill": [1]})", ".fill: has 1 numbers, not 2"},
      {R"({"buffer": "int2", "count": 2, "fill": [1, 2]})", ".fill: has 2 numbers, not 4"},
      {R"({"buffer": "int", "count": 2, "fill": "zero"})",
       ".fill: is neither a number, a list of them nor {\"random\": [LOW, HIGH]}"},
      {R"({"buffer": "int", "count": 2, "fill": {"random": [3, 2]}})", ".fill.random: ends before it begins"},
      {R"({"buffer": "int", "count": 2, "fill": 0, "hex": "00"})",
       ": has more than one of \"fill\", \"hex\" and \"file\""},
      {R"({"buffer": "int", "count": 1, "hex": "000000"})", ".hex: has 3 bytes, and the argument has 4"},
      {R"({"buffer": "int", "count": 1, "hex": "00000000ff", "truncated": true})",
       ".hex: has 5 bytes, and the argument has 4"},
      {R"({"buffer": "int", "count": 1, "hex": "000"})", ".hex: is no even number of hexadecimal digits"},
      {R"({"buffer": "int", "count": 1, "file": "data.bin"})", ".file: has 8 bytes, and the argument has 4"},
      {R"({"buffer": "int", "count": 2, "expected": [1]})", ".expected: has 1 numbers, not 2"},
      {R"({"buffer": "int", "count": 2, "tolerance": -1})", ".tolerance: is negative"},
      {R"({"buffer": "int", "count": 2, "tolerance": 1e9})", ".tolerance: is 1 or more: any result would be right"},
      {R"({"buffer": "int", "count": 2, "order": "none"})", ".order: is not \"any\""},
      {R"({"same": 0})", ".same: is no earlier argument that is a buffer or an image"},
      {R"({"same": 18446744073709551615})", ".same: is no earlier argument that is a buffer or an image"},
      {R"({"buffer": "int", "count": 2, "file": "../data.bin"})", ".file: leads outside of the manifest's folder"},
      {R"({"buffer": "int", "count": 2, "file": "/etc/passwd", "truncated": true})",
       ".file: leads outside of the manifest's folder"},
      {R"({"image": "3d", "order": "RGBA", "type": "FLOAT", "width": 1048576, "height": 1048576, "depth": 1048576})",
       ": the image has more than 4 GiB"},
      {R"({"scalar": "ulong", "value": 18446744073709551616})", ".value: is no ulong"},
      {R"({"scalar": "int", "value": [1]})", ".value: is not a number"},
      {R"({"scalar": "int2", "value": [1]})", ".value: has 1 numbers, not 2"},
      {R"({"scalar": "int5", "value": 1})", ".scalar: is none of " + types},
      {R"({"bytes": ""})", ".bytes: has 0 bytes, not 1 to 65536"},
      {R"({"local": 0})", ".local: is not between 1 and 16777216 bytes"},
      {image(R"("image": "4d")"), ".image: is none of 1d, 2d, 3d, 1d_array, 2d_array or 1d_buffer"},
      {image(R"("image": "2d")"), ".height: is missing"},
      {image(R"("image": "1d", "height": 2)"), ".height: is no extent of such an image"},
      {R"({"image": "1d", "order": "RGBA", "type": "float4", "width": 1})",
       ".type: \"RGBA\" and \"float4\" are no channel order and type of OpenCL, such as \"RGBA\" and \"UNORM_INT8\""},
      {R"({"sampler": {"normalized": true, "addressing": "WRAP", "filter": "LINEAR"}})",
       ".sampler.addressing: is none of NONE, CLAMP_TO_EDGE, CLAMP, REPEAT and MIRRORED_REPEAT"},
      {R"({"sampler": {"normalized": true, "addressing": "NONE", "filter": "BEST"}})",
       ".sampler.filter: is none of NEAREST and LINEAR"},
  };
  for (const auto& [argument, message] : kCases) check_argument_refused(argument, message);
}

// A fault in the files of one program costs that program.
BOOST_AUTO_TEST_CASE(MissingFilesAreFailuresOfTheirProgram) {
  const std::string kernels = R"(, "kernels": [)" + kernel("[]") + "]}";
  const std::vector<Program> programs =
      required(programs_of(R"({"version": 2, "programs": [{"name": "a", "source": "none.cl")" + kernels +
                           R"(, {"name": "b", "source": "vector.cl")" + kernels + "]}"));
  BOOST_REQUIRE_EQUAL(programs.size(), 2U);
  BOOST_TEST(contains(programs[0].failure, "none.cl: " + no_such_file()), programs[0].failure);
  BOOST_TEST(programs[1].failure == "");
  const auto no_data =
      required(programs_of(manifest(kernel(R"([{"buffer": "int", "count": 1, "file": "none.bin"}])"))));
  BOOST_TEST(contains(no_data.at(0).failure, "none.bin: " + no_such_file()), no_data.at(0).failure);
}

BOOST_AUTO_TEST_CASE(LargeTrialsAreRefused) {
  std::string numbers = "[0.125";
  for (int i = 1; i < 3000000; ++i) numbers += ", 0.125";
  const std::string text =
      manifest(kernel(R"([{"buffer": "float", "count": 3000000, "fill": )" + numbers + "]}]", "[128, 2]"));
  const Result<std::vector<Program>> programs = programs_of(text);
  BOOST_TEST(contains(programs.status().message(), "15 MiB is the limit"), programs.status().message());
}

BOOST_AUTO_TEST_CASE(LargeContentsAreCut) {
  const process::ScratchDirectory directory = required(process::ScratchDirectory::create());
  write_file(directory.path() + "/vector.cl", "kernel void scale() {}\n");
  write_file(directory.path() + "/large.bin", std::string(10 << 20, 'x'));
  const std::string text = manifest(kernel(R"([{"buffer": "bytes", "count": 10485760, "file": "large.bin"}])"));
  const Program program = required(parse_programs(text, "programs.json", directory.path())).at(0);
  BOOST_TEST(program.remark ==
             "the bundle keeps the first 3840 KiB of each content of its trials; zeros take the place of the rest");
  const TrialArgument argument = required(parse_trial(program.trial)).at(0).trials.at(0).arguments.at(0);
  const cache::Bytes content = content_of(argument, 0);
  BOOST_TEST(content.size() == std::size_t{10} << 20);
  BOOST_TEST(content[(3840 << 10) - 1] == 'x');
  BOOST_TEST(content[3840 << 10] == 0);
}

BOOST_AUTO_TEST_CASE(ZerosOfContentsTakeNoMemory) {
  std::string files = R"(["f", 4294967296, "07"])";
  for (int i = 0; i < 1000; ++i) files += ", [\"" + std::to_string(i) + R"(", 4294967296, ""])";
  const std::string arguments = R"([{"buffer": "bytes", "count": 4294967296, "file": "f"}])";
  const std::string trial = R"({"files": [)" + files + R"(], "kernels": [)" + kernel(arguments) + "]}";
  const TrialArgument argument = required(parse_trial(trial)).at(0).trials.at(0).arguments.at(0);
  BOOST_TEST(argument.bytes->size == std::uint64_t{1} << 32);
  BOOST_TEST(argument.bytes->begin.size() == 1U);
}

BOOST_AUTO_TEST_CASE(AKernelIsUntriedAtTheSizesOfNoTrial) {
  const struct {
    const char *trials, *untried;
  } kCases[] = {
      {R"([{"global": [256], "arguments": []}])", ""},
      {R"([{"global": [256], "local": [64], "arguments": []}])", "kernel f at 128x1x1"},
      {"[]", "kernel f"},
  };
  for (const auto& [trials, untried] : kCases) {
    const std::string kernels =
        R"({"name": "f", "work_group_sizes": [[64], [128]], "trials": )" + std::string(trials) + "}";
    const Job job = make_job(made_up_device().target, required(programs_of(manifest(kernels))).at(0));
    const std::vector<std::string> names = required(untried_kernels(job.variant, job.trial));
    BOOST_TEST((names.empty() ? std::string() : kernels_text(names)) == untried);
  }
}

BOOST_AUTO_TEST_CASE(WorkGroupsBeyondTheDeviceAreNamed) {
  const Program program = required(programs_of(manifest(kernel("[]", "[128, 2]")))).at(0);
  kernels::DeviceLimits limits;
  limits.max_work_group_size = 64;
  for (std::uint64_t& size : limits.max_work_item_sizes) size = 64;
  BOOST_TEST(violation(program, limits) == "");
  limits.max_work_item_sizes[1] = 1;
  BOOST_TEST(violation(program, limits) ==
             "kernel scale: the work-group size 8x2x1 is too large; the device allows 1 work-items in dimension 1");
  limits.max_work_group_size = 32;
  BOOST_TEST(violation(program, limits) ==
             "kernel scale: the work-group size 64x1x1 has 64 work-items; the device allows 32");
}

}  // namespace clbake::builder::test
