// The proof can fail. Jobs go through the real worker in new processes with empty driver caches, as in a build.
#include "reference_kernel.hpp"
#include "system/program.hpp"
#include "test_device.hpp"

#include <clbake/builder/platforms.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/builder/programs.hpp>
#include <clbake/builder/scratch.hpp>
#include "prove/proofs.hpp"
#include "prove/signs.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace clbake::builder::test {
using namespace process;
namespace {

using tests::device;
using tests::on_pocl;
using tests::OnPosix;
using tests::reference_job;

constexpr std::chrono::seconds kTimeout{120};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The job that a worker left, or its complaint.
struct Outcome {
  std::string failure;  // empty: none
  Job job;
};

// `clbake worker control`.
prove::Control signs_of_a_compilation(const Target& target) {
  const Result<ScratchDirectory> files = ScratchDirectory::create();
  const Result<ScratchDirectory> cache = ScratchDirectory::create();
  BOOST_REQUIRE(files.ok() && cache.ok());
  const std::string input = files->path() + "/in", output = files->path() + "/out";
  BOOST_REQUIRE(write_job(input, prove::overhead_job(target)).ok());
  Command command;
  command.arguments = {CLBAKE_COMMAND, "worker", "control", input, output};
  command.environment = driver_cache_environment(cache->path());
  command.log = files->path() + "/log";
  const std::atomic<bool> never{false};
  const Result<Exit> exit = run(command, kTimeout, never);
  BOOST_REQUIRE(exit.ok());
  BOOST_REQUIRE(exit->ok());
  return prove::read_control(output);
}

// `clbake worker VERB` on a job.
Outcome work(const std::string& verb, const Job& job) {
  const Result<ScratchDirectory> files = ScratchDirectory::create();
  const Result<ScratchDirectory> cache = ScratchDirectory::create();
  BOOST_REQUIRE(files.ok() && cache.ok());
  const std::string input = files->path() + "/in";
  const std::string output = files->path() + "/out";
  BOOST_REQUIRE(write_job(input, job).ok());
  std::vector<Command> commands(1);
  commands[0].arguments = {CLBAKE_COMMAND, "worker", verb, input, output};
  if (verb == "prove") {
    static const Job nothing = work("compile", prove::overhead_job(job.target)).job;
    static const prove::Control control = signs_of_a_compilation(job.target);
    BOOST_REQUIRE(write_job(files->path() + "/nothing", nothing).ok());
    BOOST_REQUIRE(prove::write_control(files->path() + "/control", control).ok());
    commands[0].arguments.insert(commands[0].arguments.end() - 1,
                                 {files->path() + "/nothing", files->path() + "/control"});
  }
  commands[0].environment = driver_cache_environment(cache->path());
  commands[0].log = files->path() + "/log";
  const std::atomic<bool> never{false};
  Outcome outcome;
  const Status ran = run_all(commands, 1, kTimeout, never, [&](std::size_t, const Exit& exit) {
    if (!exit.ok()) outcome.failure = describe(exit, commands[0], kTimeout);
  });
  BOOST_REQUIRE(ran.ok());
  Result<Job> left = read_job(output);
  BOOST_TEST(left.ok() == outcome.failure.empty());  // a failure leaves no output
  if (left) outcome.job = std::move(*left);
  return outcome;
}

Job compiled(const std::string& verb, const std::string& defect = {}) {
  const Outcome outcome = work(verb, reference_job(defect));
  BOOST_REQUIRE_EQUAL(outcome.failure, "");
  BOOST_REQUIRE_EQUAL(outcome.job.entries.size(), 1U);
  BOOST_TEST(!outcome.job.entries[0].proof.proven);
  return outcome.job;
}

}  // namespace

BOOST_AUTO_TEST_CASE(AFinalizedProgramIsProvenJitFree) {
  const Job job = compiled("compile");
  const Outcome outcome = work("prove", job);
  BOOST_REQUIRE_EQUAL(outcome.failure, "");
  const cache::Proof& proof = outcome.job.entries.at(0).proof;
  BOOST_TEST(proof.proven);
  BOOST_TEST(proof.load_us() > 0.0F);
  BOOST_TEST(proof.first_us > 0.0F);
  BOOST_TEST(proof.steady_us > 0.0F);
  BOOST_TEST(proof.tolerance > 0.0F);
  BOOST_TEST(proof.max_error <= proof.tolerance);
  if (on_pocl()) BOOST_TEST(proof.jit_free, proof.note);
}

BOOST_AUTO_TEST_CASE(APlainBinaryStillCompilesAtItsFirstLaunch) {
  if (!on_pocl()) return;  // other drivers may leave nothing to compile
  const Outcome outcome = work("prove", compiled("compile-plain"));
  BOOST_REQUIRE_EQUAL(outcome.failure, "");
  const cache::Proof& proof = outcome.job.entries.at(0).proof;
  BOOST_TEST(proof.proven);
  BOOST_TEST(!proof.jit_free);
  BOOST_TEST(contains(proof.note, "not JIT-free: the first launch compiled the function clbake_gemm 8-8-1"),
             proof.note);
}

// A program with one kernel, that lists the local size 64.
Job own_program(const std::string& trials) {
  program::Program program;
  program.name = "sizes";
  program.source = {"sizes.cl", "kernel void one(global int* x) { x[get_global_id(0)] = 1; }\n"};
  program.launches = {{cache::Role::kernel, "one", {64, 1, 1}, 1, 1}};
  program.trial = R"([{"name": "one", "work_group_sizes": [[64]], "trials": )" + trials + "}]";
  return make_job(device().target, program);
}

cache::Proof proof_of(const std::string& compile_verb, const Job& job) {
  const Outcome compiled = work(compile_verb, job);
  BOOST_REQUIRE_EQUAL(compiled.failure, "");
  const Outcome outcome = work("prove", compiled.job);
  BOOST_REQUIRE_EQUAL(outcome.failure, "");
  return outcome.job.entries.at(0).proof;
}

// PoCL's own binary has bitcode, from which it compiles; without that, one function serves every local size.
BOOST_AUTO_TEST_CASE(ALocalSizeThatPoclCompilesForIsNamed) {
  if (!on_pocl()) return;
  const Job job = own_program(R"([{"global": [32], "local": [16], "arguments": [{"buffer": "int", "count": 32}]}])");
  const cache::Proof plain = proof_of("compile-plain", job);
  BOOST_TEST(!plain.jit_free);
  BOOST_TEST(contains(plain.note,
                      "not JIT-free: the first launch of kernel one, work-group size 16x1x1 compiled the "
                      "function one 16-1-1-goffs0-smallgrid"),
             plain.note);
  const cache::Proof finalized = proof_of("compile", job);
  if (!finalized.specialisations.empty()) BOOST_TEST(finalized.jit_free, finalized.note);
}

BOOST_AUTO_TEST_CASE(OfAKernelWithoutTrialsTheLoadAloneIsJudged) {
  const cache::Proof proof = proof_of("compile", own_program("[]"));
  BOOST_TEST(contains(proof.note, "untried: kernel one: loaded, never launched"), proof.note);
  BOOST_TEST(contains(proof.note, "only loaded: "), proof.note);
  BOOST_TEST(!proof.proven);
  BOOST_TEST(!proof.jit_free);
}

BOOST_AUTO_TEST_CASE(ACompilationLeavesSigns) {
  const prove::Control control = signs_of_a_compilation(reference_job().target);
  if (on_pocl()) {
    BOOST_TEST(control.files);
    BOOST_TEST(control.children);  // the linker
  }
  const bool writes_files = device().target.platform_name == "rusticl";
  if (writes_files) BOOST_TEST(control.files);
  BOOST_TEST((control.files || !control.libraries.empty() || control.children || control.in_process));
}

BOOST_AUTO_TEST_CASE(TheNoteNamesTheSign) {
  if (!on_pocl()) return;
  const Outcome outcome = work("prove", compiled("compile"));
  const std::string note = outcome.job.entries.at(0).proof.note;
  BOOST_TEST(contains(note, "judged by files in the driver's cache"), note);
}

BOOST_AUTO_TEST_CASE(DefectsOfAKernelAreFound) {
  for (const auto& [defect, cause] : {std::pair("WRONG_CORNER", "wrong result at"),
                                      {"WRITES_BESIDE", "wrote outside C"},
                                      {"READS_C", "wrong result at"},
                                      {"READS_BESIDE_A", "wrong result at"},
                                      {"IGNORES_OFFSET", "wrong result at"}}) {
    const Outcome outcome = work("prove", compiled("compile", defect));
    BOOST_TEST(contains(outcome.failure, cause), defect << ": '" << outcome.failure << "'");
  }
}

BOOST_AUTO_TEST_CASE(AKernelThatCrashesTakesOnlyItsWorkerWithIt) {
  if (!on_pocl()) return;  // a GPU may survive it
  const Outcome outcome = work("compile", reference_job("CRASHES"));
  BOOST_TEST(outcome.failure != "");  // by signal, unless a sanitizer catches that
}

// A shell starts a worker that hangs in the driver, waits until it is well under way, and dies.
BOOST_AUTO_TEST_CASE(AWorkerEndsWithItsParent, *OnPosix()) {
  if (!on_pocl()) return;  // its cache shows when a program was compiled
  const Result<ScratchDirectory> files = ScratchDirectory::create();
  const Result<ScratchDirectory> cache = ScratchDirectory::create();
  BOOST_REQUIRE(files.ok() && cache.ok());
  BOOST_REQUIRE(write_job(files->path() + "/in", reference_job("HANGS")).ok());
  std::vector<Command> commands(1);
  commands[0].arguments = {"/bin/sh", "-c",
                           "cd '" + files->path() +
                               "'; unset CLBAKE_PARENT; '" CLBAKE_COMMAND "' worker compile in out & echo $! > pid; " +
                               "until [ -n \"$(ls '" + cache->path() + "')\" ]; do sleep 0.02; done; kill -KILL $$"};
  commands[0].environment = driver_cache_environment(cache->path());
  commands[0].log = files->path() + "/log";
  const std::atomic<bool> never{false};
  const auto done = [](std::size_t, const Exit& exit) { BOOST_TEST(os::was_killed(exit)); };
  BOOST_TEST(run_all(commands, 1, kTimeout, never, done).ok());

  int worker = 0;
  std::ifstream(files->path() + "/pid") >> worker;
  BOOST_REQUIRE(worker > 0);
  bool runs = true;
  for (int i = 0; i < 2000 && runs; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::ifstream command("/proc/" + std::to_string(worker) + "/cmdline");
    runs = command.get() != std::ifstream::traits_type::eof();  // empty once it has ended
  }
  BOOST_TEST(!runs);
  if (runs) std::system(("kill -KILL " + std::to_string(worker)).c_str());
}

BOOST_AUTO_TEST_CASE(ASourceThatDoesNotCompileIsNamed) {
  const Outcome outcome = work("compile", reference_job("SYNTAX_ERROR"));
  BOOST_TEST(contains(outcome.failure, "reference.cl"), outcome.failure);
}

BOOST_AUTO_TEST_CASE(NothingCompiledIsNotProven) {
  const Outcome outcome = work("prove", reference_job());
  BOOST_TEST(contains(outcome.failure, "nothing was compiled"), outcome.failure);
}

BOOST_AUTO_TEST_CASE(AnotherDevicesJobIsRefused) {
  Job job = reference_job();
  job.target.device_name += " of somebody else";
  const Outcome outcome = work("compile", job);
  BOOST_TEST(contains(outcome.failure, "lacks the job's device"), outcome.failure);
}

}  // namespace clbake::builder::test
