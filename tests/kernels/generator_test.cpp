#include <clbake/kernels/defaults.hpp>
#include <clbake/kernels/generator.hpp>

#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <string>

using clbake::all_precisions;
using clbake::Precision;
using namespace clbake::kernels;

namespace {

std::vector<Params> all_default_variants() {
  std::vector<Params> all;
  for (const DeviceType kind : {DeviceType::cpu, DeviceType::gpu}) {
    for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
      for (const Params& p : default_variants(kind, precision)) {
        all.push_back(p);
      }
    }
  }
  return all;
}

std::size_t occurrences(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(generator)

BOOST_AUTO_TEST_CASE(BuildOptionsDefineEveryParameter) {
  Params p;
  p.family = Family::local_tile;
  p.precision = Precision::double_precision;
  p.trans_b = true;
  p.ml = 64;
  p.nl = 32;
  p.kl = 16;
  p.ms = 8;
  p.ns = 4;
  p.ks = 2;
  p.vector_width = 4;
  BOOST_TEST(generate(p).build_options ==
             "-cl-std=CL1.2 -DPRECISION=64 -DTRANS_A=0 -DTRANS_B=1 -DML=64 -DNL=32 -DKL=16 -DMS=8 -DNS=4 -DKS=2 "
             "-DVECTOR_WIDTH=4 -DLAYOUT_A=ROW_MAJOR -DLAYOUT_B=ROW_MAJOR -DSPLIT_K=1 -DBUFFERS=1 -DPREFETCH=1 "
             "-DLOAD_WIDTH=1 -DPADDING=0 "
             "-DMAP=CYCLIC -DFRAGMENTS=1 -DEXCHANGE=0 -DSHARES=1");
  p.map = Map::zigzag;
  BOOST_TEST(generate(p).build_options.find("-DMAP=ZIGZAG ") != std::string::npos);
  p.precision = Precision::bfloat16;
  BOOST_TEST(generate(p).build_options.find("-DPRECISION=16 -DBFLOAT16=1 ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(OnlyVariantsWithImagesAskForImages) {
  Params p;
  p.family = Family::stripe;
  p.layout_a = Layout::column_block;
  BOOST_TEST(occurrences(generate(p).build_options, "__opencl_c_images") == 0U);
  p.layout_b = Layout::image;
  BOOST_TEST(occurrences(generate(p).build_options, " -D__opencl_c_images=1") == 1U);
}

BOOST_AUTO_TEST_CASE(LaunchFollowsFromTheTiles) {
  Params p;
  p.family = Family::local_tile;
  p.ml = 64;
  p.nl = 32;
  p.ms = 8;
  p.ns = 2;
  const Kernel kernel = generate(p);
  BOOST_REQUIRE_EQUAL(kernel.launches.size(), 1U);
  const Launch& launch = kernel.launches[0];
  BOOST_TEST((launch.role == Role::gemm));
  BOOST_TEST(launch.tile_m == 64U);
  BOOST_TEST(launch.tile_n == 32U);
  BOOST_TEST(launch.local[0] == 16U);
  BOOST_TEST(launch.local[1] == 8U);
  BOOST_TEST(launch.local[2] == 1U);
}

BOOST_AUTO_TEST_CASE(PackingComesBeforeTheProductAndTheReductionAfterIt) {
  Params p;
  p.family = Family::stripe;
  p.layout_a = Layout::column_block;
  p.layout_b = Layout::image;
  p.split_k = 4;
  const Kernel kernel = generate(p);
  const std::vector<std::pair<Role, std::string>> expected = {{Role::pack_a, "clbake_pack_a"},
                                                              {Role::pack_b, "clbake_pack_b"},
                                                              {Role::gemm, "clbake_gemm"},
                                                              {Role::reduce, "clbake_reduce"}};
  BOOST_REQUIRE_EQUAL(kernel.launches.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    BOOST_TEST((kernel.launches[i].role == expected[i].first));
    BOOST_TEST(kernel.launches[i].kernel_name == expected[i].second);
  }
}

BOOST_AUTO_TEST_CASE(RegisterTileHasOneWorkItemPerWorkGroup) {
  for (const Params& p : all_default_variants()) {
    if (p.family == Family::register_tile) {
      const Kernel kernel = generate(p);
      const Launch& launch = kernel.launches.front();
      BOOST_TEST(launch.local[0] * launch.local[1] * launch.local[2] == 1U);
    }
  }
}

BOOST_AUTO_TEST_CASE(EqualParametersGiveEqualKernels) {
  for (const Params& p : all_default_variants()) {
    const Kernel first = generate(p);
    const Kernel second = generate(p);
    BOOST_TEST(first.name == second.name);
    BOOST_TEST(first.source == second.source);
    BOOST_TEST(first.build_options == second.build_options);
  }
}

BOOST_AUTO_TEST_CASE(OneSourcePerFamily) {
  std::map<std::string, std::set<std::string>> sources;
  for (const Params& p : all_default_variants()) {
    const Kernel kernel = generate(p);
    BOOST_TEST(kernel.source_name == std::string(name(p.family)) + ".cl");
    sources[kernel.source_name].insert(kernel.source);
  }
  BOOST_TEST(sources.size() == 3U);
  for (const auto& [file, texts] : sources) {
    BOOST_TEST(texts.size() == 1U, file);
  }
}

BOOST_AUTO_TEST_CASE(EverySourceHasOneProduct) {
  for (const Params& p : all_default_variants()) {
    BOOST_TEST(occurrences(generate(p).source, "\nGEMM_KERNEL(") == 1U);
  }
}

BOOST_AUTO_TEST_SUITE_END()
