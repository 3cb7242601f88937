#include <clbake/builder/build.hpp>
#include <clbake/builder/release/signing.hpp>

#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <clbake/cache/slices.hpp>
#include <clbake/cache/writer.hpp>

#include <cstdio>

namespace clbake::tool {
namespace {

// The number that an index has already; 0 for a bundle, and what cannot be read.
std::uint64_t own_release(const std::string& file) {
  const Result<Bundle> bundle = Bundle::open(file);
  const Result<cache::SliceTable> table = bundle ? bundle->slices() : bundle.status();
  return table ? table->release : 0;
}

}  // namespace

int keygen(const std::vector<std::string>& arguments) {
  Cli cli("keygen [OPTIONS] -o FILE",
          "Makes a key that signs bundles (Ed25519): the secret key in FILE, which only its owner may read, and\n"
          "the public key in FILE.pub. Shows the public key, by which applications and 'clbake verify' know the\n"
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

int sign(const std::vector<std::string>& arguments) {
  Cli cli("sign FILE --key FILE [OPTIONS]",
          "Signs a bundle with a key of 'clbake keygen', after every byte of it was verified. Signatures of other\n"
          "keys stay, so that keys can be replaced; an earlier one of the same key is replaced.");
  cli.add_required("key", "FILE", "the secret key");
  cli.add_value("release", "N",
                "the number of the release, higher than those of all earlier ones; applications refuse older releases "
                "than they ask for; default 0, for an index its own");
  cli.add_value("output,o", "FILE", "the bundle to write; default: FILE itself");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const std::uint64_t release = cli.size("release", own_release(cli.file()));
  const std::string output = behind_links(cli.text("output", cli.file().c_str()));
  need(builder::build::check_output(output));  // never a key
  const cache::Bytes bytes = read_verified(cli.file());
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
