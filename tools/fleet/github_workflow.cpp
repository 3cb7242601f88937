#include "cli/json.hpp"
#include "fleet/workflow.hpp"

#include <filesystem>

namespace clbake::tool {
namespace {

constexpr std::size_t kMaxMatrix = 256;  // jobs that GitHub allows in a matrix

// A title may hold what GitHub takes for an expression.
std::string title_of(const builder::Piece& piece) {
  std::string title = piece.title;
  for (std::size_t at = title.find("${{"); at != std::string::npos; at = title.find("${{")) title.erase(at, 1);
  return yaml_quoted(title);
}

// The keys of a job that do not depend on the stage. The cache brings what an earlier run of the workflow made.
std::string steps(const builder::Manifest& manifest) {
  const std::string pieces = path_from_root(manifest, "pieces");
  return "    name: ${{ matrix.title }}\n"
         "    runs-on: [self-hosted, '${{ matrix.machine }}']\n"
         "    steps:\n"
         "      - uses: actions/checkout@v4\n"
         "      - uses: actions/cache@v4\n"
         "        with:\n"
         "          path: ${{ matrix.output }}\n"
         "          key: clbake-${{ matrix.piece }}\n"
         "      - uses: actions/download-artifact@v4\n"
         "        with:\n"
         "          path: " +
         yaml_quoted(pieces) +
         "\n"
         "          merge-multiple: true\n"
         "      - run: " +
         yaml_quoted("clbake work " + shell_quoted(manifest.path) + " --piece ${{ matrix.piece }}") +
         "\n"
         "      - uses: actions/upload-artifact@v4\n"
         "        if: always()\n"
         "        with:\n"
         "          name: ${{ matrix.piece }}\n"
         "          path: |\n"
         "            ${{ matrix.output }}\n"
         "            " +
         pieces +
         "/${{ matrix.piece }}.log\n"
         "          if-no-files-found: ignore\n"
         "          overwrite: true\n";
}

}  // namespace

std::string yaml_quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);  // JSON's texts are YAML's
}

std::string machine_for(const builder::Piece& piece, std::size_t turn) {
  return piece.machines.empty() ? "clbake" : piece.machines[turn % piece.machines.size()];
}

std::string path_from_root(const builder::Manifest& manifest, const std::string& file) {
  return (std::filesystem::path(manifest.directory) / file).lexically_normal().generic_string();
}

Result<std::string> github_workflow(const builder::Manifest& manifest) {
  std::string text =
      "# Made by 'clbake plan --format github'. Runners have clbake in PATH, the label 'clbake', and their machine's\n"
      "# name as a label. Running failed jobs again goes on where they stopped.\n"
      "name: clbake fleet\n"
      "on: workflow_dispatch\n"
      "permissions:\n"
      "  contents: read\n"
      "jobs:\n";
  std::string earlier;  // stages
  for (const builder::Stage stage : builder::all_stages) {
    std::string rows;
    std::size_t count = 0;
    for (const builder::Piece& piece : manifest.pieces) {
      if (piece.stage != stage) continue;
      rows += "          - title: " + title_of(piece) + "\n            piece: " + piece.id +
              "\n            machine: " + yaml_quoted(machine_for(piece, count++)) +
              "\n            output: " + yaml_quoted(path_from_root(manifest, output_of(piece))) + "\n";
    }
    if (rows.empty()) continue;
    if (count > kMaxMatrix) {
      return {Code::invalid_argument, "the stage '" + std::string(name(stage)) + "' has " + std::to_string(count) +
                                          " pieces; a matrix of GitHub Actions holds " + std::to_string(kMaxMatrix)};
    }
    text += "  " + std::string(name(stage)) + ":\n";
    if (!earlier.empty()) text += "    needs: [" + earlier + "]\n    if: ${{ !cancelled() }}\n";
    text += "    strategy:\n      fail-fast: false\n      matrix:\n        include:\n" + rows + steps(manifest);
    earlier += (earlier.empty() ? "" : ", ") + std::string(name(stage));
  }
  return text;
}

}  // namespace clbake::tool
