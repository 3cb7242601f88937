#include "build_fixture.hpp"

#include <clbake/builder/release/prune.hpp>
#include <clbake/os/environment.hpp>
#include <clbake/os/paths.hpp>
#include "profile/untuned_profile.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace clbake::builder::test {
using namespace build;
namespace {

namespace fs = std::filesystem;

}  // namespace

Device made_up_device(const std::string& name, const std::string& driver) {
  Device device;
  device.target = {"Made-up Platform", "OpenCL 3.0 made up", "Nobody", name, "OpenCL 3.0", driver, "arch-1", 64};
  device.type = kernels::DeviceType::cpu;
  device.limits.fp64 = true;
  device.limits.max_work_group_size = 1;
  device.compute_units = 2;
  return device;
}

BuildFixture::BuildFixture() : directory_(required(process::ScratchDirectory::create())) {
  options.devices = {made_up_device()};
  options.precisions = {Precision::single_precision};
  options.output = path("gemm.clbake");
  options.worker = FAKE_WORKER;
  options.parallel = 2;
  os::set_variable("FAKE_WORKER_LOG", path("calls.log"));
  misbehave("");
}

BuildFixture::~BuildFixture() {
  os::unset_variable("FAKE_WORKER_LOG");
  os::unset_variable("FAKE_WORKER_MISBEHAVE");
}

void BuildFixture::misbehave(const std::string& rules) { os::set_variable("FAKE_WORKER_MISBEHAVE", rules); }

Result<BuildReport> BuildFixture::build(std::optional<std::size_t> stop_after) {
  fs::remove(path("calls.log"));
  steps_.clear();
  std::atomic<bool> cancel{false};
  const Result<std::vector<BakeList>> bake_lists = bake_lists_for(options);
  if (!bake_lists) return bake_lists.status();
  return builder::build::build(options, *bake_lists, cancel, [&](const Progress& progress) {
    steps_.push_back(progress);
    if (stop_after && progress.steps_done >= *stop_after) cancel = true;
  });
}

Result<ProveReport> BuildFixture::prove(bool again) const {
  ProveOptions prove_options;
  prove_options.file = options.output;
  prove_options.devices = options.devices;
  prove_options.worker = options.worker;
  prove_options.again = again;
  const std::atomic<bool> never{false};
  return prove_bundle(prove_options, never, nullptr);
}

std::vector<std::string> BuildFixture::calls() const {
  std::istringstream log(read_file(path("calls.log")));
  std::vector<std::string> lines;
  for (std::string line; std::getline(log, line);) lines.push_back(line);
  return lines;
}

std::size_t BuildFixture::calls_of(const std::string& verb_and_part) const {
  const std::vector<std::string> all = calls();
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](const std::string& call) { return contains(call, verb_and_part); }));
}

std::vector<std::string> BuildFixture::files() const {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory_.path())) {
    if (entry.path().filename() != "calls.log") names.push_back(os::utf8(entry.path().filename()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

cache::Contents without_defaults(cache::Contents contents) {
  std::vector<cache::Profile>& all = contents.profiles;
  const auto is_default = [&](const cache::Profile& p) {
    return profile::is_default_target(contents.targets[p.target]);
  };
  all.erase(std::remove_if(all.begin(), all.end(), is_default), all.end());
  release::keep_used(contents);
  return contents;
}

cache::Contents baked_contents_of(const std::string& path) { return without_defaults(contents_of(path)); }

const JobReport& report_of(const BuildReport& report, const std::string& part_of_variant) {
  for (const JobReport& job : report.jobs) {
    if (contains(job.variant, part_of_variant)) return job;
  }
  throw std::runtime_error("no report of " + part_of_variant);
}

bool is_running(const std::string& pid) {
  const std::string stat = read_file("/proc/" + pid + "/stat");
  const std::size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.substr(name_end + 2, 1) != "Z";
}

bool ends(const std::string& pid) {
  for (int i = 0; i < 2000 && is_running(pid); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return !is_running(pid);
}

std::string trimmed(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace clbake::builder::test
