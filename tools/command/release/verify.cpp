#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <cstdio>

namespace clbake::tool {
namespace {

Json verdict_on(const std::string& file, const Result<Bundle>& bundle) {
  const Status& status = bundle.status();
  return {{"file", file},
          {"intact", status.ok()},
          {"code", status.ok() ? Json() : Json(name(status.code()))},
          {"failure", status.ok() ? Json() : Json(status.message())},
          {"bytes", bundle ? Json(bundle->size_bytes()) : Json()},
          {"entries", bundle ? Json(bundle->entry_count()) : Json()}};
}

}  // namespace

int verify(const std::vector<std::string>& arguments) {
  Cli cli("verify FILE... [OPTIONS]",
          "Verifies every byte of each bundle: checksums, every rule of the format, and that every program can be\n"
          "decompressed. Names the first failure of each file; the exit status is then 1. Needs no OpenCL device.");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  Json verdicts = Json::array();
  int exit_status = kSuccess;
  for (const std::string& file : cli.files()) {
    const Result<Bundle> bundle = open_verified(file);
    if (!bundle) exit_status = fail("verify", bundle.status());
    if (cli.has("json")) {
      verdicts.push_back(verdict_on(file, bundle));
    } else if (bundle) {
      std::printf("%s: every byte is intact; %s, %s\n", file.c_str(), counted(bundle->entry_count(), "entry").c_str(),
                  size_text(bundle->size_bytes()).c_str());
    }
  }
  if (cli.has("json")) print({{"files", verdicts}});
  return exit_status;
}

}  // namespace clbake::tool
