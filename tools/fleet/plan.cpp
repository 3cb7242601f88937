// `clbake plan`: the pieces of work of a fleet, and the scripts that schedule them.
#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/fleet/plan.hpp>
#include <clbake/builder/fleet/work.hpp>
#include <clbake/builder/shape/shapes_file.hpp>
#include <clbake/cache/xxh64.hpp>
#include <clbake/os/paths.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

namespace clbake::tool {
namespace form_files {
extern const char* const files[][2];  // name and text; a pair of nulls at the end
}

namespace {

using builder::fleet::Manifest;
using builder::fleet::Piece;
using builder::fleet::PieceState;
using builder::fleet::Stage;

constexpr std::size_t kMaxMatrix = 256;  // jobs that GitHub allows in a matrix

void append(std::string& list, const char* separator, const std::string& item) {
  list += (list.empty() ? "" : separator) + item;
}

// ---- The graph, of which all forms are made.

// From where the manifest's path starts.
std::string path_of(const Manifest& manifest, const std::string& file) {
  return os::joined_path(manifest.directory, file);
}

std::string number_of(const Manifest& manifest, const Piece& piece) {
  return std::to_string(&piece - manifest.pieces.data() + 1);
}

// A key of the device and driver, or of the compilers, that a piece bakes for: its programs are of no use to others.
std::string driver_key(const Piece& piece) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(piece.device.data());
  std::string key;
  for (std::uint64_t hash = cache::xxh64(bytes, piece.device.size(), 0); key.size() < 16; hash >>= 4U) {
    key += "0123456789abcdef"[hash & 0xFU];
  }
  return key;
}

// `turn`: equal machines share the work.
Json piece_json(const Manifest& manifest, const Piece& piece, std::size_t turn) {
  std::string title = printable(piece.title);
  std::replace(title.begin(), title.end(), '$', '?');  // CI systems expand variables in it
  return {{"id", piece.id},
          {"title", title},
          {"label", number_of(manifest, piece) + ": " + title},
          {"driver", driver_key(piece)},
          {"machine", piece.machines.empty() ? "clbake" : piece.machines[turn % piece.machines.size()]},
          {"output", path_of(manifest, output_of(piece))},
          {"log", path_of(manifest, "pieces/" + piece.id + ".log")},
          {"baking", Json::array()},
          {"junit", Json::array()}};
}

// The stages that have pieces, each with `after`: one element, with the names of those before it, or none.
Json stages_json(const Manifest& manifest, std::string& names) {
  Json stages = Json::array();
  for (const Stage stage : builder::fleet::all_stages) {
    Json pieces = Json::array();
    for (const Piece& piece : manifest.pieces) {
      if (piece.stage == stage) pieces.push_back(piece_json(manifest, piece, pieces.size()));
      if (piece.stage == stage && stage == Stage::check) pieces.back()["junit"].push_back(Json::object());
      if (piece.stage == stage && stage == Stage::bake) pieces.back()["baking"].push_back(Json::object());
    }
    if (pieces.empty()) continue;
    Json after = Json::array();
    if (!names.empty()) after.push_back({{"earlier", names}});
    Json baking = Json::array();
    if (stage == Stage::bake) baking.push_back(Json::object());
    stages.push_back({{"stage", name(stage)}, {"after", after}, {"pieces", pieces}, {"baking", baking}});
    append(names, ", ", name(stage));
  }
  return stages;
}

// Slurm's job arrays: the pieces of one stage that are not done and that run on the same machines, after the arrays
// with what they need.
Json arrays_json(const Manifest& manifest) {
  Json arrays = Json::array();
  std::map<std::string, std::string> array_of;  // by a piece's id: "$job0"
  std::vector<std::set<std::string>> after;
  for (const Stage stage : builder::fleet::all_stages) {
    const std::size_t first = arrays.size();
    for (const Piece& piece : manifest.pieces) {
      if (piece.stage != stage || look_at(manifest, piece).state == PieceState::done) continue;
      std::string machines;
      for (const std::string& machine : piece.machines) append(machines, " ", machine);
      const char* const mode = piece.device.empty() ? "SHARED" : "EXCLUSIVE";  // with a device, it measures
      std::size_t i = first;
      while (i < arrays.size() && (arrays[i]["machines"] != machines || arrays[i]["mode"] != mode)) ++i;
      if (i == arrays.size()) {
        arrays.push_back({{"index", std::to_string(i)},
                          {"stage", name(stage)},
                          {"machines", machines},
                          {"mode", mode},
                          {"numbers", ""}});
        after.emplace_back();
      }
      append(arrays[i]["numbers"].get_ref<std::string&>(), ",", number_of(manifest, piece));
      array_of[piece.id] = "$job" + std::to_string(i);
      for (const std::string& need : piece.needs) {
        if (array_of.count(need) > 0) after[i].insert(array_of[need]);  // else it is done
      }
    }
  }
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    std::string jobs;
    for (const std::string& job : after[i]) append(jobs, ":", job);
    arrays[i]["after"] = jobs;
  }
  return arrays;
}

// ---- Filling a form in.

std::string quoted(const std::string& text, const std::string& filter) {
  if (filter == ":yaml") return Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);  // JSON's are YAML's
  if (filter != ":sh") return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

// "@title@" is the text of that name; "@title:yaml@" and "@title:sh@" are quoted.
std::string filled(const std::string& line, const Json& names) {
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = line.find('@'); at != std::string::npos; at = line.find('@', at + 1)) {
    const std::size_t end = line.find('@', at + 1);
    if (end == std::string::npos) break;
    const std::string inner = line.substr(at + 1, end - at - 1);
    const std::size_t colon = std::min(inner.find(':'), inner.size());
    const auto value = names.find(inner.substr(0, colon));
    if (value == names.end()) continue;
    out += line.substr(done, at - done) + quoted(value->get<std::string>(), inner.substr(colon));
    done = end + 1;
    at = end;
  }
  return out + line.substr(done);
}

// Fills in `lines` from `at` to the "%end" that closes them, whose index it returns. The lines from "%each NAME" to its
// "%end" are written once for each object of that list, with the texts of `names` as well.
std::size_t fill(const std::vector<std::string>& lines, std::size_t at, const Json& names, std::string* out) {
  for (; at < lines.size() && lines[at] != "%end"; ++at) {
    if (lines[at].rfind("%each ", 0) != 0) {
      if (out) *out += filled(lines[at], names) + "\n";
      continue;
    }
    if (out) {
      for (Json inner : names[lines[at].substr(std::strlen("%each "))]) {
        for (const auto& [name, value] : names.items()) {
          if (value.is_string() && !inner.contains(name)) inner[name] = value;
        }
        fill(lines, at + 1, inner, out);
      }
    }
    at = fill(lines, at + 1, names, nullptr);
  }
  return at;
}

Status check_for_ci(const std::string& format, const Manifest& manifest, const Json& stages) {
  // CI systems expand what looks like their expressions or variables, also where it is quoted.
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || std::strchr("._/ -+", c) != nullptr; };
  if (!std::all_of(manifest.path.begin(), manifest.path.end(), plain)) {
    return {Code::invalid_argument, manifest.path + ": a CI system needs a path of letters, digits and . _ / - +"};
  }
  for (const Json& stage : stages) {
    if (format != "github" || stage["pieces"].size() <= kMaxMatrix) continue;
    return {Code::invalid_argument, "the stage '" + stage["stage"].get<std::string>() + "' has " +
                                        std::to_string(stage["pieces"].size()) +
                                        " pieces; a matrix of GitHub Actions holds " + std::to_string(kMaxMatrix)};
  }
  return {};
}

// The text of forms/NAME.*.in, filled in from the manifest:
//   slurm   a script for bash that submits what is not done yet: a job array for each stage and group of machines
//   github  a workflow of GitHub Actions: a matrix for each stage
//   gitlab  a pipeline of GitLab: a job for each piece
// Paths for the CI systems are relative to the repository's root, as the manifest's path is. A piece's runner has the
// machine's name as a label or tag, or "clbake" where any machine will do. Fails with not_found for another name, and
// with invalid_argument for what the CI system cannot hold.
Result<std::string> form(const std::string& name, const Manifest& manifest) {
  const auto* file = form_files::files;
  while ((*file)[0] && std::string((*file)[0]).rfind(name + ".", 0) != 0) ++file;
  if (!(*file)[0]) return {Code::not_found, "'" + name + "' is none of slurm, github, gitlab"};
  std::string stage_names;
  const Json stages = stages_json(manifest, stage_names);
  const Status possible = name == "slurm" ? Status() : check_for_ci(name, manifest, stages);
  if (!possible) return possible;
  const Json graph = {{"manifest", manifest.path},
                      {"directory", path_of(manifest, "pieces")},
                      {"store", path_of(manifest, "store")},
                      {"stage_names", stage_names},
                      {"stages", stages},
                      {"arrays", name == "slurm" ? arrays_json(manifest) : Json::array()}};
  std::vector<std::string> lines;
  std::istringstream text((*file)[1]);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  std::string out;
  fill(lines, 0, graph, &out);
  return out;
}

// ---- The command

namespace fleet = builder::fleet;

void declare_plan_options(Cli& cli) {
  cli.add_value("output,o", "FILE", "the manifest to write; with --format the script, default stdout");
  cli.add_list("target", "LIST", "names of 'clbake targets', separated by commas: devices that no machine has");
  cli.add_value("device", "SPEC", "only the devices of the machines with this in their or their platform's name");
  cli.add_value("budget", "TIME", "tune each device for so long, such as 10m; default: do not tune");
  cli.add_value("shards", "N", "divide each tuning into N pieces, each of --budget; default 1");
  cli.add_value("shapes", "FILE", "problems to tune for and to check the bundle with, as for 'clbake tune'");
  cli.add_list("profile", "LIST", "profiles of 'clbake tune', for the devices that they were made for");
  cli.add_precision("single,double");
  cli.add_list("variant", "LIST", "bake exactly these variants or presets, separated by commas");
  cli.add_flag("group", "bake variants for groups of products, too, as 'clbake build --group' does");
  cli.add_value(
      "programs", "FILE",
      "bake the application's own kernels that this manifest names, as 'clbake build --programs' does; alone, "
      "no GEMM beside them");
  cli.add_flag("split", "bake each precision, or with --variant each variant, and the programs, as a piece of its own");
  cli.add_flag("reproducible", "leave measured times out of the bundles");
  cli.add_value("require", "LIST", "with --shapes or --programs: what 'clbake check' has to find");
  cli.add_flag("newer-driver", "check and report as for applications that set Options::newer_driver");
  cli.add_value("against", "BUNDLE", "the last release, which the report compares with");
  cli.add_value("from", "MANIFEST", "with --format: of these pieces instead of planning");
  cli.add_value("format", "NAME", "with --from: print slurm, github or gitlab");
}

// As for `clbake build`: with a manifest of programs, only what asks for GEMM gets it.
bool bakes_gemm(const Cli& cli) {
  if (!cli.has("programs")) return true;
  const auto given = [&](const char* option) { return cli.has(option); };
  const char* const options[] = {"precision", "variant", "profile", "budget", "group"};
  return std::any_of(std::begin(options), std::end(options), given);
}

void check_options(const Cli& cli) {
  if (cli.has("format") != cli.has("from")) throw UsageError("--format and --from: only together");
  if (!cli.has("from") && !cli.has("output")) throw UsageError("the option '--output' is required but missing");
  if (cli.has("from") && !cli.files().empty()) throw UsageError("--from: takes no FILE of a machine");
  for (const char* option : {"precision", "profile", "budget", "group"}) {
    if (cli.has("variant") && cli.has(option))
      throw UsageError(std::string("--") + option + ": --variant says what is baked");
  }
  if (cli.has("budget")) seconds_of(cli.text("budget"));
  if (cli.has("shards") && !cli.has("budget")) throw UsageError("--shards: needs --budget");
  if (cli.has("require") && !cli.has("shapes") && !cli.has("programs")) {
    throw UsageError("--require: needs --shapes or --programs");
  }
  if (!bakes_gemm(cli) && cli.has("shapes")) throw UsageError("--shapes: --programs alone bakes no GEMM");
  requirements_of(cli.text("require", "baked"));
}

// Passes an option on as the user gave it.
void pass(const Cli& cli, const std::string& name, std::vector<std::string>& to) {
  if (!cli.has(name.c_str())) return;
  to.push_back("--" + name);
  const std::string value = cli.text(name.c_str());
  if (!value.empty()) to.push_back(value);  // empty: a flag
}

// A mistake in an option should show now, not on every machine.
fleet::FleetOptions fleet_options(const Cli& cli) {
  fleet::FleetOptions options;
  options.device = cli.text("device");
  options.targets = cli.list("target");
  options.budget = cli.text("budget");
  options.shards = static_cast<unsigned>(cli.size("shards", 1, 1, 1000));
  options.shapes = cli.text("shapes");
  options.profiles = cli.list("profile");
  options.programs = cli.text("programs");
  options.gemm = bakes_gemm(cli);
  options.group = cli.has("group");
  options.split = cli.has("split");
  options.against = cli.text("against");
  pass(cli, "reproducible", options.bake);
  for (const char* option : {"require", "newer-driver"}) pass(cli, option, options.check);
  pass(cli, "newer-driver", options.report);
  options.directory = os::parent_of(behind_links(cli.text("output")));
  if (options.directory.empty()) options.directory = ".";
  const std::vector<Precision> precisions = cli.precisions("precision");
  options.precisions.clear();
  for (const Precision precision : precisions) options.precisions.emplace_back(name(precision));
  const std::vector<GemmKind> kinds = kinds_of(precisions, "nn,nt,tn,tt");
  for (const kernels::Params& params : variants_named(cli.list("variant"))) {
    options.variants.push_back(kernels::name(params));
  }
  if (cli.has("shapes")) need(builder::read_shapes(options.shapes, kinds), "--shapes");
  if (cli.has("against")) {
    if (options.against.find(',') != std::string::npos) {
      throw UsageError("--against: '" + options.against + "': one bundle, without a comma in its name");
    }
    open_verified(options.against, "--against");
  }
  for (const std::string& file : cli.files()) options.machines.push_back(need(fleet::read_machine(file)));
  if (options.machines.empty()) options.machines.push_back(need(fleet::this_machine()));
  return options;
}

void write_plan(const Cli& cli) {
  const fleet::FleetOptions options = fleet_options(cli);
  const std::vector<fleet::Piece> pieces = need(fleet::plan_fleet(options));
  const std::string output = behind_links(cli.text("output"));
  need(fleet::write_manifest(output, pieces));
  std::printf("%s: %s of work for %s\n", output.c_str(), counted(pieces.size(), "piece").c_str(),
              counted(options.machines.size(), "machine").c_str());
  Json rows = Json::array();
  for (const fleet::Piece& piece : pieces) {
    rows.push_back({{"number", rows.size() + 1}, {"title", piece.title}, {"machines", piece.machines}});
  }
  print_table({{"piece", "number"}, "title", "machines"}, rows);
}

void write_form(const Cli& cli) {
  const std::string output = behind_links(cli.text("output"));
  check_not_input(output, {cli.text("from")});
  const Result<std::string> text = form(cli.text("format"), need(fleet::read_manifest(cli.text("from")), "--from"));
  if (text.status().code() == Code::not_found) throw UsageError("--format: " + text.status().message());
  need(text.status(), "--format");
  if (cli.has("output")) {
    write_text(output, *text);
  } else {
    std::cout << *text;
  }
}

}  // namespace

int plan(const std::vector<std::string>& arguments) {
  Cli cli("plan [FILE...] [OPTIONS] -o FILE",
          "Plans a bundle that several machines bake: writes a manifest of pieces of work, which 'clbake work'\n"
          "does. A FILE is what 'clbake devices --json' printed on a machine; without one, this machine does all.\n"
          "--format prints a script that has a scheduler do the pieces of a manifest.");
  declare_plan_options(cli);
  if (const auto status = cli.parse(arguments)) return *status;
  check_options(cli);
  cli.has("from") ? write_form(cli) : write_plan(cli);
  return kSuccess;
}

}  // namespace clbake::tool
