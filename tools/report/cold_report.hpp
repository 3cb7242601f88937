// Results of `bench cold`, for people and for programs.
#pragma once

#include "bench/cold_worker.hpp"
#include "cli/json.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clbake::tool {

// One way to the first result, and the figures of its trials (cold_worker.hpp).
struct ColdRow {
  const char* path;              // its name in the JSON
  const char* label;             // for people
  ColdJob job;                   // of its trials
  bool warm = false;             // keeps one driver cache for all trials
  bool compiles = false;         // its program must come from source; any other row's must not
  std::optional<bool> jit_free;  // only in the bundle's row: what the bundle records
  std::vector<Json> trials;
};

struct ColdReport {
  std::size_t size = 0;  // m = n = k
  std::vector<ColdRow> rows;
};

// Both require at least one trial of each row, and the bundle's row, with which the others are compared.
Json to_json(const ColdReport& report, const Target& target);
void print_text(const ColdReport& report, const Target& target);

}  // namespace clbake::tool
