#include "recording/recording.hpp"

#include "cli/cli.hpp"
#include "recording/recorded_files.hpp"

#include <clbake/builder/programs.hpp>
#include <clbake/launch_kind.hpp>
#include <clbake/os/appended_file.hpp>
#include <clbake/os/files.hpp>
#include <clbake/os/listing.hpp>
#include <clbake/os/paths.hpp>

#include <algorithm>
#include <filesystem>

namespace clbake::tool {
namespace {

namespace fs = std::filesystem;

constexpr int kManifestVersion = 2;
constexpr const char* kManifest = "programs.json";

std::vector<std::string> journals_in(const std::string& directory) {
  std::vector<std::string> paths;
  const Result<std::vector<os::Item>> items = os::list_directory(directory);
  if (!items) throw Failure(items.status().message());
  for (const os::Item& item : *items) {
    if (item.name == os::stem_of(item.name) + ".jsonl") paths.push_back(item.path);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string kind_of(const Json& trial) {
  using Sizes = std::vector<std::uint64_t>;
  return launch_kind(trial.value("local", Json()).dump(), trial.at("global").get<Sizes>(),
                     trial.value("offset", Json::array()).get<Sizes>());
}

bool is_truncated(const Json& trial) {
  const Json& arguments = trial.at("arguments");
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const Json& argument) { return argument.value("truncated", false); });
}

Json kernel_json(const RecordedKernel& kernel) {
  return {{"name", kernel.name}, {"work_group_sizes", kernel.sizes}, {"trials", kernel.trials}};
}

// One line for each kernel.
std::string program_text(const RecordedProgram& program) {
  Json fields = program.text;
  if (!program.log.is_null()) fields["log"] = program.log;
  std::string text = fields.dump();
  text.pop_back();
  text += ", \"kernels\": [";
  const char* separator = "\n    ";
  for (const RecordedKernel& kernel : program.kernels) {
    text += separator + kernel_json(kernel).dump();
    separator = ",\n    ";
  }
  return text + "]}";
}

// ---- Recordings as `clbake build --programs` takes them

constexpr std::size_t kMostTrialBytes = std::size_t{14} << 20;  // of a program in a bundle
constexpr std::size_t kMostSizes = 1024;

Result<builder::program::Program> read(const RecordedProgram& program, const std::string& directory) {
  auto programs = builder::program::parse_programs(manifest_text({program}), "the manifest", directory);
  if (!programs) return programs.status();
  if (!programs->front().failure.empty()) return {Code::malformed, programs->front().failure};
  if (!programs->front().remark.empty()) return {Code::malformed, programs->front().remark};
  return std::move(programs->front());
}

// The program with one kernel.
RecordedProgram with(const RecordedProgram& program, RecordedKernel kernel) {
  return {program.text, program.log, {}, {std::move(kernel)}};
}

void join(RecordedProgram& program, const RecordedProgram& other) {
  for (const RecordedKernel& kernel : other.kernels) {
    RecordedKernel& known = program.kernel(kernel.name);
    for (const Json& size : kernel.sizes) add_size(known, size);
    for (const Json& trial : kernel.trials) add_trial(known, trial);
    known.untried.insert(kernel.untried.begin(), kernel.untried.end());
  }
}

class Fitting {
 public:
  Fitting(const std::string& directory, std::set<std::string>& notes) : directory_(directory), notes_(notes) {}

  // True when the reader takes it without its kernels; sets the name by which the builder tells it from others.
  bool takes(const RecordedProgram& program, std::string& name) {
    const auto bare = read(with(program, {"any", {}, {}, {}}), directory_);
    if (!bare) notes_.insert("a program is left out: " + bare.status().message());
    if (bare) name = bare->name;
    return bool(bare);
  }

  void fit(RecordedProgram& program) {
    if (program.kernels.empty() || read(program, directory_)) return;
    std::vector<RecordedKernel> kernels;
    std::size_t bytes = 0;
    for (RecordedKernel& kernel : program.kernels) {
      if (fit_sizes(program, kernel)) kernels.push_back(fit_trials(program, kernel, bytes));
    }
    program.kernels = std::move(kernels);
  }

 private:
  bool fit_sizes(const RecordedProgram& program, RecordedKernel& kernel) {
    if (kernel.sizes.size() > kMostSizes) {
      notes_.insert("kernel " + kernel.name + ": of its local sizes the first 1024 are kept");
      kernel.sizes.resize(kMostSizes);
    }
    const auto untried = read(with(program, {kernel.name, kernel.sizes, {}, {}}), directory_);
    if (!untried) notes_.insert("kernel " + kernel.name + " is left out: " + untried.status().message());
    return bool(untried);
  }

  RecordedKernel fit_trials(const RecordedProgram& program, const RecordedKernel& kernel, std::size_t& bytes) {
    RecordedKernel kept = {kernel.name, kernel.sizes, {}, kernel.untried};
    for (const Json& trial : kernel.trials) {
      const auto one = read(with(program, {kernel.name, kernel.sizes, {trial}, {}}), directory_);
      const bool fits = one && bytes + one->trial.size() <= kMostTrialBytes;
      if (fits) {
        bytes += one->trial.size();
        kept.trials.push_back(trial);
      } else {
        kept.is_refused = true;
        kept.untried.insert(one ? "the program's trials take more than 14 MiB in a bundle" : one.status().message());
      }
    }
    return kept;
  }

  const std::string& directory_;
  std::set<std::string>& notes_;
};

// Leaves out what the builder's reader refuses, so that one odd launch does not cost the rest: trials, which become
// reasons in their kernel's `untried`; kernels and programs, which `notes` names. Makes one of programs that the
// builder takes for the same. `directory`: has the files.
void fit(std::vector<RecordedProgram>& programs, const std::string& directory, std::set<std::string>& notes) {
  Fitting fitting(directory, notes);
  std::vector<RecordedProgram> kept;
  std::map<std::string, std::size_t> by_name;
  for (const RecordedProgram& program : programs) {
    std::string name;
    if (program.kernels.empty() || !fitting.takes(program, name)) continue;  // nothing can be launched
    const auto [at, is_new] = by_name.emplace(name, kept.size());
    is_new ? kept.push_back(program) : join(kept[at->second], program);
  }
  for (RecordedProgram& program : kept) fitting.fit(program);
  programs = std::move(kept);
}

}  // namespace

void add_trial(RecordedKernel& kernel, const Json& trial) {
  const std::string kind = kind_of(trial);
  const bool truncated = is_truncated(trial);
  const auto same = std::find_if(kernel.trials.begin(), kernel.trials.end(),
                                 [&](const Json& other) { return kind_of(other) == kind; });
  if (same == kernel.trials.end()) {
    kernel.trials.push_back(trial);
  } else if (is_truncated(*same) && !truncated) {
    *same = trial;
  }
}

void add_size(RecordedKernel& kernel, Json size) {
  while (size.is_array() && size.size() < 3) size.push_back(1);
  if (std::find(kernel.sizes.begin(), kernel.sizes.end(), size) == kernel.sizes.end()) kernel.sizes.push_back(size);
}

std::string joined(const std::set<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += "; " + note;
  return text;
}

std::string manifest_text(const std::vector<RecordedProgram>& programs) {
  std::string text = "{\"version\": " + std::to_string(kManifestVersion) + ", \"programs\": [";
  const char* separator = "\n  ";
  for (const RecordedProgram& program : programs) {
    if (program.kernels.empty()) continue;
    text += separator + program_text(program);
    separator = ",\n  ";
  }
  return text + "]}\n";
}

RecordedKernel& RecordedProgram::kernel(const std::string& name) {
  const auto found =
      std::find_if(kernels.begin(), kernels.end(), [&](const RecordedKernel& kernel) { return kernel.name == name; });
  if (found != kernels.end()) return *found;
  kernels.push_back({name, {}, {}, {}});
  return kernels.back();
}

void Recording::add(const std::string& directory) {
  directory_ = directory;
  ids_.clear();
  std::error_code ignored;
  if (!fs::is_directory(os::native(directory), ignored)) throw Failure(directory + ": is no directory of a recording");
  const auto read = [&](const std::string& path, auto function) {
    try {
      (this->*function)(path);
    } catch (const Failure&) {
      throw;
    } catch (const std::exception& error) {  // a field that is missing, an id that no program has
      throw Failure(path + ": is not as a recording has it: " + error.what());
    }
  };
  const std::string manifest = directory + "/" + kManifest;
  if (fs::exists(os::native(manifest), ignored)) read(manifest, &Recording::add_manifest);
  for (const std::string& journal : journals_in(directory)) read(journal, &Recording::add_journal);
}

void Recording::add_manifest(const std::string& path) {
  const Json root = Json::parse(bytes_of(path));
  if (root.size() != 2 || root.at("version") != kManifestVersion) {
    throw Failure(path + ": is no manifest that 'record' or 'capture' wrote");
  }
  for (Json entry : root.at("programs")) {
    const Json kernels = entry.at("kernels"), log = entry.value("log", Json());
    entry.erase("kernels");
    entry.erase("log");
    RecordedProgram& program = programs_[this->program(entry)];
    if (program.log.is_null()) program.log = log;
    for (const Json& kernel : kernels) {
      RecordedKernel& known = program.kernel(kernel.at("name"));
      for (const Json& size : kernel.at("work_group_sizes")) add_size(known, size);
      add_files(kernel.at("trials"));
      if (known.trials.empty()) {  // also those that a person added
        known.trials = kernel.at("trials").get<std::vector<Json>>();
      } else {
        for (const Json& trial : kernel.at("trials")) add_trial(known, trial);
      }
    }
  }
}

void Recording::add_journal(const std::string& path) {
  if (!os::is_held(path)) ended_.push_back(path);
  const std::string text = bytes_of(path);
  std::size_t bad = 0;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    try {
      add_line(Json::parse(text.substr(at, end - at)));
    } catch (const Failure&) {
      throw;
    } catch (const std::exception&) {  // a full disk's half of a line, a missing field or file, an unknown id
      ++bad;
    }
  }
  if (bad != 0) notes_.insert(path + ": " + counted(bad, "line") + " not as a recording has them, left out");
}

void Recording::add_line(const Json& line) {
  if (line.contains("note")) notes_.insert(line["note"].get<std::string>());
  if (line.contains("program")) {
    const std::size_t index = ids_[line.at("id")] = program(line["program"]);
    RecordedProgram& program = programs_[index];
    if (program.log.is_null()) program.log = line.value("log", Json());
    program.names = split(line.value("kernels", ""), ';');
  } else if (line.contains("kernel")) {
    RecordedKernel& kernel = programs_[ids_.at(line.at("id"))].kernel(line["kernel"]);
    if (line.contains("size")) add_size(kernel, line["size"]);
    if (line.contains("untried")) kernel.untried.insert(line["untried"].get<std::string>());
    if (line.contains("trial")) {
      add_files(line["trial"]);
      add_trial(kernel, line["trial"]);
    }
  }
}

// The number of the program, which is new unless one has the same fields but for a name.
std::size_t Recording::program(const Json& text) {
  add_files(text);
  nlohmann::json key = nlohmann::json::parse(text.dump());  // whose fields have one order
  key.erase("name");
  const auto [at, is_new] = by_text_.emplace(key.dump(), programs_.size());
  if (is_new) programs_.push_back({text, {}, {}, {}});
  return at->second;
}

// The files that the fields name.
void Recording::add_files(const Json& fields) {
  check_files(directory_, fields);
  for (const std::string& name : file_names(fields)) {
    const std::string path = directory_ + "/" + name;
    const auto [at, is_new] = files_.emplace(name, path);
    std::error_code ignored;
    if (is_new || fs::equivalent(os::native(at->second), os::native(path), ignored) ||
        bytes_of(at->second) == bytes_of(path))
      continue;
    throw Failure(path + ": differs from " + at->second + ", which has the same name in another recording");
  }
}

void Recording::list_kernels() {
  for (RecordedProgram& program : programs_) {
    if (!program.kernels.empty()) continue;
    for (const std::string& name : program.names) program.kernel(name);
  }
}

std::set<std::string> Recording::used_files() const {
  std::set<std::string> names;
  for (const RecordedProgram& program : programs_) {
    names.merge(file_names(program.text));
    for (const RecordedKernel& kernel : program.kernels) names.merge(file_names(Json(kernel.trials)));
  }
  return names;
}

// Files that only a program or trial names which does not fit are not left there.
void Recording::copy_files(const std::string& directory) {
  std::set<std::string> copied;
  std::error_code ignored;
  for (const std::string& name : used_files()) {
    const std::string to = directory + "/" + name, from = files_.at(name);
    if (fs::equivalent(os::native(from), os::native(to), ignored)) continue;
    write_private(directory, name, bytes_of(from));
    copied.insert(name);
  }
  fit(programs_, directory, notes_);
  for (const std::string& name : used_files()) copied.erase(name);
  for (const std::string& name : copied) os::remove_file(directory + "/" + name);
}

void Recording::write(const std::string& directory) {
  make_private_directory(os::native(directory));
  copy_files(directory);
  if (programs_.empty()) throw Failure("no program that was recorded can be baked" + joined(notes_));
  write_private(directory, kManifest, manifest_text(programs_));
  std::error_code ignored;
  for (const std::string& journal : ended_) {
    if (fs::equivalent(os::native(os::parent_of(journal)), os::native(directory), ignored)) os::remove_file(journal);
  }
}

namespace {

// The kernels that no trial runs, or not all that were recorded, and why.
Json untried_of(const Recording& recording) {
  Json rows = Json::array();
  for (const RecordedProgram& program : recording.programs()) {
    for (const RecordedKernel& kernel : program.kernels) {
      if (!kernel.trials.empty() && !kernel.is_refused) continue;
      Json reasons = kernel.untried;
      if (kernel.sizes.empty()) reasons = {"it was not launched"};
      if (reasons.empty()) reasons = {"its launch had not ended"};
      rows.push_back({{"kernel", kernel.name}, {"why", reasons}});
    }
  }
  return rows;
}

Json summary_of(const Recording& recording, const std::string& output) {
  std::size_t kernels = 0, sizes = 0, trials = 0;
  for (const RecordedProgram& program : recording.programs()) {
    for (const RecordedKernel& kernel : program.kernels) {
      ++kernels;
      sizes += kernel.sizes.size();
      trials += kernel.trials.size();
    }
  }
  return {{"file", output + "/programs.json"},
          {"programs", recording.programs().size()},
          {"kernels", kernels},
          {"sizes", sizes},
          {"trials", trials},
          {"untried", untried_of(recording)},
          {"notes", recording.notes()}};
}

}  // namespace

Json capture_programs(const std::vector<std::string>& directories, const std::string& output) {
  Recording recording;
  for (const std::string& directory : directories) recording.add(directory);
  if (recording.programs().empty()) {
    const std::string notes = joined(recording.notes());
    throw Failure("no OpenCL program was recorded" + (notes.empty() ? ": none was built from source" : notes));
  }
  recording.list_kernels();
  recording.write(output);
  return summary_of(recording, output);
}

void print_summary(std::FILE* to, const Json& summary) {
  constexpr std::size_t kMostLines = 20;
  const auto count = [&](const char* key, const char* noun) { return counted(summary[key].get<std::size_t>(), noun); };
  std::fprintf(to, "%s: %s, %s, %s, %s\n", summary["file"].get<std::string>().c_str(),
               count("programs", "program").c_str(), count("kernels", "kernel").c_str(),
               count("sizes", "local size").c_str(), count("trials", "trial").c_str());
  std::size_t lines = 0;
  for (const Json& row : summary["untried"]) {
    if (++lines > kMostLines) continue;
    std::fprintf(to, "untried: kernel %s: %s\n", row["kernel"].get<std::string>().c_str(),
                 printable(cell_text(row["why"])).c_str());
  }
  if (lines > kMostLines) std::fprintf(to, "untried: %s more\n", counted(lines - kMostLines, "kernel").c_str());
  for (const Json& note : summary["notes"]) std::fprintf(to, "note: %s\n", printable(note.get<std::string>()).c_str());
}

}  // namespace clbake::tool
