// From machines to pieces of work: tune each device in shards, join the shards, bake each device and offline target,
// join the bundles, check and report the result.
#include <clbake/builder/build.hpp>
#include <clbake/builder/fleet/plan.hpp>
#include <clbake/builder/programs.hpp>
#include <clbake/os/paths.hpp>

#include "process/need.hpp"
#include "process/text_file.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

namespace clbake::builder::fleet {
using namespace compile;
using namespace program;
namespace {

constexpr std::uintmax_t kMostPlanBytes = std::uintmax_t{1} << 30;

// A device or an offline target to bake for, and the machines that can.
struct Destination {
  std::string identity;
  std::string label;  // for titles
  Target target;
  std::string offline;  // name of the offline target; empty for a device
  std::uint32_t compute_units = 0;
  bool fp64 = true;
  std::vector<std::string> machines;
  std::vector<std::string> tuning_machines;  // those with as many compute units as the first
};

// The part of a destination's bundle that one piece bakes.
struct Portion {
  std::string label;  // for titles
  bool programs = false;
  bool gemm = true;
  std::vector<std::string> variants;    // exactly these; empty: all that are wanted
  std::vector<std::string> precisions;  // of all that are wanted
};

std::string joined(const std::vector<std::string>& parts) {
  std::string list;
  for (const std::string& part : parts) list += (list.empty() ? "" : ",") + part;
  return list;
}

class Planner {
 public:
  explicit Planner(const FleetOptions& options) : options_(options) {}

  std::vector<Piece> plan() {
    find_devices();
    find_targets();
    read_files();
    for (const Destination& to : destinations_) {
      if (to.offline.empty() && !options_.budget.empty()) tune(to);
    }
    for (const Destination& to : destinations_) {
      for (const Portion& portion : portions(to)) bake(to, portion);
    }
    const Piece merged = merge();
    if (!shapes_.path.empty() || !programs_.empty()) check(merged);
    report(merged);
    return std::move(pieces_);
  }

 private:
  void find_devices() {
    std::set<std::string> names;
    for (const Machine& machine : options_.machines) {
      if (!names.insert(machine.name).second) {
        throw Failure({Code::invalid_argument, "two machines have the name " + machine.name});
      }
      for (const Machine::Device& device : machine.devices) {
        if (is_named(device.target, options_.device)) add_device(machine, device);
      }
    }
    if (!destinations_.empty() || (options_.device.empty() && !options_.targets.empty())) return;
    throw Failure({Code::invalid_argument, options_.device.empty()
                                               ? "the machines have no device: give --target"
                                               : "no device of the machines matches '" + options_.device + "'"});
  }

  void add_device(const Machine& machine, const Machine::Device& device) {
    const std::string id = identity(device.target);
    const auto is_it = [&](const Destination& to) { return to.identity == id; };
    auto to = std::find_if(destinations_.begin(), destinations_.end(), is_it);
    if (to == destinations_.end()) {
      const Target& t = device.target;
      const std::string label = t.platform_name + ": " + t.device_name + ", driver " + t.driver_version;
      to = destinations_.insert(to, Destination{id, label, t, "", device.compute_units, device.fp64, {}, {}});
    }
    if (!to->machines.empty() && to->machines.back() == machine.name) return;  // two of them in one machine
    to->machines.push_back(machine.name);
    if (device.compute_units == to->compute_units) to->tuning_machines.push_back(machine.name);
  }

  void find_targets() {
    if (options_.targets.empty()) return;
    const std::vector<OfflineTarget> known = need(offline_targets());
    for (const std::string& name : std::set<std::string>(options_.targets.begin(), options_.targets.end())) {
      Destination to;
      to.label = to.offline = name;
      for (const OfflineTarget& target : known) {
        if (target.name == name) to.target = target.device.target;
      }
      for (const Machine& machine : options_.machines) add_compiler(machine, to);
      if (to.machines.empty()) {
        throw Failure(
            {Code::invalid_argument, "no machine compiles for the target '" + name + "'; 'clbake targets' says why"});
      }
      destinations_.push_back(std::move(to));
    }
  }

  // The first machine's compilers bake, and those of machines that have the same.
  static void add_compiler(const Machine& machine, Destination& to) {
    for (const Machine::Offline& target : machine.targets) {
      if (target.name != to.offline) continue;
      if (to.machines.empty()) to.identity = target.identity, to.fp64 = target.fp64;
      if (target.identity == to.identity) to.machines.push_back(machine.name);
    }
  }

  // Relative to the manifest's directory where that is possible, with a digest. No file for an empty path.
  InputFile input(const std::string& path) const {
    if (path.empty()) return {};
    const std::string bytes = need(process::read_text_file(path, kMostPlanBytes));
    std::error_code error;
    const std::filesystem::path relative =
        std::filesystem::proximate(os::native(path), os::native(options_.directory), error);
    return {error ? path : os::utf8(relative), process::digest(bytes)};
  }

  void read_files() {
    for (const std::string& path : options_.profiles) {
      const profile::Tuning tuning = need(profile::read_tuning(path));
      profiles_.emplace_back(input(path), tuning.target);
    }
    shapes_ = input(options_.shapes);
    against_ = input(options_.against);
    if (!options_.programs.empty()) read_own_programs();
  }

  // The manifest of programs, and the files that it names.
  void read_own_programs() {
    const std::vector<Program> programs = need(read_programs(options_.programs));
    std::vector<std::string> paths = {options_.programs};
    for (const Program& program : programs) {
      if (!program.failure.empty()) {
        throw Failure(
            {Code::invalid_argument, options_.programs + ": program " + program.name + ": " + program.failure});
      }
      for (const std::string& path : program.files) {
        if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
      }
    }
    for (const std::string& path : paths) programs_.push_back(input(path));
  }

  // Adds the output to the command, and the piece to the plan.
  const Piece& add(Piece piece, const char* output_option = "-o") {
    piece.command.insert(piece.command.end(), {output_option, ""});
    piece.id = piece_id(piece);
    piece.command.back() = output_of(piece);
    return pieces_.emplace_back(std::move(piece));
  }

  static Piece piece_of(Stage stage, const Destination& to, const std::string& part) {
    Piece piece;
    piece.stage = stage;
    piece.title = std::string(name(stage)) + " " + to.label + (part.empty() ? "" : ", " + part);
    piece.device = to.identity;
    piece.machines = to.machines;
    return piece;
  }

  // A piece that any machine can do, on the merged bundle.
  static Piece piece_of(Stage stage, const std::string& title, const Piece& merged) {
    Piece piece;
    piece.stage = stage;
    piece.title = title;
    piece.command = {name(stage)};
    let_read(piece, merged);
    return piece;
  }

  // Lets `piece` read the output of another one.
  static void let_read(Piece& piece, const Piece& other) {
    piece.command.push_back(output_of(other));
    piece.needs.push_back(other.id);
  }
  static void option(Piece& piece, const char* name, const std::string& value) {
    if (!value.empty()) piece.command.insert(piece.command.end(), {name, value});
  }
  static void option(Piece& piece, const char* name, const InputFile& file) {
    option(piece, name, file.path);
    if (!file.path.empty()) piece.files.push_back(file);
  }
  static void options(Piece& piece, const std::vector<std::string>& more) {
    piece.command.insert(piece.command.end(), more.begin(), more.end());
  }

  void tune(const Destination& to) {
    Piece profile = piece_of(Stage::profile, to, "");
    profile.device.clear();  // joining shards needs no device
    profile.machines.clear();
    profile.command = {"tune", "--merge"};
    for (unsigned shard = 1; shard <= options_.shards; ++shard) {
      const std::string part = std::to_string(shard) + "/" + std::to_string(options_.shards);
      Piece piece = piece_of(Stage::tune, to, options_.shards == 1 ? "" : "shard " + part);
      piece.machines = to.tuning_machines;
      piece.compute_units = to.compute_units;
      piece.command = {"tune", "--device", to.identity, "--budget", options_.budget};
      option(piece, "--precision", joined(options_.precisions));
      option(piece, "--shapes", shapes_);
      if (options_.shards > 1) option(piece, "--shard", part);
      let_read(profile, add(std::move(piece)));
    }
    if (options_.shards > 1) add(std::move(profile));
    tuned_.emplace(to.identity, pieces_.back());
  }

  std::vector<Portion> portions(const Destination& to) const {
    const bool programs = !programs_.empty();
    if (!options_.split) return {{"", programs, options_.gemm, options_.variants, options_.precisions}};
    std::vector<Portion> all;
    if (programs) all.push_back({"programs", true, false, {}, {}});
    if (!options_.gemm) return all;
    for (const std::string& variant : options_.variants) all.push_back({variant, false, true, {variant}, {}});
    if (!options_.variants.empty()) return all;
    for (const std::string& precision : options_.precisions) {
      if (precision != "double" || to.fp64) all.push_back({precision, false, true, {}, {precision}});
    }
    return all;
  }

  void bake(const Destination& to, const Portion& portion) {
    Piece piece = piece_of(Stage::bake, to, portion.label);
    piece.command = {"build"};
    option(piece, "--target", to.offline);
    if (to.offline.empty()) option(piece, "--device", to.identity);
    if (portion.programs) {
      option(piece, "--programs", programs_.front().path);
      piece.files = programs_;
    }
    for (const std::string& variant : portion.variants) option(piece, "--variant", variant);
    if (portion.gemm && portion.variants.empty()) {
      option(piece, "--precision", joined(portion.precisions));
      add_profile(to, piece);
      if (options_.group) piece.command.emplace_back("--group");
    }
    options(piece, options_.bake);
    bakes_.push_back(add(std::move(piece)));
  }

  void add_profile(const Destination& to, Piece& piece) const {
    for (const auto& [file, target] : profiles_) {
      if (build::made_for(target, to.target)) option(piece, "--profile", file);
    }
    const auto tuned = tuned_.find(to.identity);
    if (tuned == tuned_.end()) return;
    piece.command.emplace_back("--profile");
    let_read(piece, tuned->second);
  }

  Piece merge() {
    Piece piece;
    piece.stage = Stage::merge;
    piece.title = "merge " + std::to_string(bakes_.size()) + (bakes_.size() == 1 ? " bundle" : " bundles");
    piece.command = {"merge"};
    for (const Piece& bake : bakes_) let_read(piece, bake);
    return add(std::move(piece));
  }

  void check(const Piece& merged) {
    const std::string& what = shapes_.path.empty() ? programs_.front().path : shapes_.path;
    Piece piece = piece_of(Stage::check, "check that the bundle serves " + what, merged);
    option(piece, "--shapes", shapes_);
    if (options_.variants.empty() && !shapes_.path.empty()) option(piece, "--precision", joined(common_precisions()));
    options(piece, options_.check);
    add(std::move(piece), "--junit");
  }

  // A bundle without gaps has these on every device, also where the bakes could not make them.
  std::vector<std::string> common_precisions() const {
    const auto has_double = [](const Destination& to) { return to.fp64; };
    std::vector<std::string> common = options_.precisions;
    if (!std::all_of(destinations_.begin(), destinations_.end(), has_double)) {
      common.erase(std::remove(common.begin(), common.end(), "double"), common.end());
    }
    return common;
  }

  void report(const Piece& merged) {
    Piece piece = piece_of(Stage::report, "report on the bundle", merged);
    option(piece, "--shapes", shapes_);
    option(piece, "--against", against_);
    options(piece, options_.report);
    add(std::move(piece));
  }

  const FleetOptions& options_;
  std::vector<Destination> destinations_;
  std::vector<std::pair<InputFile, Target>> profiles_;
  InputFile shapes_;
  InputFile against_;
  std::vector<InputFile> programs_;     // the manifest of the application's own, then what it names
  std::map<std::string, Piece> tuned_;  // makes the profile, by the device's identity
  std::vector<Piece> bakes_;
  std::vector<Piece> pieces_;
};

}  // namespace

Result<std::vector<Piece>> plan_fleet(const FleetOptions& options) try {
  return Planner(options).plan();
} catch (const Failure& failure) {
  return failure.status;
}

}  // namespace clbake::builder::fleet
