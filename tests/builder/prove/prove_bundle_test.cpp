// Proofs added to a bundle that was baked elsewhere, with the fake worker.
#include "profile/tunings.hpp"

#include <clbake/builder/build.hpp>
#include <clbake/cache/writer.hpp>
#include <clbake/os/environment.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <set>

namespace clbake::builder::test {
using namespace build;
namespace {

constexpr std::size_t kOffline = 12;  // variants of a GPU in one precision

Target nvidia(const std::string& architecture, const std::string& driver, const std::string& device = {}) {
  return {"NVIDIA CUDA", "", "NVIDIA Corporation", device, "", driver, architecture, 64};
}

Device gpu(const std::string& architecture, const std::string& driver) {
  Device device;
  device.target = nvidia(architecture, driver, "NVIDIA H200");
  device.type = kernels::DeviceType::gpu;
  return device;
}

// A bundle for sm_90 that was baked without a device, and a device.
struct Foreign : BuildFixture {
  ProveOptions prove_options;
  std::size_t steps_seen = 0;

  Foreign() {
    compile::OfflineTarget target;
    target.name = "nvidia:sm_90";
    target.device = gpu("sm_90", "525.60.13");
    target.device.target.device_name.clear();
    target.device.limits = {true, 1024, {1024, 1024, 64}, 49152, true, true};
    target.tools = {{"clang", "/c", "15.0.6", ""}, {"libclc", "/l", "", ""}, {"ptxas", "/p", "12.4.99", ""}};
    options.devices.clear();
    options.targets = {target};
    options.untuned = true;
    required(build());
    prove_options.file = options.output;
    prove_options.devices = {gpu("sm_90", "580.159.04")};
    prove_options.worker = options.worker;
  }

  Result<ProveReport> prove(std::size_t stop_after = SIZE_MAX) {
    std::atomic<bool> cancel{false};
    return prove_bundle(prove_options, cancel, [&](const Progress& progress) {
      steps_seen = progress.steps_done;
      if (progress.steps_done >= stop_after) cancel = true;
    });
  }

  std::size_t proven_entries(const std::string& driver) const {
    const cache::Contents contents = baked_contents_of(options.output);
    return static_cast<std::size_t>(
        std::count_if(contents.entries.begin(), contents.entries.end(), [&](const cache::Entry& entry) {
          return entry.proof.proven && contents.targets[entry.target].driver_version == driver;
        }));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(EntriesAreProvenAndBelongToTheDeviceThen, Foreign) {
  const ProveReport report = required(prove());
  BOOST_TEST(report.proven == kOffline);
  BOOST_TEST(report.left == 0U);
  BOOST_TEST(steps_seen == kOffline);
  const cache::Contents contents = baked_contents_of(options.output);
  BOOST_REQUIRE_EQUAL(contents.targets.size(), 2U);
  BOOST_TEST(contents.entries.size() == 2 * kOffline);
  BOOST_TEST(contents.profiles.size() == 2U);
  BOOST_TEST(proven_entries("525.60.13") == kOffline);
  BOOST_TEST(proven_entries("580.159.04") == kOffline);
  for (const cache::Entry& entry : contents.entries) {
    BOOST_TEST(entry.proof.tools.size() == 4U);
    BOOST_TEST(entry.proof.device == "NVIDIA H200");
    BOOST_TEST(entry.proof.driver == "580.159.04");
  }
}

BOOST_FIXTURE_TEST_CASE(WhatIsProvenNeedsNoSecondProof, Foreign) {
  required(prove());
  const std::string once = read_file(options.output);
  BOOST_TEST(required(prove()).jobs.empty());
  BOOST_TEST((read_file(options.output) == once));
  prove_options.again = true;
  BOOST_TEST(required(prove()).proven == 2 * kOffline);  // as an entry of either target
  BOOST_TEST((read_file(options.output) == once));
}

// A tuning on such a device before: the proofs do not throw its choice away, in one go or in several. With and without
// cost models, as of many shapes and of few.
BOOST_FIXTURE_TEST_CASE(TheDeviceChoosesAmongWhatItProvedAsItWasTuned, Foreign) {
  const std::string small = "local_tile-s-nn-32x32x16-4x4x16-v4-load4-padding4";
  const std::string large = "local_tile-s-nn-64x64x16-4x4x16-v4-load4-padding4";
  for (const bool models : {true, false}) {
    profile::Tuning tuning = tuning_of(large, 100, gpu("sm_90", "570.1"));
    tuning.compute_units = 132;
    tuning.variants.push_back(small);
    cache::Rule rule;
    rule.m_max = 100;
    rule.variant = 1;
    tuning.exceptions = {rule};
    if (!models) tuning.exceptions.emplace_back(), tuning.models.clear();
    options.precisions.clear();
    options.profiles = {{"h200.json", tuning}};
    options.fresh = true;
    BOOST_TEST(required(build()).jobs.size() == 5U);
    const auto choice_of = [&](const std::string& device) {
      const cache::Contents contents = baked_contents_of(options.output);
      std::vector<std::string> said;
      for (const cache::Profile& profile : contents.profiles) {
        if (contents.targets[profile.target].device_name != device) continue;
        said.push_back(std::to_string(profile.units) + " units");
        for (const cache::Rule& r : profile.exceptions) {
          said.push_back(contents.variants[r.variant].name + " " + std::to_string(r.m_max));
        }
        for (const cache::CostModel& m : profile.models) {
          said.push_back(contents.variants[m.variant].name + " " + std::to_string(m.call_us));
        }
      }
      return said;
    };
    const std::vector<std::string> tuned = choice_of("");
    BOOST_REQUIRE_EQUAL(tuned.size(), 3U);
    BOOST_TEST(tuned[0] == "132 units");
    BOOST_TEST(contains(tuned[1], small + "-clang 100"));
    BOOST_TEST(contains(tuned[2], large + (models ? "-clang 100.0" : "-clang 4294967295")));

    prove_options.again = false;
    BOOST_TEST(outcome(prove(1)) == "cancelled");
    const cache::Contents half = baked_contents_of(options.output);
    for (const cache::Profile& profile : half.profiles) {  // names nothing that is still to be proven
      const auto has_entry = [&](const auto& item) {
        return std::any_of(half.entries.begin(), half.entries.end(), [&](const cache::Entry& entry) {
          return entry.target == profile.target && entry.variant == item.variant;
        });
      };
      BOOST_TEST(std::all_of(profile.exceptions.begin(), profile.exceptions.end(), has_entry));
      BOOST_TEST(std::all_of(profile.models.begin(), profile.models.end(), has_entry));
      BOOST_TEST(std::all_of(profile.defaults.begin(), profile.defaults.end(), has_entry));
    }
    required(prove());
    BOOST_TEST(choice_of("NVIDIA H200") == tuned);
    BOOST_TEST(choice_of("") == tuned);
    const std::string once = read_file(options.output);
    prove_options.again = true;
    required(prove());
    BOOST_TEST((read_file(options.output) == once));
  }
}

BOOST_FIXTURE_TEST_CASE(OtherArchitecturesAndOlderDriversGetNothing, Foreign) {
  const std::string before = read_file(options.output);
  for (const Device& device : {gpu("sm_80", "580.1"), gpu("sm_100", "580.1"), gpu("sm_90", "520.1")}) {
    prove_options.devices = {device};
    const Result<ProveReport> report = prove();
    BOOST_TEST(outcome(report) == "no entry");
    BOOST_TEST(contains(report.status().message(), options.output));
  }
  BOOST_TEST((read_file(options.output) == before));
  BOOST_TEST(calls_of("prove ") == 0U);
}

BOOST_FIXTURE_TEST_CASE(WhatFailsStaysUnproven, Foreign) {
  misbehave(
      "prove:crash:direct-s-nn,prove:wrong-result:direct-s-nt,prove:unproven:direct-s-tn,prove:silent:direct-s-tt");
  const ProveReport report = required(prove());
  BOOST_TEST(report.failed == 4U);
  BOOST_TEST(report.proven == kOffline - 4);
  BOOST_TEST(report.taken_out == 1U);
  BOOST_TEST(report.left == 3U);
  BOOST_TEST(proven_entries("525.60.13") == kOffline - 4);
  BOOST_TEST(baked_contents_of(options.output).entries.size() == 2 * kOffline - 5);
  misbehave("");
  BOOST_TEST(required(prove()).proven == 3U);  // those alone; what was wrong is gone
}

BOOST_FIXTURE_TEST_CASE(AnotherDriverProvesForItself, Foreign) {
  required(prove());
  prove_options.devices = {gpu("sm_90", "590.1")};
  BOOST_TEST(required(prove()).proven == 2 * kOffline);  // what was made for sm_90, and what for the older driver
  BOOST_TEST(proven_entries("590.1") == kOffline);
  BOOST_TEST(proven_entries("580.159.04") == kOffline);
}

BOOST_FIXTURE_TEST_CASE(ABuildOfTheSameKeepsTheProofs, Foreign) {
  required(prove());
  const BuildReport report = required(build());
  BOOST_TEST(report.reused == kOffline);
  BOOST_TEST(report.not_proven == 0U);
  BOOST_TEST(proven_entries("525.60.13") == kOffline);
}

BOOST_FIXTURE_TEST_CASE(AnInterruptionTakesNoProblemAway, Foreign) {
  const Target here = prove_options.devices[0].target;
  // The kinds of problems that the device's own profile serves, and with how many variants.
  const auto served = [&] {
    const cache::Contents contents = baked_contents_of(options.output);
    std::set<std::pair<bool, bool>> kinds;
    std::set<std::uint32_t> variants;
    for (const cache::Profile& profile : contents.profiles) {
      if (!(contents.targets[profile.target] == here)) continue;
      for (const cache::Rule& rule : profile.defaults) {
        kinds.insert({rule.trans_a, rule.trans_b});
        variants.insert(rule.variant);
      }
    }
    return std::make_pair(kinds.size(), variants.size());
  };
  BOOST_TEST(outcome(prove(1)) == "cancelled");
  BOOST_TEST(served().first == 4U);
  required(prove());
  BOOST_TEST(served().first == 4U);
  BOOST_TEST(served().second == kOffline);  // those that were proven later, too
}

// The first variant waits for its turn alone while others are proven.
BOOST_FIXTURE_TEST_CASE(AnInterruptionKeepsWhatWasProvenBehindAnUnfinishedProof, Foreign) {
  os::set_variable("FAKE_WORKER_SIGNS", "yes");
  misbehave("prove:crash:" + baked_contents_of(options.output).variants.front().name);
  const Result<ProveReport> report = prove(8);
  os::unset_variable("FAKE_WORKER_SIGNS");
  BOOST_TEST(outcome(report) == "cancelled");
  BOOST_TEST(proven_entries("580.159.04") >= 8U);
}

BOOST_FIXTURE_TEST_CASE(WhatWasMadeForTheDeviceItselfStays, Foreign) {
  cache::Contents contents = baked_contents_of(options.output);
  cache::Entry own = contents.entries[0];
  own.target = 1;
  own.program = {1, 2, 3};
  own.proof.proven = own.proof.jit_free = true;
  own.proof.tools = {{"another compiler", "1.0"}};
  contents.targets.push_back(prove_options.devices[0].target);
  contents.entries.push_back(own);
  const cache::Bytes bytes = required(cache::encode(contents));
  BOOST_REQUIRE(cache::write_file(options.output, {bytes.data(), bytes.size()}).ok());
  BOOST_TEST(required(prove()).proven == kOffline - 1);
  const cache::Contents after = baked_contents_of(options.output);
  BOOST_TEST(std::count_if(after.entries.begin(), after.entries.end(), [&](const cache::Entry& entry) {
               return entry.program == own.program && entry.proof.tools == own.proof.tools;
             }) == 1);
}

BOOST_FIXTURE_TEST_CASE(NobodyWritesTheBundleBesideAProof, Foreign) {
  const std::atomic<bool> cancel{false};
  std::string second_build;
  std::string second_proof;
  required(prove_bundle(prove_options, cancel, [&](const Progress& progress) {
    if (progress.steps_done != 1) return;
    second_build = outcome(build());
    second_proof = outcome(prove());
  }));
  BOOST_TEST(second_build == "input/output");
  BOOST_TEST(second_proof == "input/output");
  BOOST_TEST(proven_entries("525.60.13") == kOffline);
  BOOST_TEST(!std::filesystem::exists(work_directory()));
}

BOOST_FIXTURE_TEST_CASE(ADamagedBundleStaysAsItIs, Foreign) {
  std::string bytes = read_file(options.output);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_file(options.output, bytes);
  BOOST_TEST(outcome(prove()) == "checksum");
  BOOST_TEST((read_file(options.output) == bytes));
}

}  // namespace clbake::builder::test
