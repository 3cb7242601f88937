// Builds by profiles bake the winners and what backs them up, nothing else, for the device they were made for.
#include "profile/kind_choice.hpp"
#include "profile/tunings.hpp"

#include <clbake/builder/jobs.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <set>

namespace clbake::builder::test {
using namespace build;
namespace {

using Names = std::set<std::string>;

Names names_of(const BakeList& bake_list) {
  Names names;
  for (const kernels::Params& params : bake_list.variants) names.insert(kernels::name(params));
  BOOST_TEST(names.size() == bake_list.variants.size());
  return names;
}

Names baked_names(const std::string& bundle) {
  const cache::Contents contents = baked_contents_of(bundle);
  Names names;
  for (const cache::Entry& entry : contents.entries) names.insert(contents.variants[entry.variant].name);
  return names;
}

// The default variants of made_up_device() for transposes like "nn"; vector_bytes: of another CPU.
Names defaults(const std::string& trans, std::uint32_t vector_bytes = 0) {
  Names names;
  for (const kernels::Params& params :
       kernels::default_variants(kernels::DeviceType::cpu, Precision::single_precision, vector_bytes)) {
    const std::string name = kernels::name(params);
    if (contains(name, "-" + trans + "-")) names.insert(name);
  }
  return names;
}

Names joined(const std::vector<Names>& parts) {
  Names all;
  for (const Names& part : parts) all.insert(part.begin(), part.end());
  return all;
}

// The limits of a device of sm_90.
kernels::DeviceLimits sm_90() {
  kernels::DeviceLimits limits;
  limits.fp64 = limits.images = true;
  limits.max_work_group_size = 1024;
  limits.max_work_item_sizes[0] = limits.max_work_item_sizes[1] = 1024;
  limits.max_work_item_sizes[2] = 64;
  limits.local_memory_bytes = 49152;
  kernels::set_nvidia_limits(limits, 90);
  return limits;
}

// A fixture whose build has the made-up profile.
struct TunedFixture : BuildFixture {
  TunedFixture() {
    options.precisions.clear();
    options.profiles = {{"tuned.json", made_up_tuning()}};
  }
  BakeList bake_list() const { return required(bake_lists_for(options)).at(0); }
  void check_refused(const std::vector<std::string>& parts) {
    const Result<BuildReport> report = build();
    BOOST_TEST(outcome(report) == "invalid argument");
    for (const std::string& part : parts) {
      BOOST_TEST(contains(report.status().message(), part), report.status().message());
    }
    BOOST_TEST(files().empty());
  }
};

const Names kWinners = {kSmallWinner, kLargeWinner, kTransposedWinner};

}  // namespace

BOOST_FIXTURE_TEST_CASE(TheBundleFollowsTheProfileAndServesTheRest, TunedFixture) {
  const BuildReport report = required(build());
  BOOST_TEST((baked_names(options.output) == joined({kWinners, defaults("nn"), defaults("tn")})));
  BOOST_TEST(report.baked == 9U);
  const BakeList list = required(bake_lists_for(options)).at(0);
  BOOST_TEST(list.device == "Device A");
  BOOST_TEST(list.profile == "tuned.json (tuned on Device A, driver 1.0, 2026-11-21)");
  const cache::Contents contents = baked_contents_of(options.output);
  BOOST_REQUIRE_EQUAL(contents.profiles.size(), 1U);
  const cache::Profile& profile = contents.profiles[0];
  const auto name_of = [&](std::uint32_t variant) { return contents.variants[variant].name; };
  BOOST_TEST(profile.units == 2U);
  BOOST_REQUIRE_EQUAL(profile.exceptions.size(), 2U);
  const cache::Rule& small = profile.exceptions[0];
  BOOST_TEST(name_of(small.variant) == kSmallWinner);
  BOOST_TEST((small.m_max == 128U && small.n_min == 3U && small.k_min == 7U && small.k_max == UINT32_MAX));
  BOOST_TEST((small.batch_min == 2U && small.batch_max == 64U));
  BOOST_TEST(name_of(profile.exceptions[1].variant) == kTransposedWinner);
  BOOST_TEST(profile.exceptions[1].trans_a);
  BOOST_REQUIRE_EQUAL(profile.models.size(), 2U);
  BOOST_TEST(name_of(profile.models[0].variant) == kLargeWinner);
  BOOST_TEST(name_of(profile.models[1].variant) == kSmallWinner);
  const cache::CostModel& tuned = options.profiles[0].tuning.models[0];
  BOOST_TEST((profile.models[0].tile_m == tuned.tile_m && profile.models[0].item_n == tuned.item_n));
  BOOST_TEST((profile.models[0].resident == tuned.resident && profile.models[0].latency_us == tuned.latency_us));
  std::set<bool> transposed;
  for (const cache::Rule& rule : profile.defaults) {
    transposed.insert(rule.trans_a);
    BOOST_TEST(defaults(rule.trans_a ? "tn" : "nn").count(name_of(rule.variant)) == 1U, name_of(rule.variant));
  }
  BOOST_TEST(transposed.size() == 2U);
}

// The default variants won, or the measurements did not suffice for more.
BOOST_FIXTURE_TEST_CASE(AProfileThatNamesNoVariantGivesTheDefaultsOfItsKinds, TunedFixture) {
  options.profiles[0].tuning.exceptions.clear();
  options.profiles[0].tuning.models.clear();
  required(build());
  BOOST_TEST((baked_names(options.output) == joined({defaults("nn"), defaults("tn")})));
  const cache::Contents contents = baked_contents_of(options.output);
  BOOST_TEST((contents.profiles.at(0).exceptions.empty() && contents.profiles[0].models.empty()));
  BOOST_TEST(contents.profiles[0].defaults.size() >= 2U);
}

BOOST_FIXTURE_TEST_CASE(AWinnerThatFailsToBakeLeavesItsProblemsToTheOthers, TunedFixture) {
  misbehave("compile:crash:" + std::string(kTransposedWinner));
  const BuildReport report = required(build());
  BOOST_TEST(report.failed == 1U);
  const cache::Contents contents = baked_contents_of(options.output);
  BOOST_TEST(contents.profiles.at(0).exceptions.size() == 1U);
  std::vector<std::string> transposed;
  for (const cache::Rule& rule : contents.profiles[0].defaults) {
    if (rule.trans_a) transposed.push_back(contents.variants[rule.variant].name);
  }
  BOOST_REQUIRE(!transposed.empty());
  for (const std::string& name : transposed) BOOST_TEST(defaults("tn").count(name) == 1U, name);
}

BOOST_FIXTURE_TEST_CASE(WantedPrecisionsLimitAProfileAndAreServedBeyondIt, TunedFixture) {
  options.profiles = {{"double.json", tuning_of("register_tile-d-nn-60x128x512-6x16x1-v8")}};
  options.profiles[0].tuning.models.push_back(tuning_of(kLoser).models[0]);
  options.profiles[0].tuning.models.back().variant = 1;
  options.profiles[0].tuning.variants.push_back(kLoser);
  BOOST_TEST(names_of(bake_list()).count("register_tile-d-nn-60x128x512-6x16x1-v8") == 1U);
  options.precisions = {Precision::single_precision};
  BOOST_TEST(
      (names_of(bake_list()) == joined({{kLoser}, defaults("nn"), defaults("nt"), defaults("tn"), defaults("tt")})));
  options.precisions = {Precision::half_precision};
  check_refused({"double.json: has no winner of the wanted precisions"});
}

BOOST_FIXTURE_TEST_CASE(AProfileOfAnotherDeviceIsRefusedWithBothNames, TunedFixture) {
  options.devices = {made_up_device("Device B")};
  check_refused({"tuned.json: ", "Device A", "Device B", "--force"});
  options.foreign_profiles = true;
  const BuildReport report = required(build());
  BOOST_TEST(report.baked == 9U);
  BOOST_TEST(contains(required(bake_lists_for(options)).at(0).profile, "tuned on Device A"));
}

BOOST_FIXTURE_TEST_CASE(KindsThatNobodyTunedAreNamed, TunedFixture) {
  BOOST_REQUIRE_EQUAL(bake_list().remarks.size(), 1U);
  BOOST_TEST(bake_list().remarks[0] ==
             "not tuned and not baked: single nt, single tt; --precision bakes default variants for them");
  options.precisions = {Precision::single_precision};
  BOOST_TEST(bake_list().remarks.empty());
  options.profiles[0].tuning.target.driver_version = "0.9";
  BOOST_TEST(bake_list().remarks.at(0) == "tuned.json: tuned with driver 0.9, here 1.0");
}

BOOST_FIXTURE_TEST_CASE(EachDeviceGetsTheProfileMadeForIt, TunedFixture) {
  const Device b = made_up_device("Device B");
  options.devices.push_back(b);
  check_refused({"tuned.json: ", "Device A", "Device B"});
  options.profiles.push_back({"b.json", tuning_of(kLoser, 100, b)});
  const std::vector<BakeList> bake_lists = required(bake_lists_for(options));
  BOOST_TEST((names_of(bake_lists.at(0)) == joined({kWinners, defaults("nn"), defaults("tn")})));
  BOOST_TEST((names_of(bake_lists.at(1)) == joined({{kLoser}, defaults("nn")})));
  options.devices = {b};
  check_refused({"tuned.json: ", "Device A", "Device B"});
}

BOOST_FIXTURE_TEST_CASE(TwoProfilesOfOneDeviceAreToBeMerged, TunedFixture) {
  options.profiles.push_back({"more.json", tuning_of(kLoser)});
  check_refused({"more.json: is for the same device as tuned.json", "--merge"});
}

BOOST_FIXTURE_TEST_CASE(KindsThatTheDefaultVariantsWonAreBaked, TunedFixture) {
  profile::Tuning tuning = made_up_tuning();
  tuning.exceptions.clear();
  tuning.models.clear();
  for (const profile::Tuning& each : {tuning, profile::brief(tuning)}) {
    options.profiles[0].tuning = each;
    BOOST_TEST((names_of(bake_list()) == joined({defaults("nn"), defaults("tn")})));
  }
}

BOOST_FIXTURE_TEST_CASE(AProfileWithoutAWinnerIsRefused, TunedFixture) {
  profile::Tuning& tuning = options.profiles[0].tuning;
  tuning.measurements.clear();
  tuning.shapes.clear();
  tuning.exceptions.clear();
  tuning.models.clear();
  check_refused({"tuned.json: has no winner"});
}

BOOST_FIXTURE_TEST_CASE(AWinnerThatTheDeviceCannotRunIsNamedWithTheConstraint, TunedFixture) {
  const std::string needs_groups = "direct-s-nt-16x16x1-1x1x4-v1";  // 256 work-items
  options.profiles = {{"tuned.json", tuning_of(needs_groups)}};
  const BuildReport report = required(build());
  BOOST_TEST(report.failed == 1U);
  const JobReport& job = report_of(report, needs_groups);
  BOOST_TEST((job.outcome == JobReport::Outcome::failed));
  BOOST_TEST(contains(job.cause, "work-group"), job.cause);
  BOOST_TEST(contains(steps().at(1).failure, needs_groups + " on Device A: "), steps().at(1).failure);
  BOOST_TEST((baked_names(options.output) == defaults("nt")));
}

BOOST_FIXTURE_TEST_CASE(WithoutAProfileTheShippedOneOfTheClassCounts, TunedFixture) {
  Device device = made_up_device("Some CPU");
  device.vector_bytes = 64;
  options.profiles.clear();
  options.devices = {device};
  options.precisions = {Precision::single_precision};
  profile::Tuning tuning = made_up_tuning();
  tuning.variants[1] = "direct-s-nn-16x16x1-1x1x4-v1";  // which this device cannot run: its problems go to the others
  const std::vector<profile::NamedTuning> shipped = {{"cpu-avx2", tuning_of(kLoser)}, {"cpu-avx512", tuning}};

  const BakeList tuned = required(bake_lists_for(options, shipped)).at(0);
  BOOST_TEST(tuned.profile == "shipped cpu-avx512 (tuned on Device A, driver 1.0, 2026-11-21)");
  BOOST_TEST(tuned.unfit.empty());
  BOOST_TEST(tuned.remarks.empty());
  BOOST_TEST((tuned.choice.exceptions.size() == 1U && tuned.choice.models.size() == 1U));
  const Names names = names_of(tuned);
  BOOST_TEST(names.size() == 2 + 4 * 3U);  // winners, and the default variants of four kinds
  BOOST_TEST(names.count(kLargeWinner) == 1U);
  BOOST_TEST(names.count(kTransposedWinner) == 1U);

  device.vector_bytes = 32;
  options.devices = {device};
  BOOST_TEST(names_of(required(bake_lists_for(options, shipped)).at(0)).count(kLoser) == 1U);

  device.vector_bytes = 16;
  options.devices = {device};
  const BakeList untuned = required(bake_lists_for(options, shipped)).at(0);
  BOOST_TEST(untuned.profile == "none for other (not tuned: the families' default points)");
  BOOST_TEST((untuned.choice.exceptions.empty() && untuned.choice.models.empty()));
  BOOST_TEST(
      (names_of(untuned) == joined({defaults("nn", 16), defaults("nt", 16), defaults("tn", 16), defaults("tt", 16)})));

  options.devices[0].vector_bytes = 64;
  options.precisions = {Precision::double_precision};
  const BakeList other = required(bake_lists_for(options, shipped)).at(0);
  BOOST_TEST(other.profile == "none for cpu-avx512 (not tuned: the families' default points)");
  BOOST_TEST((other.choice.exceptions.empty() && other.choice.models.empty()));
}

BOOST_FIXTURE_TEST_CASE(VariantsForGroupsAreBakedOnRequestAndNoProfileNamesThem, TunedFixture) {
  options.group = true;
  required(build());
  cache::Contents contents = baked_contents_of(options.output);
  const Names baked = baked_names(options.output);
  const auto is_group = [](const std::string& name) { return contains(name, "-group"); };
  BOOST_TEST(std::count_if(baked.begin(), baked.end(), is_group) == 2);  // nn and tn
  for (cache::Profile& profile : contents.profiles) {
    profile::for_each_variant(profile, [&](std::uint32_t v) { BOOST_TEST(!is_group(contents.variants[v].name)); });
  }
}

BOOST_AUTO_TEST_CASE(OfflineTargetsTakeAProfileOfTheirArchitecture) {
  compile::OfflineTarget target;
  target.name = "nvidia:sm_90";
  target.device.target = {"NVIDIA CUDA", "", "NVIDIA Corporation", "", "", "525.60.13", "sm_90", 64};
  target.device.type = kernels::DeviceType::gpu;
  target.device.limits = sm_90();
  target.tools = {{"clang", "/usr/bin/clang", "15.0.6", ""}};
  Device h200;
  h200.target = {"NVIDIA CUDA", "OpenCL 3.0", "NVIDIA Corporation", "NVIDIA H200", "3.0", "580.1", "sm_90", 64};
  const std::string winner = "local_tile-s-nn-64x64x16-4x4x16-v4-load4-padding4";
  BuildFixture fixture;
  fixture.options.devices.clear();
  fixture.options.targets = {target};
  fixture.options.precisions.clear();
  fixture.options.profiles = {{"h200.json", tuning_of(winner, 100, h200)}};
  required(fixture.build());
  const Names names = baked_names(fixture.options.output);
  BOOST_TEST(names.size() == 4U);
  BOOST_TEST(names.count(winner + "-clang") == 1U);
  const cache::Contents contents = baked_contents_of(fixture.options.output);
  const cache::CostModel& model = contents.profiles.at(0).models.at(0);
  BOOST_TEST(contents.variants[model.variant].name == winner + "-clang");
  BOOST_TEST(model.call_us == 100);
  BOOST_TEST(required(bake_lists_for(fixture.options)).at(0).remarks.size() == 1U);  // on what the profile lacks

  fixture.options.targets[0].name = "nvidia:sm_80";
  fixture.options.targets[0].device.target.architecture = "sm_80";
  const Result<BuildReport> refused = fixture.build();
  BOOST_TEST(outcome(refused) == "invalid argument");
  BOOST_TEST(contains(refused.status().message(), "NVIDIA H200"));
  BOOST_TEST(contains(refused.status().message(), "nvidia:sm_80"));
}

BOOST_AUTO_TEST_CASE(TheProfileOfNvidiaHasNothingThatSm90CannotRun) {
  const std::vector<profile::NamedTuning>& shipped = profile::shipped_profiles();
  const auto nvidia = std::find_if(shipped.begin(), shipped.end(), [](const auto& p) { return p.file == "nvidia"; });
  BOOST_REQUIRE((nvidia != shipped.end()));
  std::map<Precision, Names> wanted;
  for (const std::string& name : profile::wanted_variants(nvidia->tuning)) {
    wanted[std::get<kernels::Params>(kernels::parse(name)).precision].insert(name);
  }
  BuildOptions options;
  options.devices = {made_up_device()};
  options.devices[0].type = kernels::DeviceType::gpu;
  options.devices[0].limits = sm_90();
  for (const Precision precision : all_precisions) {
    if (is_complex(precision)) continue;
    options.precisions = {precision};
    const Names baked = names_of(required(bake_lists_for(options)).at(0));
    BOOST_TEST(wanted[precision].size() > 70U, name(precision));
    BOOST_TEST(std::includes(baked.begin(), baked.end(), wanted[precision].begin(), wanted[precision].end()),
               name(precision));
  }
}

BOOST_AUTO_TEST_CASE(DevicesHaveClasses) {
  const auto class_of = [](kernels::DeviceType kind, const std::string& vendor, std::uint32_t vector_bytes) {
    Device device;
    device.type = kind;
    device.target.vendor = vendor;
    device.vector_bytes = vector_bytes;
    return profile::device_class(device);
  };
  BOOST_TEST(class_of(kernels::DeviceType::cpu, "AuthenticAMD", 64) == "cpu-avx512");
  BOOST_TEST(class_of(kernels::DeviceType::cpu, "GenuineIntel", 32) == "cpu-avx2");
  BOOST_TEST(class_of(kernels::DeviceType::cpu, "GenuineIntel", 16) == "other");
  BOOST_TEST(class_of(kernels::DeviceType::gpu, "NVIDIA Corporation", 4) == "nvidia");
  BOOST_TEST(class_of(kernels::DeviceType::gpu, "Advanced Micro Devices, Inc.", 4) == "amd");
  BOOST_TEST(class_of(kernels::DeviceType::gpu, "AMD", 4) == "amd");
  BOOST_TEST(class_of(kernels::DeviceType::gpu, "Intel(R) Corporation", 4) == "intel-gpu");
  BOOST_TEST(class_of(kernels::DeviceType::gpu, "ARM", 4) == "other");
  Device intel;
  Device arm;
  arm.target.device_version = "OpenCL 3.0 PoCL HSTR: pthread-aarch64-unknown-linux-gnu-(null)";
  arm.vector_bytes = 16;
  BOOST_TEST(profile::device_class(arm) == "cpu-neon");
  intel.type = kernels::DeviceType::cpu;
  intel.target.platform_name = "Intel(R) OpenCL";
  intel.vector_bytes = 64;
  BOOST_TEST(profile::device_class(intel) == "intel-avx512");
  intel.vector_bytes = 32;
  BOOST_TEST(profile::device_class(intel) == "intel-avx2");
}

// The profiles in builder/profiles/ are readable, of a class that a device can have, and quick to bake.
BOOST_AUTO_TEST_CASE(ShippedProfilesAreReadableAndShort) {
  std::size_t files = 0;
  if (std::filesystem::exists(SHIPPED_PROFILES)) {
    for (const auto& entry : std::filesystem::directory_iterator(SHIPPED_PROFILES)) {
      if (entry.path().extension() != ".json") continue;
      ++files;
      required(profile::read_tuning(entry.path().string()));
    }
  }
  BOOST_TEST(profile::shipped_profiles().size() == files);
  const Names classes = {"cpu-avx512", "cpu-avx2", "cpu-neon", "intel-avx512",
                         "intel-avx2", "nvidia",   "amd",      "intel-gpu"};  // of device_class
  for (const profile::NamedTuning& profile : profile::shipped_profiles()) {
    BOOST_TEST(classes.count(profile.file) == 1U, profile.file);
    BOOST_TEST(profile::tuning_text(profile.tuning) == profile::tuning_text(profile::brief(profile.tuning)),
               profile.file);
    std::map<std::string, std::size_t> variants;  // by precision and transposes
    for (const std::string& name : profile::wanted_variants(profile.tuning)) {
      const auto params = std::get<kernels::Params>(kernels::parse(name));
      ++variants[std::to_string(static_cast<int>(params.precision)) + (params.trans_a ? "t" : "n") +
                 (params.trans_b ? "t" : "n")];
    }
    // 24 and the default ones.
    for (const auto& [kind, count] : variants) BOOST_TEST(count <= 27U, profile.file << " " << kind);
  }
}

}  // namespace clbake::builder::test
