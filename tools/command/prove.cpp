#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "cli/progress_bar.hpp"
#include "command/verbs.hpp"

#include <clbake/added_options.hpp>
#include <clbake/builder/build.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/os/libraries.hpp>

#include <cstdio>

namespace clbake::tool {
namespace {

Json report_json(const builder::build::ProveReport& report, const std::string& file, std::size_t dropped) {
  Json jobs = Json::array();
  for (const builder::build::JobReport& job : report.jobs) {
    jobs.push_back(to_json(job));
    const bool has_failed = job.outcome == builder::build::JobReport::Outcome::failed;
    jobs.back()["outcome"] = has_failed ? "failed" : job.proof.proven ? "proven" : "loaded";
  }
  return {{"file", file},
          {"proven", report.proven},
          {"failed", report.failed},
          {"taken_out", report.taken_out},
          {"not_jit_free", report.not_jit_free},
          {"left", report.left},
          {"dropped_signatures", dropped},
          {"jobs", jobs}};
}

void print_report(const builder::build::ProveReport& report, const std::string& file) {
  std::printf("%s: %s proven, %zu of them not JIT-free; %zu failed; %s still not proven\n", file.c_str(),
              counted(report.proven, "variant").c_str(), report.not_jit_free, report.failed,
              counted(report.left, "entry").c_str());
  if (report.taken_out > 0) {
    std::printf("taken out: %s with wrong results\n", counted(report.taken_out, "variant").c_str());
  }
}

}  // namespace

int prove(const std::vector<std::string>& arguments) {
  Cli cli("prove FILE [OPTIONS]",
          "Proves the entries of a bundle that were baked without their device, on the devices of this machine,\n"
          "and writes the proofs into the bundle. Signatures do not hold for what is new, and are dropped.");
  cli.add_device("; default: all devices");
  cli.add_flag("again", "also prove entries that are proven already");
  cli.add_timeout("driver after this time; default 180");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  need(no_added_options());
  builder::build::ProveOptions options;
  options.file = behind_links(cli.file());
  options.worker = os::path_of_program();
  options.again = cli.has("again");
  options.timeout = cli.timeout(180);
  options.devices = selected_devices(cli.text("device"));

  const std::size_t signatures = signatures_in(options.file);
  ProgressBar bar;
  const Result<builder::build::ProveReport> report =
      builder::build::prove_bundle(options, interrupted(), [&](const builder::build::Progress& progress) {
        if (!progress.failure.empty()) bar.message("clbake prove: not proven: " + progress.failure);
        bar.show(progress.steps_done, progress.steps, progress.last);
      });
  bar.clear();
  const std::size_t dropped = tell_of_dropped("prove", options.file, signatures);
  if (report.status().code() == Code::cancelled) {
    bar.message("clbake prove: interrupted; the proofs so far are in the bundle" +
                std::string(options.again ? "" : ", and the same command continues from there"));
    return kInterrupted;
  }
  need(report.status());
  cli.has("json") ? print(report_json(*report, options.file, dropped)) : print_report(*report, options.file);
  return report->failed > 0 ? kLeftOut : kSuccess;
}

}  // namespace clbake::tool
