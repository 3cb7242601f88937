#include "fleet/forms.hpp"

#include "cli/json.hpp"
#include "cli/printable.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
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

// ---- The graph: what forms can say about the pieces.

// From where the manifest's path starts.
std::string path_of(const Manifest& manifest, const std::string& file) {
  return (std::filesystem::path(manifest.directory) / file).lexically_normal().generic_string();
}

std::string number_of(const Manifest& manifest, const Piece& piece) {
  return std::to_string(&piece - manifest.pieces.data() + 1);
}

// `turn`: equal machines share the work.
Json piece_json(const Manifest& manifest, const Piece& piece, std::size_t turn) {
  std::string title = printable(piece.title);
  std::replace(title.begin(), title.end(), '$', '?');  // CI systems expand variables in it
  const bool is_check = piece.stage == Stage::check;
  return {{"id", piece.id},
          {"title", title},
          {"label", number_of(manifest, piece) + ": " + title},
          {"machine", piece.machines.empty() ? "clbake" : piece.machines[turn % piece.machines.size()]},
          {"output", path_of(manifest, output_of(piece))},
          {"log", path_of(manifest, "pieces/" + piece.id + ".log")},
          {"junit", is_check ? Json::array({Json::object()}) : Json::array()}};
}

// The stages that have pieces, each with `earlier`, the names of those before it.
Json stages_json(const Manifest& manifest, std::string& names) {
  Json stages = Json::array();
  for (const Stage stage : builder::fleet::all_stages) {
    Json pieces = Json::array();
    for (const Piece& piece : manifest.pieces) {
      if (piece.stage == stage) pieces.push_back(piece_json(manifest, piece, pieces.size()));
    }
    if (pieces.empty()) continue;
    const Json after = names.empty() ? Json::array() : Json::array({Json{{"earlier", names}}});
    stages.push_back({{"stage", name(stage)}, {"after", after}, {"pieces", pieces}});
    names += (names.empty() ? "" : ", ") + std::string(name(stage));
  }
  return stages;
}

// Slurm's job arrays: the pieces of one stage that are not done and that run on the same machines.
Json arrays_json(const Manifest& manifest) {
  struct Array {
    std::string stage, mode, machines, numbers;
    std::set<std::size_t> after;  // arrays that it needs
  };
  std::vector<Array> arrays;
  std::map<std::string, std::size_t> array_of;  // by a piece's id
  std::vector<const Piece*> pieces;
  for (const Piece& piece : manifest.pieces) pieces.push_back(&piece);
  const auto is_before = [](const Piece* a, const Piece* b) { return a->stage < b->stage; };
  std::stable_sort(pieces.begin(), pieces.end(), is_before);  // an array needs only those before it
  for (const Piece* p : pieces) {
    const Piece& piece = *p;
    if (look_at(manifest, piece).state == PieceState::done) continue;
    std::string machines;
    for (const std::string& machine : piece.machines) machines += (machines.empty() ? "" : " ") + machine;
    const std::string mode = piece.device.empty() ? "SHARED" : "EXCLUSIVE";  // with a device, it measures
    const auto same = [&](const Array& a) {
      return a.stage == name(piece.stage) && a.machines == machines && a.mode == mode;
    };
    auto array = std::find_if(arrays.begin(), arrays.end(), same);
    if (array == arrays.end()) array = arrays.insert(array, Array{name(piece.stage), mode, machines, {}, {}});
    array->numbers += (array->numbers.empty() ? "" : ",") + number_of(manifest, piece);
    array_of[piece.id] = static_cast<std::size_t>(array - arrays.begin());
    for (const std::string& need : piece.needs) {
      if (array_of.count(need) > 0) array->after.insert(array_of[need]);  // else it is done
    }
  }
  Json list = Json::array();
  for (const Array& a : arrays) {
    std::string after;
    for (const std::size_t other : a.after) after += (after.empty() ? "$job" : ":$job") + std::to_string(other);
    list.push_back({{"index", std::to_string(list.size())},
                    {"stage", a.stage},
                    {"numbers", a.numbers},
                    {"mode", a.mode},
                    {"machines", a.machines},
                    {"after", after}});
  }
  return list;
}

// ---- Filling a form in.

std::string quoted_for_shell(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string quoted_for_yaml(const std::string& text) {
  return Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);  // JSON's texts are YAML's
}

// The value in the innermost object that has it; null when none has.
const Json* find(const std::vector<const Json*>& scopes, const std::string& name) {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    if ((*scope)->contains(name)) return &(**scope)[name];
  }
  return nullptr;
}

// "@title@" is the text of that name; "@title:yaml@" and "@title:sh@" are quoted.
std::string filled(const std::string& line, const std::vector<const Json*>& scopes) {
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = line.find('@'); at != std::string::npos; at = line.find('@', at + 1)) {
    const std::size_t end = line.find('@', at + 1);
    if (end == std::string::npos) break;
    const std::string inner = line.substr(at + 1, end - at - 1);
    const std::string filter = inner.substr(std::min(inner.find(':'), inner.size()));
    const Json* value = find(scopes, inner.substr(0, inner.size() - filter.size()));
    if (!value) continue;
    const auto text = value->get<std::string>();
    out += line.substr(done, at - done);
    out += filter == ":sh" ? quoted_for_shell(text) : filter == ":yaml" ? quoted_for_yaml(text) : text;
    done = end + 1;
    at = end;
  }
  return out + line.substr(done);
}

// Fills in `lines` from `at` to the "%end" that closes them. The lines from "%each NAME" to its "%end" are written once
// for each object of that list. Returns the index of the closing line.
std::size_t fill(const std::vector<std::string>& lines, std::size_t at, const std::vector<const Json*>& scopes,
                 std::string* out) {
  for (; at < lines.size() && lines[at] != "%end"; ++at) {
    const bool repeats = lines[at].rfind("%each ", 0) == 0;
    if (!repeats && out) *out += filled(lines[at], scopes) + "\n";
    if (!repeats) continue;
    const Json* list = find(scopes, lines[at].substr(std::strlen("%each ")));
    if (out && list) {
      for (const Json& object : *list) {
        std::vector<const Json*> inner = scopes;
        inner.push_back(&object);
        fill(lines, at + 1, inner, out);
      }
    }
    at = fill(lines, at + 1, scopes, nullptr);
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
  if (!(*file)[0]) return {Code::not_found, "'" + name + "' is none of shell, slurm, github, gitlab"};
  std::string stage_names;
  const Json stages = stages_json(manifest, stage_names);
  const bool for_ci = name == "github" || name == "gitlab";
  const Status possible = for_ci ? check_for_ci(name, manifest, stages) : Status();
  if (!possible) return possible;
  const Json graph = {{"manifest", manifest.path},
                      {"directory", path_of(manifest, "pieces")},
                      {"stage_names", stage_names},
                      {"stages", stages},
                      {"arrays", name == "slurm" ? arrays_json(manifest) : Json::array()}};
  std::vector<std::string> lines;
  std::istringstream text((*file)[1]);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  std::string out;
  fill(lines, 0, {&graph}, &out);
  return out;
}

}  // namespace clbake::tool
