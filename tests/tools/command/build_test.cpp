// `clbake build` with this machine's devices: where it refuses to write, and how it is interrupted.
#include "command.hpp"
#include "profile/tunings.hpp"

#include <clbake/builder/release/signing.hpp>
#include <clbake/cache/pack.hpp>
#include <clbake/os/libraries.hpp>
#include <clbake/os/paths.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <thread>

namespace clbake::tool::test {
namespace {

namespace fs = std::filesystem;

// Progress when stderr is not a terminal: "[3/24] compiled X, 0:05 left". The number of the last one.
std::size_t steps_done(const std::string& output) {
  const std::size_t at = output.rfind('[');
  return at == std::string::npos ? 0 : std::stoul(output.substr(at + 1));
}

std::vector<std::string> compiled(const std::string& work_directory) {
  std::vector<std::string> names;
  if (!fs::exists(work_directory)) return names;
  for (const auto& entry : fs::directory_iterator(work_directory)) {
    if (entry.path().extension() == ".compiled") names.push_back(os::utf8(entry.path().filename()));
  }
  return names;
}

// True when a process has `text` on its command line.
bool is_named(const std::string& text) {
  std::error_code gone;
  for (const auto& process : fs::directory_iterator("/proc", gone)) {
    if (contains(read_file(os::utf8(process.path() / "cmdline")), text)) return true;
  }
  return false;
}

// Tries for ten seconds.
bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 2000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return condition();
}

// The names of what the tests' bundle has for devices.
std::string baked_variants(const cache::Contents& contents) {
  std::string list;
  for (const cache::Entry& entry : contents.entries) list += "," + contents.variants[entry.variant].name;
  return list.substr(1);
}

// Starts a build, interrupts it after its first step; the number of compiled variants that it kept.
std::size_t interrupt(const std::string& output, int signal) {
  Running build({"build", "--device", "0", "--precision", "single", "--jobs", "1", "-o", output});
  BOOST_REQUIRE_MESSAGE(build.wait_for("[1/"), build.output());
  build.send(signal);
  BOOST_TEST(build.wait() == 130);
  BOOST_TEST(contains(build.output(), "clbake build: interrupted"), build.output());
  BOOST_TEST(!fs::exists(output));
  BOOST_TEST(fs::is_directory(output + ".work"));
  const std::size_t kept = compiled(output + ".work").size();
  BOOST_TEST(kept >= steps_done(build.output()));
  return kept;
}

}  // namespace

BOOST_AUTO_TEST_CASE(AnInterruptedBuildKeepsWhatIsDoneAndGoesOn, *OnPosix()) {
  baked_bundle();  // or skipped
  const Directory directory;
  const std::string output = directory.path("new.clbake");
  const std::size_t first = interrupt(output, SIGINT);
  BOOST_TEST(first >= 1U);

  // The next build counts what is already there before it compiles anything.
  Running again({"build", "--device", "0", "--precision", "single", "--jobs", "1", "-o", output});
  BOOST_REQUIRE_MESSAGE(comes_true([&] { return compiled(output + ".work").size() > first; }), again.output());
  again.send(SIGTERM);
  BOOST_TEST(again.wait() == 130);
  BOOST_TEST(compiled(output + ".work").size() >= first + 1);
  for (const std::string& file : directory.files()) BOOST_TEST(file == "new.clbake.work");
}

BOOST_AUTO_TEST_CASE(AKilledBuildLeavesNoOutputAndNoProcesses) {
  baked_bundle();
  const Directory directory;
  const std::string output = directory.path("new.clbake");
  {
    Running build({"build", "--device", "0", "--precision", "single", "--jobs", "2", "-o", output});
    BOOST_REQUIRE_MESSAGE(build.wait_for("[1/"), build.output());
    build.kill();
    BOOST_TEST(build.wait() == 128 + 9);
  }
  BOOST_TEST(comes_true([&] { return !is_named(output); }));  // as the workers do on their command lines
  BOOST_TEST(!fs::exists(output));
  Running next({"build", "--device", "0", "--precision", "single", "--jobs", "2", "-o", output});
  BOOST_TEST(next.wait_for("["), next.output());  // took the lock
}

BOOST_AUTO_TEST_CASE(ARebuildReusesWhatIsBaked) {
  const Directory directory;
  // Entries that noise kept from being JIT-free would rightly be proven again.
  cache::Contents contents = baked_contents();
  for (cache::Entry& entry : contents.entries) entry.proof.jit_free = true;
  const Result<cache::Bytes> bytes =
      cache::pack(contents, {0, nullptr, {}, builder::release::digest_function()});  // as build does
  BOOST_REQUIRE(bytes.ok());
  const std::string output = directory.write("copy.clbake", *bytes);
  const Outcome outcome = clbake({"build", "--variant", baked_variants(contents), "-o", output});
  BOOST_REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  BOOST_TEST(contains(outcome.out, "(0 baked"), outcome.out);
  BOOST_TEST((read_file(output) == std::string(bytes->begin(), bytes->end())));
  BOOST_TEST((directory.files() == std::vector<std::string>{"copy.clbake"}));
}

BOOST_AUTO_TEST_CASE(AnOutputThatCannotBeWrittenIsNamed) {
  baked_bundle();
  const Directory directory;
  const std::string file = directory.write("file", std::string("text"));
  const std::vector<std::string> outputs = {directory.path("missing/new.clbake"), file + "/new.clbake",
                                            directory.path(""), "/proc/new.clbake", os::by_system("/dev/null", "NUL")};
  for (const std::string& output : outputs) check_refused(clbake({"build", "-o", output}), 1, {"clbake build", output});
  check_refused(clbake({"build", "-o", ""}), 1, {"clbake build", "name"});
  check_refused(clbake({"build", "-o", file}), 1, {"clbake build", file, "not a bundle"});
  BOOST_TEST((directory.files() == std::vector<std::string>{"file"}));
  BOOST_TEST(read_file(file) == "text");
}

BOOST_AUTO_TEST_CASE(AFullDiskIsNamedAndLeavesNoPartialOutput, *OnPosix()) {
  baked_bundle();
  const Directory directory;
  const std::string output = directory.path("new.clbake");
  const Outcome outcome = shell("ulimit -f 2; exec \"$CLBAKE\" build -o '" + output + "'");
  check_refused(outcome, 1, {"clbake build", output, "File too large"});
  for (const std::string& file : directory.files()) BOOST_TEST(file == "new.clbake.work");
}

// Everything is reused; only the bundle itself does not fit.
BOOST_AUTO_TEST_CASE(AFullDiskWhilePackingLeavesTheEarlierBundle, *OnPosix()) {
  const Directory directory;
  const std::string output = directory.path("new.clbake");
  cache::Contents contents = baked_contents();
  contents.profiles.clear();
  const std::string before = read_file(directory.write("new.clbake", encoded(contents)));
  const Outcome outcome =
      shell("ulimit -f 64; exec \"$CLBAKE\" build --variant " + baked_variants(contents) + " -o '" + output + "'");
  check_refused(outcome, 1, {"clbake build", output, "File too large"});
  BOOST_TEST((read_file(output) == before));
  for (const std::string& file : directory.files())
    BOOST_TEST((file == "new.clbake" || file == "new.clbake.work"), file);
}

builder::Device first_device() {
  const nlohmann::json found = json_of(clbake({"devices", "--json"})).at("devices").at(0), t = found.at("target");
  builder::Device device;
  device.type = found.at("type") == "cpu" ? kernels::DeviceType::cpu : kernels::DeviceType::gpu;
  device.target = {t["platform_name"],  t["platform_version"], t["vendor"],       t["device_name"], t["device_version"],
                   t["driver_version"], t["architecture"],     t["address_bits"], t["cpu_features"]};
  return device;
}

// A variant that was baked for the first device and is not one of the defaults that are baked beside winners: a profile
// with it as the only winner asks for three variants, all of which are baked already.
std::string some_winner(const builder::Device& device) {
  std::vector<std::string> beside_winners;
  for (const kernels::DeviceType kind : {kernels::DeviceType::cpu, kernels::DeviceType::gpu}) {
    for (const std::uint32_t vector_bytes : {16U, 32U, 64U}) {
      const auto defaults = kernels::default_variants(kind, Precision::single_precision, vector_bytes);
      beside_winners.push_back(kernels::name(defaults.at(4)));  // nn of the first family after `direct`
    }
  }
  const cache::Contents contents = baked_contents();
  for (const cache::Entry& entry : contents.entries) {
    const cache::Variant& variant = contents.variants[entry.variant];
    const bool candidate = contains(variant.name, "-s-nn-") && variant.family != "direct";
    const bool is_default = std::count(beside_winners.begin(), beside_winners.end(), variant.name) > 0;
    if (contents.targets[entry.target] == device.target && candidate && !is_default) return variant.name;
  }
  throw std::runtime_error("no variant of single nn that could be a winner was baked");
}

// The bundle has the default variants of CPUs with AVX-512.
bool lacks_defaults(const builder::Device& device) {
  return device.type == kernels::DeviceType::cpu && !contains(device.target.cpu_features, "avx512f");
}

BOOST_AUTO_TEST_CASE(AProfilesWinnersAreBakedForTheDeviceItWasMadeFor) {
  baked_bundle();
  const builder::Device device = first_device();
  const std::string winner = some_winner(device);
  const Directory directory;
  builder::profile::Tuning tuning = builder::test::tuning_of(winner, 1000, device);
  tuning.target.driver_version = "some older one";
  const std::string profile = directory.write("tuned.json", builder::profile::tuning_text(tuning));
  const std::string output = directory.path("tuned.clbake");
  fs::copy_file(baked_bundle(), output);
  const Outcome outcome = clbake({"build", "--profile", profile, "-o", output, "--json"});
  const nlohmann::json report = json_of(outcome);
  BOOST_TEST(contains(outcome.err, "clbake build: not tuned and not baked: "));
  BOOST_TEST(report.at("baked") == (lacks_defaults(device) ? 3 : 0));
  BOOST_TEST(report.at("reused") == (lacks_defaults(device) ? 1 : 3));
  BOOST_TEST(report.at("profiles").size() == 1U);
  BOOST_TEST(contains(report.at("profiles").at(0).at("profile").get<std::string>(), profile + " (tuned on "));

  const nlohmann::json inside = json_of(clbake({"inspect", output, "--json"}));
  BOOST_TEST(inside.at("entries").size() == (lacks_defaults(device) ? 4U : 3U));
  const auto own = std::find_if(inside.at("profiles").begin(), inside.at("profiles").end(), [&](const auto& p) {
    return inside.at("targets").at(p.at("target").template get<std::size_t>()).at("platform_name") != "";
  });
  BOOST_REQUIRE(own->at("models").size() == 1U);
  const nlohmann::json& model = own->at("models").at(0);
  BOOST_TEST(model.at("variant") == winner);
  BOOST_TEST(model.at("call_us") == 1000.0);
  BOOST_TEST(own->at("units") == tuning.compute_units);
  BOOST_TEST(own->at("exceptions").empty());
  BOOST_TEST(contains(clbake({"inspect", output, "--profile"}).out, winner));
  const Outcome run = clbake({"run", output, "--m", "64", "--n", "64", "--k", "64", "--no-compile", "--json"});
  BOOST_TEST(json_of(run).at("variant") == winner);
}

BOOST_AUTO_TEST_CASE(AProfileOfAnotherDeviceIsRefusedWithBothNames) {
  baked_bundle();
  const builder::Device device = first_device();
  const std::string here = device.target.device_name;
  builder::profile::Tuning tuning = builder::test::tuning_of(some_winner(device), 1000, device);
  tuning.target.device_name = "Device B";
  const Directory directory;
  const std::string profile = directory.write("tuned.json", builder::profile::tuning_text(tuning));
  for (const Arguments& more : {Arguments{}, {"--device", "0"}}) {
    check_refused(clbake(Arguments{"build", "--profile", profile, "-o", directory.path("x.clbake")} + more), 1,
                  {"clbake build: " + profile, "Device B", here, "--force"});
  }
  const std::string output = directory.path("tuned.clbake");
  fs::copy_file(baked_bundle(), output);
  const Outcome forced = clbake({"build", "--device", "0", "--profile", profile, "--force", "-o", output, "--json"});
  BOOST_TEST(json_of(forced).at("reused") == (lacks_defaults(device) ? 1 : 3));
}

}  // namespace clbake::tool::test
