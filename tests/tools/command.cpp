#include "command.hpp"

#include <clbake/builder/platforms.hpp>
#include <clbake/os/environment.hpp>
#include <clbake/os/paths.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>

namespace clbake::tool::test {
namespace {

// The caches that all children share, so that no test compiles what an earlier one did.
const std::string& cache_directory() {
  static const builder::process::ScratchDirectory directory = required(builder::process::ScratchDirectory::create());
  return directory.path();
}

std::map<std::string, std::string> child_environment(const Environment& wanted) {
  std::map<std::string, std::string> all = os::variables();
  for (const auto& [name, value] : builder::process::driver_cache_environment(cache_directory())) all[name] = value;
  all["CLBAKE"] = CLBAKE_COMMAND;
  for (const auto& [name, value] : wanted) all[name] = value;
  return all;
}

// Mesa 26 writes a line of its own to stderr, in every process that lists devices.
std::string without_line_of_mesa(std::string text) {
  const std::size_t at = text.find("=== Rusticl warning: ");
  if (at != std::string::npos) text.erase(at, text.find('\n', at) + 1 - at);
  return text;
}

Outcome run(const Arguments& arguments, const Environment& environment) {
  const Directory files;
  Program program(arguments, child_environment(environment), files.path("out"), files.path("err"));
  const int status = program.wait();
  return {status, read_file(files.path("out")), without_line_of_mesa(read_file(files.path("err")))};
}

Arguments with_command(const Arguments& arguments) {
  Arguments all = {CLBAKE_COMMAND};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

// The first one, as `clbake devices` has it.
const nlohmann::json& listed_device() {
  static const nlohmann::json device = json_of(clbake({"devices", "--json"})).at("devices").at(0);
  return device;
}

}  // namespace

Outcome clbake(const Arguments& arguments, const Environment& environment) {
  return run(with_command(arguments), environment);
}

const Environment& no_platform() {
  static const Directory empty;
  static const Environment environment = {{"OCL_ICD_VENDORS", empty.path("")}, {"OPENCL_VENDOR_PATH", empty.path("")}};
  return environment;
}

Outcome shell(const std::string& line) { return run({"/bin/sh", "-c", line}, {}); }

Running::Running(const Arguments& arguments)
    : directory_(required(builder::process::ScratchDirectory::create())),
      log_(directory_.path() + "/log"),
      program_(with_command(arguments), child_environment({}), log_, log_) {}

std::string Running::output() const { return read_file(log_); }

bool Running::wait_for(const std::string& text) {
  while (!contains(output(), text)) {
    if (program_.ended()) return contains(output(), text);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

void check_refused(const Outcome& outcome, int status, const std::vector<std::string>& parts) {
  BOOST_TEST_CONTEXT("stderr: " << outcome.err) {
    BOOST_TEST(outcome.status == status);
    BOOST_TEST(outcome.out == "");
    BOOST_TEST(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    BOOST_TEST((!outcome.err.empty() && outcome.err.back() == '\n'));
    BOOST_TEST(outcome.err.rfind("clbake", 0) == 0U);
    for (const std::string& part : parts) BOOST_TEST(contains(outcome.err, part), "no '" << part << "'");
  }
}

nlohmann::json json_of(const Outcome& outcome) {
  BOOST_REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  nlohmann::json json = nlohmann::json::parse(outcome.out, nullptr, false);
  BOOST_REQUIRE_MESSAGE(json.is_object(), "not a JSON object: " << outcome.out);
  return json;
}

Directory::Directory() : directory_(required(builder::process::ScratchDirectory::create())) {}

std::string Directory::write(const std::string& name, const std::string& text) const {
  write_file(path(name), text);
  return path(name);
}

std::string Directory::write(const std::string& name, const cache::Bytes& bytes) const {
  return write(name, std::string(bytes.begin(), bytes.end()));
}

std::vector<std::string> Directory::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
    names.push_back(os::utf8(entry.path().filename()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

void skip(const std::string& reason) {
  std::printf("skipped: %s\n", reason.c_str());
  std::fflush(stdout);
  std::_Exit(77);
}

const std::string& baked_bundle() {
  static const std::string path = [] {
    const Outcome devices = clbake({"devices"});
    if (devices.status != 0 && !contains(devices.err, "no OpenCL platform")) throw std::runtime_error(devices.err);
    if (devices.status != 0) skip("no OpenCL device on this machine");
    const char* given = std::getenv("CLBAKE_TEST_BUNDLE");
    if (!given || !std::filesystem::exists(given)) throw std::runtime_error("CLBAKE_TEST_BUNDLE names no file");
    return std::string(given);
  }();
  return path;
}

cache::Contents baked_contents() { return contents_of(baked_bundle()); }

bool has_double() { return listed_device().at("fp64") == true; }

std::string baked_origin() {
  return listed_device().at("target").at("platform_name") == "rusticl" ? "portable" : "native";
}

std::string served_by_direct(cache::Contents& contents) {
  cache::Rule rule;
  const auto is_direct = [&](const cache::Variant& v) {  // and baked: others are in the bundle as source only
    const auto index = static_cast<std::uint32_t>(&v - contents.variants.data());
    const auto is_its = [&](const cache::Entry& entry) { return entry.variant == index; };
    return v.family == "direct" && v.kind() == GemmKind{} &&
           std::any_of(contents.entries.begin(), contents.entries.end(), is_its);
  };
  const auto direct = std::find_if(contents.variants.begin(), contents.variants.end(), is_direct);
  BOOST_REQUIRE((direct != contents.variants.end()));
  rule.variant = static_cast<std::uint32_t>(direct - contents.variants.begin());
  if (contents.profiles.empty()) contents.profiles.emplace_back();  // no profile is shipped for this device
  for (cache::Profile& profile : contents.profiles) {
    profile.models.clear();
    profile.exceptions.clear();  // these hold only for as many compute units as were measured
    profile.defaults.insert(profile.defaults.begin(), rule);
  }
  return direct->name;
}

}  // namespace clbake::tool::test
