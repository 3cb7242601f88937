#include <clbake/kernels/generator.hpp>

#include <boost/test/unit_test.hpp>
#include <set>
#include <string>

using clbake::all_precisions;
using clbake::Precision;
using namespace clbake::kernels;

namespace {

Kernel kernel(const char* name) { return generate(std::get<Params>(parse(name))); }

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_SUITE(generator)

BOOST_AUTO_TEST_CASE(BuildOptionsDefineEveryParameter) {
  BOOST_TEST(kernel("local_tile-d-nt-64x32x16-8x4x2-v4").build_options ==
             "-cl-std=CL1.2 -DPRECISION=64 -DTRANS_A=0 -DTRANS_B=1 -DML=64 -DNL=32 -DKL=16 -DMS=8 -DNS=4 -DKS=2 "
             "-DVECTOR_WIDTH=4 -DLAYOUT_A=ROW_MAJOR -DLAYOUT_B=ROW_MAJOR -DSPLIT_K=1 -DBUFFERS=1 -DPREFETCH=1 "
             "-DLOAD_WIDTH=1 -DPADDING=0 -DMAP=CYCLIC -DFRAGMENTS=1 -DEXCHANGE=0 -DSHARES=1");
  BOOST_TEST(holds(kernel("local_tile-b-nt-64x32x16-8x4x2-v4-mapzigzag").build_options, "-DMAP=ZIGZAG "));
  BOOST_TEST(holds(kernel("direct-b-nn-1x1x1-1x1x1-v1").build_options, "-DPRECISION=16 -DBFLOAT16=1 "));
}

BOOST_AUTO_TEST_CASE(OnlyVariantsWithImagesAskForImages) {
  const std::string asks = " -D__opencl_c_images=1";
  BOOST_TEST(!holds(kernel("stripe-s-nn-64x64x16-4x4x1-v4-acbl").build_options, asks));
  BOOST_TEST(holds(kernel("stripe-s-nn-64x64x16-4x4x1-v4-acbl-bimage").build_options, asks));
}

BOOST_AUTO_TEST_CASE(LaunchesFollowFromThePoint) {
  const auto check = [](const char* name, const std::vector<Launch>& expected) {
    const std::vector<Launch> launches = kernel(name).launches;
    BOOST_REQUIRE_EQUAL(launches.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      BOOST_TEST((launches[i].role == expected[i].role));
      BOOST_TEST(launches[i].kernel_name == expected[i].kernel_name);
      BOOST_TEST(launches[i].local == expected[i].local, boost::test_tools::per_element());
      BOOST_TEST(launches[i].tile_m == expected[i].tile_m);
      BOOST_TEST(launches[i].tile_n == expected[i].tile_n);
    }
  };
  check("local_tile-s-nn-64x32x16-8x2x1-v1", {{Role::gemm, "clbake_gemm", {16, 8, 1}, 64, 32}});
  check("register_tile-s-nn-60x128x512-6x64x1-v16", {{Role::gemm, "clbake_gemm", {1, 1, 1}, 60, 128}});
  check("stripe-h-nn-64x32x16-8x4x1-v4-acbl-bimage-split4", {{Role::pack_a, "clbake_pack_a", {256, 1, 1}, 64, 64},
                                                             {Role::pack_b, "clbake_pack_b", {256, 1, 1}, 64, 64},
                                                             {Role::gemm, "clbake_gemm", {8, 8, 1}, 64, 32},
                                                             {Role::reduce, "clbake_reduce", {64, 1, 1}, 1, 256}});
}

// With one kernel each: the contract's arguments would not tell two apart.
BOOST_AUTO_TEST_CASE(OneSourcePerFamily) {
  for (const Family family : all_families) {
    std::set<std::string> sources;
    for (const Precision precision : all_precisions) {
      Params p;
      p.family = family;
      p.precision = precision;
      const Kernel made = generate(p);
      BOOST_TEST(made.source_name == std::string(name(family)) + ".cl");
      sources.insert(made.source);
    }
    BOOST_TEST(sources.size() == 1U, name(family));
    const std::size_t at = sources.begin()->find("\nGEMM_KERNEL(");
    BOOST_TEST((at != std::string::npos && sources.begin()->find("\nGEMM_KERNEL(", at + 1) == std::string::npos));
  }
}

BOOST_AUTO_TEST_SUITE_END()
