// The manifest of an application's own programs: what is read, and what is refused by file, field and cause.
#include <clbake/builder/programs.hpp>

#include "build_fixture.hpp"
#include "program/trial_run.hpp"

#include <boost/test/unit_test.hpp>

#include <cstring>

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
  return R"({"version": 1, "programs": [{"name": "vector", "source": "vector.cl")" + more + R"(, "kernels": [)" +
         kernels + "]}]}";
}

// Reads a manifest beside a source.
Result<std::vector<Program>> programs_of(const std::string& text) {
  const process::ScratchDirectory directory = required(process::ScratchDirectory::create());
  write_file(directory.path() + "/vector.cl", "kernel void scale() {}\n");
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

TrialArgument argument_of(const std::string& argument) {
  const std::vector<Program> programs = required(programs_of(manifest(kernel("[" + argument + "]"))));
  return required(parse_trial(programs.at(0).trial)).at(0).trials.at(0).arguments.at(0);
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
  BOOST_TEST(same.type->load(&content_of(same, 0)[8]) == 0.5);
  BOOST_TEST(same.tolerance == 1e-12);
  const TrialArgument random = argument_of(R"({"buffer": "int", "count": 500, "fill": {"random": [-2, 2]}})");
  std::set<double> seen;
  for (std::size_t i = 0; i < 500; ++i) seen.insert(random.type->load(&content_of(random, 7)[4 * i]));
  BOOST_TEST((seen == std::set<double>{-2, -1, 0, 1, 2}));
  BOOST_TEST((content_of(random, 7) == content_of(random, 7)));
  BOOST_TEST((content_of(random, 7) != content_of(random, 8)));
  const TrialArgument expected =
      argument_of(R"({"buffer": "float", "count": 2, "expected": [1, 2], "tolerance": 0.1})");
  BOOST_TEST((expected.expected == std::vector<double>{1, 2}));
  BOOST_TEST(expected.tolerance == 0.1);
  const TrialArgument vector = argument_of(R"({"scalar": "float4", "value": [1, 2, 3, 4]})");
  BOOST_TEST(vector.width == 4U);
  BOOST_TEST(argument_of(R"({"buffer": "half", "count": 1, "fill": 1.5})").type->bytes == 2U);
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
  check_refused(R"({"version": 2, "programs": []})", "version: is not 1, the version that this clbake knows");
  check_refused(R"({"version": 1, "programs": []})", "programs: is empty");
  check_refused(R"({"version": 1, "program": []})", "program: is no field of this format");
  check_refused(R"({"programs": [{"a": 1}, {"a": 2, "b": {}, "a": 3}]})", "\"a\" is there twice in an object");
  std::string many = R"({"version": 1)";
  for (int i = 0; i < 64; ++i) many += ", \"" + std::to_string(i) + "\": 0";
  check_refused(many + "}", "an object has more than 64 fields");
  check_refused(R"({"version": 1, "include": "x", "programs": []})", "include: is not a list");
  check_refused(manifest(kernel(), R"(, "option": "")"), "programs[0].option: is no field of this format");
  check_refused(manifest(kernel(), R"(, "options": "-cl-mad-enable -I.")"),
                "programs[0].options: has -I; name the folders in the manifest's \"include\"");
  for (const char* options : {R"(\t-I.)", R"(-DX\n-I.)", R"(\"-I.\")"}) {
    check_refused(manifest(kernel(), R"(, "options": ")" + std::string(options) + "\""),
                  "programs[0].options: has -I; name the folders in the manifest's \"include\"");
  }
  check_refused(manifest(""), "programs[0].kernels: has 0 items, not 1 to 64");
  check_refused(manifest(R"({"name": "a-b", "work_group_sizes": [[1]], "trials": []})"),
                "programs[0].kernels[0].name: is no name of a kernel");
  check_refused(manifest(R"({"name": "a", "work_group_sizes": [64], "trials": []})"),
                "programs[0].kernels[0].work_group_sizes[0]: is not a list of one to three sizes");
  check_refused(manifest(R"({"name": "a", "work_group_sizes": [[0]], "trials": []})"),
                "programs[0].kernels[0].work_group_sizes[0][0]: is not between 1 and 2^30");
  check_refused(manifest(R"({"name": "a", "work_group_sizes": [[64]], "trials": []})"),
                "programs[0].kernels[0].trials: has 0 items, not 1 to 64");
  check_refused(manifest(kernel("[]", "[100]")),
                "programs[0].kernels[0].trials[0].global: 100x1x1 is no multiple of the work-group size 64x1x1");
  check_refused(manifest(R"({"name": "a", "work_group_sizes": [[64]],
                             "trials": [{"global": [64], "local": [32], "arguments": []}]})"),
                R"(programs[0].kernels[0].trials[0].local: 32x1x1 is none of "work_group_sizes")");
  check_refused(manifest(kernel("[]", "[1048576, 8192]")),
                "programs[0].kernels[0].trials[0].global: 1048576x8192x1 has more than 2^32 work-items");
}

BOOST_AUTO_TEST_CASE(NamesMustBePlainAndUnique) {
  const auto named = [](const std::string& name) {
    return R"({"version": 1, "programs": [{"name": ")" + name + R"(", "source": "vector.cl", "kernels": [)" +
           kernel("[]", "[128, 2]") + "]}]}";
  };
  const std::string rule = "programs[0].name: is no name of 1 to 64 letters, digits, '_', '-' and '.'";
  for (const char* name : {"", "a/b", "../a", ".a", "-a", "a b"}) check_refused(named(name), rule);
  check_refused(named(std::string(65, 'a')), rule);
  for (const char* name : {"tutorial-1", "direct-s-nn-1x1x1-1x1x1-v1"}) {
    check_refused(named(name), "programs[0].name: is the name of a variant of GEMM");
  }
  const std::string one = R"({"name": "a", "source": "vector.cl", "kernels": [)" + kernel("[]", "[128, 2]") + "]}";
  check_refused(R"({"version": 1, "programs": [)" + one + "," + one + "]}",
                "programs[1].name: is the name of an earlier program, too");
}

BOOST_AUTO_TEST_CASE(MalformedArgumentsAreNamed) {
  const std::string types =
      ".buffer: is none of char, uchar, short, ushort, int, uint, long, ulong, half, float or double";
  check_argument_refused("{}", ": is neither a buffer, a scalar nor local memory");
  check_argument_refused("7", ": is not an object");
  check_argument_refused(R"({"buffer": "float4", "count": 1})", types);
  check_argument_refused(R"({"buffer": "float", "count": 0})", ".count: is 0, or the buffer has more than 256 MiB");
  check_argument_refused(R"({"buffer": "float", "count": 1000000000})",
                         ".count: is 0, or the buffer has more than 256 MiB");
  check_argument_refused(R"({"buffer": "uchar", "count": 1, "fill": 256})", ".fill: is no uchar");
  check_argument_refused(R"({"buffer": "int", "count": 1, "fill": 0.5})", ".fill: is no int");
  check_argument_refused(R"({"buffer": "int", "count": 2, "fill": [1]})", ".fill: has 1 numbers, not 2");
  check_argument_refused(R"({"buffer": "int", "count": 2, "fill": "zero"})",
                         ".fill: is neither a number, a list of them nor {\"random\": [LOW, HIGH]}");
  check_argument_refused(R"({"buffer": "int", "count": 2, "fill": {"random": [3, 2]}})",
                         ".fill.random: ends before it begins");
  check_argument_refused(R"({"buffer": "int", "count": 2, "expected": [1]})", ".expected: has 1 numbers, not 2");
  check_argument_refused(R"({"buffer": "int", "count": 2, "tolerance": -1})", ".tolerance: is negative");
  check_argument_refused(R"({"scalar": "int", "value": [1]})", ".value: is not a number");
  check_argument_refused(R"({"scalar": "int2", "value": [1]})", ".value: has 1 numbers, not 2");
  check_argument_refused(R"({"scalar": "int5", "value": 1})", types.substr(0, 1) + "scalar" + types.substr(7));
  check_argument_refused(R"({"local": 0})", ".local: is not between 1 and 16777216 bytes");
}

// A fault in the files of one program costs that program.
BOOST_AUTO_TEST_CASE(MissingFilesAreFailuresOfTheirProgram) {
  const std::string kernels = R"(, "kernels": [)" + kernel("[]") + "]}";
  const std::vector<Program> programs =
      required(programs_of(R"({"version": 1, "programs": [{"name": "a", "source": "none.cl")" + kernels +
                           R"(, {"name": "b", "source": "vector.cl")" + kernels + "]}"));
  BOOST_REQUIRE_EQUAL(programs.size(), 2U);
  BOOST_TEST(contains(programs[0].failure, "none.cl: No such file"), programs[0].failure);
  BOOST_TEST(programs[1].failure == "");
}

BOOST_AUTO_TEST_CASE(LargeTrialsAreRefused) {
  std::string numbers = "[0.125";
  for (int i = 1; i < 200000; ++i) numbers += ", 0.125";
  const std::string text =
      manifest(kernel(R"([{"buffer": "float", "count": 200000, "fill": )" + numbers + "]}]", "[128, 2]"));
  const Result<std::vector<Program>> programs = programs_of(text);
  BOOST_TEST(contains(programs.status().message(), "900 KiB is the limit"), programs.status().message());
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
