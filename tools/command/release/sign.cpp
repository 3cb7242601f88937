#include <clbake/builder/build.hpp>
#include <clbake/builder/release/signing.hpp>

#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <clbake/cache/writer.hpp>

#include <cstdio>

namespace clbake::tool {

int sign(const std::vector<std::string>& arguments) {
  Cli cli("sign FILE --key FILE [OPTIONS]",
          "Signs a bundle with a key of 'clbake keygen', after every byte of it was verified. Signatures of other keys "
          "stay, so that keys can be replaced; an earlier one of the same key is replaced.");
  cli.add_required("key", "FILE", "the secret key");
  cli.add_value("release", "N",
                "the number of the release, higher than those of all earlier ones; applications refuse older releases "
                "than they ask for; default 0");
  cli.add_value("output,o", "FILE", "the bundle to write; default: FILE itself");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const std::uint64_t release = cli.size("release", 0);
  const std::string output = behind_links(cli.text("output", cli.file().c_str()));
  need(builder::build::check_output(output));  // never a key
  const cache::Bytes bytes = need(read_verified(cli.file()));
  std::string public_key;
  const Result<cache::Bytes> made =
      builder::release::sign({bytes.data(), bytes.size()}, cli.text("key"), release, public_key);
  if (made.status().code() == Code::not_trusted) {
    throw Failure(cli.file() + ": has no digests; 'clbake merge " + cli.file() + " -o FILE' writes it anew, with them");
  }
  const cache::Bytes result = need(made);
  need(cache::write_file(output, {result.data(), result.size()}));
  if (cli.has("json")) {
    print({{"file", output}, {"public_key", public_key}, {"release", release}});
  } else {
    std::printf("%s: signed by %s, release %llu\n", output.c_str(), public_key.c_str(),
                static_cast<unsigned long long>(release));
  }
  return kSuccess;
}

}  // namespace clbake::tool
