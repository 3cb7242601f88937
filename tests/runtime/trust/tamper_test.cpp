// Whatever is changed in a signed bundle: the decompressor and the driver see bytes that were signed, or none.
#include "trust/trust_scene.hpp"

#include <clbake/cache/xxh64.hpp>

#include "fuzz/seal.hpp"

#include <boost/test/unit_test.hpp>

#include <dlfcn.h>
#include <algorithm>
#include <cstring>
#include <set>

using namespace clbake;
using namespace clbake::test;

namespace {

// What zstd was given, as far as anybody asks.
std::set<std::string>* frames = nullptr;

void note(const void* bytes, std::size_t size) {
  if (frames) frames->insert(std::string(static_cast<const char*>(bytes), size));
}

template <typename Function>
Function* real(const char* symbol) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, symbol));
}

}  // namespace

// In the place of zstd's own: the library under test is linked into this program, which comes before libzstd.
extern "C" {
struct ZSTD_DCtx_s;
unsigned long long ZSTD_getFrameContentSize(const void* bytes, std::size_t size);
std::size_t ZSTD_findFrameCompressedSize(const void* bytes, std::size_t size);
std::size_t ZSTD_DCtx_refPrefix(ZSTD_DCtx_s* context, const void* bytes, std::size_t size);
std::size_t ZSTD_decompressDCtx(ZSTD_DCtx_s* context, void* to, std::size_t capacity, const void* bytes,
                                std::size_t size);

unsigned long long ZSTD_getFrameContentSize(const void* bytes, std::size_t size) {
  note(bytes, size);
  return real<decltype(ZSTD_getFrameContentSize)>("ZSTD_getFrameContentSize")(bytes, size);
}

std::size_t ZSTD_findFrameCompressedSize(const void* bytes, std::size_t size) {
  note(bytes, size);
  return real<decltype(ZSTD_findFrameCompressedSize)>("ZSTD_findFrameCompressedSize")(bytes, size);
}

std::size_t ZSTD_DCtx_refPrefix(ZSTD_DCtx_s* context, const void* bytes, std::size_t size) {
  note(bytes, size);
  return real<decltype(ZSTD_DCtx_refPrefix)>("ZSTD_DCtx_refPrefix")(context, bytes, size);
}

std::size_t ZSTD_decompressDCtx(ZSTD_DCtx_s* context, void* to, std::size_t capacity, const void* bytes,
                                std::size_t size) {
  note(bytes, size);
  return real<decltype(ZSTD_decompressDCtx)>("ZSTD_decompressDCtx")(context, to, capacity, bytes, size);
}
}

namespace {

const Key kOurs(1);

// What a runtime that trusts our key did with some bytes.
struct Seen {
  std::set<std::string> frames, given;  // to zstd, to the driver
  bool is_open = false;
  bool is_trusted = false;
  std::size_t served = 0, not_trusted = 0;  // calls
};

Seen use(const cache::Bytes& bytes, const Options& options) {
  Seen seen;
  const Result<Bundle> bundle = Bundle::from_memory({bytes.data(), bytes.size()});
  if (!bundle) return seen;
  const Scene scene;
  fake::set_witness([&](const std::string& given) { seen.given.insert(given); });
  frames = &seen.frames;
  seen.is_open = true;
  seen.is_trusted = options.trust->admit(*bundle).ok();
  const Result<Library> library = Library::create(scene.context, scene.device, {*bundle}, options);
  BOOST_REQUIRE(library.ok());
  for (const Case which : kAllCases) {
    const Result<Gemm> gemm = library->prepare(problem_of(which));
    seen.served += gemm.ok() ? 1 : 0;
    seen.not_trusted +=
        gemm.status().code() == Code::not_trusted || (gemm && gemm->explanation().miss == Code::not_trusted) ? 1 : 0;
  }
  (void)library->program("native");
  frames = nullptr;
  fake::set_witness(nullptr);
  return seen;
}

bool within(const std::set<std::string>& part, const std::set<std::string>& whole) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

// The least that a change must not get past: whoever changes it makes the checksums right, which are no secret.
cache::Bytes sealed(cache::Bytes bytes) {
  fuzz::seal(bytes);
  return bytes;
}

std::uint64_t load64(const std::uint8_t* p) {
  std::uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8U | p[i];
  return value;
}

void store64(std::uint8_t* p, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) p[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

// Header and section table only, so that records, blobs and digests stay as they are changed.
cache::Bytes with_header(cache::Bytes bytes) {
  const std::size_t count = bytes[32];
  store64(&bytes[112], cache::xxh64(&bytes[128], count * 48, 0));
  store64(&bytes[120], cache::xxh64(bytes.data(), 120, 0));
  return bytes;
}

}  // namespace

BOOST_AUTO_TEST_CASE(TheUnchangedBundleServesAll) {
  const Seen seen = use(signed_by({kOurs}, 5), trusting({kOurs}, 5));
  BOOST_TEST(seen.is_trusted);
  BOOST_TEST(seen.served == 4U);
  BOOST_TEST(seen.not_trusted == 0U);
  BOOST_TEST(seen.frames.size() > 1U);
  BOOST_TEST(seen.given.size() == 4U);  // three binaries and the source
}

BOOST_AUTO_TEST_CASE(NoChangedByteGetsThrough) {
  const cache::Bytes bytes = signed_by({kOurs}, 5);
  std::vector<std::pair<const char*, Options>> policies = {{"keys", trusting({kOurs}, 5)},
                                                           {"digest", trusting(trust_digest(digest_of(bytes)))}};
  for (const auto& [policy, options] : policies) {
    const Seen right = use(bytes, options);
    std::size_t not_opened = 0, refused = 0, missed = 0, unused = 0;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (const bool all_checksums : {false, true}) {
        cache::Bytes changed = bytes;
        changed[at] ^= static_cast<std::uint8_t>(1U << at % 8);
        const Seen seen = use(all_checksums ? sealed(changed) : with_header(changed), options);
        BOOST_REQUIRE_MESSAGE(within(seen.frames, right.frames), policy << ": zstd saw byte " << at);
        BOOST_REQUIRE_MESSAGE(within(seen.given, right.given), policy << ": the driver saw byte " << at);
        BOOST_REQUIRE_MESSAGE(seen.is_trusted || seen.frames.empty(), policy << ": byte " << at);
        BOOST_REQUIRE_MESSAGE(seen.is_trusted || seen.given.empty(), policy << ": byte " << at);
        BOOST_REQUIRE_MESSAGE(seen.is_trusted || !seen.is_open || seen.not_trusted == 4U, policy << ": byte " << at);
        not_opened += seen.is_open ? 0 : 1;
        refused += seen.is_open && !seen.is_trusted ? 1 : 0;
        missed += seen.is_trusted && seen.not_trusted > 0 ? 1 : 0;
        unused += seen.is_trusted && seen.not_trusted == 0 ? 1 : 0;
      }
    }
    BOOST_TEST_MESSAGE(policy << ": " << bytes.size() << " bytes, each changed in two ways: " << not_opened
                              << " not opened, " << refused << " refused, " << missed << " missed, " << unused
                              << " not read");
    BOOST_TEST(not_opened > 0U);
    BOOST_TEST(refused > 0U);
    BOOST_TEST(missed > 0U);
    BOOST_TEST(unused > 0U);  // padding, proofs' texts of what is not baked, and with a digest the signatures
  }
}

// Of the 128 bytes of a signature every one counts.
BOOST_AUTO_TEST_CASE(EveryByteOfASignatureCounts) {
  const cache::Bytes bytes = signed_by({kOurs}, 5);
  for (std::size_t at = bytes.size() - 128; at < bytes.size() - 8; ++at) {
    for (const std::uint8_t bit : {std::uint8_t{1}, std::uint8_t{0x80}}) {
      cache::Bytes changed = bytes;
      changed[at] ^= bit;
      const Seen seen = use(sealed(changed), trusting({kOurs}, 5));
      const bool ignored_flag = at - (bytes.size() - 128) >= 106 && at - (bytes.size() - 128) < 108;
      BOOST_TEST(seen.is_trusted == ignored_flag, "byte " << at - (bytes.size() - 128));
      BOOST_TEST(within(seen.given, use(bytes, trusting({kOurs}, 5)).given));
    }
  }
}

// The records of two programs exchange their blobs, with all checksums and digests: each digest is that of its place.
BOOST_AUTO_TEST_CASE(ExchangedProgramsAreNotTrusted) {
  const cache::Bytes bytes = signed_by({kOurs}, 5);
  const Seen right = use(bytes, trusting({kOurs}, 5));
  const std::size_t table = 128;
  cache::Bytes changed = bytes;
  for (std::size_t i = 0; i < 10; ++i) {
    const std::uint8_t* section = &bytes[table + 48 * i];
    if (section[0] != 9) continue;
    const auto digests = static_cast<std::ptrdiff_t>(load64(section + 8));
    std::swap_ranges(changed.begin() + digests, changed.begin() + digests + 32, changed.begin() + digests + 32);
  }
  BOOST_REQUIRE((changed != bytes));
  const Seen seen = use(sealed(changed), trusting({kOurs}, 5));
  BOOST_TEST(seen.is_open);
  BOOST_TEST(!seen.is_trusted);
  BOOST_TEST(seen.frames.empty());
  BOOST_TEST(seen.given.empty());
}

BOOST_AUTO_TEST_CASE(WhatIsChangedAfterOpeningDoesNotServe) {
  cache::Bytes bytes = signed_by({kOurs}, 5);
  const Seen right = use(bytes, trusting({kOurs}, 5));
  const Bundle bundle = *Bundle::from_memory({bytes.data(), bytes.size()});
  const Scene scene;
  const Library library = *Library::create(scene.context, scene.device, {bundle}, trusting({kOurs}, 5));
  std::fill(bytes.begin(), bytes.end(), std::uint8_t{0xAA});
  std::set<std::string> given;
  fake::set_witness([&](const std::string& text) { given.insert(text); });
  for (const Case which : kAllCases) {
    BOOST_TEST(name(library.prepare(problem_of(which)).status().code()) == "not trusted");
  }
  BOOST_TEST(given.empty());
}
