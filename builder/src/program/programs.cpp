#include <clbake/builder/programs.hpp>

#include <clbake/kernels/presets.hpp>
#include <clbake/os/paths.hpp>
#include <clbake/program_text.hpp>
#include "process/text_file.hpp"
#include "program/program_reader.hpp"
#include "program/trial.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

namespace clbake::builder::program {
using namespace process;
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostManifestBytes = std::uintmax_t{64} << 20;
constexpr std::uint32_t kVersion = 2;
constexpr std::size_t kMaxNameBytes = 64;

// It becomes the name of a variant, and of files.
std::string wrong_name(const std::string& name) {
  const std::string fits = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  const bool plain = !name.empty() && name.size() <= kMaxNameBytes && name[0] != '.' && name[0] != '-' &&
                     name.find_first_not_of(fits) == std::string::npos;
  if (!plain) return "is no name of 1 to 64 letters, digits, '_', '-' and '.'";
  if (name.rfind(kOwnPrefix, 0) == 0) return "begins with 'clbake-', as clbake's own do";
  if (name.rfind(kContentPrefix, 0) == 0) return "begins with 'content-', as those of programs without a name do";
  const bool is_variant = std::holds_alternative<kernels::Params>(kernels::parse(name)) || kernels::find_preset(name);
  return is_variant ? "is the name of a variant of GEMM" : "";
}

class Manifest {
 public:
  Manifest(const std::string& directory, std::vector<Program>& programs)
      : folders_{directory, {}}, programs_(programs) {}

  bool read(const JsonValue& root) {
    std::uint32_t number = 0;
    const auto version = json_field("version", [&](const JsonValue& at) {
      return reader_.read(at, number) &&
             (number == kVersion || reader_.fail(at, "is not 2, the version that this clbake knows"));
    });
    const auto include = json_field("include", [&](const JsonValue& at) {
      return reader_.list(at, [&](const JsonValue& v) { return reader_.read(v, folders_.include.emplace_back()); });
    });
    const auto programs = json_field("programs", [&](const JsonValue& at) {
      if (at.json.is_array() && at.json.empty()) return reader_.fail(at, "is empty");
      return reader_.list(at, [&](const JsonValue& item) { return read_one(item); });
    });
    return reader_.object(root, version, optional(include), programs);
  }

  const std::string& failure() const { return reader_.failure(); }

 private:
  bool read_one(const JsonValue& at) {
    Program program;
    if (!read_program(reader_, at, folders_, program) || !check_name(at, program)) return false;
    programs_.push_back(std::move(program));
    return true;
  }

  // A program without name gets one.
  bool check_name(const JsonValue& at, Program& program) {
    const bool is_named = at.json.contains("name");
    const std::string wrong = is_named ? wrong_name(program.name) : std::string();
    if (!wrong.empty()) return reader_.fail(at, "name", wrong);
    if (!is_named) {
      const bool has_content = program.content != cache::no_content;
      program.name = has_content ? content_name(program.content) : "program " + std::to_string(programs_.size());
    }
    const bool twice =
        std::any_of(programs_.begin(), programs_.end(), [&](const Program& p) { return p.name == program.name; });
    if (!twice) return true;
    return is_named ? reader_.fail(at, "name", "is the name of an earlier program, too")
                    : reader_.fail(at, "is an earlier program, too");
  }

  ManifestFolders folders_;
  std::vector<Program>& programs_;
  JsonReader reader_;
};

}  // namespace

Result<std::vector<Program>> parse_programs(const std::string& text, const std::string& name,
                                            const std::string& directory) {
  const Result<Json> json = parse_json(text);
  if (!json) return json.status().within(name);
  std::vector<Program> programs;
  Manifest manifest(directory, programs);
  if (!manifest.read({*json})) return {Code::malformed, name + ": " + manifest.failure()};
  return programs;
}

Result<std::vector<Program>> read_programs(const std::string& given) {
  std::error_code ignored;
  const std::string path =
      fs::is_directory(os::native(given), ignored) ? os::joined_path(given, "programs.json") : given;
  const Result<std::string> text = read_input(path, kMostManifestBytes);
  if (!text) return text.status();
  const std::string directory = os::parent_of(path);
  return parse_programs(*text, input_name(path), directory.empty() ? "." : directory);
}

std::string joined_sources(const ProgramText& text) {
  std::string joined;
  for (const std::string& source : text.sources) joined += source;
  return joined;
}

std::string violation(const Program& program, const kernels::DeviceLimits& limits) {
  for (const cache::Launch& launch : program.launches) {
    const Extents3 size = {launch.local[0], launch.local[1], launch.local[2]};
    const std::uint64_t items = std::uint64_t{size[0]} * size[1] * size[2];
    const std::string what = "kernel " + launch.kernel_name + ": the work-group size " + size_text(size);
    if (items > limits.max_work_group_size) {
      return what + " has " + std::to_string(items) + " work-items; the device allows " +
             std::to_string(limits.max_work_group_size);
    }
    for (std::size_t d = 0; d < 3; ++d) {
      if (size[d] <= limits.max_work_item_sizes[d]) continue;
      return what + " is too large; the device allows " + std::to_string(limits.max_work_item_sizes[d]) +
             " work-items in dimension " + std::to_string(d);
    }
  }
  return {};
}

Job make_job(const Target& target, const Program& program) {
  Job job;
  job.target = target;
  job.source = program.source;
  job.variant.name = program.name;
  job.variant.family = "program";
  job.variant.precision = no_precision;
  job.variant.contract = cache::kProgramContract;
  job.variant.build_options = program.options;
  job.variant.launches = program.launches;
  job.variant.content = program.content;
  job.variant.parts = program.parts;
  job.trial = program.trial;
  return job;
}

Result<std::vector<std::string>> untried_kernels(const cache::Variant& program, const std::string& trial) {
  const Result<std::vector<TriedKernel>> kernels = trial.empty() ? std::vector<TriedKernel>() : parse_trial(trial);
  if (!kernels) return kernels.status();
  std::map<std::string, std::set<Extents3>> tried;  // by kernel
  for (const TrialCase& each : cases_of(*kernels)) tried[each.kernel.name].insert(each.size);
  std::vector<std::string> names;
  std::set<std::string> named;
  for (const cache::Launch& launch : program.launches) {
    const Extents3 size = {launch.local[0], launch.local[1], launch.local[2]};
    const auto sizes = tried.find(launch.kernel_name);
    if (sizes != tried.end() && sizes->second.count(size) != 0) continue;
    const std::string name = launch.kernel_name + (sizes == tried.end() ? "" : " at " + size_text(size));
    if (named.insert(name).second) names.push_back(name);
  }
  return names;
}

std::string kernels_text(const std::vector<std::string>& names) {
  constexpr std::size_t kMostNames = 5;
  std::string text = names.size() == 1 ? "kernel " : "kernels ";
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMostNames) text += " and " + std::to_string(names.size() - kMostNames) + " more";
  return text;
}

std::string shown_name(const std::string& name) {
  constexpr std::size_t kDigits = 12;
  return name.rfind(kContentPrefix, 0) == 0 ? name.substr(0, std::strlen(kContentPrefix) + kDigits) : name;
}

std::string shown_name(const cache::Variant& variant) {
  constexpr std::size_t kMostNames = 3;
  std::string text = shown_name(variant.name);
  if (text == variant.name || variant.launches.empty()) return text;
  std::vector<std::string> names;
  for (const cache::Launch& launch : variant.launches) {
    if (std::find(names.begin(), names.end(), launch.kernel_name) == names.end()) names.push_back(launch.kernel_name);
  }
  text += " (";
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return text + (names.size() > kMostNames ? ", ...)" : ")");
}

std::string part_of(const std::string& note, const char* begin) {
  const std::size_t found = note.find(begin);
  if (found == std::string::npos) return {};
  const std::size_t rest = found + std::strlen(begin);
  return note.substr(rest, note.find(';', rest) - rest);
}

}  // namespace clbake::builder::program
