#include <clbake/kernels/generator.hpp>

#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <string>

using namespace clbake::kernels;

namespace {

std::vector<Params> all_default_variants() {
  std::vector<Params> all;
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::gpu}) {
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
             "-DVECTOR_WIDTH=4");
}

BOOST_AUTO_TEST_CASE(LaunchFollowsFromTheTiles) {
  Params p;
  p.family = Family::local_tile;
  p.ml = 64;
  p.nl = 32;
  p.ms = 8;
  p.ns = 2;
  const Kernel kernel = generate(p);
  BOOST_TEST(kernel.tile_m == 64U);
  BOOST_TEST(kernel.tile_n == 32U);
  BOOST_TEST(kernel.local[0] == 16U);
  BOOST_TEST(kernel.local[1] == 8U);
  BOOST_TEST(kernel.local[2] == 1U);
}

BOOST_AUTO_TEST_CASE(RegisterTileHasOneWorkItemPerWorkGroup) {
  for (const Params& p : all_default_variants()) {
    if (p.family == Family::register_tile) {
      const Kernel kernel = generate(p);
      BOOST_TEST(kernel.local[0] * kernel.local[1] * kernel.local[2] == 1U);
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

BOOST_AUTO_TEST_CASE(OneKernelPerProgram) {
  for (const Params& p : all_default_variants()) {
    const Kernel kernel = generate(p);
    BOOST_TEST(kernel.kernel_name == "clbake_gemm");
    BOOST_TEST(occurrences(kernel.source, "\nGEMM_KERNEL(") == 1U);
    BOOST_TEST(occurrences(kernel.source, "__kernel") == 1U);
  }
}

BOOST_AUTO_TEST_SUITE_END()
