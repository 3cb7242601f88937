#include "fleet/workflow.hpp"

namespace clbake::tool {

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string shell_workflow(const builder::Manifest& manifest) {
  std::string text =
      "#!/bin/sh\n"
      "# Made by 'clbake plan --format shell'. Does the pieces of work that are not done and that this machine can "
      "do.\n"
      "# Exit status: 0 when all pieces are done; else that of the last that is not; run it again.\n"
      "manifest=" +
      shell_quoted(manifest.path) +
      "\n"
      "status=0\n"
      "piece() {\n"
      "  \"${CLBAKE:-clbake}\" work \"$manifest\" --piece \"$1\" || status=$?\n"
      "  [ $status -ne 130 ] || exit 130\n"
      "}\n";
  for (const builder::Stage stage : builder::all_stages) {
    for (const builder::Piece& piece : manifest.pieces) {
      if (piece.stage == stage) text += "piece " + piece.id + "  # " + piece.title + "\n";
    }
  }
  return text + "exit $status\n";
}

}  // namespace clbake::tool
