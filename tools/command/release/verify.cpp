#include <clbake/builder/release/signing.hpp>

#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <cstdio>

namespace clbake::tool {
namespace {

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
