#include <clbake/builder/release/signing.hpp>

#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <cstdio>

namespace clbake::tool {

int digest(const std::vector<std::string>& arguments) {
  Cli cli("digest FILE... [OPTIONS]",
          "Verifies every byte of each bundle and shows its digest, by which an application can pin it "
          "(clbake::trust_digest). Signatures do not change it; everything else does.");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  Json digests = Json::array();
  int exit_status = kSuccess;
  for (const std::string& file : cli.files()) {
    const Result<Bundle> bundle = open_verified(file);
    const Result<std::string> identity =
        bundle ? builder::release::identity_text(*bundle) : Result<std::string>(bundle.status());
    if (!bundle) exit_status = fail("digest", bundle.status());
    if (bundle && !identity) exit_status = fail("digest", identity.status().within(file));
    if (!cli.has("json") && identity) std::printf("%s  %s\n", identity->c_str(), file.c_str());
    digests.push_back({{"file", file}, {"digest", identity ? Json(*identity) : Json()}});
  }
  if (cli.has("json")) print({{"files", digests}});
  return exit_status;
}

}  // namespace clbake::tool
