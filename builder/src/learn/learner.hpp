// One program after another: compiled, proven, stored.
#pragma once

#include <clbake/builder/jobs.hpp>
#include <clbake/builder/learn.hpp>
#include <clbake/builder/process.hpp>

#include "learn/program_to_learn.hpp"

#include <string>

namespace clbake::builder::learn {

class Learner {
 public:
  // `directory`: for the files of the work. All must outlive this.
  Learner(const Settings& settings, const Overlay& overlay, const std::string& directory)
      : settings_(settings), overlay_(overlay), directory_(directory) {}

  // Stores the program of the request, unless the overlay has it or a driver failed at it before. A line for the log;
  // empty when there was nothing to do. Fails with io when a disk is full.
  Result<std::string> learn(const Request& request) const;

 private:
  bool has_given_up(const OverlayKey& key, std::uint64_t attempt) const;
  Status mark(const OverlayKey& key, std::uint64_t attempt, Code failure) const;
  // `place`: a directory for the files of this program.
  Result<Job> compile_and_prove(const ProgramToLearn& program) const;
  Result<Job> compile(const ProgramToLearn& program, const std::string& place) const;
  Result<Job> prove(const ProgramToLearn& program, const Job& compiled, const std::string& place) const;
  Status keep(const ProgramToLearn& program, const Job& job) const;
  Status work(const process::Command& command) const;

  const Settings& settings_;
  const Overlay& overlay_;
  const std::string& directory_;
};

}  // namespace clbake::builder::learn
