#include <clbake/builder/fleet/manifest.hpp>
#include <clbake/cache/writer.hpp>
#include <clbake/exceptions_to_status.hpp>

#include "process/json_reader.hpp"
#include "process/text_file.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

namespace clbake::builder {
namespace {

constexpr const char* kFormat = "clbake manifest";
constexpr std::uint32_t kVersion = 1;
constexpr std::uintmax_t kMaxBytes = std::uintmax_t{64} << 20;
constexpr std::size_t kMaxDepth = 4;
constexpr std::uint64_t kMaxPieces = 100000;

Json piece_json(const Piece& piece) {
  Json files = Json::array();
  for (const InputFile& file : piece.files) files.push_back({{"path", file.path}, {"digest", file.digest}});
  return {{"piece", piece.id},
          {"title", piece.title},
          {"command", piece.command},
          {"files", files},
          {"needs", piece.needs},
          {"device", piece.device},
          {"compute_units", piece.compute_units},
          {"machines", piece.machines}};
}

std::string line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

// A line of a manifest.
class PieceParser {
 public:
  explicit PieceParser(Piece& piece) : piece_(piece) {}
  const std::string& failure() const { return in_.failure(); }

  bool parse(const JsonValue& at) {
    const auto files = [this](const JsonValue& list) {
      return in_.list(list, [this](const JsonValue& element) { return file(element); });
    };
    return in_.object(at, in_.field("piece", piece_.id), in_.field("title", piece_.title),
                      texts("command", piece_.command), json_field("files", files), texts("needs", piece_.needs),
                      in_.field("device", piece_.device), in_.field("compute_units", piece_.compute_units),
                      texts("machines", piece_.machines)) &&
           consistent(at);
  }

 private:
  // A field that is a list of texts.
  JsonField<std::function<bool(const JsonValue&)>> texts(const char* key, std::vector<std::string>& list) {
    return {key, [this, &list](const JsonValue& at) {
              return in_.list(at, [&](const JsonValue& element) { return in_.read(element, list.emplace_back()); });
            }};
  }

  bool file(const JsonValue& at) {
    InputFile& file = piece_.files.emplace_back();
    return in_.object(at, in_.field("path", file.path), in_.field("digest", file.digest));
  }

  bool consistent(const JsonValue& at) {
    const std::string stage = piece_.id.substr(0, piece_.id.find('-'));
    const auto* const known =
        std::find_if(std::begin(all_stages), std::end(all_stages), [&](Stage s) { return stage == builder::name(s); });
    if (known == std::end(all_stages)) return in_.fail(at, "piece", "'" + stage + "' is no stage");
    piece_.stage = *known;
    constexpr const char* kVerbs[] = {"tune", "tune", "build", "merge", "check", "report"};
    if (piece_.command.size() < 3 || piece_.command[0] != kVerbs[static_cast<int>(*known)]) {
      return in_.fail(at, "command", "is no command of the stage '" + stage + "'");
    }
    const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
    if (!std::all_of(piece_.title.begin(), piece_.title.end(), printable)) {
      return in_.fail(at, "title", "is not printable ASCII");
    }
    if (!std::all_of(piece_.machines.begin(), piece_.machines.end(), is_machine_name)) {
      return in_.fail(at, "machines", "has what is no machine's name");
    }
    if (piece_id(piece_) != piece_.id || piece_.command.back() != output_of(piece_)) {
      return in_.fail(at, "the piece is not named after its contents: the line was changed");
    }
    return true;
  }

  JsonReader in_;
  Piece& piece_;
};

// The number of pieces that the first line promises.
Status read_header(const std::string& text, std::size_t& count) {
  const Result<Json> json = parse_json(text, kMaxDepth);
  JsonReader in;
  std::string format;
  if (!json || !in.member({*json}, in.field("format", format)) || format != kFormat) {
    return {Code::malformed, "is no manifest of 'clbake plan'"};
  }
  std::uint32_t version = 0;
  std::string clbake;
  std::uint64_t pieces = 0;
  if (!in.member({*json}, in.field("version", version)) || !in.member({*json}, in.field("clbake", clbake))) {
    return {Code::malformed, in.failure()};
  }
  if (version != kVersion || clbake != CLBAKE_VERSION) {
    return {Code::unsupported_version, "made by clbake " + clbake + " (manifest version " + std::to_string(version) +
                                           "), this is clbake " CLBAKE_VERSION " (version " + std::to_string(kVersion) +
                                           "): make it again with 'clbake plan'"};
  }
  if (!in.member({*json}, in.field("pieces", pieces))) return {Code::malformed, in.failure()};
  if (pieces > kMaxPieces) return {Code::malformed, "pieces: " + std::to_string(pieces) + " is too much"};
  count = pieces;
  return {};
}

// Pieces may only need those before them, so that there is no circle.
std::string unknown_need(const Piece& piece, const std::set<std::string>& known) {
  if (known.count(piece.id) > 0) return piece.id + " is there twice";
  for (const std::string& need : piece.needs) {
    if (known.count(need) == 0) return "needs " + need + ", which is not before it";
  }
  return {};
}

void read_pieces(const std::vector<std::string>& lines, Manifest& manifest) {
  std::set<std::string> known;
  for (std::size_t number = 1; number <= manifest.count; ++number) {
    std::string cause = "the manifest ends before it";
    if (number < lines.size()) {
      Piece piece;
      const Result<Json> json = parse_json(lines[number], kMaxDepth);
      PieceParser parser(piece);
      cause = json ? (parser.parse({*json}) ? unknown_need(piece, known) : parser.failure()) : json.status().message();
      if (cause.empty()) {
        known.insert(piece.id);
        manifest.pieces.push_back(std::move(piece));
        manifest.numbers.push_back(number);
        continue;
      }
    }
    manifest.damaged.push_back({number, cause});
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace

std::string manifest_text(const std::vector<Piece>& pieces) {
  std::string text =
      line({{"format", kFormat}, {"version", kVersion}, {"clbake", CLBAKE_VERSION}, {"pieces", pieces.size()}});
  for (const Piece& piece : pieces) text += line(piece_json(piece));
  return text;
}

Result<Manifest> read_manifest(const std::string& path) {
  return exceptions_to_status([&]() -> Result<Manifest> {
    const Result<std::string> text = read_text_file(path, kMaxBytes);
    if (!text) return text.status();
    const std::vector<std::string> lines = lines_of(*text);
    Manifest manifest;
    manifest.path = path;
    manifest.directory = std::filesystem::path(path).parent_path().string();
    if (manifest.directory.empty()) manifest.directory = ".";
    const Status header = read_header(lines.empty() ? std::string() : lines[0], manifest.count);
    if (!header) return header.within(path);
    if (manifest.count == 0 || lines.size() - 1 > manifest.count) {
      return Status(Code::malformed, "the first line says pieces: " + std::to_string(manifest.count) + ", and " +
                                         std::to_string(lines.size() - 1) + " lines follow")
          .within(path);
    }
    read_pieces(lines, manifest);
    return manifest;
  });
}

Status write_manifest(const std::string& path, const std::vector<Piece>& pieces) {
  const Result<Manifest> old = read_manifest(path);
  if (!old && old.status().code() == Code::malformed) {
    return {Code::invalid_argument, path + ": exists and is no manifest; it stays as it is"};
  }
  const std::string text = manifest_text(pieces);
  return cache::write_file(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

Result<std::size_t> find_piece(const Manifest& manifest, const std::string& number_or_id) {
  for (std::size_t i = 0; i < manifest.pieces.size(); ++i) {
    if (number_or_id == manifest.pieces[i].id || number_or_id == std::to_string(manifest.numbers[i])) return i;
  }
  for (const DamagedPiece& damaged : manifest.damaged) {
    if (number_or_id == std::to_string(damaged.number)) {
      return {Code::malformed, manifest.path + ": piece " + number_or_id + ": " + damaged.cause};
    }
  }
  return {Code::not_found, manifest.path + ": has no piece '" + number_or_id + "'; they are numbered from 1 to " +
                               std::to_string(manifest.count)};
}

}  // namespace clbake::builder
