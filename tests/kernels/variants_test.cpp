// The default variants of the kind of device that this machine has not: a CPU runs a GPU's kernels, if slowly, so
// they are compiled from source and checked like those of the baked bundle.
#include "gemm_checks.hpp"

#include <clbake/kernels/defaults.hpp>

#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>
#include <cstdio>

using namespace clbake;
using namespace clbake::builder;
using namespace clbake::tests;

namespace {

Result<std::vector<Device>>& devices() {
  static Result<std::vector<Device>> found = list_devices();
  return found;
}

void check_from_source(const kernels::Params& params) {
  const Result<FromSource> compiled = from_source(devices()->front(), params);
  BOOST_REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
  const std::string failures = failures_at_edges(compiled->where, compiled->variant);
  BOOST_TEST(failures.empty(), failures);
}

void check_other_kind(kernels::Precision precision) {
  const Device& device = devices()->front();
  const bool cpu = device.kind == kernels::DeviceKind::cpu;
  for (const kernels::Params& params :
       kernels::default_variants(cpu ? kernels::DeviceKind::gpu : kernels::DeviceKind::cpu, precision)) {
    if (kernels::check(params, device.limits).empty()) check_from_source(params);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(SinglePrecisionVariantsOfTheOtherKindAreRight) {
  check_other_kind(kernels::Precision::single_precision);
}

BOOST_AUTO_TEST_CASE(DoublePrecisionVariantsOfTheOtherKindAreRight) {
  check_other_kind(kernels::Precision::double_precision);
}

int main(int argc, char** argv) {
  if (!devices()) {
    std::printf("skipped: %s\n", devices().status().message().c_str());
    return 77;
  }
  return boost::unit_test::unit_test_main(init_unit_test, argc, argv);
}
