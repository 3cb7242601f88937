// The reading side of a bundle. Knows bytes only: no OpenCL, no kernels.
//
//   auto bundle = Bundle::open("gemm.clbake");
//   auto target = bundle->find_target(here);              // who am I?
//   auto entry = bundle->find_entry(*target, variant);    // what was baked for me?
//   auto program = bundle->program(*entry);               // the verified bytes for the driver
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/status.hpp>

#include <memory>

namespace clbake::cache {

// Where an entry's program lies and what was recorded of it; without the bytes. Of use with the bundle it came from
// only.
struct EntryInfo {
  std::uint32_t target = 0;
  std::uint32_t variant = 0;
  Form form = Form::native;
  bool newer_driver = false;  // see Entry
  Proof proof;
  std::uint64_t offset = 0;         // of the stored program, bytes from the start of the bundle
  std::uint64_t stored_bytes = 0;   // compressed size in the bundle
  std::uint64_t program_bytes = 0;  // size after decompression
  std::uint64_t stored_checksum = 0;
  std::uint64_t program_checksum = 0;
  std::uint32_t compression = 0;  // FORMAT.md, "Compression methods"
};

struct Version {
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
};

// An opened bundle. Copies are cheap and share one mapping, which lives as long as the last copy.
// All const members may be called from any number of threads at once.
// Nothing is trusted before its checksum was verified; every failure is a Status and has no side effect. Beside what
// is said of each member, all that read can fail with checksum, malformed or unsupported_version, which then concern
// the named record only and leave the others usable, and with out_of_memory.
class Bundle {
 public:
  // Maps the file, which must be a regular one, read-only. Reads the header and the section table only: the cost does
  // not grow with the bundle. The file must not be changed while open (replacing it by rename is safe). Fails with
  // not_found, io, not_a_bundle, truncated, checksum, unsupported_version or malformed; the message begins with the
  // path.
  static Result<Bundle> open(const std::string& path);

  // The same of a path that begins at `directory`, an open file descriptor of one, which stays the caller's.
  static Result<Bundle> open_at(int directory, const std::string& path);

  // Reads in place from memory that the caller owns and keeps unchanged while any copy of the Bundle lives.
  // No alignment needed. Fails like open, without not_found and io; invalid_argument when `bytes` is null.
  static Result<Bundle> from_memory(ByteView bytes);

  // Of memory that may go before the bundle does: reads a copy. Fails like from_memory.
  static Result<Bundle> copy_of(ByteView bytes);

  Version version() const;
  std::uint64_t size_bytes() const;

  std::uint32_t target_count() const;
  std::uint32_t source_count() const;
  std::uint32_t variant_count() const;
  std::uint32_t profile_count() const;
  std::uint32_t entry_count() const;

  // The i-th record of the file's order, i below the count above (else invalid_argument).
  Result<Target> target(std::uint32_t i) const;
  Result<Source> source(std::uint32_t i) const;
  Result<Variant> variant(std::uint32_t i) const;
  Result<Profile> profile(std::uint32_t i) const;
  Result<EntryInfo> entry(std::uint32_t i) const;

  // The index of the target that equals `target` in every field. When there is none: other_driver if a target
  // differs only in platform version, device version or driver version, else no_target.
  Result<std::uint32_t> find_target(const Target& target) const;

  // The profile of a target; no_variant if it has none.
  Result<Profile> find_profile(std::uint32_t target) const;

  // The entry of a target and variant: native if there is one, else portable. no_entry if there is neither.
  // Searches in the mapped index; allocates nothing but the proof's texts. No entry is overlooked because of damage:
  // either the answer is right or it is checksum.
  Result<EntryInfo> find_entry(std::uint32_t target, std::uint32_t variant) const;

  // The same for one form only.
  Result<EntryInfo> find_entry(std::uint32_t target, std::uint32_t variant, Form form) const;

  // The program's bytes: stored bytes verified, decompressed, the result verified again. An `entry` that is not of this
  // bundle fails with invalid_argument, malformed or checksum.
  Result<Bytes> program(const EntryInfo& entry) const;

  // Reads and checks every byte of the bundle, padding included, and decompresses everything. Takes time in proportion
  // to the bundle and memory for 64 bytes of each entry and the largest program.
  Status verify() const;

  // The whole bundle as values, in the order of the file. Verifies what it reads. Programs that entries share are in
  // memory once for each entry, so this is for tools and for bundles that one trusts not to exploit that.
  Result<Contents> decode() const;

 private:
  struct State;
  explicit Bundle(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace clbake::cache
