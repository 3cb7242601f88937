// The learner: a child process of programs that run under the layer; users do not call it.
#include "cli/cli.hpp"
#include "command/verbs.hpp"

#include <clbake/added_options.hpp>
#include <clbake/builder/learn.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/os/libraries.hpp>

namespace clbake::tool {

int learn(const Arguments& arguments) {
  Cli cli("learn --overlay DIR [OPTIONS]",
          "Keeps what the driver of a program had to compile for the next process. Started by clbake's layer, whose\n"
          "requests come over the standard input.");
  cli.add_required("overlay", "DIR", "the overlay's directory");
  cli.add_value("max-bytes", "N", "limit for the overlay's files together");
  cli.add_value("log", "FILE", "gets a line for each program");
  if (const std::optional<int> status = cli.parse(arguments)) return *status;
  need(no_added_options());
  builder::learn::Settings settings;
  settings.overlay.directory = cli.text("overlay");
  settings.overlay.mode = OverlayMode::read_write;
  settings.overlay.max_bytes = cli.size("max-bytes", settings.overlay.max_bytes);
  settings.log = cli.text("log");
  settings.worker = os::path_of_program();
  need(builder::learn::learn(settings));
  return kSuccess;
}

}  // namespace clbake::tool
