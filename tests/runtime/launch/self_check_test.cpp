// The runtime's product of a known result, which tells whether a driver that is newer than a program runs it right.
#include "driver_main.hpp"
#include "gemm_checks.hpp"
#include "launch/warm_up.hpp"

using namespace clbake;
using namespace clbake::tests;

namespace {

Status self_check(const std::string& point) {
  const Result<FromSource> made = from_source(devices()->front(), std::get<kernels::Params>(kernels::parse(point)));
  BOOST_REQUIRE_MESSAGE(made.ok(), made.status().message());
  const Result<Bundle> bundle = Bundle::from_memory({made->bytes.data(), made->bytes.size()});
  const cl::Context context(made->where.session.context(), true);
  const cl::Device device(made->where.device.id, true);
  const Result<Program> program = compile_source(context, device, *bundle, 0);
  BOOST_REQUIRE_MESSAGE(program.ok(), program.status().message());
  return check_product(context, device, *program);
}

}  // namespace

BOOST_AUTO_TEST_CASE(KnownProductsOfAllTypesOfElementsAreRight) {
  for (const char* point : {"direct-h-nn-6x8x1-3x4x2-v4", "direct-s-tt-6x8x1-3x4x2-v4", "direct-iuw-nt-6x8x1-3x4x2-v4",
                            "direct-efs-tn-6x8x1-3x4x2-v4", "weight_tile-hqh-nn-4x32x1-2x32x128-v8",
                            "weight_tile-bvs-tn-2x16x8-2x4x128-v4", "local_tile-sqs-nn-16x16x8-4x4x2-v2-bpad"}) {
    const Status status = self_check(point);
    BOOST_TEST(status.ok(), point << ": " << status.message());
  }
}
