// The default variants of the kind of device that this machine has not: a CPU runs a GPU's kernels, if slowly, so
// they are compiled from source and checked like those of the baked bundle.
#include "gemm_checks.hpp"

#include <clbake/builder/jobs.hpp>
#include <clbake/cache/writer.hpp>

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
  const Device& device = devices()->front();
  const Job job = make_job(device.target, kernels::generate(params), params);
  cache::Contents contents;
  contents.targets = {job.target};
  contents.sources = {job.source};
  contents.variants = {job.variant};
  const Result<cache::Bytes> bytes = cache::encode(contents);
  BOOST_REQUIRE_MESSAGE(bytes.ok(), bytes.status().message());
  const Result<Bundle> bundle = Bundle::from_memory({bytes->data(), bytes->size()});
  BOOST_REQUIRE_MESSAGE(bundle.ok(), bundle.status().message());
  const Result<Session> session = Session::open(device);
  BOOST_REQUIRE_MESSAGE(session.ok(), session.status().message());
  const Result<Library> library = Library::create(session->context(), device.id, {*bundle});
  BOOST_REQUIRE_MESSAGE(library.ok(), library.status().message());
  const std::string failures = failures_at_edges({device, *session, *library}, job.variant);
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
