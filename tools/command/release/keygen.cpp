#include <clbake/builder/release/signing.hpp>

#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <cstdio>

namespace clbake::tool {

int keygen(const std::vector<std::string>& arguments) {
  Cli cli("keygen [OPTIONS] -o FILE",
          "Makes a key that signs bundles (Ed25519): the secret key in FILE, which only its owner may read, and the "
          "public key in FILE.pub. Shows the public key, by which applications and 'clbake verify' know the "
          "signatures. Keep the secret key where releases are made, and nowhere else.");
  cli.add_required("output,o", "FILE", "of the secret key; no file is replaced");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const std::string path = cli.text("output");
  const std::string public_key = need(builder::release::make_key(path));
  if (cli.has("json")) {
    print({{"secret_key_file", path}, {"public_key_file", path + ".pub"}, {"public_key", public_key}});
  } else {
    std::printf("%s: the secret key\n%s.pub: the public key, %s\n", path.c_str(), path.c_str(), public_key.c_str());
  }
  return kSuccess;
}

}  // namespace clbake::tool
