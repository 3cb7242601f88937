// The default variants of the device type that this machine lacks: a CPU runs a GPU's kernels, slowly, so they are
// compiled from source and checked like those of the baked bundle.
#include "driver_main.hpp"
#include "gemm_checks.hpp"

#include <clbake/kernels/defaults.hpp>

using namespace clbake;
using namespace clbake::builder;
using namespace clbake::tests;

namespace {

void check_from_source(const kernels::Params& params) {
  const Result<FromSource> compiled = from_source(devices()->front(), params);
  BOOST_REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
  const std::string failures = failures_at_edges(compiled->where, compiled->variant);
  BOOST_TEST(failures.empty(), failures);
}

void check_other_kind(Precision precision) {
  const Device& device = devices()->front();
  const bool cpu = device.type == kernels::DeviceType::cpu;
  for (const kernels::Params& params :
       kernels::default_variants(cpu ? kernels::DeviceType::gpu : kernels::DeviceType::cpu, precision)) {
    if (kernels::check(params, device.limits).empty()) check_from_source(params);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(SinglePrecisionVariantsOfTheOtherKindAreRight) { check_other_kind(Precision::single_precision); }

BOOST_AUTO_TEST_CASE(DoublePrecisionVariantsOfTheOtherKindAreRight) { check_other_kind(Precision::double_precision); }
