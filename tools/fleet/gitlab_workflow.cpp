#include "fleet/workflow.hpp"

#include <algorithm>

namespace clbake::tool {
namespace {

std::string stages_of(const builder::Manifest& manifest) {
  std::string list;
  for (const builder::Stage stage : builder::all_stages) {
    const auto is_of = [&](const builder::Piece& piece) { return piece.stage == stage; };
    if (std::any_of(manifest.pieces.begin(), manifest.pieces.end(), is_of)) {
      list += (list.empty() ? "" : ", ") + std::string(builder::name(stage));
    }
  }
  return list;
}

std::string job_of(const builder::Manifest& manifest, std::size_t index) {
  const builder::Piece& piece = manifest.pieces[index];
  const std::string output = yaml_quoted(path_from_root(manifest, output_of(piece)));
  std::string text = yaml_quoted(std::to_string(manifest.numbers[index]) + ": " + piece.title) + ":\n";
  text += "  extends: .piece\n";
  text += "  stage: " + std::string(builder::name(piece.stage)) + "\n";
  text += "  tags: [" + yaml_quoted(machine_for(piece, index)) + "]\n";
  text += "  variables: {PIECE: " + piece.id + "}\n";
  text += "  cache: {key: " + piece.id + ", paths: [" + output + "]}\n";
  text += "  artifacts:\n    when: always\n";
  text += "    paths: [" + output + ", " + yaml_quoted(path_from_root(manifest, "pieces/" + piece.id + ".log")) + "]\n";
  if (piece.stage == builder::Stage::check) text += "    reports: {junit: [" + output + "]}\n";
  return text;
}

}  // namespace

std::string gitlab_workflow(const builder::Manifest& manifest) {
  // A piece that cannot be done (3) does not keep the others of the later stages from theirs; merging names it.
  std::string text =
      "# Made by 'clbake plan --format gitlab'. Runners have clbake in PATH, the tag 'clbake', and their machine's "
      "name\n"
      "# as a tag. Running failed jobs again goes on where they stopped.\n"
      "stages: [" +
      stages_of(manifest) +
      "]\n\n"
      ".piece:\n"
      "  variables: {MANIFEST: " +
      yaml_quoted(manifest.path) +
      "}\n"
      "  script:\n"
      "    - clbake work \"$MANIFEST\" --piece \"$PIECE\"\n"
      "  when: always\n"
      "  retry: {max: 2, when: [runner_system_failure, stuck_or_timeout_failure]}\n";
  for (std::size_t i = 0; i < manifest.pieces.size(); ++i) text += "\n" + job_of(manifest, i);
  return text;
}

}  // namespace clbake::tool
