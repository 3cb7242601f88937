// The reading side of a bundle. Knows bytes only: no OpenCL, no kernels.
//
//   auto bundle = Bundle::open("gemm.clbake");
//   auto target = bundle->find_target(here);            // the index of this device and driver
//   auto entry = bundle->find_entry(*target, variant);  // what was baked for it
//   auto program = bundle->program(*entry);             // the verified bytes, for clCreateProgramWithBinary
#pragma once

#include <clbake/export.h>
#include <clbake/cache/model.hpp>
#include <clbake/status.hpp>

#include <array>
#include <memory>

namespace clbake::cache {

// Place of a blob's bytes in a bundle, and their checksums: FORMAT.md, "Blob record".
struct Blob {
  std::uint64_t offset = 0;  // of the stored bytes, from the start of the bundle
  std::uint32_t stored_bytes = 0;
  std::uint32_t raw_bytes = 0;  // after decompression
  std::uint64_t stored_checksum = 0;
  std::uint64_t raw_checksum = 0;
  std::uint16_t method = 0;      // FORMAT.md, "Compression methods"
  std::uint32_t dictionary = 0;  // 0: none; else 1 + the entry whose program is needed to decompress this one
};

// An entry without its program's bytes. Valid for the bundle that returned it.
struct EntryInfo {
  std::uint32_t index = 0;  // of this entry
  std::uint32_t target = 0;
  std::uint32_t variant = 0;
  Form form = Form::native;
  bool newer_driver = false;  // see Entry
  Proof proof;
  Blob program;
};

// Who vouches for a bundle: FORMAT.md, "Digests and signatures". Not checked by this library, which knows no keys.
struct Signature {
  std::array<std::uint8_t, 32> public_key{};  // Ed25519
  std::uint64_t release = 0;                  // number of the release
  std::array<std::uint8_t, 64> signature{};   // of identity and release
};

struct SliceTable;  // slices.hpp

struct Version {
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
};

// Who decides whether bytes of a bundle may be used, beside their checksums, which find damage but not malice. Any
// number of threads at once.
class Guard {
 public:
  Guard() = default;
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  virtual ~Guard() = default;

  // Copies `stored`, which somebody may still change, into `copy`, and returns the copy if its digest is `digest`
  // (32 bytes, FORMAT.md says of which function). Else fails with not_trusted; nothing may use the bytes then.
  virtual Result<ByteView> admit(ByteView stored, const std::uint8_t* digest, Bytes& copy) const = 0;
};

// An open bundle. Copies are cheap and share one mapping, which lives as long as the last copy.
//
// Any number of threads may call const members at once. No byte is used before its checksum is verified. Beside the
// codes that a member names, each can fail with checksum, malformed or unsupported_version, which concern the record
// that the message names and leave the others usable, and with out_of_memory.
class Bundle {
 public:
  // Maps a regular file read-only. Reads the header and the section table only, so that the cost does not grow with the
  // bundle. The file must not change while it is open; replacing it by rename is safe. Fails with not_found, io,
  // not_a_bundle, truncated, checksum, unsupported_version or malformed; the message begins with the path.
  CLBAKE_API static Result<Bundle> open(const std::string& path);

  // Reads the caller's bytes in place: they must stay unchanged while any copy of the Bundle lives. Needs no alignment.
  // Fails like open, without not_found and io; invalid_argument when `bytes` is null.
  CLBAKE_API static Result<Bundle> from_memory(ByteView bytes);

  // The same for bytes that live as long as `owner`, which the copies of the Bundle keep.
  CLBAKE_API static Result<Bundle> from_memory(ByteView bytes, std::shared_ptr<const void> owner);

  // Copies `bytes`; the caller may free them at once. Fails like from_memory.
  CLBAKE_API static Result<Bundle> copy_of(ByteView bytes);

  CLBAKE_API Version version() const;
  CLBAKE_API std::uint64_t size_bytes() const;

  CLBAKE_API std::uint32_t target_count() const;
  CLBAKE_API std::uint32_t source_count() const;
  CLBAKE_API std::uint32_t variant_count() const;
  CLBAKE_API std::uint32_t profile_count() const;
  CLBAKE_API std::uint32_t entry_count() const;

  // Record i in the order of the file. invalid_argument unless i is below the count above.
  CLBAKE_API Result<Target> target(std::uint32_t i) const;
  CLBAKE_API Result<Source> source(std::uint32_t i) const;
  CLBAKE_API Result<Variant> variant(std::uint32_t i) const;
  CLBAKE_API Result<Profile> profile(std::uint32_t i) const;
  CLBAKE_API Result<EntryInfo> entry(std::uint32_t i) const;

  // The index of the target that equals `target` in every field; or else in all but its CPU features, of which it needs
  // none that `target` lacks. Fails with missing_feature if a target needs more of them, with other_driver if one
  // differs in platform version, device version or the driver's version or build, else with no_target.
  CLBAKE_API Result<std::uint32_t> find_target(const Target& target) const;

  // The profile of a target; no_variant if it has none.
  CLBAKE_API Result<Profile> find_profile(std::uint32_t target) const;

  // The programs of this content, ascending; at least one. Looks at every variant's record. Fails with no_program, or
  // with the fault of a record that may be the program's.
  CLBAKE_API Result<std::vector<std::uint32_t>> find_content(const ContentDigest& content) const;

  // The entry of a target and variant: native if there is one, else portable; or of one form only. no_entry if there is
  // none. Damage never hides an entry: the answer is right, or it is checksum.
  CLBAKE_API Result<EntryInfo> find_entry(std::uint32_t target, std::uint32_t variant) const;
  CLBAKE_API Result<EntryInfo> find_entry(std::uint32_t target, std::uint32_t variant, Form form) const;

  // The program's bytes: the stored bytes are verified, decompressed, and verified again; before that, the program that
  // is the dictionary of this one. An `entry` of another bundle fails.
  CLBAKE_API Result<Bytes> program(const EntryInfo& entry) const;

  // Checks every byte of the bundle, padding included, and decompresses everything. Takes time in proportion to the
  // bundle, and memory for 64 bytes of each entry and for the largest program.
  CLBAKE_API Status verify() const;

  // True when the bundle holds digests of its blobs, and so can be signed and pinned.
  CLBAKE_API bool has_digests() const;

  // The signatures that the bundle holds, by ascending keys, whether they are right or not; none without digests.
  CLBAKE_API Result<std::vector<Signature>> signatures() const;

  // The bytes whose digest is the bundle's identity: FORMAT.md, "Digests and signatures". They lead to every other
  // byte that is read. Fails with not_trusted without digests.
  CLBAKE_API Result<Bytes> identified_bytes() const;

  // The same bundle, whose records are a private copy and whose blobs `guard` has to admit before anything else sees a
  // byte of them: nobody who changes the file or the memory now changes what is read. Fails with not_trusted without
  // digests, and like open if the bundle was changed in the meantime.
  CLBAKE_API Result<Bundle> guarded_by(std::shared_ptr<const Guard> guard) const;

  // Compares every blob with its digest by `guard`, which need not be the bundle's own. The first failure names the
  // record. Ok without digests.
  CLBAKE_API Status check_digests(const Guard& guard) const;

  // True for an index of slices, which holds targets and nothing else.
  CLBAKE_API bool is_index() const;

  // The slices that an index names. Fails with not_a_bundle for a bundle that is no index, and like a record.
  CLBAKE_API Result<SliceTable> slices() const;

  // The same bundle, if blake2b_256 of all its bytes is `digest`; else fails with checksum. With a `voucher`, who
  // vouches for this digest, the result reads a private copy of the bytes and returns it as voucher().
  CLBAKE_API Result<Bundle> of_digest(const ContentDigest& digest, std::shared_ptr<const void> voucher = nullptr) const;
  CLBAKE_API const void* voucher() const;  // null: nobody

  // A bundle that holds nothing.
  CLBAKE_API static Result<Bundle> nothing();

  // The whole bundle as values, in the order of the file; verifies what it reads. Programs that entries share are
  // decompressed once for each entry: a hostile bundle can use that to exhaust memory, so this is for tools.
  CLBAKE_API Result<Contents> decode() const;

 private:
  struct State;
  explicit Bundle(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace clbake::cache
