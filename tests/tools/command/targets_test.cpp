// `clbake targets` and `clbake build --target`, with fake compilers and without a device.
#include "command.hpp"
#include "fake_compilers.hpp"

#include <chrono>
#include <thread>

namespace clbake::tool::test {
namespace {

constexpr const char* kVariant = "direct-s-nn-16x16x1-1x1x4-v1";

// No OpenCL platform, and nothing in PATH but the fake compilers.
struct Machine : FakeCompilers {
  Machine() {
    add_clang(kGoodClang);
    add_ptxas(kGoodPtxas);
  }
  Outcome run(const Arguments& arguments) const {
    Environment environment = no_platform();
    environment.emplace_back("PATH", bin());
    return clbake(arguments, environment);
  }
};

nlohmann::json target_named(const nlohmann::json& list, const std::string& name) {
  for (const nlohmann::json& target : list["targets"]) {
    if (target["name"] == name) return target;
  }
  throw std::runtime_error("no target " + name);
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(TargetsSayWhatIsMissing, Machine) {
  const nlohmann::json list = json_of(run({"targets", "--json"}));
  const nlohmann::json sm_90 = target_named(list, "nvidia:sm_90");
  BOOST_TEST(sm_90["available"] == true);
  BOOST_TEST(sm_90["target"]["driver_version"] == "525.60.13");
  BOOST_TEST(sm_90["tools"][0]["version"] == "30.1.2");
  const nlohmann::json dg2 = target_named(list, "intel:dg2");
  BOOST_TEST(dg2["available"] == false);
  BOOST_TEST(contains(dg2["obstacle"], "intel-opencl-icd"));
  BOOST_TEST(contains(run({"targets"}).out, "nvidia:sm_90   with clang 30.1.2, libclc, ptxas 12.4.99"));
}

BOOST_FIXTURE_TEST_CASE(ABundleIsBuiltWithoutADevice, Machine) {
  const Directory directory;
  const std::string file = directory.path("gemm.clbake");
  const nlohmann::json report =
      json_of(run({"build", "--target", "nvidia:sm_90,nvidia:sm_80", "--variant", kVariant, "--json", "-o", file}));
  BOOST_TEST(report["baked"] == 2);
  BOOST_TEST(report["not_proven"] == 2);
  const nlohmann::json bundle = json_of(run({"inspect", file, "--json"}));
  BOOST_TEST(bundle["entries"].size() == 4U);
  for (const nlohmann::json& entry : bundle["entries"]) {
    BOOST_TEST(entry["proven"] == false);
    BOOST_TEST(entry["newer_driver"] == (entry["form"] == "native"));
    BOOST_TEST(entry["variant"] == std::string(kVariant) + "-clang");
  }
  BOOST_TEST(contains(run({"build", "--target", "nvidia:sm_90", "--variant", kVariant, "-o", file}).out,
                      "not proven: 1 of 1 variant"));
}

BOOST_FIXTURE_TEST_CASE(WithoutAProfileTheBuildSaysWhichOneIsShipped, Machine) {
  const Directory directory;
  const Arguments build = {"build", "--target", "nvidia:sm_90", "--precision", "single", "-o", directory.path("x")};
  const auto report = nlohmann::json::parse(run(build + Arguments{"--json"}).out);
  const std::string profile = report.at("profiles").at(0).at("profile");
  BOOST_TEST((profile.rfind("shipped ", 0) == 0 || profile.rfind("none for ", 0) == 0), profile);  // by class of device
  BOOST_TEST(contains(run(build).out, ": " + profile));
}

BOOST_FIXTURE_TEST_CASE(WhatCannotBeCompiledForIsRefused, Machine) {
  const Directory directory;
  const auto refused = [&](const std::string& target, const std::vector<std::string>& parts) {
    check_refused(run({"build", "--target", target, "-o", directory.path("x")}), 1, parts);
  };
  refused("nvidia:sm_1", {"--target", "'nvidia:sm_1'", "nvidia:sm_90"});
  refused("intel:dg2", {"--target", "intel:dg2: ocloc", "intel-opencl-icd"});
  refused("nvidia:sm_75", {"--target", "ptxas 12.4.99 does not know sm_75"});
  check_refused(
      run({"build", "--target", "nvidia:sm_90", "--variant", "paper-sgemm-row-nn", "-o", directory.path("x")}), 1,
      {"nvidia:sm_90: front-end", "image"});
  check_refused(run({"build", "--target", "nvidia:sm_90", "--device", "0", "-o", directory.path("x")}), 1,
                {"no OpenCL platform"});
  BOOST_TEST(directory.files().empty());
}

BOOST_FIXTURE_TEST_CASE(ADeviceThatThisOclocLacksIsNamed, Machine) {
  const Directory directory;
  add_ocloc_26_27();
  const std::string text = run({"targets"}).out;
  BOOST_TEST(contains(text, "intel:bmg      with ocloc 26.27.039122\n"));
  BOOST_TEST(contains(text, "intel:skl      unavailable: ocloc 26.27.039122 does not know skl\n"));
  check_refused(run({"build", "--target", "intel:skl", "-o", directory.path("x")}), 1,
                {"--target", "intel:skl: ocloc 26.27.039122 does not know skl"});
  const nlohmann::json report =
      json_of(run({"build", "--target", "intel:bmg", "--variant", kVariant, "--json", "-o", directory.path("x")}));
  BOOST_TEST(report["baked"] == 1);
}

BOOST_FIXTURE_TEST_CASE(AFailingCompilerCostsItsVariants, Machine) {
  const Directory directory;
  add_clang("echo 'direct.cl:7: error: boom'; exit 1");
  const Outcome outcome = run({"build", "--target", "nvidia:sm_90", "-o", directory.path("x")});
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(contains(outcome.err, "every variant failed; the first: compile: clang: direct.cl:7: error: boom"));
}

BOOST_FIXTURE_TEST_CASE(AHangingCompilerIsKilledWithItsWorker, Machine) {
  const Directory directory;
  add_clang("echo $$ > " + path("pid") + "\nexec sleep 600");
  const Outcome outcome =
      run({"build", "--target", "nvidia:sm_90", "--variant", kVariant, "--timeout", "1", "-o", directory.path("x")});
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(contains(outcome.err, "no end after 1 s"));
  std::string pid = read_file(path("pid"));
  while (!pid.empty() && pid.back() == '\n') pid.pop_back();
  BOOST_REQUIRE(!pid.empty());
  const auto runs = [&] {
    const std::string stat = read_file("/proc/" + pid + "/stat");
    return contains(stat, "(sleep)") && !contains(stat, ") Z ");
  };
  for (int i = 0; i < 2000 && runs(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  BOOST_TEST(!runs());
  BOOST_TEST(directory.files().empty());
}

}  // namespace clbake::tool::test
