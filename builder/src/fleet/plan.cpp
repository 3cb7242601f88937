// From machines to pieces of work: tune each device in shards, join the shards, bake each device and offline target,
// join the bundles, check and report the result.
#include <clbake/builder/bake_list.hpp>
#include <clbake/builder/fleet/plan.hpp>
#include <clbake/builder/programs.hpp>

#include "process/digest.hpp"
#include "process/text_file.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <utility>

namespace clbake::builder {
namespace {

constexpr std::uintmax_t kMaxInputBytes = std::uintmax_t{1} << 30;

// A device or an offline target, and the machines that can bake for it.
struct Subject {
  std::string identity;
  std::string label;  // for titles
  Target target;
  std::string offline;  // name of the offline target; empty for a device
  std::uint32_t compute_units = 0;
  bool fp64 = true;
  std::vector<std::string> machines;
  std::vector<std::string> tuning_machines;  // those with as many compute units as the first
};

std::string joined(const std::vector<std::string>& parts) {
  std::string list;
  for (const std::string& part : parts) list += (list.empty() ? "" : ",") + part;
  return list;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// Only printable ASCII: titles end up on terminals and in scripts.
std::string plain(std::string text) {
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

std::string label_of(const Target& target) {
  return plain(target.platform_name + ": " + target.device_name + ", driver " + target.driver_version);
}

class Planner {
 public:
  explicit Planner(const FleetOptions& options) : options_(options) {}

  Result<Plan> plan() {
    Status ready = check_names();
    if (ready) ready = find_devices();
    if (ready) ready = find_targets();
    if (ready) ready = read_files();
    if (!ready) return ready;
    for (const Subject& subject : subjects_) {
      if (subject.offline.empty() && !options_.budget.empty()) tune(subject);
    }
    for (const Subject& subject : subjects_) bake(subject);
    finish();
    name_idle_machines();
    return std::move(plan_);
  }

 private:
  Status check_names() const {
    for (const Machine& machine : options_.machines) {
      const auto same = [&](const Machine& other) { return other.name == machine.name; };
      if (std::count_if(options_.machines.begin(), options_.machines.end(), same) == 1) continue;
      return {Code::invalid_argument, "two machines have the name " + machine.name};
    }
    return {};
  }

  bool wanted(const Target& target) const {
    const std::string alias = target.platform_name == "Portable Computing Language" ? "PoCL" : "";
    return lower(target.platform_name + '\n' + alias + '\n' + target.device_name).find(lower(options_.device)) !=
           std::string::npos;
  }

  Status find_devices() {
    for (const Machine& machine : options_.machines) {
      for (const Machine::Device& device : machine.devices) {
        if (wanted(device.target)) add_device(machine, device);
      }
    }
    if (!subjects_.empty() || (options_.device.empty() && !options_.targets.empty())) return {};
    return {Code::invalid_argument, options_.device.empty()
                                        ? "the machines have no device: give --target"
                                        : "no device of the machines matches '" + options_.device + "'"};
  }

  void add_device(const Machine& machine, const Machine::Device& device) {
    const std::string id = identity(device.target);
    const auto is_it = [&](const Subject& s) { return s.identity == id; };
    auto subject = std::find_if(subjects_.begin(), subjects_.end(), is_it);
    if (subject == subjects_.end()) {
      Subject added;
      added.identity = id;
      added.label = label_of(device.target);
      added.target = device.target;
      added.compute_units = device.compute_units;
      added.fp64 = device.fp64;
      subject = subjects_.insert(subjects_.end(), std::move(added));
    }
    if (!subject->machines.empty() && subject->machines.back() == machine.name) return;  // two of them in one machine
    subject->machines.push_back(machine.name);
    if (device.compute_units == subject->compute_units) {
      subject->tuning_machines.push_back(machine.name);
    } else if (!options_.budget.empty()) {
      plan_.remarks.push_back(machine.name + " does not tune " + subject->label + ": it has " +
                              std::to_string(device.compute_units) + " compute units there, " +
                              subject->machines.front() + " has " + std::to_string(subject->compute_units));
    }
  }

  Status find_targets() {
    if (options_.targets.empty()) return {};
    const Result<std::vector<OfflineTarget>> known = offline_targets();
    if (!known) return known.status();
    for (const std::string& wanted : std::set<std::string>(options_.targets.begin(), options_.targets.end())) {
      Subject subject;
      std::vector<std::pair<const Machine*, const Machine::Offline*>> compilers;
      for (const Machine& machine : options_.machines) {
        for (const Machine::Offline& target : machine.targets) {
          if (target.name == wanted) compilers.emplace_back(&machine, &target);
        }
      }
      const auto has_any = [](const auto& compiler) { return compiler.second->identity.empty(); };
      const bool any = std::any_of(compilers.begin(), compilers.end(), has_any);
      for (const auto& [machine, target] : compilers) {
        add_compiler(*machine, *target, any ? wanted : target->identity, subject);
      }
      if (subject.machines.empty()) {
        return {Code::invalid_argument,
                "no machine compiles for the target '" + wanted + "'; 'clbake targets' says why"};
      }
      for (const OfflineTarget& target : *known) {
        if (target.name == wanted) subject.target = target.device.target;
      }
      subjects_.push_back(std::move(subject));
    }
    return {};
  }

  // `identity`: of the compilers; the target's name when any will do.
  void add_compiler(const Machine& machine, const Machine::Offline& target, const std::string& identity,
                    Subject& subject) {
    if (subject.machines.empty()) {
      subject.identity = identity;
      subject.label = subject.offline = target.name;
      subject.fp64 = target.fp64;
    } else if (subject.identity != identity) {
      plan_.remarks.push_back(machine.name + " does not compile for " + target.name + ": it has other compilers than " +
                              subject.machines.front());
      return;
    }
    subject.machines.push_back(machine.name);
  }

  // Relative to the manifest's directory where that is possible, with a digest.
  Result<InputFile> input(const std::string& path) const {
    const Result<std::string> bytes = read_text_file(path, kMaxInputBytes);
    if (!bytes) return bytes.status();
    std::error_code error;
    const std::filesystem::path relative = std::filesystem::proximate(path, options_.directory, error);
    return InputFile{error ? path : relative.string(), digest(*bytes)};
  }

  Status read_files() {
    for (const std::string& path : options_.profiles) {
      const Result<Tuning> tuning = read_tuning(path);
      if (!tuning) return tuning.status();
      const Result<InputFile> file = input(path);
      if (!file) return file.status();
      profiles_.emplace_back(*file, tuning->target);
    }
    for (const auto& [path, file] : {std::pair(&options_.shapes, &shapes_), {&options_.against, &against_}}) {
      if (path->empty()) continue;
      Result<InputFile> read = input(*path);
      if (!read) return read.status();
      *file = std::move(*read);
    }
    return options_.programs.empty() ? Status() : read_own_programs();
  }

  // The manifest, and the files that it names.
  Status read_own_programs() {
    const Result<std::vector<Program>> programs = read_programs(options_.programs);
    if (!programs) return programs.status();
    std::vector<std::string> paths = {options_.programs};
    for (const Program& program : *programs) {
      if (!program.failure.empty()) {
        return {Code::invalid_argument, options_.programs + ": program " + program.name + ": " + program.failure};
      }
      for (const std::string& path : program.files) {
        if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
      }
    }
    for (const std::string& path : paths) {
      Result<InputFile> file = input(path);
      if (!file) return file.status();
      programs_.push_back(std::move(*file));
    }
    return {};
  }

  // Adds the output to the command, and the piece to the plan.
  const Piece& add(Piece piece, const char* output_option = "-o") {
    piece.command.emplace_back(output_option);
    piece.command.emplace_back();
    piece.id = piece_id(piece);
    piece.command.back() = output_of(piece);
    return plan_.pieces.emplace_back(std::move(piece));
  }

  // Lets `piece` read the output of another one.
  static void need(Piece& piece, const Piece& other) {
    piece.command.push_back(output_of(other));
    piece.needs.push_back(other.id);
  }

  Piece piece_of(Stage stage, const Subject& subject, const std::string& part) const {
    Piece piece;
    piece.stage = stage;
    piece.title = std::string(name(stage)) + " " + subject.label + (part.empty() ? "" : ", " + part);
    piece.device = subject.identity;
    piece.machines = subject.machines;
    return piece;
  }

  static void option(Piece& piece, const char* name, const std::string& value) {
    if (!value.empty()) piece.command.insert(piece.command.end(), {name, value});
  }
  static void option(Piece& piece, const char* name, const InputFile& file) {
    option(piece, name, file.path);
    if (!file.path.empty()) piece.files.push_back(file);
  }
  static void flag(Piece& piece, const char* name, bool given) {
    if (given) piece.command.emplace_back(name);
  }

  std::string precisions() const { return joined(options_.precisions); }

  // What a bundle without gaps has on every device, whether or not the bakes could make it.
  std::string precisions_of_all() const {
    const bool all_double = std::all_of(subjects_.begin(), subjects_.end(), [](const Subject& s) { return s.fp64; });
    std::vector<std::string> common;
    for (const std::string& precision : options_.precisions) {
      if (precision != "double" || all_double) common.push_back(precision);
    }
    return joined(common);
  }

  void tune(const Subject& subject) {
    Piece joined = piece_of(Stage::profile, subject, "");
    joined.device.clear();
    joined.machines.clear();
    joined.command = {"tune", "--merge"};
    for (unsigned shard = 1; shard <= options_.shards; ++shard) {
      const std::string part = std::to_string(shard) + "/" + std::to_string(options_.shards);
      Piece piece = piece_of(Stage::tune, subject, options_.shards == 1 ? "" : "shard " + part);
      piece.machines = subject.tuning_machines;
      piece.compute_units = subject.compute_units;
      piece.command = {"tune", "--device", subject.identity, "--budget", options_.budget};
      option(piece, "--precision", precisions());
      option(piece, "--trans", options_.transposes);
      option(piece, "--shapes", shapes_);
      if (options_.shards > 1) option(piece, "--shard", part);
      need(joined, add(std::move(piece)));
    }
    if (options_.shards > 1) add(std::move(joined));
    tuned_.emplace_back(subject.identity, plan_.pieces.back());
  }

  void bake(const Subject& subject) {
    if (!options_.split) return bake(subject, "", "");
    if (!programs_.empty()) bake_programs(subject);
    if (!options_.gemm) return;
    for (const std::string& variant : options_.variants) bake(subject, "", variant);
    if (!options_.variants.empty()) return;
    for (const std::string& precision : options_.precisions) {
      if (precision != "double" || subject.fp64) bake(subject, precision, "");
    }
  }

  static Piece with_device(Piece piece, const Subject& subject) {
    piece.command = {"build", subject.offline.empty() ? "--device" : "--target",
                     subject.offline.empty() ? subject.identity : subject.offline};
    return piece;
  }

  void bake_programs(const Subject& subject) {
    Piece piece = with_device(piece_of(Stage::bake, subject, "programs"), subject);
    add_programs(piece);
    add_bake(std::move(piece));
  }

  void add_programs(Piece& piece) const {
    if (programs_.empty()) return;
    option(piece, "--programs", programs_.front().path);
    piece.files.insert(piece.files.end(), programs_.begin(), programs_.end());
  }

  void add_bake(Piece piece) {
    flag(piece, "--strict", options_.strict);
    flag(piece, "--reproducible", options_.reproducible);
    need(merge_, add(std::move(piece)));
  }

  // One precision or one variant, or, where they are empty, all that is wanted.
  void bake(const Subject& subject, const std::string& precision, const std::string& variant) {
    Piece piece = with_device(piece_of(Stage::bake, subject, precision + variant), subject);
    if (!options_.split) add_programs(piece);
    if (!options_.gemm) return add_bake(std::move(piece));
    if (options_.variants.empty()) {
      option(piece, "--precision", precision.empty() ? precisions() : precision);
      add_profile(subject, piece);
    } else if (variant.empty()) {
      for (const std::string& each : options_.variants) option(piece, "--variant", each);
    } else {
      option(piece, "--variant", variant);
    }
    flag(piece, "--untuned", options_.untuned);
    add_bake(std::move(piece));
  }

  void add_profile(const Subject& subject, Piece& piece) const {
    for (const auto& [file, target] : profiles_) {
      if (made_for(target, subject.target)) option(piece, "--profile", file);
    }
    for (const auto& [tuned, profile] : tuned_) {
      if (tuned != subject.identity) continue;
      piece.command.emplace_back("--profile");
      need(piece, profile);
    }
  }

  void finish() {
    const std::size_t count = merge_.needs.size();
    merge_.stage = Stage::merge;
    merge_.title = "merge " + std::to_string(count) + (count == 1 ? " bundle" : " bundles");
    merge_.command.insert(merge_.command.begin(), "merge");
    const Piece merged = add(std::move(merge_));
    if (!shapes_.path.empty() || !programs_.empty()) {
      const std::string& what = shapes_.path.empty() ? programs_.front().path : shapes_.path;
      Piece check;
      check.stage = Stage::check;
      check.title = "check that the bundle serves " + plain(what);
      check.command = {"check"};
      need(check, merged);
      option(check, "--shapes", shapes_);
      if (options_.variants.empty() && !shapes_.path.empty()) option(check, "--precision", precisions_of_all());
      option(check, "--require", options_.require);
      flag(check, "--newer-driver", options_.newer_driver);
      add(std::move(check), "--junit");
    }
    Piece report;
    report.stage = Stage::report;
    report.title = "report on the bundle";
    report.command = {"report"};
    need(report, merged);
    option(report, "--shapes", shapes_);
    option(report, "--against", against_);
    flag(report, "--newer-driver", options_.newer_driver);
    add(std::move(report));
  }

  void name_idle_machines() {
    for (const Machine& machine : options_.machines) {
      const auto uses = [&](const Subject& subject) {
        return std::count(subject.machines.begin(), subject.machines.end(), machine.name) > 0;
      };
      if (std::any_of(subjects_.begin(), subjects_.end(), uses)) continue;
      const bool only_compiles = machine.devices.empty() && options_.targets.empty();
      plan_.remarks.push_back("no work for " + machine.name + (only_compiles ? ": give --target" : ""));
    }
  }

  const FleetOptions& options_;
  std::vector<Subject> subjects_;
  std::vector<std::pair<InputFile, Target>> profiles_;
  InputFile shapes_;
  InputFile against_;
  std::vector<InputFile> programs_;                   // the manifest of the application's own, then what it names
  std::vector<std::pair<std::string, Piece>> tuned_;  // by the device's identity
  Piece merge_;                                       // of all bakes so far
  Plan plan_;
};

}  // namespace

Result<Plan> plan_fleet(const FleetOptions& options) { return Planner(options).plan(); }

}  // namespace clbake::builder
