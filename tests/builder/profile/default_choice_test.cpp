// What a tuning has to beat.
#include "profile/default_choice.hpp"

#include <clbake/kernels/defaults.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>

namespace clbake::builder::test {
namespace {

using kernels::DeviceType;

// A tuning that timed these variants of single nn, in this order.
Tuning tuning_of_defaults(DeviceType type, std::uint32_t vector_bytes) {
  Tuning t;
  for (const kernels::Params& p : kernels::default_variants(type, Precision::single_precision, vector_bytes)) {
    if (p.kind() == GemmKind{}) t.variants.push_back(kernels::name(p));
  }
  return t;
}

std::string choice(const Tuning& tuning, const std::string& shape) {
  const std::optional<std::uint32_t> variant = DefaultChoice(tuning).of(*parse_shape(shape));
  return variant ? tuning.variants.at(*variant) : "none";
}

}  // namespace

BOOST_AUTO_TEST_CASE(ItIsWhatAnUntunedBundleTakes) {
  const Tuning cpu = tuning_of_defaults(DeviceType::cpu, 64);
  BOOST_TEST(choice(cpu, "single nn 64x64x64") == "register_tile-s-nn-128x16x512-8x16x1-v16");
  BOOST_TEST(choice(cpu, "single nn 1024x1024x1024") == "register_tile-s-nn-256x128x512-8x32x1-v16");
  const Tuning gpu = tuning_of_defaults(DeviceType::gpu, 4);
  BOOST_TEST(choice(gpu, "single nn 16x16x16") == "direct-s-nn-16x16x1-1x1x4-v1");
  BOOST_TEST(choice(gpu, "single nn 512x512x512").rfind("local_tile-s-nn-32x32", 0) == 0U);
  BOOST_TEST(choice(gpu, "single nn 1024x1024x1024 batch 3").rfind("local_tile-s-nn-64x128", 0) == 0U);
}

BOOST_AUTO_TEST_CASE(OnlyDefaultVariantsThatWereTimedCount) {
  Tuning t = tuning_of_defaults(DeviceType::cpu, 64);
  t.variants.push_back("register_tile-s-nn-128x128x384-8x32x2-v16");
  BOOST_TEST((DefaultChoice(t).variants() == std::vector<std::uint32_t>{0, 1, 2}));
  BOOST_TEST(choice(t, "single tn 64x64x64") == "none");
  BOOST_TEST(choice(t, "double nn 64x64x64") == "none");
  t.variants.erase(t.variants.begin() + 1, t.variants.begin() + 3);
  BOOST_TEST(choice(t, "single nn 1024x1024x1024") == t.variants[0]);
  t.variants.erase(t.variants.begin());
  BOOST_TEST(choice(t, "single nn 1024x1024x1024") == "none");
  BOOST_TEST(choice(Tuning(), "single nn 1024x1024x1024") == "none");
}

// Which a search may have tried: they are points of the same space.
BOOST_AUTO_TEST_CASE(DefaultVariantsOfOtherDevicesDoNotCount) {
  Tuning t = tuning_of_defaults(DeviceType::cpu, 64);
  const std::string narrow = choice(t, "single nn 64x64x64");
  const std::vector<std::string> others = tuning_of_defaults(DeviceType::cpu, 32).variants;
  t.variants.insert(t.variants.begin(), others[2]);  // smaller than the device's own
  t.variants.push_back(tuning_of_defaults(DeviceType::gpu, 4).variants[0]);
  BOOST_TEST(others[2] != narrow);
  BOOST_TEST(choice(t, "single nn 64x64x64") == narrow);
  BOOST_TEST((DefaultChoice(t).variants() == std::vector<std::uint32_t>{1, 2, 3}));
}

}  // namespace clbake::builder::test
