// `clbake work`: does pieces of a manifest on this machine, or shows which are done.
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "cli/progress_bar.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/fleet/work.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/cache/writer.hpp>
#include <clbake/os/libraries.hpp>
#include <clbake/os/paths.hpp>

#include <algorithm>
#include <cstdio>

namespace clbake::tool {
namespace {

using builder::fleet::Manifest;
using builder::fleet::Piece;
using builder::fleet::PieceResult;
using builder::fleet::PieceState;
using builder::fleet::Stage;

std::string path_of(const Manifest& manifest, const Piece& piece) {
  return os::joined_path(manifest.directory, output_of(piece));
}

Json json_of(const Manifest& manifest, const std::vector<std::size_t>& pieces,
             const std::vector<PieceResult>& results) {
  Json rows = Json::array();
  std::size_t done = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = manifest.pieces[pieces[i]];
    const PieceResult& result = results[i];
    done += result.state == PieceState::done ? 1 : 0;
    rows.push_back({{"number", pieces[i] + 1},
                    {"piece", piece.id},
                    {"title", piece.title},
                    {"state", name(result.state)},
                    {"made", result.made},
                    {"cause", result.cause},
                    {"output", path_of(manifest, piece)}});
  }
  return {{"manifest", manifest.path}, {"pieces", std::move(rows)}, {"done", done}};
}

// All rows, or those that are not done; and where the results are.
void print_text(const Manifest& manifest, const Json& json, bool all) {
  Json rows = Json::array();
  std::size_t made = 0;
  for (const Json& row : json["pieces"]) {
    made += row["made"] == true ? 1 : 0;
    if (all || row["state"] != "done") rows.push_back(row);
  }
  if (!rows.empty()) {
    print_table({{"piece", "number"}, "state", "title", "cause"}, rows);
  }
  std::printf("%s: %s of %s done, %zu of them now\n", manifest.path.c_str(), json["done"].dump().c_str(),
              counted(json["pieces"].size(), "piece").c_str(), made);
  for (const Json& row : json["pieces"]) {
    const Stage stage = manifest.pieces[row["number"].get<std::size_t>() - 1].stage;
    if (row["state"] != "done" || stage < Stage::merge) continue;
    std::printf("%s: %s\n", name(stage), row["output"].get<std::string>().c_str());
  }
}

// Shows a line for each piece, and a bar. Empty when interrupted.
std::vector<PieceResult> do_pieces(const Manifest& manifest, const std::vector<std::size_t>& pieces,
                                   const std::string& store) {
  ProgressBar bar;
  std::size_t ended = 0;
  const auto show = [&](const builder::fleet::WorkProgress& p) {
    const std::string label = std::to_string(&p.piece - manifest.pieces.data() + 1) + " " + p.piece.title;
    const PieceState state = p.result.state;
    if (p.begins && state == PieceState::damaged) bar.message("clbake work: made again: " + p.result.cause);
    if (p.begins) return bar.message("begins: " + label);
    const bool is_said = state == PieceState::failed || state == PieceState::done || pieces.size() == 1;
    if (is_said && !p.result.cause.empty()) bar.message("clbake work: " + label + ": " + p.result.cause);
    if (pieces.size() == 1) return;
    bar.show(++ended, pieces.size(), std::string(name(state)) + (p.result.made ? " now: " : ": ") + label);
  };
  Result<std::vector<PieceResult>> results =
      builder::fleet::work(manifest, pieces, os::path_of_program(), interrupted(), show, store);
  if (results.status().code() == Code::cancelled) return {};
  return need(std::move(results));
}

// Those that --piece names, else all.
std::vector<std::size_t> selected_pieces(const Cli& cli, const Manifest& manifest) {
  std::vector<std::size_t> pieces;
  for (const std::string& wanted : cli.list("piece")) {
    const std::size_t index = need(builder::fleet::find_piece(manifest, wanted));
    if (std::find(pieces.begin(), pieces.end(), index) == pieces.end()) pieces.push_back(index);
  }
  if (cli.has("piece")) return pieces;
  for (std::size_t i = 0; i < manifest.pieces.size(); ++i) pieces.push_back(i);
  return pieces;
}

// --output: the merged bundle under a name of its own.
void copy_bundle(const Manifest& manifest, const std::string& output) {
  for (const Piece& piece : manifest.pieces) {
    if (piece.stage != Stage::merge) continue;
    need(builder::build::check_output(output));
    const cache::Bytes merged = read_verified(path_of(manifest, piece));
    return need(cache::write_file(output, {merged.data(), merged.size()}));
  }
  throw Failure(manifest.path + ": has no piece that merges");
}

}  // namespace

int work(const std::vector<std::string>& arguments) {
  Cli cli("work FILE [OPTIONS]",
          "Does the pieces of work of a manifest of 'clbake plan' that are not done and that this machine can do.\n"
          "A piece is done when its output is there, in the directory 'pieces' beside the manifest, and intact.\n"
          "Several of these may run at a time, on one machine or on many. Exit status: 0 when all pieces are done,\n"
          "else 3.");
  cli.add_list("piece", "LIST", "only these pieces, by number or name, separated by commas");
  cli.add_flag("list", "do nothing: show which pieces are done");
  cli.add_value("store", "STORE", "bake with this directory of earlier programs: see 'clbake build'");
  cli.add_value("output,o", "FILE", "when everything is done, also copy the merged bundle here");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const Manifest manifest = need(builder::fleet::read_manifest(cli.file()));
  const std::vector<std::size_t> pieces = selected_pieces(cli, manifest);
  std::vector<PieceResult> results;
  if (cli.has("list")) {
    for (const std::size_t i : pieces) results.push_back(builder::fleet::look_at(manifest, manifest.pieces[i]));
  } else {
    results = do_pieces(manifest, pieces, cli.text("store"));
    if (results.empty()) {
      fail("clbake work: interrupted; finished work is kept, and the same command continues from there");
      return kInterrupted;
    }
  }
  const Json json = json_of(manifest, pieces, results);
  cli.has("json") ? print(json) : print_text(manifest, json, cli.has("list"));
  const bool complete = json["done"] == pieces.size();
  if (complete && cli.has("output")) {
    copy_bundle(manifest, behind_links(cli.text("output")));
  } else if (cli.has("output")) {
    std::fprintf(stderr, "clbake work: %s: not written, because not everything is done\n", cli.text("output").c_str());
  }
  return complete ? kSuccess : kLeftOut;
}

}  // namespace clbake::tool
