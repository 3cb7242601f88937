// What `bench cold` measured, for people and for programs.
#pragma once

#include "cli/json.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clbake::tool {

// One way to the first result, and the figures that its trials left (cold_trial.hpp).
struct ColdRow {
  const char* path;                 // its name in the JSON
  const char* label;                // for people
  const char* verb;                 // of the worker
  std::vector<std::string> behind;  // what the worker gets behind its ColdJob
  std::string bundle;               // of that job; a peer takes the device from it
  std::string target;
  bool warm = false;             // keeps one driver cache for all trials
  bool compiles = false;         // its program has to come from source; that of another row may not
  std::optional<bool> jit_free;  // as the bundle says; only of its row
  std::vector<Json> trials;
};

// Whole processes, in ms from spawn to their end.
struct ColdProcesses {
  std::vector<double> context;  // makes context and queue
  std::vector<double> bundle;   // and one product from the bundle
};

struct ColdReport {
  std::size_t size = 0;  // m = n = k
  std::vector<ColdRow> rows;
  ColdProcesses processes;
};

// clbake's own: what the others are compared with. Has to be there.
const ColdRow& bundle_row(const ColdReport& report);

// Both need at least one trial of each row and of the processes.
Json to_json(const ColdReport& report, const Target& target);
void print_text(const ColdReport& report, const Target& target);

}  // namespace clbake::tool
