// The stages of a search, and what they are called in the journal and in reports of the progress.
#pragma once

#include <clbake/builder/tuning.hpp>

#include <string>
#include <vector>

namespace clbake::builder {

enum class Stage { explore, range, refine, final_race };

// A stage for one precision and pair of transposes.
struct StageId {
  Stage stage = Stage::explore;
  GemmKind kind;
};

// For people: "explore single nn".
std::string progress_name(const StageId& stage);

// Keys of the journal: "explore single nn 17", "finals 1 single nn 64x64x64" and "out 1 direct-s-nn-..." of
// the race that is repeated for the first time.
std::string request_key(const StageId& stage, std::size_t number);
std::string race_key(std::size_t pass, const Shape& shape);
std::string race_failure_key(std::size_t pass, const std::string& variant);

// A precision and a pair of transposes with the shapes that are timed for it: indices into Tuning::shapes.
struct KindShapes {
  GemmKind kind;
  std::vector<std::uint32_t> list;
  std::vector<std::uint32_t> grid;
  std::vector<std::uint32_t> probes;
};

}  // namespace clbake::builder
