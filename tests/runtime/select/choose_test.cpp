// Which variant a bundle's profile chooses and why, and what naming a wrong or damaged variant costs.
#include "select/choose.hpp"

#include <clbake/cache/writer.hpp>
#include <clbake/platform.hpp>

#include <boost/test/unit_test.hpp>

namespace clbake {
namespace {

cache::Variant variant(const char* name, Precision precision) {
  cache::Variant v;
  v.name = name;
  v.precision = precision;
  v.launches.resize(1);
  return v;
}

cache::Rule rule(std::uint32_t variant, std::uint32_t m_max, std::uint32_t batch_min) {
  cache::Rule r;
  r.variant = variant;
  r.m_max = m_max;
  r.batch_min = batch_min;
  return r;
}

// Small problems use "a", batches "b"; those of more than 1000 rows name the double-precision "d".
cache::Bytes bundle_bytes() {
  cache::Contents contents;
  contents.targets.resize(1);
  contents.sources = {{"a.cl", ""}};
  contents.variants = {variant("a", Precision::single_precision), variant("b", Precision::single_precision),
                       variant("d", Precision::double_precision)};
  contents.profiles = {{0, 1, {rule(1, 100, 2)}, {}, {rule(0, 1000, 0), rule(2, 2000, 0)}}};
  return *cache::encode(contents);
}

Problem problem(std::size_t m, std::size_t batch = 1) {
  Problem p = make_problem({}, m, 10, 10);
  p.batch = batch;
  p.c_stride = 10 * m;
  return p;
}

using Bundles = std::vector<DeviceBundle>;

// The name of the chosen variant, with " by type" if no profile says anything; or the failure's.
std::string chosen(const Bundles& bundles, const Problem& p) {
  const Result<Request> found = make_request(bundles, p, "");
  if (!found) return std::string(name(found.status().code()));
  const std::string variant = bundles[0].bundle.variant(found->candidates.at(0).variant)->name;
  return variant + (found->by_device_type ? " by type" : "");
}

std::string why(const Bundles& bundles, const Problem& p) {
  return reason_for(*make_request(bundles, p, ""), bundles[0]);
}

std::string refusal(const Bundles& bundles, const Problem& p) {
  return make_request(bundles, p, "").status().message();
}

cache::CostModel wave_model(std::uint32_t variant, std::uint32_t tile_m, float wave_us) {
  cache::CostModel model;
  model.variant = variant;
  model.tile_m = model.item_m = tile_m;
  model.tile_n = model.item_n = 10;
  model.wave_us = wave_us;
  return model;
}

// The device "F" has no profile. Of the device "D" with two units: "b" was measured best for up to 10 rows; above, "a"
// takes 61.2 us for every 20 rows and "b" 100 us for every 40. In double precision there is nothing but a default.
cache::Bytes bundle_with_models() {
  cache::Contents contents;
  contents.targets.resize(2);
  contents.targets[0].device_name = "D";
  contents.targets[1].device_name = "F";
  contents.sources = {{"a.cl", ""}};
  contents.variants = {variant("a", Precision::single_precision), variant("b", Precision::single_precision),
                       variant("d", Precision::double_precision)};
  cache::Rule in_double = rule(2, UINT32_MAX, 0);
  in_double.precision = Precision::double_precision;
  contents.profiles = {{0, 2, {rule(1, 10, 0)}, {wave_model(0, 10, 61.2F), wave_model(1, 20, 100)}, {in_double}}};
  return *cache::encode(contents);
}

// A profile of an NVIDIA GPU in single precision, and the defaults of both types of device in double as well.
cache::Bytes bundle_with_defaults() {
  cache::Contents contents;
  contents.targets = {cache::any_device(true), cache::any_device(false), Target()};
  contents.targets[2].platform_name = "NVIDIA CUDA";
  contents.targets[2].device_name = "NVIDIA H200";
  contents.sources = {{"a.cl", ""}};
  for (const char* name : {"cpu", "gpu", "tuned"})
    contents.variants.push_back(variant(name, Precision::single_precision));
  for (const char* name : {"cpu-d", "gpu-d"}) contents.variants.push_back(variant(name, Precision::double_precision));
  cache::Rule in_double;
  in_double.precision = Precision::double_precision;
  const auto rules = [&](std::uint32_t single_variant, std::uint32_t double_variant) {
    in_double.variant = double_variant;
    return std::vector<cache::Rule>{rule(single_variant, UINT32_MAX, 0), in_double};
  };
  contents.profiles = {
      {0, 1, {}, {}, rules(0, 3)}, {1, 1, {}, {}, rules(1, 4)}, {2, 132, {rule(2, UINT32_MAX, 0)}, {}, {}}};
  return *cache::encode(contents);
}

Bundles seen_by(const Bundle& bundle, const Target& device = {}, bool is_cpu = true) {
  Bundles one;
  one.push_back(bundle_for(bundle, device, is_cpu, 0));
  return one;
}

}  // namespace

constexpr Precision kIntegers = mixed(Element::int8, Element::int8, Element::int32);

// Machine code for a CPU with AVX512-VNNI is in a bundle whose target, the compiler's, does not name it.
BOOST_AUTO_TEST_CASE(AVariantWhoseAssemblerTheDeviceDoesNotTakeIsNotChosen) {
  cache::Contents contents;
  contents.targets = {Target(), cache::any_device(true)};
  contents.targets[0].device_name = "D";
  contents.targets[0].platform_name = "Portable Computing Language";
  contents.targets[0].cpu_features = "avx512f";
  contents.sources = {{"a.cl", ""}};
  contents.variants = {variant("dots", kIntegers), variant("plain", kIntegers)};
  contents.variants[0].build_options += " -DDOTS=1";
  cache::Rule own = rule(0, UINT32_MAX, 0), any = rule(1, UINT32_MAX, 0);
  own.precision = any.precision = kIntegers;
  contents.profiles = {{0, 1, {own}, {}, {own}}, {1, 1, {}, {}, {any}}};
  const cache::Bytes bytes = *cache::encode(contents);
  const Bundle bundle = *Bundle::from_memory({bytes.data(), bytes.size()});
  Problem integers = problem(10);
  integers.precision = kIntegers;
  Target device = contents.targets[0];
  BOOST_TEST(chosen(seen_by(bundle, device), integers) ==
             (takes_assembler(assembler_features(device), contents.variants[0]) ? "dots" : "plain by type"));
  BOOST_TEST(takes_assembler("avx512f avx512vnni", contents.variants[0]));
  contents.variants[0].precision = Precision::bfloat16;
  BOOST_TEST(!takes_assembler("avx512f avx512vnni", contents.variants[0]));
  BOOST_TEST(takes_assembler("avx512f avx512bf16", contents.variants[0]));
  device.cpu_features = "avx2";
  BOOST_TEST(chosen(seen_by(bundle, device), integers) == "plain by type");
  device.cpu_features = "avx512f";
  device.platform_name = "Intel(R) OpenCL";
  BOOST_TEST(chosen(seen_by(bundle, device), integers) == "plain by type");
}

BOOST_AUTO_TEST_CASE(ADeviceWithoutAProfileGetsTheDefaultOfItsType) {
  const cache::Bytes bytes = bundle_with_defaults();
  const Bundle bundle = *Bundle::from_memory({bytes.data(), bytes.size()});
  Problem in_double = problem(10);
  in_double.precision = Precision::double_precision;
  Problem half = problem(10);
  half.precision = Precision::half_precision;
  Target other;
  other.platform_name = "Portable Computing Language";
  const Bundles cpu = seen_by(bundle, other);
  BOOST_TEST(chosen(cpu, problem(10)) == "cpu by type");  // not what an H200 was tuned to
  BOOST_TEST(chosen(cpu, in_double) == "cpu-d by type");
  BOOST_TEST(chosen(cpu, half) == "no variant");
  BOOST_TEST(why(cpu, problem(10)) == "the default for this type of device");
  BOOST_TEST(chosen(seen_by(bundle, other, false), problem(10)) == "gpu by type");

  other.platform_name = "NVIDIA CUDA";
  other.device_name = "NVIDIA L4";
  const Bundles relative = seen_by(bundle, other, false);
  BOOST_TEST(chosen(relative, problem(10)) == "tuned");
  BOOST_TEST(why(relative, problem(10)) == "measured on NVIDIA H200, the most similar device");
  BOOST_TEST(chosen(relative, in_double) == "gpu-d by type");
  BOOST_TEST(why(relative, in_double) == "the default for this type of device");
}

BOOST_AUTO_TEST_CASE(TheReasonIsAMeasurementAnExpectedTimeOrTheDefault) {
  const cache::Bytes bytes = bundle_with_models();
  const Bundle opened = *Bundle::from_memory({bytes.data(), bytes.size()});
  Target device;
  device.device_name = "D";
  const Bundles bundle = seen_by(opened, device);
  BOOST_TEST(why(bundle, problem(10)) == "measured on D");
  BOOST_TEST(chosen(bundle, problem(20)) == "a");
  BOOST_TEST(why(bundle, problem(20)) == "the cost model of D, expected 61.2 us; next b, 100 us");
  BOOST_TEST(chosen(bundle, problem(40)) == "b");
  BOOST_TEST(why(bundle, problem(40)) == "the cost model of D, expected 100 us; next a, 122 us");
  BOOST_TEST(why(bundle, problem(1000)) == "the cost model of D, expected 2.5 ms; next a, 3.06 ms");
  BOOST_TEST(why(bundle, problem(1000000)) == "the cost model of D, expected 2.5 s; next a, 3.06 s");
  Problem in_double = problem(10);
  in_double.precision = Precision::double_precision;
  BOOST_TEST(why(bundle, in_double) == "the default of D");

  for (const char* similar : {"E", "F"}) {  // not in the bundle; there, but without a profile
    device.device_name = similar;
    BOOST_TEST(why(seen_by(opened, device), problem(20)) ==
               "the cost model of D, the most similar device, expected 61.2 us; next b, 100 us");
  }
}

// A product takes 10 us by "nn", 8 by "nt", 7 by "tn" and 6 by "tt".
BOOST_AUTO_TEST_CASE(AVectorIsReadAsARowOrAColumn) {
  cache::Contents contents;
  contents.targets.resize(1);
  contents.sources = {{"a.cl", ""}};
  std::vector<cache::CostModel> models;
  for (const auto& [name, us] : {std::pair("nn", 10.0F), {"nt", 8.0F}, {"tn", 7.0F}, {"tt", 6.0F}}) {
    models.push_back(wave_model(static_cast<std::uint32_t>(models.size()), 1000, us));
    contents.variants.push_back(variant(name, Precision::single_precision));
    models.back().trans_a = contents.variants.back().trans_a = name[0] == 't';
    models.back().trans_b = contents.variants.back().trans_b = name[1] == 't';
  }
  contents.profiles = {{0, 1, {}, models, {}}};
  for (std::uint32_t i = 0; i < 4; ++i) {
    contents.entries.emplace_back();
    contents.entries.back().variant = i;
    contents.entries.back().program = {1};
  }
  std::vector<cache::Entry> none_of_nt = contents.entries;
  none_of_nt.erase(none_of_nt.begin() + 1);
  const auto check = [&](const GemmKind& kind, std::size_t m, std::size_t n, std::size_t apart, const char* by) {
    const cache::Bytes bytes = *cache::encode(contents);
    const Bundles bundle = seen_by(*Bundle::from_memory({bytes.data(), bytes.size()}));
    Problem p = make_problem(kind, m, n, 10);
    p.lda *= apart;
    p.ldb *= apart;
    BOOST_TEST_CONTEXT(by) {
      const Request request = *make_request(bundle, p, "");
      BOOST_TEST(chosen(bundle, p) == by);
      BOOST_TEST(request.problem.trans_a == (by[0] == 't'));
      BOOST_TEST(request.problem.trans_b == (by[1] == 't'));
      if (request.problem.trans_a != p.trans_a) BOOST_TEST(request.problem.lda == (p.trans_a ? 10U : 1U));
      if (request.problem.trans_b != p.trans_b) BOOST_TEST(request.problem.ldb == (p.trans_b ? 1U : 10U));
    }
  };
  const GemmKind nn, nt{Precision::single_precision, false, true}, tn{Precision::single_precision, true, false};
  check(nn, 20, 1, 1, "nt");
  check(nn, 20, 1, 2, "nn");  // elements of B do not lie together
  check(nt, 20, 1, 2, "nt");
  check(tn, 20, 1, 1, "tt");
  check(nn, 1, 20, 2, "tn");
  check(nt, 1, 20, 1, "tt");
  check(tn, 1, 20, 1, "tn");
  check(nn, 20, 20, 1, "nn");
  std::swap(contents.entries, none_of_nt);
  check(nn, 20, 1, 1, "nn");  // no program for nt
  std::swap(contents.entries, none_of_nt);
  contents.profiles[0].exceptions = {rule(0, UINT32_MAX, 0)};
  check(nn, 20, 1, 1, "nn");  // measured
  contents.profiles[0].exceptions.clear();
  contents.profiles[0].models.resize(1);
  check(nn, 20, 1, 1, "nn");  // nothing for nt
}

BOOST_AUTO_TEST_CASE(TheRuleForSizesAndBatchIsFollowed) {
  const cache::Bytes bytes = bundle_bytes();
  const Bundles bundle = seen_by(*Bundle::from_memory({bytes.data(), bytes.size()}));
  BOOST_TEST(chosen(bundle, problem(100)) == "a");
  BOOST_TEST(chosen(bundle, problem(100, 2)) == "b");
  BOOST_TEST(chosen(bundle, problem(101, 2)) == "a");
  BOOST_TEST(chosen(bundle, problem(100, 2)) == "b");  // a second time, when the variant is known to be right
  BOOST_TEST(chosen(bundle, problem(2001)) == "no variant");
}

BOOST_AUTO_TEST_CASE(ABundleWithoutThePrecisionSaysSo) {
  const cache::Bytes bytes = bundle_bytes();
  const Bundles bundle = seen_by(*Bundle::from_memory({bytes.data(), bytes.size()}));
  Problem half = problem(10);
  half.precision = Precision::half_precision;
  BOOST_TEST(refusal(bundle, half) == "the bundle has no variant for half nn");
  BOOST_TEST(refusal(bundle, problem(2001)) == "nothing in the profile fits single nn 2001 x 10 x 10");
  Problem transposed = problem(10);
  transposed.trans_b = true;
  BOOST_TEST(refusal(bundle, transposed) == "the bundle has no variant for single nt");
}

BOOST_AUTO_TEST_CASE(AVariantOfAnotherKindIsMalformedEachTimeAndCostsNoOther) {
  const cache::Bytes bytes = bundle_bytes();
  const Bundles bundle = seen_by(*Bundle::from_memory({bytes.data(), bytes.size()}));
  BOOST_TEST(chosen(bundle, problem(2000)) == "malformed");
  BOOST_TEST(chosen(bundle, problem(2000)) == "malformed");
  BOOST_TEST(chosen(bundle, problem(1000)) == "a");
}

BOOST_AUTO_TEST_CASE(ADamagedVariantFailsWhereItIsChosen) {
  cache::Bytes bytes = bundle_bytes();
  const Bundle opened = *Bundle::from_memory({bytes.data(), bytes.size()});
  const Bundles bundle = seen_by(opened);
  std::size_t damaged = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {  // until the variant "a" can no longer be read
    bytes[i] ^= 1;
    if (opened.variant(0).status().code() == Code::checksum && opened.variant(1)) {
      ++damaged;
      BOOST_TEST(chosen(seen_by(opened), problem(1000)) == "checksum");
      BOOST_TEST(chosen(seen_by(opened), problem(100, 2)) == "b");
    }
    bytes[i] ^= 1;
  }
  BOOST_TEST(damaged > 0U);
  BOOST_TEST(chosen(bundle, problem(1000)) == "a");
}

BOOST_AUTO_TEST_CASE(ADamagedProfileFailsWithItsReason) {
  cache::Bytes bytes = bundle_bytes();
  const Bundle bundle = *Bundle::from_memory({bytes.data(), bytes.size()});
  std::size_t damaged = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= 1;
    if (bundle.profile(0).status().code() == Code::checksum) {
      ++damaged;
      BOOST_TEST(chosen(seen_by(bundle), problem(1000)) == "checksum");
    }
    bytes[i] ^= 1;
  }
  BOOST_TEST(damaged > 0U);
}

}  // namespace clbake
