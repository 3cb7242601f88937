// Profiles that the writer refuses, and the reader with the same words.
#include "bodies.hpp"
#include "coding.hpp"
#include "format.hpp"
#include "samples.hpp"

#include <clbake/cache/writer.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <tuple>

using namespace clbake;
using namespace clbake::cache;
using namespace clbake::cache::test;

namespace {

constexpr std::uint32_t kVariants = 3;

// One exception, one cost model and one default.
Profile sound() { return small_contents().profiles[0]; }

// Offsets of its three parts in the body.
constexpr std::size_t kModelAt = 16 + format::kRuleBytes;
constexpr std::pair<const char*, std::size_t> kPlaces[] = {
    {"exception 0", 16}, {"cost model 0", kModelAt}, {"default 0", kModelAt + format::kCostModelBytes}};

// Encodes any profile: variants keep their indices, also one that does not exist.
Bytes body_of(const Profile& profile) { return encode_profile(profile, {0, 1, 2, kVariants}); }

Result<Profile> parse(const Bytes& body) { return parse_profile(view_of(body), 0, kVariants); }

void check_malformed(const std::function<void(Profile&)>& change, const std::string& message) {
  Profile profile = sound();
  change(profile);
  Contents contents = small_contents();
  contents.profiles[0] = profile;
  const Status written = encode(contents).status();
  BOOST_TEST(outcome(written) == "invalid argument", message);
  BOOST_TEST(written.message() == "profile 0: " + message);
  const Status read = parse(body_of(profile)).status();
  BOOST_TEST(name(read.code()) == name(Code::malformed), message);
  BOOST_TEST(read.message() == message);
}

template <typename T>
std::vector<T> of_each_kind(std::size_t count, T item) {
  std::vector<T> all;
  std::set<Precision> precisions(std::begin(product_precisions), std::end(product_precisions));  // in the file's order
  for (const Precision precision : precisions) {
    for (const unsigned transposes : {0U, 1U, 2U, 3U}) {
      item.precision = precision;
      item.trans_a = (transposes & 1U) != 0;
      item.trans_b = (transposes & 2U) != 0;
      all.insert(all.end(), count, item);
    }
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(APrecisionOfANewerVersionIsRefused) {
  Contents contents = small_contents();
  contents.profiles[0].models[0].precision = static_cast<Precision>(5);
  BOOST_TEST(encode(contents).status().message() == "profile 0: cost model 0: unknown precision 5");
  for (const auto& [what, at] : kPlaces) {
    Bytes body = body_of(sound());
    store32(body.data() + at, 5);
    const Status status = parse(body).status();
    BOOST_TEST(name(status.code()) == name(Code::unsupported_version), what);
    BOOST_TEST(status.message() == std::string(what) + ": unknown precision 5");
  }
}

BOOST_AUTO_TEST_CASE(AVariantThatDoesNotExistIsRefused) {
  const std::string cause = ": names a variant that does not exist";
  check_malformed([](Profile& p) { p.exceptions[0].variant = kVariants; }, "exception 0" + cause);
  check_malformed([](Profile& p) { p.models[0].variant = kVariants; }, "cost model 0" + cause);
  check_malformed([](Profile& p) { p.defaults[0].variant = kVariants; }, "default 0" + cause);
}

BOOST_AUTO_TEST_CASE(AnEmptyRangeIsRefused) {
  using Bound = std::uint32_t Rule::*;
  const std::tuple<const char*, Bound, Bound> ranges[] = {{"m", &Rule::m_min, &Rule::m_max},
                                                          {"n", &Rule::n_min, &Rule::n_max},
                                                          {"k", &Rule::k_min, &Rule::k_max},
                                                          {"batch", &Rule::batch_min, &Rule::batch_max}};
  for (const auto& [name, min, max] : ranges) {
    const auto empty = [min = min, max = max](Rule& rule) { rule.*min = 7, rule.*max = 6; };
    check_malformed([&](Profile& p) { empty(p.exceptions[0]); },
                    std::string("exception 0: ") + name + ": an empty range");
    check_malformed([&](Profile& p) { empty(p.defaults[0]); }, std::string("default 0: ") + name + ": an empty range");
  }
}

BOOST_AUTO_TEST_CASE(AnExtentOf0IsRefusedButForSlicesOfACutTail) {
  constexpr std::uint32_t CostModel::*may_be_0[] = {&CostModel::slices, &CostModel::regime, &CostModel::few_m,
                                                    &CostModel::few_n};
  for (const auto& [name, extent] : kCostModelExtents) {
    if (std::find(std::begin(may_be_0), std::end(may_be_0), extent) != std::end(may_be_0)) continue;
    check_malformed([field = extent](Profile& p) { p.models[0].*field = 0; },
                    std::string("cost model 0: ") + name + " is 0");
  }
  check_malformed([](Profile& p) { p.units = 0; }, "units is 0");
  check_malformed([](Profile& p) { p.models[0].regime = 3; }, "cost model 0: regime is above 2");
  Profile profile = sound();
  profile.models[0].slices = 0;
  BOOST_TEST(parse(body_of(profile))->models[0].slices == 0U);
}

BOOST_AUTO_TEST_CASE(ANegativeOrInfiniteNumberIsRefused) {
  using Limits = std::numeric_limits<float>;
  for (const float bad : {-1.0F, -Limits::denorm_min(), Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()}) {
    for (const auto& [name, number] : kCostModelNumbers) {
      check_malformed([field = number, bad](Profile& p) { p.models[0].*field = bad; },
                      std::string("cost model 0: ") + name + " is negative or not finite");
    }
  }
}

BOOST_AUTO_TEST_CASE(TooManyOfAKindAreRefused) {
  const auto fill = [](auto& list, std::uint64_t count) { list.assign(count, list[0]); };
  check_malformed([&](Profile& p) { fill(p.exceptions, format::kMaxRulesOfKind + 1); },
                  "exceptions: too many of a kind");
  check_malformed([&](Profile& p) { fill(p.models, format::kMaxModelsOfKind + 1); }, "cost models: too many of a kind");
  check_malformed([&](Profile& p) { fill(p.defaults, format::kMaxRulesOfKind + 1); }, "defaults: too many of a kind");
}

BOOST_AUTO_TEST_CASE(ListsAreKindByKind) {
  Profile profile = sound();
  profile.models.push_back(profile.models[0]);
  profile.models[1].trans_a = true;
  profile.models.push_back(profile.models[0]);
  profile.models[2].trans_b = false;
  const Bytes body = body_of(profile);
  const Profile read = parse(body).value();
  BOOST_TEST(!read.models[0].trans_b);
  BOOST_TEST(!read.models[1].trans_a);
  BOOST_TEST(read.models[2].trans_a);
  Bytes swapped = body;
  const auto first = swapped.begin() + static_cast<std::ptrdiff_t>(kModelAt);
  const auto second = first + static_cast<std::ptrdiff_t>(format::kCostModelBytes);
  std::swap_ranges(first, second, second);
  const Status status = parse(swapped).status();
  BOOST_TEST(name(status.code()) == name(Code::malformed));
  BOOST_TEST(status.message() == "cost model 1: its kind is out of order");
}

BOOST_AUTO_TEST_CASE(AFullProfileIsWrittenAndRead) {
  Contents contents = small_contents();
  Profile& full = contents.profiles[0];
  full.exceptions = of_each_kind(format::kMaxRulesOfKind, full.exceptions[0]);
  full.models = of_each_kind(format::kMaxModelsOfKind, full.models[0]);
  full.defaults = of_each_kind(format::kMaxRulesOfKind, full.defaults[0]);
  BOOST_TEST(body_of(full).size() == format::kMaxProfileBytes);
  const Bytes bytes = encoded(contents);
  const Bundle bundle = open_bytes(bytes).value();
  BOOST_TEST(bundle.verify().message() == "");
  BOOST_TEST(bundle.find_profile(*bundle.find_target(contents.targets[0]))->models.size() == full.models.size());
}

BOOST_AUTO_TEST_CASE(ABodyThatItsFieldsDoNotFillIsMalformed) {
  const Bytes body = body_of(sound());
  const std::string cause = "its fields do not fill the body exactly";
  for (std::size_t size = 0; size < body.size(); ++size) {
    BOOST_TEST(parse(Bytes(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(size))).status().message() ==
               cause);
  }
  Bytes longer = body;
  longer.push_back(0);
  BOOST_TEST(parse(longer).status().message() == cause);
  for (const std::size_t count : {4U, 8U, 12U}) {  // of exceptions, cost models and defaults
    for (const std::uint32_t wrong : {0U, 2U, UINT32_MAX}) {
      Bytes other = body;
      store32(other.data() + count, wrong);
      BOOST_TEST(parse(other).status().message() == cause);
    }
  }
}

BOOST_AUTO_TEST_CASE(UnknownFlagsOfTheLowerHalfAreRefused) {
  const Bytes body = body_of(sound());
  for (const auto& [what, at] : kPlaces) {
    for (const unsigned bit : {2U, 15U, 16U, 31U}) {
      Bytes other = body;
      store32(other.data() + at + 4, load32(other.data() + at + 4) | 1U << bit);
      const Status status = parse(other).status();
      BOOST_TEST(name(status.code()) == name(bit < 16 ? Code::unsupported_version : Code::ok), what);
      if (!status) BOOST_TEST(status.message() == std::string(what) + ": asks for a feature that this reader lacks");
    }
  }
}
