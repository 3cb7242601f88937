// Programs of an application through the real workers, each in a new process with empty driver caches: what a proof
// accepts, and what it finds.
#include "test_device.hpp"

#include "build_fixture.hpp"
#include "selected_devices.hpp"

#include <clbake/os/environment.hpp>
#include <clbake/program_text.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdlib>
#include <set>

namespace clbake::builder::test {
using namespace build;
using namespace compile;
namespace {

using tests::device;
using tests::gives_machine_code;
using tests::on_pocl;

// A reversal within work-groups, which takes local memory and a barrier: PoCL makes code for each work-group size.
constexpr const char* kSource =
    "kernel void reverse(global float* x, int n, local float* t) {\n"
    "  const size_t i = get_global_id(0), l = get_local_id(0);\n"
    "  t[l] = FACTOR * x[i];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  if (i < n) x[i] = t[get_local_size(0) - 1 - l];\n"
    "}\n"
    "kernel void negate(global const int* a, global int* b) { b[get_global_id(0)] = -a[get_global_id(0)]; }\n";

std::string buffer(const std::string& more = {}) { return R"({"buffer": "float", "count": 128)" + more + "}"; }

std::string reverse_arguments(const std::string& first = buffer()) {
  return "[" + first + R"(, {"scalar": "int", "value": 128}, {"local": 512}])";
}

std::string trial(const std::string& arguments, const std::string& more = {}) {
  return R"({"global": [128], "arguments": )" + arguments + more + "}";
}

std::string kernels_of(const std::string& reverse_trials, const std::string& sizes = "[[16], [64]]") {
  return R"([{"name": "reverse", "work_group_sizes": )" + sizes + R"(, "trials": [)" + reverse_trials +
         R"(]}, {"name": "negate", "work_group_sizes": [[32]], "trials": [{"global": [64], "arguments": [
           {"buffer": "int", "count": 64}, {"buffer": "int", "count": 64, "fill": 7}]}]}])";
}

// LeakSanitizer's tracer crashes in the child that proves a program on PoCL.
void without_leak_checks_of_children() {
  const char* const set = std::getenv("ASAN_OPTIONS");
  os::set_variable("ASAN_OPTIONS", ((set ? std::string(set) + ":" : std::string()) + "detect_leaks=0"));
}

// Builds of one program for this machine's device with the real command as worker.
struct Proofs : BuildFixture {
  Proofs() {
    without_leak_checks_of_children();
    options.devices = {device()};
    options.worker = CLBAKE_COMMAND;
    options.precisions.clear();
    options.gemm = false;
    options.parallel = 1;
    options.timeout = std::chrono::seconds(120);
  }

  Status read(const std::string& kernels, const std::string& source = kSource) {
    write_file(path("mine.cl"), source);
    write_file(
        path("programs.json"),
        R"({"version": 2, "programs": [{"name": "mine", "source": "mine.cl", "options": "-DFACTOR=2", "kernels": )" +
            kernels + "}]}");
    Result<std::vector<program::Program>> programs = program::read_programs(path("programs.json"));
    if (!programs) return programs.status();
    options.programs = std::move(*programs);
    return {};
  }

  Result<BuildReport> bake(const std::string& kernels, const std::string& source = kSource) {
    const Status status = read(kernels, source);
    return status ? build() : status;
  }

  void check_fails(const std::string& cause, const std::string& kernels, const std::string& source = kSource) {
    const Result<BuildReport> report = bake(kernels, source);
    BOOST_TEST(outcome(report) == "build failed");
    BOOST_TEST(contains(report.status().message(), cause), report.status().message());
  }

  // Proves the program of `source` with the machine code of `another` in its place.
  ProveReport prove_with_code_of(const std::string& another, const std::string& kernels, const std::string& source) {
    required(bake(kernels, another));
    const cache::Contents other = contents_of(options.output);
    options.fresh = true;
    required(bake(kernels, source));
    cache::Contents contents = contents_of(options.output);
    contents.entries.at(0).program = other.entries.at(0).program;
    contents.entries[0].proof = {};
    write_bundle(options.output, contents);
    return required(prove());
  }
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  BOOST_REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

// Runs "negate" once.
void check_negates(const Session& session, const LoadedProgram& program) {
  cl_int error = CL_SUCCESS;
  const cl_kernel negate = clCreateKernel(program.get(), "negate", &error);
  BOOST_TEST(error == CL_SUCCESS);
  const cl_int one = 1;
  cl_mem a = clCreateBuffer(session.context(), CL_MEM_READ_WRITE, 32 * sizeof one, nullptr, nullptr);
  clEnqueueFillBuffer(session.queue(), a, &one, sizeof one, 0, 32 * sizeof one, 0, nullptr, nullptr);
  clSetKernelArg(negate, 0, sizeof a, &a);
  clSetKernelArg(negate, 1, sizeof a, &a);
  const std::size_t size = 32;
  BOOST_TEST(clEnqueueNDRangeKernel(session.queue(), negate, 1, nullptr, &size, &size, 0, nullptr, nullptr) ==
             CL_SUCCESS);
  cl_int result = 0;
  clEnqueueReadBuffer(session.queue(), a, CL_TRUE, 31 * sizeof one, sizeof one, &result, 0, nullptr, nullptr);
  BOOST_TEST(result == -1);
  clReleaseMemObject(a);
  clReleaseKernel(negate);
}

}  // namespace

// A source that needs a header, and the same linked to another one.
BOOST_FIXTURE_TEST_CASE(ProgramsThatAreNoPlainSourceAreBakedAndProven, Proofs) {
  ProgramText with_header;
  with_header.sources = {"#include \"factor.h\"\n", kSource};
  with_header.headers = {{"factor.h", "#define FACTOR 2\n"}};
  ProgramText other;
  other.sources = {"float unused(float x); float unused(float x) { return x; }"};
  ProgramText linked;
  linked.parts = {with_header, other};
  for (const ProgramText& text : {with_header, linked}) {
    BOOST_REQUIRE(read(kernels_of(trial(reverse_arguments()))).ok());
    options.programs[0].source.text = encode(text);
    options.programs[0].options = "";
    const BuildReport report = required(build());
    BOOST_TEST(report.baked == 1U);
    BOOST_TEST(contents_of(options.output).entries.at(0).proof.proven);
  }
}

BOOST_FIXTURE_TEST_CASE(AProgramIsProvenAndServesWithoutACompiler, Proofs) {
  os::set_variable("POCL_BINARY_SPECIALIZE_WG", "64-1-1-goffs0");  // which a user may have set: not all that is needed
  BOOST_TEST(required(bake(kernels_of(trial(reverse_arguments())))).baked == 1U);
  const cache::Proof proof = contents_of(options.output).entries.at(0).proof;
  os::unset_variable("POCL_BINARY_SPECIALIZE_WG");
  BOOST_TEST(proof.proven);
  BOOST_TEST(proof.tolerance > 0.0F);
  if (on_pocl()) {
    BOOST_TEST(proof.jit_free, proof.note);
    const auto has = [&](const std::string& shape) {
      return std::find(proof.specialisations.begin(), proof.specialisations.end(), shape) !=
             proof.specialisations.end();
    };
    if (!proof.specialisations.empty()) {  // those of PoCL 3.1 can be read
      for (const char* shape : {"reverse 16-1-1-goffs0", "reverse 16-1-1-goffs0-smallgrid", "reverse 64-1-1-goffs0",
                                "reverse 64-1-1-goffs0-smallgrid", "negate 0-0-0"}) {
        BOOST_TEST(has(shape), shape);
      }
      BOOST_TEST(!has("negate 64-1-1-goffs0"));  // no launch of it
    }
  }
  Options strict;
  strict.on_miss = OnMiss::fail;
  const Session session = required(Session::open(device()));
  const Library library =
      required(Library::create(session.context(), device().id, {required(Bundle::open(options.output))}, strict));
  const LoadedProgram program = required(library.program("mine"));
  const bool native = gives_machine_code(device());
  BOOST_TEST((program.explanation().origin == (native ? Origin::native : Origin::portable)));
  BOOST_TEST(program.explanation().miss_message == (native ? "" : "variant 0 has no native entry for target 0"));
  check_negates(session, program);
}

// On the real driver, whose binary of the program is stored and loaded again.
BOOST_FIXTURE_TEST_CASE(TheOverlayKeepsAProgram, Proofs) {
  BOOST_REQUIRE(read(kernels_of(trial(reverse_arguments()))).ok());
  const Job job = make_job(device().target, options.programs.at(0));
  const cache::Bytes bytes = required(encode_job(job, cache::Packing::plain));
  const Bundle source_only = required(Bundle::from_memory({bytes.data(), bytes.size()}));
  const Session session = required(Session::open(device()));
  for (const Origin origin : {Origin::source, Origin::overlay}) {
    OverlayOptions where;
    where.directory = path("overlay");
    where.mode = OverlayMode::read_write;
    Options with_overlay;
    with_overlay.overlay = required(open_overlay(where));
    const Library library = required(Library::create(session.context(), device().id, {source_only}, with_overlay));
    const LoadedProgram program = required(library.program("mine"));
    BOOST_TEST(name(program.explanation().origin) == name(origin));
    check_negates(session, program);
    library.finish();
  }
}

BOOST_FIXTURE_TEST_CASE(ExpectedNumbersAreCompared, Proofs) {
  std::string wrong = "[3";
  for (int i = 1; i < 128; ++i) wrong += ", 2";
  check_fails("kernel reverse, work-group size 16x1x1: wrong result: argument 0, element 0: 2, expected 3",
              kernels_of(trial(reverse_arguments(buffer(R"(, "fill": 1, "expected": )" + wrong + "]")))));
}

BOOST_FIXTURE_TEST_CASE(TrialsThatDoNotFitTheKernelAreNamed, Proofs) {
  check_fails("kernel negates: CL_INVALID_KERNEL_NAME (-46); the program has ",
              replaced(kernels_of(trial(reverse_arguments())), "negate", "negates"));
  if (!on_pocl()) return;  // not every driver tells the kinds
  const auto check_misfit = [&](const std::string& cause, const std::string& arguments, const std::string& parameters) {
    check_fails(cause, R"([{"name": "f", "work_group_sizes": [[16]], "trials": [)" + trial(arguments) + "]}]",
                "kernel void f(" + parameters + ") {}");
  };
  check_misfit("kernel f: trial 0: argument 1 (int n) of the kernel is a value, and the trial gives a buffer",
               "[" + buffer() + "," + buffer() + "]", "global float* x, int n");
  check_misfit("argument 0 (float* x) of the kernel is a buffer, and the trial gives a value",
               R"([{"scalar": "float", "value": 1}])", "global float* x");
  check_misfit("argument 0 (int n) of the kernel is int, and the trial gives uint",
               R"([{"scalar": "uint", "value": 128}])", "int n");
  check_misfit("argument 0 (image2d_t x) of the kernel is an image, and the trial gives a buffer", "[" + buffer() + "]",
               "read_only image2d_t x");
}

BOOST_FIXTURE_TEST_CASE(WritingOutsideABufferIsFound, Proofs) {
  check_fails("kernel reverse, work-group size 16x1x1: argument 0: wrote outside the buffer",
              kernels_of(trial(reverse_arguments(R"({"buffer": "float", "count": 127})"))));
}

BOOST_FIXTURE_TEST_CASE(CrashesAndErrorsAreNamed, Proofs) {
  const std::string kernels = kernels_of(trial(reverse_arguments()));
  const bool has_lines = tests::keeps_lines(device());
  check_fails(has_lines ? "mine.cl:3:" : "mine.cl as mine: ", kernels,
              replaced(kSource, "FACTOR *", "FACTOR * none *"));
  check_fails("there is no file 'none.h' to include", kernels, std::string("#include \"none.h\"\n") + kSource);
  if (!on_pocl()) return;  // a GPU's driver may end a kernel by itself
#ifndef __SANITIZE_ADDRESS__
  check_fails("kernel reverse, work-group size 16x1x1: killed by signal", kernels,
              replaced(kSource, "if (i < n) x[i]", "x[i * 1000000000]"));
#endif
}

#ifndef __SANITIZE_ADDRESS__
// A GPU's driver may end a kernel by itself.
boost::test_tools::assertion_result is_pocl(boost::unit_test::test_unit_id) { return on_pocl(); }

// A kernel that crashes with a content that was cut; the other one is proven.
BOOST_FIXTURE_TEST_CASE(ATrialWhoseContentWasCutMayCrash, Proofs,
                        *boost::unit_test::precondition(is_pocl) * boost::unit_test::label("slow")) {
  const std::string cut = buffer(R"(, "hex": "0000803f", "truncated": true)");
  const BuildReport report = required(
      bake(kernels_of(trial(reverse_arguments(cut))), replaced(kSource, "if (i < n) x[i]", "x[i * 1000000000]")));
  BOOST_TEST(report.baked == 1U);
  BOOST_REQUIRE(!report.remarks.empty());
  BOOST_TEST(contains(*report.remarks.begin(), "untried: kernel reverse"), *report.remarks.begin());
  BOOST_TEST(report.jobs.at(0).remark ==
             "untried: kernel reverse: its recorded content was cut, and it fails with that");
  BOOST_TEST(contents_of(options.output).entries.at(0).proof.proven);
  const BuildReport again = required(build());
  BOOST_TEST(again.reused == 1U);
  BOOST_TEST(again.jobs.at(0).remark == report.jobs.at(0).remark);
}
#endif

BOOST_FIXTURE_TEST_CASE(AProgramWithoutTrialsIsBakedAndNotProven, Proofs, *boost::unit_test::label("slow")) {
  const BuildReport report = required(bake(R"([{"name": "reverse", "work_group_sizes": [[16]], "trials": []},
                        {"name": "negate", "work_group_sizes": [[32]], "trials": []}])"));
  BOOST_TEST(report.baked == 1U);
  BOOST_TEST(report.not_tried == 1U);
  BOOST_TEST(!contents_of(options.output).entries.at(0).proof.proven);
  BOOST_TEST(required(build()).reused == 1U);
  BOOST_TEST(required(prove()).left == contents_of(options.output).entries.size());
}

BOOST_FIXTURE_TEST_CASE(ANewProofStillTellsWhichKernelsAreNotListed, Proofs, *boost::unit_test::label("slow")) {
  required(bake(R"([{"name": "negate", "work_group_sizes": [[32]], "trials": [{"global": [64], "arguments": [
                     {"buffer": "int", "count": 64}, {"buffer": "int", "count": 64}]}]}])"));
  const auto unlisted = [&] {
    return program::part_of(contents_of(options.output).entries.at(0).proof.note, program::kUnlisted);
  };
  BOOST_TEST(unlisted() == "kernel reverse");
  BOOST_TEST(required(prove(true)).proven > 0U);
  BOOST_TEST(unlisted() == "kernel reverse");
}

// The proof compares with what the driver makes of the source now.
BOOST_FIXTURE_TEST_CASE(TheBinaryOfAnotherProgramIsFound, Proofs) {
  const std::string kernels = kernels_of(trial(reverse_arguments()));
  const ProveReport report = prove_with_code_of(replaced(kSource, "FACTOR * x", "3 * x"), kernels, kSource);
  BOOST_TEST(report.failed == 1U);
  BOOST_TEST(report.taken_out == 1U);
  BOOST_TEST(contains(report.jobs.at(0).cause, "kernel reverse, work-group size 16x1x1: wrong result"),
             report.jobs.at(0).cause);
}

}  // namespace clbake::builder::test
