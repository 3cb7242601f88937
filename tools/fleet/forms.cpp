#include "fleet/forms.hpp"

#include "cli/cli.hpp"
#include "cli/json.hpp"

#include <clbake/cache/xxh64.hpp>
#include <clbake/os/paths.hpp>

#include <algorithm>
#include <cctype>
#include <cstring>
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

}  // namespace

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

}  // namespace clbake::tool
