// Variants that cannot serve: too little memory, a source that does not build, what the contract or the device does not
// allow. Another one serves, or the failure says why.
#include "faults/fake_scene.hpp"

#include <functional>
#include <tuple>

using namespace clbake;
using namespace clbake::test;

namespace {

constexpr auto index_of(Case which) { return static_cast<std::uint32_t>(which); }
// Adds a variant that computes what `like` does, from source only; its index.
std::uint32_t add_variant(cache::Contents& contents, Case like, const char* name) {
  cache::Variant variant = contents.variants[index_of(Case::source)];
  variant.name = name;
  variant.source = 0;
  variant.kind() = contents.variants[index_of(like)].kind();
  variant.build_options = std::string("-D PRECISION=") +
                          (variant.precision == Precision::double_precision ? "64" : "32") +
                          " -D TRANS_A=" + std::to_string(variant.trans_a) +
                          " -D TRANS_B=" + std::to_string(variant.trans_b) + " -D ML=4 -D NL=8 -D KL=2";
  contents.variants.push_back(variant);
  return static_cast<std::uint32_t>(contents.variants.size() - 1);
}

void check_right(const Scene& scene, Gemm& gemm, const Problem& problem) {
  const Operands operands(scene, problem);
  BOOST_TEST(enqueue(gemm, scene.queue, operands).ok());
  BOOST_TEST(operands.error(scene.queue) < kTolerance);
}

// A problem of the kind of Case::launches, whose copy of B is an image of 16,384 rows at most.
Problem too_deep() {
  Problem problem = make_problem(problem_of(Case::launches).kind(), 3, 5, 16400);
  problem.c_stride = 15;
  return problem;
}

// With a source that does not build for some variants.
cache::Contents broken(std::initializer_list<Case> which) {
  cache::Contents contents = bundle_contents();
  contents.sources.push_back({"broken.cl", "#error broken"});
  for (const Case one : which) contents.variants[index_of(one)].source = 1;
  return contents;
}

}  // namespace

BOOST_AUTO_TEST_CASE(AVariantWithLessWorkspaceServesWhereTheChosenOnesDoesNotFit) {
  {
    const Scene scene;
    cache::Contents contents = bundle_contents();
    add_variant(contents, Case::launches, "small");
    const Library library = library_of(scene, contents);
    const Problem problem = too_deep();
    Result<Gemm> gemm = library.prepare(problem);
    BOOST_REQUIRE_EQUAL(gemm.status().message(), "");
    BOOST_TEST(gemm->explanation().variant == "small");
    BOOST_TEST(gemm->explanation().reason == "the chosen variant needs more workspace than there is");
    BOOST_TEST(gemm->workspace_bytes() == 0U);
    check_right(scene, *gemm, problem);
    // By name it is that variant or none.
    const Status named = library.prepare(problem, "launches").status();
    BOOST_TEST(name(named.code()) == "out of memory");
    BOOST_TEST(has(named.message(), "the height of an operand's image would be 16400, the device's limit is 16384"),
               named.message());
    BOOST_TEST(library.counters().failed == 1U);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(ABakedVariantServesBeforeOneThatWouldBeCompiled) {
  const Scene scene;
  cache::Contents contents = bundle_contents();
  add_variant(contents, Case::launches, "compiled");
  cache::Entry entry;
  entry.variant = add_variant(contents, Case::launches, "baked");
  entry.program = fake::binary_for(0, contents.variants[entry.variant].build_options);
  contents.entries.push_back(entry);
  const Library library = library_of(scene, contents);
  fake::forget_calls();
  const Result<Gemm> gemm = library.prepare(too_deep());
  BOOST_REQUIRE_EQUAL(gemm.status().message(), "");
  BOOST_TEST(gemm->explanation().variant == "baked");
  BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithBinary) == 1U);  // that one alone was loaded
  BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithSource) == 0U);
}

BOOST_AUTO_TEST_CASE(AnotherBundlesChoiceServesBeforeVariantsThatNoneChooses) {
  const Scene scene;
  cache::Contents first = bundle_contents();
  add_variant(first, Case::launches, "unchosen");
  cache::Contents second = bundle_contents();
  const std::uint32_t small = add_variant(second, Case::launches, "small");
  for (cache::Rule& rule : second.profiles.at(0).defaults) {
    if (rule.variant == index_of(Case::launches)) rule.variant = small;
  }
  std::vector<Bundle> bundles;
  for (const cache::Contents* contents : {&first, &second}) {
    const cache::Bytes bytes = *cache::encode(*contents);
    bundles.push_back(*Bundle::copy_of({bytes.data(), bytes.size()}));
  }
  const Result<Gemm> gemm = Library::create(scene.context, scene.device, bundles)->prepare(too_deep());
  BOOST_REQUIRE_EQUAL(gemm.status().message(), "");
  BOOST_TEST(gemm->explanation().variant == "small");
  BOOST_TEST(gemm->explanation().bundle == 1U);
}

// The copy of a complex B takes twice B, whatever the variant.
BOOST_AUTO_TEST_CASE(NothingIsLoadedForAWorkspaceThatDoesNotFit) {
  const Scene scene;
  const Library library = library_of(scene, bundle_contents());
  fake::forget_calls();
  const Status status = library.prepare(make_problem({Precision::complex_single}, 4, 6000, 6000)).status();
  BOOST_TEST(name(status.code()) == "out of memory");
  BOOST_TEST(has(status.message(), "the workspace of one product, in elements, would be 144000000"), status.message());
  BOOST_TEST(fake::calls(fake::Function::clBuildProgram) == 0U);
}

BOOST_AUTO_TEST_CASE(WithoutSuchAVariantTheFailureNamesTheLimit) {
  const Scene scene;
  cache::Contents contents = bundle_contents();
  const Library only = library_of(scene, contents);
  BOOST_TEST(has(only.prepare(too_deep()).status().message(), "the device's limit is 16384"));
  Problem large = too_deep();
  large.k = large.ldb = 4;
  large.m = large.n = large.lda = large.ldb = large.ldc = 8000;  // 3 slices of 244 MiB
  const Status no_slices = only.prepare(large).status();
  BOOST_TEST(name(no_slices.code()) == "out of memory");
  BOOST_TEST(has(no_slices.message(), "the workspace of one product, in elements, would be 64000000"),
             no_slices.message());
  large.m = large.lda = 100000;  // A is transposed
  large.n = large.ldb = large.ldc = 70000;
  const Status too_wide = only.prepare(large).status();
  BOOST_TEST(has(too_wide.message(), "the width of an operand's image in texels would be 17500"), too_wide.message());
  // The other variant cannot be compiled.
  contents.sources.push_back({"broken.cl", "#error broken"});
  contents.variants[add_variant(contents, Case::launches, "small")].source = 1;
  const Library library = library_of(scene, contents);
  BOOST_TEST(name(library.prepare(too_deep()).status().code()) == "out of memory");
  BOOST_TEST(has(library.prepare(too_deep()).status().message(), "the device's limit is 16384"));
}

// Workspaces of problems that were called earlier.
BOOST_AUTO_TEST_CASE(KeptWorkspacesAreGivenUpForANewOne) {
  {
    const Scene scene;
    const Library library = library_of(scene, bundle_contents());
    const Problem problem = problem_of(Case::launches);
    const Operands o(scene, problem);
    BOOST_TEST(library.gemm(scene.queue, problem, Operands::kAlpha, o.a, o.b, Operands::kBeta, o.c).ok());
    clFinish(scene.queue);
    const int kept = fake::alive(fake::Kind::memory);
    Problem next = problem;
    next.m = 8;
    fake::fail(fake::Function::clCreateBuffer, 0, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    Result<Gemm> gemm = library.prepare(next);
    BOOST_TEST((fake::failed() == fake::Function::clCreateBuffer));
    fake::fail_nothing();
    BOOST_REQUIRE_EQUAL(gemm.status().message(), "");
    BOOST_TEST(gemm->explanation().variant == "launches");
    BOOST_TEST(fake::alive(fake::Kind::memory) == kept);  // of the same size, one for the other
    check_right(scene, *gemm, next);
    // The kept plan is gone; another one is made.
    const Operands again(scene, problem);
    BOOST_TEST(library.gemm(scene.queue, problem, Operands::kAlpha, again.a, again.b, Operands::kBeta, again.c).ok());
    BOOST_TEST(again.error(scene.queue) < kTolerance);
    BOOST_TEST(library.counters().cached == 0U);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(AnotherVariantServesWhereTheChosenOneDoesNotBuild) {
  const Scene scene;
  cache::Contents contents = broken({Case::source});
  contents.variants[add_variant(contents, Case::source, "broken, too")].source = 1;
  add_variant(contents, Case::source, "other");
  const Library library = library_of(scene, contents);
  Result<Gemm> gemm = library.prepare(problem_of(Case::source));
  BOOST_REQUIRE_EQUAL(gemm.status().message(), "");
  BOOST_TEST(gemm->explanation().variant == "other");
  BOOST_TEST(name(gemm->explanation().origin) == "source");
  BOOST_TEST(has(gemm->explanation().reason, "the chosen variant could not be compiled: broken.cl as source"));
  check_right(scene, *gemm, problem_of(Case::source));
  BOOST_TEST(name(library.prepare(problem_of(Case::source), "source").status().code()) == "build failed");
}

BOOST_AUTO_TEST_CASE(WhereNoneBuildsTheFirstOnesLogIsTold) {
  const Scene scene;
  cache::Contents contents = broken({Case::source});
  contents.variants[add_variant(contents, Case::source, "broken, too")].source = 1;
  const Library library = library_of(scene, contents);
  const Status status = library.prepare(problem_of(Case::source)).status();
  BOOST_TEST(name(status.code()) == "build failed");
  BOOST_TEST(status.opencl_code() == CL_BUILD_PROGRAM_FAILURE);
  BOOST_TEST(has(status.message(), "broken.cl as source: clBuildProgram: "), status.message());
  BOOST_TEST(has(status.message(), "#error broken"), status.message());
}

// A failure of the machine while another variant is tried is no reason to go on, and is not remembered.
BOOST_AUTO_TEST_CASE(ALackOfMemoryEndsTheSearchForAVariantThatBuilds) {
  const Scene scene;
  cache::Contents contents = broken({Case::source});
  add_variant(contents, Case::source, "other");
  const Library library = library_of(scene, contents);
  fake::fail(fake::Function::clCreateProgramWithSource, 1, CL_OUT_OF_HOST_MEMORY);
  BOOST_TEST(name(library.prepare(problem_of(Case::source)).status().code()) == "out of memory");
  fake::fail_nothing();
  const Result<Gemm> gemm = library.prepare(problem_of(Case::source));
  BOOST_REQUIRE_EQUAL(gemm.status().message(), "");
  BOOST_TEST(gemm->explanation().variant == "other");
}

BOOST_AUTO_TEST_CASE(LaunchesThatTheContractDoesNotAllowReachNoDriver) {
  const Scene scene;
  const auto refused = [&](const std::function<void(cache::Variant&)>& change, const char* code, const char* words) {
    cache::Contents contents = bundle_contents();
    change(contents.variants[index_of(Case::launches)]);
    const Library library = library_of(scene, contents);
    fake::forget_calls();
    const Status status = library.prepare(problem_of(Case::launches)).status();
    BOOST_TEST(name(status.code()) == code);
    BOOST_TEST(has(status.message(), words), status.message());
    BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithSource) == 0U);
    BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithBinary) == 0U);
  };
  const char* order = "variant launches has a sequence of launches that the kernel contract does not allow";
  refused([](cache::Variant& v) { std::swap(v.launches[0], v.launches[1]); }, "malformed", order);
  refused([](cache::Variant& v) { v.launches.pop_back(); }, "malformed", order);
  refused([](cache::Variant& v) { v.launches.erase(v.launches.begin() + 1); }, "malformed", order);  // image_b remains
  refused([](cache::Variant& v) { v.contract = 99; }, "unsupported version",
          "variant launches follows kernel contract 99; this runtime knows 4");
}

BOOST_AUTO_TEST_CASE(AWorkGroupThatTheDeviceDoesNotAllowIsNamed) {
  const Scene scene;
  const std::uint32_t half = 1U << 31U;
  for (const auto& [x, y, z, items] : {std::tuple{257U, 1U, 1U, "257"}, {half, half, 4U, "18446744073709551615"}}) {
    cache::Contents contents = bundle_contents();
    cache::Launch& launch = contents.variants[index_of(Case::native)].launches[0];
    launch.local[0] = x;
    launch.local[1] = y;
    launch.local[2] = z;
    const Library library = library_of(scene, contents);
    const Status status = library.prepare(problem_of(Case::native)).status();
    BOOST_TEST(name(status.code()) == "invalid argument");
    BOOST_TEST(status.message() ==
               std::string("variant native needs ") + items + " work-items in a work-group; the device allows 256");
    BOOST_TEST(library.counters().misses[static_cast<std::size_t>(Code::driver_rejected)] ==
               1U);  // of its machine code
  }
}

BOOST_AUTO_TEST_CASE(AKernelThatTheProgramLacksIsNamedWithThoseThatItHas) {
  const Scene scene;
  cache::Contents contents = bundle_contents();
  contents.variants[index_of(Case::source)].launches[0].kernel_name = "elsewhere";
  const Library library = library_of(scene, contents);
  const Status status = library.prepare(problem_of(Case::source)).status();
  BOOST_TEST(name(status.code()) == "OpenCL error");
  BOOST_TEST(has(status.message(), "CL_INVALID_KERNEL_NAME"), status.message());
  BOOST_TEST(has(status.message(), "; the program has clbake_gemm"), status.message());
  fake::fail(fake::Function::clGetProgramInfo, 0, CL_INVALID_VALUE);  // a driver that does not say
  const Status without = library.prepare(problem_of(Case::source)).status();
  BOOST_TEST(has(without.message(), "CL_INVALID_KERNEL_NAME"), without.message());
  BOOST_TEST(!has(without.message(), "the program has"), without.message());
  fake::fail_nothing();
}

// NVIDIA's driver compiles for sm_90 where a source wants sm_90a: its PTX is taken and built for that.
BOOST_AUTO_TEST_CASE(ASourceForSm90aIsBuiltInTwoSteps) {
  const Scene scene;
  cache::Contents contents = bundle_contents();
  contents.sources.push_back({"accelerated.cl", "#error wgmma. is not known"});
  contents.variants[index_of(Case::source)].source = 1;
  const Result<cache::Bytes> bytes = cache::encode(contents);
  const Bundle bundle = *Bundle::from_memory({bytes->data(), bytes->size()});
  cl_context context = clCreateContext(nullptr, 1, &scene.device, nullptr, nullptr, nullptr);
  const auto library = [&] { return *Library::create(context, scene.device, {bundle}); };
  for (const fake::Function step : {fake::Function::clGetProgramInfo, fake::Function::clCreateProgramWithBinary}) {
    fake::fail(step, 0, CL_INVALID_VALUE);
    const Status failed = library().prepare(problem_of(Case::source)).status();
    BOOST_TEST(name(failed.code()) == "build failed");
    BOOST_TEST(has(failed.message(), "wgmma. is not known"), failed.message());  // the first build's log
  }
  fake::fail(fake::Function::clBuildProgram, 1, CL_BUILD_PROGRAM_FAILURE);
  BOOST_TEST(name(library().prepare(problem_of(Case::source)).status().code()) == "build failed");
  fake::fail_nothing();
  {
    const Result<Gemm> gemm = library().prepare(problem_of(Case::source));
    BOOST_REQUIRE_EQUAL(gemm.status().message(), "");
    BOOST_TEST(name(gemm->explanation().origin) == "source");
    BOOST_TEST(gemm->explanation().variant == "source");
  }
  for (const cl_device_id device : {scene.device, scene.other_device}) {  // in a context of both
    const Library both = *Library::create(scene.context, device, {bundle});
    BOOST_REQUIRE_EQUAL(both.prepare(problem_of(Case::source)).status().message(), "");
  }
  clReleaseContext(context);
}
