// Programs that may be handed to a device, and NVIDIA's names of architectures.
#include "select/tiers.hpp"

#include <clbake/cache/writer.hpp>
#include <clbake/compute_capability.hpp>

#include <boost/test/unit_test.hpp>

namespace clbake {
namespace {

Target h200(const std::string& driver, const std::string& architecture = "sm_90") {
  return {"NVIDIA CUDA",        "OpenCL 3.0 CUDA",
          "NVIDIA Corporation", "NVIDIA H200",
          "OpenCL 3.0 CUDA",    driver,
          architecture,         64};
}

cache::Entry entry(std::uint32_t target, cache::Form form, bool newer_driver) {
  cache::Entry e;
  e.target = target;
  e.form = form;
  e.program = {static_cast<std::uint8_t>(target), static_cast<std::uint8_t>(form)};
  e.newer_driver = newer_driver;
  return e;
}

// One variant with these entries.
Bundle bundle_of(std::vector<Target> targets, std::vector<cache::Entry> entries) {
  static std::vector<std::unique_ptr<cache::Bytes>> kept;  // a bundle reads in place
  cache::Contents contents;
  contents.targets = std::move(targets);
  contents.sources = {{"a.cl", ""}};
  contents.variants.resize(1);
  contents.variants[0].name = "variant";
  contents.variants[0].launches.resize(1);
  contents.entries = std::move(entries);
  kept.push_back(std::make_unique<cache::Bytes>(*cache::encode(contents)));
  return *Bundle::from_memory({kept.back()->data(), kept.back()->size()});
}

// The drivers that the offered entries were made for, in their order.
std::vector<std::string> offered(const Bundle& bundle, const Target& device, Tier tier, Status& none) {
  std::vector<std::string> drivers;
  for (const cache::EntryInfo& e : eligible_entries(bundle_for(bundle, device, true, 0), device, 0, tier, none)) {
    drivers.push_back(bundle.target(e.target)->driver_version);
  }
  return drivers;
}

std::vector<std::string> offered(const Bundle& bundle, const Target& device, Tier tier) {
  Status none;
  std::vector<std::string> drivers = offered(bundle, device, tier, none);
  BOOST_TEST((!drivers.empty() || !none.ok()));  // nothing without a reason
  return drivers;
}

using Drivers = std::vector<std::string>;
using boost::test_tools::per_element;

}  // namespace

BOOST_AUTO_TEST_CASE(MachineCodeServesTheSameArchitectureAndNoOlderDriver) {
  const Target made = h200("580.65.06");
  BOOST_TEST(newer_driver_serves(made, h200("580.65.06")));
  BOOST_TEST(newer_driver_serves(made, h200("580.159.04")));
  BOOST_TEST(newer_driver_serves(made, h200("600.1")));
  BOOST_TEST(newer_driver_serves(made, h200("580.65.06.1")));
  BOOST_TEST(!newer_driver_serves(made, h200("580.65.05")));
  BOOST_TEST(!newer_driver_serves(made, h200("580.65")));
  BOOST_TEST(!newer_driver_serves(made, h200("99.159.04")));
  BOOST_TEST(!newer_driver_serves(made, h200("580.159.04", "sm_80")));
  BOOST_TEST(!newer_driver_serves(made, h200("580.159.04", "sm_100")));
  BOOST_TEST(!newer_driver_serves(h200("1", ""), h200("2", "")));
  Target other = h200("600.1");
  other.vendor = "Somebody else";
  BOOST_TEST(!newer_driver_serves(made, other));
  other = h200("600.1");
  other.address_bits = 32;
  BOOST_TEST(!newer_driver_serves(made, other));
}

BOOST_AUTO_TEST_CASE(DriversAreOrderedAsTheirMakersNumberThem) {
  // Each list from the oldest on: NVIDIA on Linux and Windows, Intel's CPU runtime, Intel's graphics on Linux and
  // Windows, AMD, PoCL, and one with a time in it that has more than 32 bits.
  const std::vector<std::vector<const char*>> ages = {{"535.54.03", "535.154.05", "580.65.06", "580.159.04"},
                                                      {"461.92", "537.13", "566.36", "572.16"},
                                                      {"2025.20.8.0.06_160000", "2026.22.10.0.01_160000"},
                                                      {"23.43.27642.40", "24.39.31294.12"},
                                                      {"30.0.101.1404", "31.0.101.5590", "32.0.101.6129"},
                                                      {"3602.0 (PAL,LC)", "3628.0 (PAL,LC)"},
                                                      {"3.1+debian", "5.0+debian", "6.0"},
                                                      {"1.20261127210538", "1.20271127210538"}};
  for (const std::vector<const char*>& list : ages) {
    for (std::size_t i = 1; i < list.size(); ++i) {
      BOOST_TEST(newer_driver_serves(h200(list[i - 1]), h200(list[i])), list[i]);
      BOOST_TEST(!newer_driver_serves(h200(list[i]), h200(list[i - 1])), list[i]);
    }
  }
}

BOOST_AUTO_TEST_CASE(AnotherCpuOfTheArchitectureNeedsAllFeatures) {
  Target made = h200("1"), device = h200("2");
  made.cpu_features = "avx avx2";
  BOOST_TEST(!newer_driver_serves(made, device));
  device.cpu_features = "avx";
  BOOST_TEST(!newer_driver_serves(made, device));
  device.cpu_features = "avx avx2 bmi";
  BOOST_TEST(newer_driver_serves(made, device));
}

// A part of a GPU is another device of its architecture.
BOOST_AUTO_TEST_CASE(ASliceOfAGpuIsServedByWhatTheWholeOneIs) {
  Target slice = h200("580.159.04");
  slice.device_name = "NVIDIA H200 MIG 1g.18gb";
  const Bundle bundle = bundle_of({h200("580.159.04")}, {entry(0, cache::Form::native, false)});
  BOOST_TEST(offered(bundle, slice, Tier::exact) == Drivers(), per_element());
  BOOST_TEST(offered(bundle, slice, Tier::same_driver) == Drivers{"580.159.04"}, per_element());
  const Bundle of_slice = bundle_of({slice}, {entry(0, cache::Form::native, false)});
  BOOST_TEST(offered(of_slice, h200("580.159.04"), Tier::same_driver) == Drivers{"580.159.04"}, per_element());
}

BOOST_AUTO_TEST_CASE(PortableCodeServesLaterArchitecturesToo) {
  const Target made = h200("535.1", "sm_80");
  BOOST_TEST(portable_serves(made, h200("535.1", "sm_80")));
  BOOST_TEST(portable_serves(made, h200("550.1", "sm_90")));
  BOOST_TEST(portable_serves(made, h200("580.1", "sm_100")));
  BOOST_TEST(!portable_serves(made, h200("580.1", "sm_75")));
  BOOST_TEST(!portable_serves(made, h200("530.1", "sm_90")));
  BOOST_TEST(!portable_serves(h200("1", "sm_90a"), h200("1", "sm_100")));
  BOOST_TEST(!portable_serves(h200("1", ""), h200("1", "")));
  BOOST_TEST(!portable_serves(h200("1", "sm_"), h200("1", "sm_90")));
}

BOOST_AUTO_TEST_CASE(EachTierOffersItsOwn) {
  using cache::Form;
  const std::vector<Target> targets = {h200("550.1"),          h200("560.2"), h200("560.10"),
                                       h200("580.1", "sm_80"), h200("575.1"), h200("590.1")};
  const Bundle bundle =
      bundle_of(targets, {entry(0, Form::native, true), entry(0, Form::portable, false), entry(1, Form::native, true),
                          entry(2, Form::native, true), entry(3, Form::native, true), entry(3, Form::portable, false),
                          entry(4, Form::native, false), entry(5, Form::native, true)});
  const Target here = h200("580.1");
  BOOST_TEST(offered(bundle, here, Tier::exact) == Drivers(), per_element());
  // Not 575.1, whose entry is for that driver only, not 580.1 of another architecture, not the later 590.1.
  BOOST_TEST(offered(bundle, here, Tier::newer_driver) == (Drivers{"560.10", "560.2", "550.1"}), per_element());
  BOOST_TEST(offered(bundle, here, Tier::portable) == (Drivers{"580.1", "550.1"}), per_element());
  BOOST_TEST(offered(bundle, h200("550.1"), Tier::exact) == Drivers{"550.1"}, per_element());
  BOOST_TEST(offered(bundle, h200("550.1"), Tier::portable) == Drivers{"550.1"}, per_element());
  BOOST_TEST(offered(bundle, h200("580.1", "sm_75"), Tier::newer_driver) == Drivers(), per_element());
}

BOOST_AUTO_TEST_CASE(OneDriversMachineCodeServesAllDevicesOfAnArchitecture) {
  using cache::Form;
  Target h100 = h200("580.1");
  h100.device_name = "NVIDIA H100";
  Target offline = h200("580.1");
  offline.device_name.clear();
  const auto serves = [](const Target& made_for, const Target& device) {
    const Bundle bundle = bundle_of({made_for}, {entry(0, Form::native, false)});
    BOOST_TEST(offered(bundle, device, Tier::exact).empty());
    return offered(bundle, device, Tier::same_driver).size() == 1;
  };
  BOOST_TEST(serves(h100, h200("580.1")));
  BOOST_TEST(!serves(h100, h200("580.2")));
  BOOST_TEST(!serves(h100, h200("580.1", "sm_100")));
  BOOST_TEST(!serves(offline, h200("580.1")));
  Target cpu = {"Portable Computing Language", "3.1", "AuthenticAMD", "one", "PoCL", "3.1", "znver5", 64};
  Target other_cpu = cpu;
  other_cpu.device_name = "another";
  BOOST_TEST(!serves(cpu, other_cpu));
  // Proven programs come first. What the device's own target has is of another tier.
  Target pcie = h200("580.1");
  pcie.device_name = "NVIDIA H100 PCIe";
  std::vector<cache::Entry> entries = {entry(0, Form::native, true), entry(1, Form::native, true),
                                       entry(2, Form::native, true)};
  entries[2].proof.proven = true;
  const Bundle all = bundle_of({h100, h200("580.1"), pcie}, entries);
  Status none;
  const auto found =
      eligible_entries(bundle_for(all, h200("580.1"), true, 0), h200("580.1"), 0, Tier::same_driver, none);
  BOOST_REQUIRE(found.size() == 2U);
  BOOST_TEST(all.target(found.front().target)->device_name == pcie.device_name);
  BOOST_TEST(all.target(found.back().target)->device_name == h100.device_name);
}

BOOST_AUTO_TEST_CASE(TheReasonIsThatOfTheDevicesOwnTarget) {
  using cache::Form;
  const Bundle bundle = bundle_of({h200("550.1"), h200("560.1")}, {entry(0, Form::portable, false)});
  Status none;
  offered(bundle, h200("550.1"), Tier::exact, none);
  BOOST_TEST(name(none.code()) == name(Code::no_entry));
  offered(bundle, h200("570.1"), Tier::exact, none);
  BOOST_TEST(name(none.code()) == name(Code::other_driver));
  offered(bundle, h200("560.1"), Tier::newer_driver, none);
  BOOST_TEST(name(none.code()) == name(Code::no_entry));
}

BOOST_AUTO_TEST_CASE(TheCapabilityIsTheNumberInTheName) {
  BOOST_TEST(compute_capability("sm_50") == 50);
  BOOST_TEST(compute_capability("sm_121") == 121);
  for (const char* name : {"sm_90a", "sm_100f"}) BOOST_TEST(compute_capability(name) == 0, name);
  BOOST_TEST(compute_capability("sm_90a", true) == 90);
  BOOST_TEST(compute_capability("sm_100f", true) == 100);
  BOOST_TEST(compute_capability("sm_90", true) == 90);
}

BOOST_AUTO_TEST_CASE(AnyOtherTextIsZero) {
  for (const char* name : {"", "sm_", "sm_a", "sm_0", "sm_09", "sm_9x", "sm_90b", "sm_90aa", "sm_1000", "sm_-9", "90",
                           "compute_90", "gfx90a", " sm_90", "sm_90 "}) {
    BOOST_TEST(compute_capability(name) == 0, name);
    BOOST_TEST(compute_capability(name, true) == 0, name);
  }
}

}  // namespace clbake
