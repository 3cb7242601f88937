#include <clbake/builder/programs.hpp>

#include <clbake/kernels/presets.hpp>
#include "process/text_file.hpp"
#include "program/flatten.hpp"
#include "program/trial.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace clbake::builder::program {
using namespace process;
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostManifestBytes = std::uintmax_t{64} << 20;
constexpr std::uint32_t kVersion = 2;
constexpr std::uint32_t kContract = 1;  // of programs: FORMAT.md
constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMaxTrialBytes = std::size_t{15} << 20;  // a source of a bundle has at most 16 MiB

// It becomes the name of a variant, and of files.
std::string wrong_name(const std::string& name) {
  const std::string fits = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  const bool plain = !name.empty() && name.size() <= kMaxNameBytes && name[0] != '.' && name[0] != '-' &&
                     name.find_first_not_of(fits) == std::string::npos;
  if (!plain) return "is no name of 1 to 64 letters, digits, '_', '-' and '.'";
  if (name.rfind(kOwnPrefix, 0) == 0) return "begins with 'clbake-', as clbake's own do";
  const bool is_variant = std::holds_alternative<kernels::Params>(kernels::parse(name)) || kernels::find_preset(name);
  return is_variant ? "is the name of a variant of GEMM" : "";
}

// The bundle carries what is included, so that a folder named here would be looked for in vain elsewhere.
bool has_include_folder(const std::string& options) {
  std::istringstream words(options);
  std::string word;
  while (words >> word) {
    if (word.find("-I") == word.find_first_not_of("\"'")) return true;
  }
  return false;
}

class Manifest {
 public:
  Manifest(const std::string& directory, std::vector<Program>& programs) : directory_(directory), programs_(programs) {}

  bool read(const JsonValue& root) {
    std::uint32_t number = 0;
    const auto version = json_field("version", [&](const JsonValue& at) {
      return reader_.read(at, number) &&
             (number == kVersion || reader_.fail(at, "is not 2, the version that this clbake knows"));
    });
    const auto include = json_field("include", [&](const JsonValue& at) {
      return reader_.list(at, [&](const JsonValue& item) { return reader_.read(item, folders_.emplace_back()); });
    });
    const auto programs = json_field("programs", [&](const JsonValue& at) {
      if (at.json.is_array() && at.json.empty()) return reader_.fail(at, "is empty");
      return reader_.list(at, [&](const JsonValue& item) { return read_program(item); });
    });
    return reader_.object(root, version, optional(include), programs);
  }

  const std::string& failure() const { return reader_.failure(); }

 private:
  bool read_program(const JsonValue& at) {
    Program program;
    const auto name = json_field("name", [&](const JsonValue& v) { return read_name(v, program.name); });
    const auto options = json_field("options", [&](const JsonValue& v) {
      return reader_.read(v, program.options) &&
             (!has_include_folder(program.options) ||
              reader_.fail(v, "has -I; name the folders in the manifest's \"include\""));
    });
    const auto kernels = json_field("kernels", [&](const JsonValue& v) { return read_kernels_of(v, program); });
    if (!reader_.object(at, name, reader_.field("source", program.source.name), optional(options), kernels)) {
      return false;
    }
    Result<FlatSource> source = flatten(directory_, program.source.name, folders_);
    if (source) {
      program.source.text = std::move(source->text);
      program.content = content_of(program);
      for (const std::string& file : source->files) program.files.push_back((fs::path(directory_) / file).string());
    } else if (program.failure.empty()) {
      program.failure = source.status().message();
    }
    programs_.push_back(std::move(program));
    return true;
  }

  // An application that gives the file's text to OpenCL names its folder by -I, if files lie beside it.
  ContentDigest content_of(const Program& program) const {
    const fs::path file = fs::path(directory_) / program.source.name;
    const Result<std::string> source = process::read_text_file(file.string(), kMostManifestBytes);
    if (!source) return {};
    ProgramText text;
    text.sources = {*source};
    text.options = program.options + " -I \"" + file.parent_path().string() + '"';
    for (const std::string& folder : folders_)
      text.options += " -I \"" + (fs::path(directory_) / folder).string() + '"';
    const Result<ContentDigest> content = content_digest(text);
    return content ? *content : ContentDigest();
  }

  bool read_name(const JsonValue& at, std::string& name) {
    if (!reader_.read(at, name)) return false;
    const std::string wrong = wrong_name(name);
    if (!wrong.empty()) return reader_.fail(at, wrong);
    const bool twice =
        std::any_of(programs_.begin(), programs_.end(), [&](const Program& p) { return p.name == name; });
    return !twice || reader_.fail(at, "is the name of an earlier program, too");
  }

  bool read_kernels_of(const JsonValue& at, Program& program) {
    std::vector<TriedKernel> kernels;
    TrialFiles files(directory_);
    if (!read_kernels(reader_, at, files, kernels)) return false;
    program.failure = files.failure();
    if (!program.failure.empty()) return true;
    for (const TriedKernel& kernel : kernels) {
      for (const Extents3& size : kernel.work_group_sizes) {
        program.launches.push_back({cache::Role::kernel, kernel.name, {size[0], size[1], size[2]}, 1, 1});
      }
    }
    program.trial = trial_text(at.json, files);
    if (program.trial.size() > kMaxTrialBytes) {
      return reader_.fail(at, "the trials take " + std::to_string(program.trial.size()) +
                                  " bytes in the bundle, and 15 MiB is the limit: smaller buffers will do");
    }
    return true;
  }

  const std::string& directory_;
  std::vector<Program>& programs_;
  std::vector<std::string> folders_;
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

Result<std::vector<Program>> read_programs(const std::string& path) {
  const Result<std::string> text = read_input(path, kMostManifestBytes);
  if (!text) return text.status();
  const std::string directory = fs::path(path).parent_path().string();
  return parse_programs(*text, input_name(path), directory.empty() ? "." : directory);
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
  job.variant.contract = kContract;
  job.variant.build_options = program.options;
  job.variant.launches = program.launches;
  job.variant.content = program.content;
  job.trial = program.trial;
  return job;
}

}  // namespace clbake::builder::program
