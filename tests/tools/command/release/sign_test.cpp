// `clbake keygen`, `sign`, the digest of `inspect`, and `verify` with a key; what other verbs say of signatures.
#include "command/release/release_files.hpp"

#include <clbake/builder/release/signing.hpp>
#include <clbake/cache/pack.hpp>

#include <sys/stat.h>
#include <algorithm>
#include <filesystem>

namespace clbake::tool::test {
namespace {

namespace fs = std::filesystem;

// A key of each kind of person, and a bundle with digests.
struct Release {
  ReleaseFiles files;
  const Directory& directory = files.directory;
  std::string key = new_key("release.key"), next = new_key("next.key");
  std::string bundle = directory.write("release.clbake", packed(files.contents));

  std::string new_key(const std::string& name) const {
    json_of(clbake({"keygen", "-o", directory.path(name), "--json"}));
    return directory.path(name);
  }
  static cache::Bytes packed(const cache::Contents& contents) {
    return required(cache::pack(contents, {0, nullptr, {}, builder::release::digest_function()}));
  }
  void sign(const std::string& with, const char* release) const {
    const Outcome outcome = clbake({"sign", bundle, "--key", with, "--release", release}, no_platform());
    BOOST_REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  }
  std::string digest() const { return json_of(clbake({"inspect", bundle, "--json"}))["digest"].get<std::string>(); }
};

unsigned mode_of(const std::string& path) {
  struct stat info = {};
  BOOST_REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777U;
}

std::string public_key_in(const std::string& file) {
  const std::string text = read_file(file);
  BOOST_REQUIRE(text.rfind("clbake-public-key-1 ", 0) == 0);
  return text.substr(20, 64);
}

}  // namespace

BOOST_AUTO_TEST_CASE(AKeyIsPrivateAndNeverReplaced, *OnPosix()) {
  const Directory directory;
  const std::string key = directory.path("release.key");
  const nlohmann::json json = json_of(clbake({"keygen", "-o", key, "--json"}, no_platform()));
  BOOST_TEST(mode_of(key) == 0600U);
  BOOST_TEST(json["public_key"] == public_key_in(key + ".pub"));
  BOOST_TEST(read_file(key).rfind("clbake-secret-key-1 ", 0) == 0U);
  const std::string secret = read_file(key);
  check_refused(clbake({"keygen", "-o", key}), 1, {"clbake keygen", key, "exists already"});
  BOOST_TEST(read_file(key) == secret);
  fs::remove(key);
  check_refused(clbake({"keygen", "-o", key}), 1, {"clbake keygen", key + ".pub", "exists already"});
  BOOST_TEST((directory.files() == std::vector<std::string>{"release.key.pub"}));  // not half a pair
  check_refused(clbake({"keygen", "-o", directory.path("no/key")}), 1, {"clbake keygen", "no/key"});
  check_refused(clbake({"keygen"}), 2, {"clbake keygen", "output"});
  const nlohmann::json other = json_of(clbake({"keygen", "-o", directory.path("other"), "--json"}));
  BOOST_TEST(other["public_key"] != json["public_key"]);
}

BOOST_AUTO_TEST_CASE(SigningReplacesNoKey) {
  const Release release;
  const std::string secret = read_file(release.key), pub = release.key + ".pub";
  for (const std::string& output : {release.key, pub}) {
    check_refused(clbake({"sign", release.bundle, "--key", release.key, "-o", output}), 1, {output, "not a bundle"});
  }
  BOOST_TEST(read_file(release.key) == secret);
  public_key_in(pub);
}

BOOST_AUTO_TEST_CASE(ASignedBundleIsVerified) {
  const Release release;
  const std::string before = release.digest();
  release.sign(release.key, "5");
  BOOST_TEST(release.digest() == before);
  const std::string pub = release.key + ".pub";
  const Outcome text = clbake({"verify", release.bundle, "--public-key", pub, "--minimum-release", "5"}, no_platform());
  BOOST_TEST(text.status == 0);
  BOOST_TEST(contains(text.out, release.bundle + ": every byte is intact and trusted; "), text.out);
  BOOST_TEST(clbake({"verify", release.bundle, "--public-key", public_key_in(pub)}).status == 0);
  BOOST_TEST(clbake({"verify", release.bundle, "--digest", before}).status == 0);
  const nlohmann::json json =
      json_of(clbake({"verify", release.bundle, "--public-key", release.next + ".pub", "--public-key", pub, "--json"}));
  BOOST_TEST(json["files"][0]["trusted"] == true);

  const auto refused = [&](const Arguments& with, const std::string& why) {
    Arguments arguments = {"verify", release.bundle};
    arguments.insert(arguments.end(), with.begin(), with.end());
    check_refused(clbake(arguments), 1, {"clbake verify: " + release.bundle + ": not trusted: " + why});
  };
  refused({"--public-key", pub, "--minimum-release", "6"}, "release 5 is older than 6");
  refused({"--public-key", release.next + ".pub"}, "signed by no known key");
  refused({"--digest", std::string(64, '0')}, "the bundle's digest is " + before);
  const Outcome outcome = clbake({"verify", release.bundle, "--public-key", release.next + ".pub", "--json"});
  BOOST_TEST(outcome.status == 1);
  const nlohmann::json verdict = nlohmann::json::parse(outcome.out)["files"][0];
  BOOST_TEST(verdict["intact"].is_null());  // nothing of it was looked at
  BOOST_TEST(verdict["trusted"] == false);
  BOOST_TEST(verdict["code"] == "not trusted");
}

BOOST_AUTO_TEST_CASE(SigningAgainReplacesTheOwnSignatureOnly) {
  const Release release;
  release.sign(release.key, "5");
  const std::string first = read_file(release.bundle);
  release.sign(release.key, "5");
  BOOST_TEST((read_file(release.bundle) == first));
  release.sign(release.next, "6");
  release.sign(release.key, "7");
  const nlohmann::json json = json_of(clbake({"inspect", release.bundle, "--json"}));
  BOOST_TEST(json["digest"] == release.digest());
  BOOST_REQUIRE_EQUAL(json["signatures"].size(), 2U);
  for (const nlohmann::json& signature : json["signatures"]) {
    const bool own = signature["public_key"] == public_key_in(release.key + ".pub");
    BOOST_TEST(signature["release"] == (own ? 7 : 6));
    BOOST_TEST(signature["valid"] == true);
  }
  const Outcome text = clbake({"inspect", release.bundle});
  BOOST_TEST(contains(text.out, "signed by " + public_key_in(release.next + ".pub") + ", release 6\n"), text.out);
  const std::string copy = release.directory.path("copy.clbake");
  BOOST_TEST(clbake({"sign", release.bundle, "--key", release.key, "-o", copy}).status == 0);
  BOOST_TEST(contains(clbake({"inspect", copy}).out, "release 0\n"));
}

BOOST_AUTO_TEST_CASE(WhatCannotBeSigned, *OnPosix()) {
  const Release release;
  const std::string before = read_file(release.bundle);
  const auto sign = [&](const std::string& file, const std::string& key) {
    return clbake({"sign", file, "--key", key, "--release", "1"});
  };
  check_refused(sign(release.files.bundle, release.key), 1, {"clbake sign: " + release.files.bundle, "has no digests"});
  check_refused(sign(release.bundle, release.key + ".pub"), 1, {"clbake sign", "chmod 600"});
  check_refused(sign(release.bundle, release.directory.path("none")), 1, {"clbake sign", "none", no_such_file()});
  ::chmod((release.key + ".pub").c_str(), 0600);
  check_refused(sign(release.bundle, release.key + ".pub"), 1, {"clbake sign", "is no secret key"});
  ::chmod(release.key.c_str(), 0640);
  check_refused(sign(release.bundle, release.key), 1, {"clbake sign: " + release.key, "chmod 600"});
  ::chmod(release.key.c_str(), 0600);
  const std::string key = read_file(release.key);
  for (const std::string& broken : {key.substr(0, 40), key + "x", key + key, std::string()}) {
    const std::string file = release.directory.write("broken.key", broken);
    ::chmod(file.c_str(), 0600);
    check_refused(sign(release.bundle, file), 1, {"clbake sign: " + file, "is no secret key"});
  }
  check_refused(sign(release.bundle, "/dev/null"), 1, {"clbake sign: /dev/null", "is no secret key"});
  cache::Bytes damaged(before.begin(), before.end());
  damaged[damaged.size() / 2] ^= 1U;
  const std::string bad = release.directory.write("bad.clbake", damaged);
  check_refused(sign(bad, release.key), 1, {"clbake sign: " + bad});
  check_refused(clbake({"sign", release.bundle}), 2, {"clbake sign", "key"});
  check_refused(clbake({"sign", release.bundle, "--key", release.key, "--release", "-1"}), 2,
                {"clbake sign", "release"});
  BOOST_TEST((read_file(release.bundle) == before));
  BOOST_TEST(read_file(release.key) == key);
}

BOOST_AUTO_TEST_CASE(WrongQuestions) {
  const Release release;
  const auto refused = [&](const Arguments& with, int status, const std::string& why) {
    Arguments arguments = {"verify", release.bundle};
    arguments.insert(arguments.end(), with.begin(), with.end());
    check_refused(clbake(arguments), status, {"clbake verify", why});
  };
  refused({"--minimum-release", "5"}, 2, "needs --public-key");
  refused({"--digest", std::string(64, '0'), "--public-key", release.key + ".pub"}, 2, "exclude each other");
  refused({"--digest", "abc"}, 1, "64 hexadecimal digits");
  refused({"--public-key", "abc"}, 1, "neither a file nor a public key");
  refused({"--public-key", release.bundle}, 1, "is no public key");
  const Outcome secret = clbake({"verify", release.bundle, "--public-key", release.key});
  BOOST_TEST(secret.status == 1);
  BOOST_TEST(!contains(secret.err, read_file(release.key).substr(20, 64)));
}

// Whoever changes a blob and all checksums does not get past the digests, key or not.
BOOST_AUTO_TEST_CASE(AChangedDigestIsFound) {
  const Release release;
  const Result<Bundle> bundle = Bundle::open(release.bundle);
  const cache::Bytes identified = required(bundle->identified_bytes());
  cache::Bytes bytes = Release::packed(release.files.contents);
  bytes[identified.size() - 1] ^= 1U;  // of the last digest; only the section's checksum shows it
  const std::string changed = release.directory.write("changed.clbake", bytes);
  for (const char* verb : {"verify", "inspect"}) {
    check_refused(clbake({verb, changed}), 1, {std::string("clbake ") + verb + ": " + changed});
  }
}

BOOST_AUTO_TEST_CASE(WhatIsWrittenAnewIsNotSigned) {
  const Release release;
  release.sign(release.key, "5");
  release.sign(release.next, "5");
  const std::string output = release.directory.path("out.clbake");
  for (const Arguments& verb :
       {Arguments{"merge", release.bundle, "-o", output}, Arguments{"prune", release.bundle, "-o", output}}) {
    const Outcome outcome = clbake(verb, no_platform());
    BOOST_TEST(outcome.status == 0);
    BOOST_TEST(contains(outcome.err, output + " is not signed any more: 2 signatures do not hold for it"), outcome.err);
    Arguments as_json = verb;
    as_json.emplace_back("--json");
    BOOST_TEST(json_of(clbake(as_json))["dropped_signatures"] == 2);
    const nlohmann::json json = json_of(clbake({"inspect", output, "--json"}));
    BOOST_TEST(json["signatures"].empty());
    BOOST_TEST(json["digest"].is_string());
    BOOST_TEST(contains(clbake({"inspect", output}).out, "\nnot signed: "));
    check_refused(clbake({"verify", output, "--public-key", release.key + ".pub"}), 1, {"it is not signed"});
    BOOST_TEST(clbake({"sign", output, "--key", release.key}).status == 0);
  }
  const Outcome unsigned_part = clbake({"merge", release.files.bundle, "-o", output});
  BOOST_TEST(!contains(unsigned_part.err, "signed"), unsigned_part.err);
}

BOOST_AUTO_TEST_CASE(WhatAnOverlaySaysAboutProofsDoesNotCount) {
  const Directory directory;
  fs::create_directory(directory.path("overlay"));
  SyntheticSettings settings;
  cache::Contents contents = synthetic_bundle(settings);
  for (cache::Entry& entry : contents.entries) entry.proof.proven = true;
  directory.write("overlay/" + std::string(32, 'a') + ".clbake", encoded(contents));
  const std::string output = directory.path("out.clbake");
  BOOST_TEST(clbake({"merge", directory.path("overlay"), "-o", output}).status == 0);
  const cache::Contents merged = contents_of(output);
  BOOST_TEST(merged.entries.size() == contents.entries.size());
  BOOST_TEST(
      std::none_of(merged.entries.begin(), merged.entries.end(), [](const cache::Entry& e) { return e.proof.proven; }));
}

}  // namespace clbake::tool::test
