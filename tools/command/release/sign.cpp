// Keys and signatures: `clbake keygen`, `sign` and `verify`.
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/build.hpp>
#include <clbake/builder/release/signing.hpp>
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

void declare_verify_options(Cli& cli) {
  cli.add_list("public-key", "KEY",
               "also verify that one of these keys signed the bundle: files of 'clbake keygen', or 64 hexadecimal "
               "digits; may be repeated");
  cli.add_value("minimum-release", "N", "refuse signatures of releases before N; needs --public-key");
  cli.add_value("digest", "DIGEST", "also verify that the bundle is the one of this digest, see 'clbake inspect'");
  cli.add_json();
}

// The trust that is asked for; null: none.
std::shared_ptr<const Trust> trust_asked_for(const Cli& cli) {
  if (cli.has("public-key") && cli.has("digest")) throw UsageError("--public-key and --digest exclude each other");
  if (cli.has("minimum-release") && !cli.has("public-key")) throw UsageError("--minimum-release: needs --public-key");
  if (cli.has("digest")) return need(builder::release::trusted_digest(cli.text("digest")));
  const std::uint64_t release = cli.size("minimum-release", 0);
  if (cli.has("public-key")) return need(builder::release::trusted_keys(cli.list("public-key"), release));
  return nullptr;
}

struct Verdict {
  Result<Bundle> bundle;
  Status status;
  bool is_judged = true;  // false: it is not trusted, so nothing more was looked at

  Json json(const std::string& file, bool asked) const {
    return {{"file", file},
            {"intact", is_judged ? Json(status.ok()) : Json()},
            {"trusted", asked ? Json(status.ok()) : Json()},
            {"code", status ? Json() : Json(name(status.code()))},
            {"failure", status ? Json() : Json(status.message())},
            {"bytes", bundle ? Json(bundle->size_bytes()) : Json()},
            {"entries", bundle ? Json(bundle->entry_count()) : Json()}};
  }
};

// Parses only the index of a bundle that is not trusted, and decompresses nothing.
Verdict judge(const std::string& file, const Trust* trust) {
  Result<Bundle> bundle = Bundle::open(file);
  if (!bundle) return {bundle, bundle.status()};
  if (trust) bundle = trust->admit(*bundle);
  if (!bundle) return {bundle, bundle.status().within(file), false};
  return {bundle, verify_all(*bundle).within(file)};
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

int verify(const std::vector<std::string>& arguments) {
  Cli cli("verify FILE... [OPTIONS]",
          "Verifies every byte of each bundle: checksums, digests, every rule of the format, and that every\n"
          "program can be decompressed. Names the first failure of each file; the exit status is then 1. Needs no\n"
          "OpenCL device.");
  declare_verify_options(cli);
  if (const auto status = cli.parse(arguments)) return *status;
  const std::shared_ptr<const Trust> trust = trust_asked_for(cli);
  const bool asked = trust != nullptr;
  Json verdicts = Json::array();
  int exit_status = kSuccess;
  for (const std::string& file : cli.files()) {
    const Verdict verdict = judge(file, trust.get());
    if (!verdict.status) exit_status = fail("verify", verdict.status);
    if (cli.has("json")) {
      verdicts.push_back(verdict.json(file, asked));
    } else if (verdict.status) {
      std::printf("%s: every byte is intact%s; %s, %s\n", file.c_str(), asked ? " and trusted" : "",
                  counted(verdict.bundle->entry_count(), "entry").c_str(),
                  size_text(verdict.bundle->size_bytes()).c_str());
    }
  }
  if (cli.has("json")) print({{"files", verdicts}});
  return exit_status;
}

}  // namespace clbake::tool
