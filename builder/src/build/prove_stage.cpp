#include "build/stages.hpp"
#include "prove/proof_runner.hpp"

namespace clbake::builder {

Status prove_tasks(std::vector<Task>& tasks, const StageContext& context) {
  const BuildOptions& options = context.options;
  ProofRunner runner(options.worker, options.timeout, context.cancel, context.work_directory, options.fresh);
  for (Task& task : tasks) {
    if (!task.pending()) continue;
    Result<ProofOutcome> outcome = runner.prove(task.job, task.compiled_file(), task.proven_file(), task.log_file());
    if (!outcome) return outcome.status();
    if (outcome->cause.empty()) {
      task.accept(std::move(outcome->job.entries), JobReport::Outcome::baked);
      context.steps.done("proved " + task.report.variant);
    } else {
      task.fail("prove: " + outcome->cause);
      context.steps.done("failed " + task.report.variant, task.report.variant + ": " + task.report.cause);
    }
  }
  return {};
}

}  // namespace clbake::builder
