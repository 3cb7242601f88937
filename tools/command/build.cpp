#include "cli.hpp"
#include "progress_bar.hpp"
#include "verbs.hpp"

#include <clbake/builder/build.hpp>
#include <clbake/builder/process.hpp>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>

namespace clbake::tool {
namespace {

std::atomic<bool> interrupted{false};

void on_signal(int) { interrupted = true; }

void print_report(const builder::BuildReport& report, const std::string& file) {
  const std::size_t entries = report.baked + report.reused;
  std::printf("%s: %zu variants (%zu baked, %zu taken over), %zu bytes\n", file.c_str(), entries, report.baked,
              report.reused, report.bytes);
  if (report.failed > 0) std::printf("left out: %zu variants that failed, each named above\n", report.failed);
  if (report.dropped > 0) {
    std::printf("dropped: %zu entries of the earlier bundle that this build was not asked for\n", report.dropped);
  }
  if (report.not_jit_free > 0) {
    std::printf("not JIT-free: %zu of %zu entries; 'clbake inspect %s --json' says why\n", report.not_jit_free, entries,
                file.c_str());
  }
}

}  // namespace

int build(const std::vector<std::string>& arguments) {
  namespace po = boost::program_options;
  Cli cli("build [OPTIONS] -o FILE.clbake", "Compiles, finalizes, proves and packs every variant into one bundle.");
  cli.options()("output,o", po::value<std::string>()->required(), "the bundle to write");
  cli.options()("device", po::value<std::string>(),
                "SPEC: an index of 'clbake devices', or part of a platform's or "
                "device's name; default: all devices");
  cli.options()("precision", po::value<std::string>(), "single, double or single,double (default)");
  cli.options()("jobs", po::value<std::string>(), "compilations at a time; default: one for each core");
  cli.options()("timeout", po::value<std::string>(), "seconds after which a driver is given up; default 180");
  cli.options()("fresh", "bake everything anew, take nothing over from the earlier bundle");
  if (const auto status = cli.parse(arguments)) return *status;

  builder::BuildOptions options;
  options.output = cli.text("output");
  std::error_code error;  // a symbolic link stays one: the file it leads to is replaced
  if (std::filesystem::is_symlink(options.output, error)) {
    const std::filesystem::path file = std::filesystem::weakly_canonical(options.output, error);
    if (!error) options.output = file.string();
  }
  options.precisions = cli.precisions("precision");
  options.fresh = cli.has("fresh");
  options.worker = builder::own_path();
  options.parallel = static_cast<unsigned>(cli.size("jobs", 0, 0, 1024));
  options.timeout = std::chrono::seconds(cli.size("timeout", 180, 1, 86400));
  const Result<std::vector<builder::Device>> all = builder::list_devices();
  if (!all) return fail("build", all.status());
  Result<std::vector<builder::Device>> selected = builder::select_devices(*all, cli.text("device"));
  if (!selected) return fail("build", selected.status().within("--device"));
  options.devices = std::move(*selected);

  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  ProgressBar bar;
  const auto show = [&](const builder::Progress& progress) {
    if (!progress.failure.empty()) bar.message("clbake build: left out: " + progress.failure);
    bar.show(progress.steps_done, progress.steps, progress.last);
  };
  const Result<builder::BuildReport> report = builder::build(options, interrupted, show);
  if (report.status().code() == Code::cancelled) {
    bar.message("clbake build: interrupted; what is done is kept, the same command goes on from there");
    return kInterrupted;
  }
  if (!report) {
    bar.message("clbake build: " + report.status().message());
    return kFailure;
  }
  bar.clear();
  print_report(*report, options.output);
  return report->failed > 0 ? kLeftOut : kSuccess;
}

}  // namespace clbake::tool
