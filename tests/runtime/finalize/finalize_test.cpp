// A program compiled in a process becomes an overlay entry without a child process, and the next process has nothing
// to compile.
#include "overlay/overlay_samples.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/scratch.hpp>
#include <clbake/finalize.hpp>

#include "finalize/poclbin.hpp"
#include "opencl/cl.hpp"
#include "reference_kernel.hpp"
#include "test_device.hpp"

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <random>
#include <thread>

namespace clbake::test {
namespace {

using builder::tight_problem;
using tests::device;

template <typename T>
T required(Result<T> result) {
  BOOST_REQUIRE_MESSAGE(result.ok(), result.status().message());
  return std::move(*result);
}

// A job's bundle in a library.
struct Served {
  explicit Served(const builder::Job& job, const Options& options = {})
      : bytes(required(builder::encode_job(job, cache::Packing::plain))),
        session(required(builder::Session::open(device()))),
        library(required(Library::create(session.context(), device().id,
                                         {required(Bundle::from_memory({bytes.data(), bytes.size()}))}, options))) {}
  Gemm prepare(const Problem& problem) const { return required(library.prepare(problem, "reference")); }

  cache::Bytes bytes;
  builder::Session session;
  Library library;
};

const Problem kSmall = tight_problem(Precision::single_precision, 20, 30, 40);

std::vector<cache::Entry> finalized(const builder::Job& job, int* launches = nullptr) {
  const Served served(job);
  const Gemm gemm = served.prepare(kSmall);
  BOOST_REQUIRE((gemm.explanation().origin == Origin::source));
  const auto launch = [&] {
    if (launches) ++*launches;
    return launch_every_shape(gemm);
  };
  return required(finalize({device().target, job.variant, gemm.program(), launch}));
}

}  // namespace

BOOST_AUTO_TEST_CASE(APoclEntryHoldsEveryShape) {
  if (!tests::on_pocl()) {
    BOOST_TEST_MESSAGE("not on PoCL");
    return;
  }
  int launches = 0;
  const std::vector<cache::Entry> entries = finalized(tests::reference_job(), &launches);
  BOOST_TEST(launches == 1);
  BOOST_REQUIRE(entries.size() == 1U);
  BOOST_TEST((entries[0].form == cache::Form::native));
  BOOST_TEST(!entries[0].proof.proven);
  // clbake looks into the containers of this version only.
  if (device().target.platform_version.find("PoCL 3.1") == std::string::npos) return;
  const std::vector<std::string>& shapes = entries[0].proof.specialisations;
  for (const char* shape : {"clbake_gemm 0-0-0", "clbake_gemm 8-8-1-goffs0", "clbake_gemm 8-8-1-goffs0-smallgrid"}) {
    BOOST_TEST((std::find(shapes.begin(), shapes.end(), shape) != shapes.end()), shape);
  }
}

// In a process of its own (tests/runtime/CMakeLists.txt): PoCL reads the variable once.
BOOST_AUTO_TEST_CASE(WithoutPoclsKernelCacheNothingIsFinalized, *boost::unit_test::label("cache_off")) {
  if (!tests::on_pocl()) return;
  const builder::Job job = tests::reference_job();
  const Served served(job);
  const Gemm gemm = served.prepare(kSmall);
  const auto entries = finalize({device().target, job.variant, gemm.program(), [] { return Status(); }});
  BOOST_TEST((entries.status().code() == Code::driver_rejected));
  BOOST_TEST(entries.status().message().find("POCL_KERNEL_CACHE=0") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(TheGridOfTheReductionIsLargeToo) {
  cache::Variant variant;
  variant.split_k = 2;
  variant.launches = {{cache::Role::gemm, "clbake_gemm", {1, 1, 1}, 1, 1},
                      {cache::Role::reduce, "clbake_reduce", {64, 1, 1}, 1, 256}};
  for (const Problem& problem : large_grids(variant)) {
    const std::size_t groups = (problem.m * problem.n + 255) / 256;
    BOOST_TEST(64 * groups >= 65535U);
  }
  BOOST_TEST(!large_grids(variant).empty());
}

// The functions that PoCL has compiled of a program that it has not compiled before.
std::vector<std::string> compiled_functions(bool only_build) {
  builder::Job job = tests::reference_job();
  job.variant.build_options += " -DUNSEEN=" + std::to_string(std::random_device()());
  Options options;
  options.only_build = only_build;
  const Served served(job, options);
  const cache::Bytes binary = required(program_binary(served.prepare(kSmall).program()));
  std::vector<std::string> names;
  const PoclBinary parsed = required(parse_poclbin({binary.data(), binary.size()}));
  for (const PoclKernel& kernel : parsed.kernels) {
    for (const PoclFunction& function : kernel.functions) names.push_back(kernel.name + " " + function.shape);
  }
  return names;
}

BOOST_AUTO_TEST_CASE(AMissLeavesPoclNothingToCompile) {
  if (!tests::on_pocl() || device().target.platform_version.find("PoCL 3.1") == std::string::npos) {
    BOOST_TEST_MESSAGE("not on PoCL 3.1, whose containers are known");
    return;
  }
  const auto usual = [](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), "clbake_gemm 8-8-1-goffs0-smallgrid") != names.end();
  };
  BOOST_TEST(usual(compiled_functions(false)));
  BOOST_TEST(!usual(compiled_functions(true)));
}

// PoCL 3.1 aborts the process in five of six such runs where programs are not launched when they are loaded.
BOOST_AUTO_TEST_CASE(GridsMayGrowWhileOthersRun) {
  const Served served(tests::reference_job());
  constexpr std::size_t threads = 8, sizes = 100, most = 8000;
  const auto buffer = [&] {
    return cl::Memory(
        clCreateBuffer(served.session.context(), CL_MEM_READ_WRITE, most * 64 * sizeof(float), nullptr, nullptr));
  };
  std::atomic<std::size_t> done{0};
  std::vector<std::thread> all;
  for (std::size_t t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      const cl::CommandQueue queue(clCreateCommandQueue(served.session.context(), device().id, 0, nullptr));
      const cl::Memory a = buffer(), b = buffer(), c = buffer();
      for (std::size_t i = 0; i < sizes; ++i) {
        const std::size_t n = 16 + (i * threads + t) * (most - 16) / (sizes * threads);
        const Problem problem = tight_problem(Precision::single_precision, 64, n, 64);
        Result<Gemm> gemm = served.library.prepare(problem, "reference");
        const bool ran = gemm && gemm->enqueue(queue(), 1, {a()}, {b()}, 0, {c()}).ok();
        done += ran && clFinish(queue()) == CL_SUCCESS;
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  BOOST_TEST(done == threads * sizes);
}

BOOST_AUTO_TEST_CASE(AFailedLaunchIsTheResult) {
  const Served served(tests::reference_job());
  const Gemm gemm = served.prepare(kSmall);
  const cache::Variant variant = tests::reference_job().variant;
  const auto fail = [] { return Status(Code::opencl, "no launch today"); };
  if (!tests::on_pocl()) return;  // others need not launch
  BOOST_TEST(finalize({device().target, variant, gemm.program(), fail}).status().message() == "no launch today");
}

BOOST_AUTO_TEST_CASE(TheNextProcessIsServedFromTheOverlay) {
  const builder::Job job = tests::reference_job();
  const builder::process::ScratchDirectory scratch = required(builder::process::ScratchDirectory::create());
  const OverlayOptions options = {scratch.path() + "/overlay", OverlayMode::read_write};
  const OverlayKey key = overlay_key(job.target, job.source, job.variant);
  const std::vector<cache::Entry> entries = finalized(job);
  const Status stored = required(Overlay::open(options)).store(key, entries);
  BOOST_REQUIRE_MESSAGE(stored.ok(), stored.message());

  const Bundle found = required(required(Overlay::open(options)).find(key));
  builder::Job next = job;
  next.entries = required(found.decode()).entries;
  const Served served(next);
  Gemm gemm = served.prepare(kSmall);
  const bool native = entries[0].form == cache::Form::native;
  BOOST_TEST((gemm.explanation().origin == (native ? Origin::native : Origin::portable)));
  builder::GemmRun trial = required(builder::GemmRun::create(served.session, device(), kSmall));
  required(trial.run(gemm));
  BOOST_TEST(required(trial.check()).ok());
}

}  // namespace clbake::test
