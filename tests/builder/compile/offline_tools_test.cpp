// The offline targets with the compilers of this machine. Exit status 77, "skipped", where none is complete; a case
// whose compilers are not here is skipped, too.
#include "files.hpp"

#include <clbake/builder/offline_targets.hpp>
#include <clbake/kernels/defaults.hpp>
#include "compile/nvidia/cubin.hpp"
#include "compile/offline/offline_compile.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <optional>
#include <regex>

using namespace clbake;
using namespace clbake::builder;
using namespace clbake::builder::compile;
using namespace clbake::tests;

namespace {

const std::vector<OfflineTarget>& targets() {
  static const std::vector<OfflineTarget> all = required(offline_targets());
  return all;
}

// The first of a vendor that this machine compiles for.
const OfflineTarget* possible(const std::string& vendor) {
  const auto found = std::find_if(targets().begin(), targets().end(), [&](const OfflineTarget& target) {
    return target.name.rfind(vendor, 0) == 0 && target.obstacle.empty();
  });
  return found == targets().end() ? nullptr : &*found;
}

// ptxas is not needed for PTX.
bool has_clang() {
  const std::vector<Tool>& tools = targets().front().tools;
  return !tools[0].path.empty() && !tools[1].path.empty();
}

struct Here {
  bool (*present)();
  boost::test_tools::assertion_result operator()(boost::unit_test::test_unit_id) const { return present(); }
};
const auto clang_here = boost::unit_test::precondition(Here{has_clang});
const auto nvidia_here = boost::unit_test::precondition(Here{[] { return possible("nvidia:") != nullptr; }});
const auto intel_here = boost::unit_test::precondition(Here{[] { return possible("intel:") != nullptr; }});

Job job_of(const OfflineTarget& target, const kernels::Params& given) {
  const kernels::Params params = offline_variant(target, given);
  return make_job(target.device.target, kernels::generate(params), params);
}

Job job_of(const OfflineTarget& target, const char* variant) {
  return job_of(target, std::get<kernels::Params>(kernels::parse(variant)));
}

std::string text_of(const cache::Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

// Two copies, a product and a sum.
constexpr const char* kFourKernels = "local_tile-s-nn-32x32x16-4x4x4-v4-acbl-bcbl-split2";

}  // namespace

BOOST_AUTO_TEST_CASE(PtxIsThatOfAnOpenClKernel, *clang_here) {
  const OfflineTarget& target = targets().front();
  for (const Precision precision : all_precisions) {
    for (const kernels::Params& params : kernels::default_variants(kernels::DeviceType::gpu, precision)) {
      if (params.trans_a || params.trans_b) continue;
      const Job job = job_of(target, params);
      BOOST_TEST_CONTEXT(job.variant.name) {
        const std::string ptx = required(clang_ptx(job.source, job.variant, "sm_80")).text;
        const kernels::WorkGroup group = kernels::work_group_size(params);
        BOOST_TEST(contains(ptx, ".reqntid " + std::to_string(group.x) + ", " + std::to_string(group.y) + ", 1\n{"));
        BOOST_TEST(contains(ptx, ".param .u64 .ptr .global .align"));
        BOOST_TEST(contains(ptx, "%ctaid.x"));
        BOOST_TEST(contains(ptx, "%tid.x"));
        const bool wide = precision == Precision::double_precision;
        BOOST_TEST(contains(ptx, wide ? "fma.rn.f64" : "fma.rn.f32"));
        BOOST_TEST(contains(ptx, "cvt.rn.f16.f32") == (precision == Precision::half_precision));
        const bool shared = params.family == kernels::Family::local_tile;
        BOOST_TEST(contains(ptx, ".shared .align") == shared);
        BOOST_TEST(contains(ptx, "bar.sync") == shared);
        BOOST_TEST(!contains(ptx, "call"));
        BOOST_TEST(!contains(ptx, ".extern"));
      }
    }
  }
}

// ptxas 12.9 and 13.0 lose the upper half of a constant of 64 bits that is added to a matrix descriptor.
BOOST_AUTO_TEST_CASE(NoLongConstantIsAddedToADescriptor, *clang_here) {
  const std::regex long_constant("add\\.s64[^;]*, -?[0-9]{10,};");
  for (const char* transposes : {"nn", "nt", "tn", "tt"}) {
    for (const char* tile : {"128x256x64-2x64x1-v8-buffers4", "64x64x64-2x16x1-v8-split8-buffers8"}) {
      const std::string variant = std::string("warpgroup_tile-h-") + transposes + "-" + tile;
      const Job job = job_of(targets().front(), variant.c_str());
      const std::string ptx = required(clang_ptx(job.source, job.variant, "sm_90")).text;
      BOOST_TEST(contains(ptx, "wgmma.mma_async"), variant);
      BOOST_TEST(!std::regex_search(ptx, long_constant), variant);
    }
  }
}

// clang writes older versions, in which ptxas does not know movmatrix and tensor maps.
BOOST_AUTO_TEST_CASE(PtxIsOfTheVersionThatHasItsInstructions, *clang_here) {
  const Job job = job_of(targets().front(), "thin_tile-h-nn-32x8x16-4x2x4-v2");
  const std::string ptx = required(clang_ptx(job.source, job.variant, "sm_80")).text;
  BOOST_TEST(contains(ptx, "movmatrix.sync.aligned"));
  BOOST_TEST(contains(ptx, ".version 7.8\n"));
  const Job copies = job_of(targets().front(), "warpgroup_tile-h-nn-64x128x64-2x32x1-v8-buffers3-tensor");
  const std::string tensor = required(clang_ptx(copies.source, copies.variant, "sm_90")).text;
  BOOST_TEST(contains(tensor, "tensormap.replace"));
  BOOST_TEST(contains(tensor, ".version 8.3\n"));
}

BOOST_AUTO_TEST_CASE(EveryKernelOfAProgramIsInItsPtx, *clang_here) {
  const Job job = job_of(targets().front(), kFourKernels);
  const std::string ptx = required(clang_ptx(job.source, job.variant, "sm_80")).text;
  BOOST_TEST(job.variant.launches.size() == 4U);
  for (const cache::Launch& launch : job.variant.launches) {
    const std::size_t entry = ptx.find(".entry " + launch.kernel_name + "(");
    BOOST_REQUIRE(entry != std::string::npos);
    const std::string head = ptx.substr(entry, ptx.find('{', entry) - entry);
    BOOST_TEST(contains(head, ".reqntid " + std::to_string(launch.local[0]) + ", "), launch.kernel_name);
  }
}

BOOST_AUTO_TEST_CASE(ClangsErrorNamesFileAndCause, *clang_here) {
  Job job = job_of(targets().front(), "direct-s-nn-16x16x1-1x1x4-v1");
  job.source.text += "\nint broken( {\n";
  const Result<Ptx> ptx = clang_ptx(job.source, job.variant, "sm_80");
  BOOST_REQUIRE(!ptx);
  BOOST_TEST(contains(ptx.status().message(), "direct.cl:"));
  BOOST_TEST(contains(ptx.status().message(), "error: "));
}

BOOST_AUTO_TEST_CASE(MachineCodeOfNvidiaHasEveryKernel, *nvidia_here) {
  const Job job = job_of(*possible("nvidia:"), kFourKernels);
  const std::vector<cache::Entry> entries = required(compile_offline(job));
  BOOST_REQUIRE_EQUAL(entries.size(), 2U);
  const std::string code = text_of(entries[0].program);
  BOOST_TEST(cubin_architecture(entries[0].program) == job.target.architecture);
  for (const cache::Launch& launch : job.variant.launches) BOOST_TEST(contains(code, ".text." + launch.kernel_name));
  BOOST_CHECK(required(compile_offline(job))[0].program == entries[0].program);
}

BOOST_AUTO_TEST_CASE(MachineCodeOfIntelHasEveryKernel, *intel_here) {
  const Job job = job_of(*possible("intel:"), kFourKernels);
  const std::vector<cache::Entry> entries = required(compile_offline(job));
  BOOST_REQUIRE_EQUAL(entries.size(), 1U);
  for (const cache::Launch& launch : job.variant.launches) {
    BOOST_TEST(contains(text_of(entries[0].program), launch.kernel_name));
  }
  BOOST_CHECK(required(compile_offline(job))[0].program == entries[0].program);
}

int main(int argc, char** argv) {
  if (!has_clang() && !possible("intel:")) {
    std::printf("skipped: neither clang with libclc nor ocloc is here\n");
    return 77;
  }
  return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}
