// A signed bundle with any change: the decompressor and the driver see signed bytes, or none.
#include "trust/trust_scene.hpp"

#include <clbake/cache/xxh64.hpp>

#include "fuzz/seal.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>

using namespace clbake;
using namespace clbake::test;

namespace {

// Bytes given to zstd; null: not recorded.
std::set<std::string>* frames = nullptr;

void note(const void* bytes, std::size_t size) {
  if (frames) frames->insert(std::string(static_cast<const char*>(bytes), size));
}

}  // namespace

// Before zstd's own: the linker's option --wrap gives both these names.
extern "C" {
struct ZSTD_DCtx_s;
unsigned long long __real_ZSTD_getFrameContentSize(const void* bytes, std::size_t size);
unsigned long long __wrap_ZSTD_getFrameContentSize(const void* bytes, std::size_t size) {
  note(bytes, size);
  return __real_ZSTD_getFrameContentSize(bytes, size);
}

std::size_t __real_ZSTD_findFrameCompressedSize(const void* bytes, std::size_t size);
std::size_t __wrap_ZSTD_findFrameCompressedSize(const void* bytes, std::size_t size) {
  note(bytes, size);
  return __real_ZSTD_findFrameCompressedSize(bytes, size);
}

std::size_t __real_ZSTD_DCtx_refPrefix(ZSTD_DCtx_s* context, const void* bytes, std::size_t size);
std::size_t __wrap_ZSTD_DCtx_refPrefix(ZSTD_DCtx_s* context, const void* bytes, std::size_t size) {
  note(bytes, size);
  return __real_ZSTD_DCtx_refPrefix(context, bytes, size);
}

std::size_t __real_ZSTD_decompressDCtx(ZSTD_DCtx_s* context, void* to, std::size_t capacity, const void* bytes,
                                       std::size_t size);
std::size_t __wrap_ZSTD_decompressDCtx(ZSTD_DCtx_s* context, void* to, std::size_t capacity, const void* bytes,
                                       std::size_t size) {
  note(bytes, size);
  return __real_ZSTD_decompressDCtx(context, to, capacity, bytes, size);
}
}

namespace {

const Key kOurs(1);

// Behaviour of a runtime that trusts our key.
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
  seen.is_trusted = !options.trust || options.trust->admit(*bundle).ok();
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

std::uint64_t load64(const std::uint8_t* p) {
  std::uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8U | p[i];
  return value;
}

void store64(std::uint8_t* p, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) p[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

// The checks that an attacker makes right again, as they need no secret: the header's and the section table's checksums
// only, so that records, blobs and digests stay changed; or all checksums; or the digests, too.
enum class Sealing { none, header, checksums, digests };

cache::Bytes sealed(cache::Bytes bytes, Sealing sealing) {
  if (sealing == Sealing::checksums) fuzz::seal(bytes);
  if (sealing == Sealing::digests) fuzz::seal(bytes, compute_digest);
  const std::size_t table = 128, table_bytes = bytes.size() < table ? 0 : bytes[32] * std::size_t{48};
  if (sealing != Sealing::header || bytes.size() < table + table_bytes) return bytes;
  store64(&bytes[112], cache::xxh64(&bytes[table], table_bytes, 0));
  store64(&bytes[120], cache::xxh64(bytes.data(), 120, 0));
  return bytes;
}

// True when only signed bytes came through, and none at all if the bundle is not trusted.
bool holds(const Seen& seen, const Seen& right) {
  if (!within(seen.frames, right.frames) || !within(seen.given, right.given)) return false;
  if (!seen.is_open || seen.is_trusted) return true;
  return seen.frames.empty() && seen.given.empty() && seen.not_trusted == 4;
}

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit) { return limit == 0 ? 0 : random() % limit; }

// One change of the kinds that tell a reader most: a bit, a byte, a field at its extremes, bytes that move, come or go.
void mutate(cache::Bytes& bytes, Random& random) {
  const std::size_t at = below(random, bytes.size()), length = below(random, 65);
  const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(at);
  const auto to = bytes.begin() + static_cast<std::ptrdiff_t>(std::min(at + length, bytes.size()));
  switch (below(random, 8)) {
    case 0: bytes[at] ^= static_cast<std::uint8_t>(1U << below(random, 8)); break;
    case 1: bytes[at] = static_cast<std::uint8_t>(random()); break;
    case 2: {  // an aligned field of 4 or 8 bytes
      const std::size_t size = 4 + 4 * below(random, 2), field = at / size * size;
      const std::uint64_t values[] = {0, 1, bytes.size(), 0x7FFFFFFF, 0xFFFFFFFF, ~std::uint64_t{0}, random()};
      const std::uint64_t value = values[below(random, 7)];
      for (std::size_t i = 0; i < size && field + i < bytes.size(); ++i) {
        bytes[field + i] = static_cast<std::uint8_t>(value >> (8 * i));
      }
      break;
    }
    case 3: std::fill(from, to, std::uint8_t{0}); break;
    case 4: {  // from elsewhere, as a record over another
      const std::size_t source = below(random, bytes.size());
      const std::size_t count = std::min({length, bytes.size() - at, bytes.size() - source});
      std::memmove(&bytes[at], &bytes[source], count);
      break;
    }
    case 5: bytes.insert(from, length, static_cast<std::uint8_t>(random())); break;
    case 6: bytes.erase(from, to); break;
    default: bytes.resize(below(random, 16) == 0 ? at + 1 : bytes.size()); break;
  }
  if (bytes.empty()) bytes.push_back(0);
}

std::size_t mutations_wanted() {
  const char* wanted = std::getenv("CLBAKE_MUTATIONS");
  return wanted ? std::strtoull(wanted, nullptr, 10) : 1000;
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
      for (const Sealing sealing : {Sealing::header, Sealing::checksums, Sealing::digests}) {
        cache::Bytes changed = bytes;
        changed[at] ^= static_cast<std::uint8_t>(1U << at % 8);
        const Seen seen = use(sealed(std::move(changed), sealing), options);
        BOOST_REQUIRE_MESSAGE(holds(seen, right), policy << ": byte " << at << " got through");
        not_opened += seen.is_open ? 0 : 1;
        refused += seen.is_open && !seen.is_trusted ? 1 : 0;
        missed += seen.is_trusted && seen.not_trusted > 0 ? 1 : 0;
        unused += seen.is_trusted && seen.not_trusted == 0 ? 1 : 0;
      }
    }
    BOOST_TEST_MESSAGE(policy << ": " << bytes.size() << " bytes, each changed in three ways: " << not_opened
                              << " not opened, " << refused << " refused, " << missed << " missed, " << unused
                              << " not read");
    BOOST_TEST(not_opened > 0U);
    BOOST_TEST(refused > 0U);
    BOOST_TEST(missed > 0U);
    BOOST_TEST(unused > 0U);  // padding, proofs' texts of what is not baked, and with a digest the signatures
  }
}

BOOST_AUTO_TEST_CASE(WithoutTrustNoDamagedByteReachesTheDriver) {
  const cache::Bytes& bytes = unsigned_bytes();
  const Seen right = use(bytes, {});
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    cache::Bytes changed = bytes;
    changed[at] ^= static_cast<std::uint8_t>(1U << at % 8);
    BOOST_REQUIRE_MESSAGE(holds(use(changed, {}), right), "byte " << at << " got through");
  }
}

// One to four changes at a time; then the header's checksums are made right, or all checksums, or the digests as well,
// or nothing.
BOOST_AUTO_TEST_CASE(NoMutationGetsThrough) {
  const cache::Bytes bytes = signed_by({kOurs}, 5);
  const Options policies[] = {trusting({kOurs}, 5), trusting(trust_digest(digest_of(bytes)))};
  const Seen right = use(bytes, policies[0]);
  std::size_t opened = 0, trusted = 0, missed = 0;
  const std::size_t count = mutations_wanted();
  for (std::size_t i = 0; i < count; ++i) {
    Random random(i);  // each can be repeated by its number
    cache::Bytes changed = bytes;
    for (std::size_t changes = 1 + below(random, 4); changes > 0; --changes) mutate(changed, random);
    changed = sealed(std::move(changed), static_cast<Sealing>(below(random, 4)));
    const Seen seen = use(changed, policies[below(random, 2)]);
    if (!holds(seen, right)) BOOST_FAIL("mutation " << i << " got through");
    opened += seen.is_open ? 1 : 0;
    trusted += seen.is_trusted ? 1 : 0;
    missed += seen.is_trusted && seen.not_trusted > 0 ? 1 : 0;
  }
  BOOST_TEST_MESSAGE(count << " mutated bundles: " << opened << " opened, " << trusted << " trusted, of which "
                           << missed << " had a blob refused by its digest");
  BOOST_TEST(opened > count / 10);
  BOOST_TEST(trusted > 0U);
  BOOST_TEST(missed > 0U);
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
  const Seen seen = use(sealed(changed, Sealing::checksums), trusting({kOurs}, 5));
  BOOST_TEST(seen.is_open);
  BOOST_TEST(!seen.is_trusted);
  BOOST_TEST(seen.frames.empty());
  BOOST_TEST(seen.given.empty());
}
