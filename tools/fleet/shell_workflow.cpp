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
      "# Exit status: 0 when all pieces are done; else the worst of theirs: an error's, or 3 for one that is not "
      "done.\n"
      "# Run it again: it does what is missing.\n"
      "manifest=" +
      shell_quoted(manifest.path) +
      "\n"
      "status=0\n"
      "piece() {\n"
      "  result=0\n"
      "  \"${CLBAKE:-clbake}\" work \"$manifest\" --piece \"$1\" > /dev/null || result=$?\n"
      "  [ $result -ne 130 ] || exit 130\n"
      "  case $status in 0 | 3) [ $result -eq 0 ] || status=$result ;; esac\n"
      "}\n";
  for (const builder::Stage stage : builder::all_stages) {
    for (const builder::Piece& piece : manifest.pieces) {
      if (piece.stage == stage) text += "piece " + piece.id + "  # " + piece.title + "\n";
    }
  }
  return text + "\"${CLBAKE:-clbake}\" work \"$manifest\" --list\nexit $status\n";
}

}  // namespace clbake::tool
