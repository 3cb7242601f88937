// Options::trust: bundles that serve, bundles that are a miss, and programs that serve then.
#include "trust/trust_scene.hpp"

#include "system/temporary_directory.hpp"

#include <clbake/trust.h>

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdlib>

using namespace clbake;
using namespace clbake::test;

namespace {

Library library_of(const Scene& scene, const std::vector<Bundle>& bundles, const Options& options) {
  Result<Library> library = Library::create(scene.context, scene.device, bundles, options);
  BOOST_REQUIRE_MESSAGE(library.ok(), library.status().message());
  return *library;
}

// How a call ended: "native", "source" ... or the failure's message.
std::string served(const Library& library, Case which = Case::native) {
  const Result<Gemm> gemm = library.prepare(problem_of(which));
  return gemm ? name(gemm->explanation().origin) : gemm.status().message();
}

std::string served(const cache::Bytes& bytes, const Options& options) {
  const Scene scene;
  return served(library_of(scene, {opened(bytes)}, options));
}

const Key kOurs(1), kNext(2), kForeign(3);

}  // namespace

BOOST_AUTO_TEST_CASE(WithoutTrustEveryBundleServes) {
  BOOST_TEST(served(unsigned_bytes(), {}) == "native");
  BOOST_TEST(served(signed_by({kForeign}, 1), {}) == "native");
}

BOOST_AUTO_TEST_CASE(ASignedBundleServesThoseWhoKnowAKey) {
  const cache::Bytes bytes = signed_by({kOurs}, 5);
  const Scene scene;
  const Library library = library_of(scene, {opened(bytes)}, trusting({kOurs}, 5));
  BOOST_TEST(served(library) == "native");
  BOOST_TEST(served(library, Case::launches) == "native");
  BOOST_TEST(served(library, Case::source) == "source");
  BOOST_TEST(served(library, Case::rejected) == "source");
  BOOST_TEST(library.counters().misses[25] == 0U);
  BOOST_TEST(library.contains(problem_of(Case::native)));
}

BOOST_AUTO_TEST_CASE(TheReasonsNotToTrust) {
  const std::string begin = "bundle 0: not trusted: ";
  BOOST_TEST(served(signed_by({kForeign}, 5), trusting({kOurs})) == begin + "signed by no known key");
  BOOST_TEST(served(unsigned_bytes(), trusting({kOurs})) == begin + "it is not signed");
  BOOST_TEST(served(bundle_bytes(), trusting({kOurs})) == begin + "the bundle has no digests");
  BOOST_TEST(served(signed_by({kOurs}, 3), trusting({kOurs}, 5)) == begin + "release 3 is older than 5");
  BOOST_TEST(served(signed_by({kOurs}, 4), trusting({kOurs}, 5)) == begin + "release 4 is older than 5");
  const Options pinned = trusting(trust_digest(digest_of(unsigned_bytes())));
  BOOST_TEST(served(bundle_bytes(), pinned) == begin + "the bundle has no digests");
  const std::string other(64, 'a');
  BOOST_TEST(served(unsigned_bytes(), trusting(trust_digest(other))) ==
             begin + "the bundle's digest is " + digest_of(unsigned_bytes()) + ", not " + other);
}

BOOST_AUTO_TEST_CASE(APinnedBundleServesSignedOrNot) {
  const Options pinned = trusting(trust_digest(digest_of(unsigned_bytes())));
  BOOST_TEST(served(unsigned_bytes(), pinned) == "native");
  BOOST_TEST(served(signed_by({kForeign}, 1), pinned) == "native");
  cache::Contents other = *opened(unsigned_bytes()).decode();
  other.sources[0].text += " ";
  cache::PackOptions options;
  options.digest = compute_digest;
  BOOST_TEST(served(*cache::pack(other, options), pinned).find("the bundle's digest is") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(KeysCanBeReplaced) {
  const cache::Bytes both = signed_by({kOurs, kNext}, 7);
  for (const std::vector<Key>& known :
       {std::vector<Key>{kOurs}, {kNext}, {kOurs, kNext}, {kNext, kForeign}, {kForeign, kOurs}}) {
    BOOST_TEST(served(both, trusting(known, 7)) == "native");
  }
  BOOST_TEST(served(both, trusting({kForeign})) == "bundle 0: not trusted: signed by no known key");
  // One signature that does not do says nothing against another one that does.
  const Bundle bundle = opened(unsigned_bytes());
  cache::Signature old = kOurs.sign(bundle, 1), wrong = kNext.sign(bundle, 9), good = kForeign.sign(bundle, 9);
  wrong.signature[5] ^= 1U;
  const cache::Bytes mixed =
      *cache::with_signatures({unsigned_bytes().data(), unsigned_bytes().size()}, {old, wrong, good});
  BOOST_TEST(served(mixed, trusting({kOurs, kNext, kForeign}, 9)) == "native");
  BOOST_TEST(served(mixed, trusting({kOurs}, 9)) == "bundle 0: not trusted: release 1 is older than 9");
  BOOST_TEST(served(mixed, trusting({kNext}, 9)) ==
             "bundle 0: not trusted: the signature of key " + kNext.text().substr(0, 16) + "... is wrong");
}

BOOST_AUTO_TEST_CASE(ASignatureOfAnotherBundleOrReleaseIsWrong) {
  const Bundle bundle = opened(unsigned_bytes());
  const cache::ByteView bytes{unsigned_bytes().data(), unsigned_bytes().size()};
  const std::string wrong =
      "bundle 0: not trusted: the signature of key " + kOurs.text().substr(0, 16) + "... is wrong";
  cache::Signature later = kOurs.sign(bundle, 3);
  later.release = 9;
  BOOST_TEST(served(*cache::with_signatures(bytes, {later}), trusting({kOurs}, 5)) == wrong);
  cache::Contents other = *bundle.decode();
  other.sources[0].text += " ";
  cache::PackOptions options;
  options.digest = compute_digest;
  const cache::Bytes changed = *cache::pack(other, options);
  const cache::Bytes moved = *cache::with_signatures({changed.data(), changed.size()}, {kOurs.sign(bundle, 9)});
  BOOST_TEST(served(moved, trusting({kOurs}, 5)) == wrong);
  cache::Signature renamed = kForeign.sign(bundle, 9);
  renamed.public_key = kOurs.bytes();
  BOOST_TEST(served(*cache::with_signatures(bytes, {renamed}), trusting({kOurs}, 5)) == wrong);
}

BOOST_AUTO_TEST_CASE(AMissIsLoggedCountedAndExplained) {
  const Scene scene;
  LogLines said(LogLevel::warning);
  const std::string reason = "bundle 0: not trusted: signed by no known key";
  const Library library = library_of(scene, {opened(signed_by({kForeign}, 1))}, said.in(trusting({kOurs})));
  BOOST_REQUIRE_EQUAL(said.lines().size(), 1U);
  BOOST_TEST(said.lines()[0] == reason);
  for (const Case which : kAllCases) {
    const Result<Gemm> gemm = library.prepare(problem_of(which));
    BOOST_TEST(name(gemm.status().code()) == "not trusted");
    BOOST_TEST(gemm.status().message() == reason);
    BOOST_TEST(said.lines().back() == reason);
    BOOST_TEST(library.explain(problem_of(which)).status().message() == reason);
    BOOST_TEST(!library.contains(problem_of(which)));
  }
  BOOST_TEST(library.prepare(problem_of(Case::native), "native").status().message() == reason);
  BOOST_TEST(library.program("softmax").status().message() == reason);
  BOOST_TEST(library.explain_program("softmax").status().message() == reason);
  BOOST_TEST(library.counters().misses[25] == 6U);
  BOOST_TEST(library.counters().failed == 6U);
}

BOOST_AUTO_TEST_CASE(AnotherBundleServesAndSaysWhy) {
  const Scene scene;
  const Bundle ours = opened(signed_by({kOurs}, 1)), foreign = opened(signed_by({kForeign}, 1));
  for (const std::vector<Bundle>& bundles : {std::vector<Bundle>{foreign, ours}, {ours, foreign}}) {
    const std::size_t refused = bundles[0].signatures()->front().public_key == kForeign.bytes() ? 0 : 1;
    for (const OnMiss on_miss : {OnMiss::compile, OnMiss::fail, OnMiss::fallback}) {
      Options options = trusting({kOurs});
      options.on_miss = on_miss;
      const Library library = library_of(scene, bundles, options);
      const Result<Gemm> native = library.prepare(problem_of(Case::native));
      BOOST_REQUIRE(native.ok());
      BOOST_TEST(name(native->explanation().origin) == "native");
      BOOST_TEST(native->explanation().bundle == 1 - refused);
      BOOST_TEST(name(native->explanation().miss) == "ok");
      const Result<Gemm> compiled = library.prepare(problem_of(Case::source));
      const std::string reason = "bundle " + std::to_string(refused) + ": not trusted: signed by no known key";
      BOOST_TEST(compiled.ok() == (on_miss != OnMiss::fail));
      BOOST_TEST((compiled ? compiled->explanation().miss_message : compiled.status().message()) == reason);
      library.finish();
    }
  }
}

BOOST_AUTO_TEST_CASE(NoByteOfARefusedBundleReachesTheDriver) {
  const Scene scene;
  std::size_t shown = 0;
  fake::set_witness([&](const std::string&) { ++shown; });
  for (const OnMiss on_miss : {OnMiss::compile, OnMiss::fail, OnMiss::fallback}) {
    Options options = trusting({kOurs});
    options.on_miss = on_miss;
    options.newer_driver = true;
    const Library library = library_of(scene, {opened(signed_by({kForeign}, 1))}, options);
    for (const Case which : kAllCases) BOOST_TEST(!library.prepare(problem_of(which)).ok());
    library.finish();
  }
  BOOST_TEST(shown == 0U);
  BOOST_TEST(served(library_of(scene, {opened(signed_by({kOurs}, 1))}, trusting({kOurs}))) == "native");
  BOOST_TEST(shown > 0U);
}

BOOST_AUTO_TEST_CASE(AnOverlayServesThePolicyUnderWhichItWasFilled) {
  const tests::TemporaryDirectory directory;
  const cache::Bytes bytes = signed_by({kOurs, kNext}, 1);
  const auto with_overlay = [&](Options options) {
    OverlayOptions where;
    where.directory = directory.path;
    where.mode = OverlayMode::read_write;
    options.overlay = *open_overlay(where);
    return options;
  };
  const Scene scene;
  cl_context context = clCreateContext(nullptr, 1, &scene.device, nullptr, nullptr, nullptr);  // of one device
  const auto origin = [&](const Options& options) {
    const Result<Library> library = Library::create(context, scene.device, {opened(bytes)}, with_overlay(options));
    BOOST_REQUIRE(library.ok());
    const std::string found = served(*library, Case::source);
    library->finish();
    return found;
  };
  BOOST_TEST(origin({}) == "source");  // by whom nothing is trusted
  BOOST_TEST(origin({}) == "overlay");
  BOOST_TEST(origin(trusting({kOurs})) == "source");
  BOOST_TEST(origin(trusting({kOurs}, 1)) == "overlay");  // another least release is the same policy
  BOOST_TEST(origin(trusting({kNext})) == "source");
  BOOST_TEST(origin(trusting({kNext, kOurs})) == "source");
  BOOST_TEST(origin(trusting({kOurs, kNext})) == "overlay");
  BOOST_TEST(origin(trusting(trust_digest(digest_of(bytes)))) == "source");
  // The overlay does not serve a bundle that is not trusted either.
  BOOST_TEST(origin(trusting({kForeign})) == "bundle 0: not trusted: signed by no known key");
  clReleaseContext(context);
}

BOOST_AUTO_TEST_CASE(ABadKeyOrDigestIsNoPolicy) {
  const auto refused = [](const Result<std::shared_ptr<const Trust>>& trust) {
    BOOST_TEST(name(trust.status().code()) == "invalid argument");
    return trust.status().message();
  };
  BOOST_TEST(refused(trust_keys({})) == "trust: no public key is given");
  BOOST_TEST(refused(trust_keys({kOurs.text(), "abc"})) == "trust: public key 1 is not 64 hexadecimal digits");
  BOOST_TEST(refused(trust_keys({std::string(64, 'g')})) == "trust: public key 0 is not 64 hexadecimal digits");
  BOOST_TEST(refused(trust_keys({std::string(64, '0')})) == "trust: public key 0 is no key of Ed25519");
  BOOST_TEST(refused(trust_digest(std::string(63, '0'))) == "trust: the digest is not 64 hexadecimal digits");
  BOOST_TEST(refused(trust_digest("")) == "trust: the digest is not 64 hexadecimal digits");
  std::string upper = kOurs.text();
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  BOOST_TEST(trust_keys({upper}).ok());
}

BOOST_AUTO_TEST_CASE(TheSameInC) {
  const Scene scene;
  const cache::Bytes bytes = signed_by({kOurs}, 3);
  clbake_error error{};
  clbake_bundle* bundle = nullptr;
  BOOST_REQUIRE(clbake_bundle_from_memory(bytes.data(), bytes.size(), &bundle, &error) == CLBAKE_OK);
  const auto prepared = [&](clbake_trust* trust) {
    clbake_options options;
    clbake_options_init(&options);
    options.trust = trust;
    clbake_library* library = nullptr;
    BOOST_REQUIRE(clbake_library_create(scene.context, scene.device, &bundle, 1, &options, &library, &error) ==
                  CLBAKE_OK);
    clbake_trust_release(trust);
    const Problem p = problem_of(Case::native);
    clbake_problem problem;
    clbake_problem_init(&problem, CLBAKE_SINGLE, p.m, p.n, p.k);
    clbake_gemm* gemm = nullptr;
    const clbake_code code = clbake_gemm_prepare(library, &problem, nullptr, 0, &gemm, &error);
    clbake_gemm_release(gemm);
    clbake_library_release(library);
    return static_cast<int>(code);
  };
  const std::string ours = kOurs.text(), foreign = kForeign.text(), digest = digest_of(bytes);
  const char* keys[] = {foreign.c_str(), ours.c_str()};
  clbake_trust* trust = nullptr;
  BOOST_TEST(prepared(nullptr) == 0);
  BOOST_REQUIRE(clbake_trust_keys(keys, 2, 3, &trust, &error) == CLBAKE_OK);
  BOOST_TEST(prepared(trust) == 0);
  BOOST_REQUIRE(clbake_trust_keys(keys, 2, 4, &trust, &error) == CLBAKE_OK);
  BOOST_TEST(prepared(trust) == static_cast<int>(CLBAKE_NOT_TRUSTED));
  BOOST_TEST(std::string(error.message) == "bundle 0: not trusted: release 3 is older than 4");
  BOOST_REQUIRE(clbake_trust_digest(digest.c_str(), &trust, &error) == CLBAKE_OK);
  BOOST_TEST(prepared(trust) == 0);

  trust = nullptr;
  const char* missing[] = {nullptr};
  for (const clbake_code code :
       {clbake_trust_digest(nullptr, &trust, &error), clbake_trust_digest("abc", &trust, &error),
        clbake_trust_digest(digest.c_str(), nullptr, &error), clbake_trust_keys(nullptr, 1, 0, &trust, &error),
        clbake_trust_keys(missing, 1, 0, &trust, nullptr), clbake_trust_keys(keys, 0, 0, &trust, &error),
        clbake_trust_keys(keys, 1, 0, nullptr, &error)}) {
    BOOST_TEST((code == CLBAKE_INVALID_ARGUMENT));
  }
  BOOST_TEST(trust == nullptr);
  clbake_trust_release(nullptr);
  clbake_bundle_release(bundle);
}
