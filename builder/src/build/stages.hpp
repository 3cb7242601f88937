// The two stages of a build. Each task ends as baked or failed; what is done stays in the work directory.
//
// Compiling and proving need a process each: a driver that crashes takes one variant with it, and a proof needs a
// process that has compiled nothing. So a program's bytes are encoded three times: by the worker that compiles, for the
// one that proves (.compiled); by that one, for the build (.proven); and into the bundle. An offline target's program
// skips the second.
#pragma once

#include "build/tasks.hpp"

#include <atomic>

namespace clbake::builder {

// Counts the steps of a build and reports each.
class Steps {
 public:
  // `report` may be empty.
  explicit Steps(const std::function<void(const Progress&)>& report) : report_(report) {}
  void plan(std::size_t steps) { state_.steps = steps; }
  void skip_one() { --state_.steps; }
  void done(const std::string& last, const std::string& failure = {});
  void tell(const std::string& failure);  // nothing was done, but this failed
  void tell_of(const std::string& last);  // what was done is no step

 private:
  const std::function<void(const Progress&)>& report_;
  Progress state_;
};

struct StageContext {
  const BuildOptions& options;
  const std::string& work_directory;
  const std::atomic<bool>& cancel;
  Steps& steps;
};

// Compiles the pending tasks, several at a time; those of offline targets are baked then. Fails with cancelled or io.
Status compile_tasks(std::vector<Task>& tasks, const StageContext& context);

// Proves the pending tasks one at a time, with nothing compiling beside them: a proof is a measurement. Fails with
// cancelled or io.
Status prove_tasks(std::vector<Task>& tasks, const StageContext& context);

}  // namespace clbake::builder
