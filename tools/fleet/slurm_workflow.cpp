#include "fleet/workflow.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace clbake::tool {
namespace {

// Pieces of one stage that run on the same machines: a job array.
struct Group {
  builder::Stage stage = builder::Stage::bake;
  bool has_device = false;
  std::vector<std::string> machines;
  std::string numbers;          // "3,4,7"
  std::set<std::size_t> after;  // groups that it needs
};

std::vector<Group> groups_of(const builder::Manifest& manifest) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> group_of_piece;
  for (std::size_t i = 0; i < manifest.pieces.size(); ++i) {
    const builder::Piece& piece = manifest.pieces[i];
    if (builder::look_at(manifest, piece).state == builder::PieceState::done) continue;
    const auto same = [&](const Group& g) {
      return g.stage == piece.stage && g.machines == piece.machines && g.has_device == !piece.device.empty();
    };
    auto group = std::find_if(groups.begin(), groups.end(), same);
    if (group == groups.end()) {
      group = groups.insert(groups.end(), {piece.stage, !piece.device.empty(), piece.machines, {}, {}});
    }
    group->numbers += (group->numbers.empty() ? "" : ",") + std::to_string(manifest.numbers[i]);
    const auto index = static_cast<std::size_t>(group - groups.begin());
    group_of_piece[piece.id] = index;
    for (const std::string& need : piece.needs) {
      const auto found = group_of_piece.find(need);  // a piece that is done is in none
      if (found != group_of_piece.end() && found->second != index) group->after.insert(found->second);
    }
  }
  return groups;
}

// `afterany`: a piece whose inputs are missing says so itself, and the other pieces go on.
constexpr const char* kSubmit = R"sh(
command -v sbatch > /dev/null || { echo "sbatch is not in PATH" >&2; exit 1; }
clbake=$(command -v "${CLBAKE:-clbake}") || { echo "${CLBAKE:-clbake} is not in PATH" >&2; exit 1; }
manifest=$(realpath -- "$manifest")
mkdir -p "$(dirname "$manifest")/pieces"
nodes=$(sinfo --noheader --Node --format=%N | sort -u)
options=("$@")

# quoted TEXT: for any shell.
quoted() { printf "'%s'" "${1//\'/\'\\\'\'}"; }

# submit NAME NUMBERS EXCLUSIVE|SHARED "MACHINES" "JOBS": the number of the job array. The nodes that are none of
# MACHINES are excluded; without any, no node is. It begins when JOBS have ended, well or not: the outputs tell.
# A task that was killed (137) is queued again, at most three times.
submit() {
  local directory
  directory=$(dirname "$manifest")
  local arguments=(--parsable --job-name="clbake-$1" --array="$2" --requeue --open-mode=append
                   --chdir="$directory" --output="${directory//%/%%}/pieces/slurm-%A_%a.log")
  [ "$3" != EXCLUSIVE ] || arguments+=(--exclusive)
  if [ -n "$4" ]; then
    local machine others
    for machine in $4; do
      grep -qxF -- "$machine" <<< "$nodes" || { echo "Slurm has no node $machine" >&2; return 1; }
    done
    others=$(grep -vxF -- "${4// /$'\n'}" <<< "$nodes" | paste -sd,) || true
    [ -z "$others" ] || arguments+=(--exclude="$others")
  fi
  [ -z "$5" ] || arguments+=(--dependency="afterany:$5")
  local task
  task="$(quoted "$clbake") work $(quoted "$manifest") --piece \$SLURM_ARRAY_TASK_ID"
  # shellcheck disable=SC2016
  task+='; status=$?
if [ $status -eq 137 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ]; then
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" && sleep 60
fi
exit $status'
  sbatch "${arguments[@]}" "${options[@]}" --wrap="$task"
}
)sh";

}  // namespace

std::string slurm_workflow(const builder::Manifest& manifest) {
  std::string text =
      "#!/usr/bin/env bash\n"
      "# Made by 'clbake plan --format slurm'. Submits the pieces of work that were not done then; prints the numbers\n"
      "# of the job arrays. Arguments go to every sbatch.\n"
      "set -euo pipefail\n"
      "manifest=" +
      shell_quoted(manifest.path) + "\n" + kSubmit + "\n";
  const std::vector<Group> groups = groups_of(manifest);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::string machines, after;
    for (const std::string& machine : groups[g].machines) machines += (machines.empty() ? "" : " ") + machine;
    for (const std::size_t other : groups[g].after) after += (after.empty() ? "$job" : ":$job") + std::to_string(other);
    text += "job" + std::to_string(g) + "=$(submit " + builder::name(groups[g].stage) + " " + groups[g].numbers +
            (groups[g].has_device ? " EXCLUSIVE" : " SHARED") + " \"" + machines + "\" \"" + after + "\")\n" +
            "echo \"$job" + std::to_string(g) + "\"\n";
  }
  return text;
}

}  // namespace clbake::tool
