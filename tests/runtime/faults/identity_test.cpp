// A device's identity has all that decides whether machine code runs, and it is checked before the driver sees a byte.
#include "faults/fake_scene.hpp"

using namespace clbake;
using namespace clbake::test;

namespace {

// The driver is PoCL's, and its devices are CPUs that it compiles for as for `name`, as long as this lives.
struct Cpu {
  explicit Cpu(const char* name) { os::set_variable("FAKE_OPENCL_CPU", name); }
  ~Cpu() { os::unset_variable("FAKE_OPENCL_CPU"); }
  Cpu(const Cpu&) = delete;
  Cpu& operator=(const Cpu&) = delete;
  PlatformName platform{"Portable Computing Language"};
};

Target target_on(const char* cpu) {
  const Cpu its(cpu);
  const Scene scene;
  return *identify(scene.device);
}

Options failing() {
  Options options;
  options.on_miss = OnMiss::fail;
  return options;
}

}  // namespace

BOOST_AUTO_TEST_CASE(ACpuIsKnownByWhatTheDriverCompilesFor) {
  const std::string all = target_on("no-such-cpu").cpu_features;
  BOOST_TEST(target_on("x86-64").cpu_features == "");
  BOOST_TEST(target_on("x86-64").architecture == "x86-64");
  const Target haswell = target_on("haswell"), skylake = target_on("skylake-avx512"), unnamed = target_on("unnamed");
  BOOST_TEST(!has(haswell.cpu_features, "avx512"), haswell.cpu_features);
  BOOST_TEST(missing_feature(haswell, skylake) == "");
  BOOST_TEST(missing_feature(skylake, unnamed) == "");
  BOOST_TEST(unnamed.architecture == "");
  BOOST_TEST(unnamed.cpu_features == all);
  BOOST_TEST(target_on("(null)").architecture == "generic");
  BOOST_TEST(target_on("(null)").cpu_features == "");
#if defined(__x86_64__)
  BOOST_TEST(has(all, "sse3"), all);
#endif
}

BOOST_AUTO_TEST_CASE(ADeviceThatIsNoCpuHasNoneOfItsFeatures) {
  const Scene scene;
  BOOST_TEST(identify(scene.device)->cpu_features == "");
}

// The driver is in this program, whose linker gave it a build ID.
BOOST_AUTO_TEST_CASE(TwoBuildsOfADriverAreTwoDrivers) {
  {
    const Scene scene;
    const Target without = *identify(scene.device);
    BOOST_TEST(without.platform_version == "OpenCL 1.2 Fake");
    os::set_variable("FAKE_OPENCL_LOADABLE", "1");
    const Target target = *identify(scene.device);
    BOOST_TEST(target.platform_version.find("OpenCL 1.2 Fake build ") == 0U, target.platform_version);
    BOOST_TEST(target.platform_version.size() == without.platform_version.size() + 7 + 16, target.platform_version);
    const Status status = prepare(library_of(scene, bundle_contents(), failing()), problem_of(Case::native)).status();
    BOOST_TEST(status.ok());
    cache::Contents contents = bundle_contents();
    contents.targets[0].platform_version.back() = 'x';
    const Status other = prepare(library_of(scene, contents, failing()), problem_of(Case::native)).status();
    os::unset_variable("FAKE_OPENCL_LOADABLE");
    BOOST_TEST(name(other.code()) == "other driver");
    BOOST_TEST(has(other.message(), "this is 1.0 (" + target.platform_version + ")"), other.message());
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(AFeatureThatTheCpuLacksIsAMissOfThatNameAndNoByteReachesTheDriver) {
  const Cpu cpu("haswell");
  {
    const Scene scene;
    cache::Contents contents = bundle_contents();
    contents.targets[0].cpu_features += " avx999";
    const Library library = library_of(scene, contents, failing());
    fake::forget_calls();
    const Status status = prepare(library, problem_of(Case::native)).status();
    BOOST_TEST(name(status.code()) == "missing feature");
    BOOST_TEST(status.message() == "Fake Alpha: what was baked needs avx999, which this CPU does not have");
    BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithBinary) == 0U);
    BOOST_TEST(library.counters().misses[static_cast<std::size_t>(Code::missing_feature)] == 1U);

    const Library compiling = library_of(scene, contents);
    const Result<Gemm> gemm = prepare(compiling, problem_of(Case::native));
    BOOST_REQUIRE_EQUAL(gemm.status().message(), "");
    BOOST_TEST((gemm->explanation().origin == Origin::source));
    BOOST_TEST(name(gemm->explanation().miss) == "missing feature");
    BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithBinary) == 0U);
  }
  check_nothing_is_left();
}

// No compiler refuses the instructions: they are in assembler.
BOOST_AUTO_TEST_CASE(AVariantWhoseAssemblerTheCpuLacksIsNeitherLoadedNorCompiled) {
  const Cpu cpu("haswell");
  {
    const Scene scene;
    cache::Contents contents = bundle_contents();
    for (cache::Variant& variant : contents.variants) variant.build_options += " -DDOTS=1";
    const Library library = library_of(scene, contents);
    fake::forget_calls();
    const Status status = prepare(library, problem_of(Case::native)).status();
    BOOST_TEST(name(status.code()) == "missing feature");
    BOOST_TEST(has(status.message(), " needs avx512vnni, which this CPU or its driver lacks"), status.message());
    BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithSource) == 0U);
    BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithBinary) == 0U);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(WhatNeedsLessThanTheCpuHasServes) {
  const Cpu cpu("haswell");
  {
    const Scene scene;
    cache::Contents contents = bundle_contents();
    contents.targets[0].cpu_features = "";
    const Library library = library_of(scene, contents, failing());
    const Result<Gemm> gemm = prepare(library, problem_of(Case::native));
    BOOST_REQUIRE_EQUAL(gemm.status().message(), "");
    BOOST_TEST((gemm->explanation().origin == Origin::native));
    BOOST_TEST(library.contains(problem_of(Case::native)));
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(TwoEqualDevicesOfAContextAreBothServed) {
  {
    const Scene scene;
    fake::set_twins(true);
    const Result<Bundle> bundle = Bundle::from_memory({bundle_bytes().data(), bundle_bytes().size()});
    BOOST_REQUIRE(bundle.ok());
    for (const cl_device_id device : {scene.device, scene.other_device}) {
      const Result<Library> library = Library::create(scene.context, device, {*bundle}, failing());
      BOOST_REQUIRE_EQUAL(library.status().message(), "");
      cl_command_queue queue = clCreateCommandQueue(scene.context, device, 0, nullptr);
      const Operands operands(scene, problem_of(Case::launches));
      Result<Gemm> gemm = library->prepare(problem_of(Case::launches));
      BOOST_REQUIRE_EQUAL(gemm.status().message(), "");
      BOOST_TEST((gemm->explanation().origin == Origin::native));
      BOOST_TEST(enqueue(*gemm, queue, operands).message() == "");
      BOOST_TEST(operands.error(queue) < kTolerance);
      clReleaseCommandQueue(queue);
    }
  }
  check_nothing_is_left();
}
