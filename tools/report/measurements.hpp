// Measurements as data: `--csv DIR` appends what was measured to the CSV files of a directory, from which
// tools/report/benchmarks.py draws tools/BENCHMARKS.md. runs.csv has a line for each run: its number, date, machine,
// device, driver, commit and command; the lines of the other files begin with the number of their run.
#pragma once

#include "cli/cli.hpp"
#include "report/cold_report.hpp"
#include "report/gemm_report.hpp"

namespace clbake::tool {

// --csv, --machine and --commit.
void add_measurement_options(Cli& cli);

// Called before anything is measured: fails with malformed when --csv is given and a file there has other columns.
Status check_gemm_csv(const Cli& cli);
Status check_cold_csv(const Cli& cli);

// Appends to gemm.csv, or cold.csv, and to runs.csv; nothing without --csv. `arguments`: of the verb, for the command.
// Fails with malformed when a file has other columns, or with io.
Status append_gemm(const Cli& cli, const std::vector<std::string>& arguments, const GemmReport& report);
Status append_cold(const Cli& cli, const std::vector<std::string>& arguments, const ColdReport& report,
                   const Target& target);

}  // namespace clbake::tool
