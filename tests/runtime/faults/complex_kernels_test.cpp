// Complex products on the driver in memory: the kernels beside the variant, what lacks them.
#include "faults/fake_scene.hpp"

#include <algorithm>
#include <functional>

using namespace clbake;
using namespace clbake::test;

namespace {

constexpr std::size_t kKernels = static_cast<std::size_t>(Case::complex);  // the variant of these

}  // namespace

BOOST_AUTO_TEST_CASE(ABundleWithoutTheKernelsSaysWhatBakesThem) {
  const Scene scene;
  cache::Contents contents = bundle_contents();
  contents.variants.resize(kKernels);
  contents.entries.erase(std::remove_if(contents.entries.begin(), contents.entries.end(),
                                        [](const cache::Entry& entry) { return entry.variant == kKernels; }),
                         contents.entries.end());
  const Library library = library_of(scene, contents);
  const std::string words =
      "no bundle has the kernels of complex-single; 'clbake build --precision complex-single' bakes them";
  const Problem problem = problem_of(Case::complex);
  fake::forget_calls();
  for (const Status& status : {library.prepare(problem).status(), library.explain(problem).status(),
                               library.warm({problem}), library.workspace_bytes(problem).status()}) {
    BOOST_TEST(name(status.code()) == "no variant");
    BOOST_TEST(status.message() == words);
  }
  BOOST_TEST(!library.contains(problem));
  BOOST_TEST(fake::calls(fake::Function::clBuildProgram) == 0U);
  BOOST_TEST(library.prepare(problem_of(Case::native)).ok());
}

// The kernels of CPUs run on GPUs, too.
BOOST_AUTO_TEST_CASE(TheOtherFormOfTheKernelsServes) {
  const Scene scene;
  cache::Contents contents = bundle_contents();
  contents.variants[kKernels].name = "clbake-complex-single-cpu";
  const Library library = library_of(scene, contents);
  const Problem problem = problem_of(Case::complex);
  Result<Gemm> gemm = library.prepare(problem);
  BOOST_REQUIRE_EQUAL(gemm.status().message(), "");
  const Operands operands(scene, problem);
  BOOST_TEST(enqueue(*gemm, scene.queue, operands).ok());
  BOOST_TEST(operands.error(scene.queue) < kTolerance);
}

BOOST_AUTO_TEST_CASE(KernelsThatLackOneAreRefused) {
  const Scene scene;
  const auto refused = [&](const std::function<void(cache::Variant&)>& change) {
    cache::Contents contents = bundle_contents();
    change(contents.variants[kKernels]);
    const Status status = library_of(scene, contents).prepare(problem_of(Case::complex)).status();
    BOOST_TEST(name(status.code()) == "malformed");
    BOOST_TEST(has(status.message(), "program clbake-complex-single-gpu lacks kernel clbake_complex_c"),
               status.message());
  };
  refused([](cache::Variant& v) { v.launches.pop_back(); });
  refused([](cache::Variant& v) { v.launches[2].local[1] = 2; });
  refused([](cache::Variant& v) { v.launches[2].local[2] = 2; });
}

// The origin and the miss of the worse of the two programs.
BOOST_AUTO_TEST_CASE(BothProgramsAreExplained) {
  const Scene scene;
  const Problem problem = problem_of(Case::complex);
  const Library baked = library_of(scene, bundle_contents());
  BOOST_TEST(baked.contains(problem));
  BOOST_TEST(baked.explain(problem)->variant == "native");
  for (const std::uint32_t without : {std::uint32_t{0}, static_cast<std::uint32_t>(kKernels)}) {
    cache::Contents contents = bundle_contents();
    contents.entries.erase(std::remove_if(contents.entries.begin(), contents.entries.end(),
                                          [&](const cache::Entry& entry) { return entry.variant == without; }),
                           contents.entries.end());
    const Library library = library_of(scene, contents);
    BOOST_TEST(!library.contains(problem));
    const Result<Explanation> expected = library.explain(problem);
    BOOST_REQUIRE_EQUAL(expected.status().message(), "");
    const Result<Gemm> gemm = library.prepare(problem);
    BOOST_REQUIRE_EQUAL(gemm.status().message(), "");
    for (const Explanation* e : {&*expected, &gemm->explanation()}) {
      BOOST_TEST(name(e->origin) == "source");
      BOOST_TEST(name(e->miss) == "no entry");
      BOOST_TEST(e->variant == "native");
      BOOST_TEST(!e->loaded);
    }
    BOOST_TEST(library.explain(problem)->loaded);
    Options options;
    options.on_miss = OnMiss::fail;
    const Library strict = library_of(scene, contents, options);
    BOOST_TEST(name(strict.explain(problem).status().code()) == "no entry");
    BOOST_TEST(name(strict.prepare(problem).status().code()) == "no entry");
  }
}

// alpha = 0 and beta = 1, whatever the kernel.
BOOST_AUTO_TEST_CASE(ACallThatLeavesCLaunchesNothingAndItsEventCompletes) {
  const Scene scene;
  const Library library = library_of(scene, bundle_contents());
  for (const Case which : kWithComplex) {
    const Problem problem = problem_of(which, 2);
    const Operands o(scene, problem);
    Result<Gemm> gemm = library.prepare(problem);
    BOOST_REQUIRE_EQUAL(gemm.status().message(), "");
    fake::forget_calls();
    cl_event done = nullptr;
    BOOST_TEST(gemm->enqueue(scene.queue, 0, {}, {}, 1, o.c, 0, nullptr, &done).ok());
    BOOST_TEST(gemm->enqueue(scene.queue, {{0, 1}, {0, 1}}, {}, {}, o.c).ok());
    BOOST_TEST(fake::calls(fake::Function::clEnqueueNDRangeKernel) == 0U);
    BOOST_TEST(clWaitForEvents(1, &done) == CL_SUCCESS);
    clReleaseEvent(done);
  }
}
