// An index of slices, and slices by their digests.
#include <clbake/cache/blake2b.hpp>
#include <clbake/cache/reader.hpp>
#include <clbake/cache/slices.hpp>
#include <clbake/cache/xxh64.hpp>
#include <clbake/exceptions_to_status.hpp>

#include "coding.hpp"
#include "read/layout.hpp"
#include "read/records.hpp"

#include <cstring>
#include <utility>

namespace clbake::cache {
namespace {

namespace field = format::slices;
using format::SectionType;

constexpr const char* kNoForm = "a form that a program cannot have";

Status against_rules(const char* why) { return {Code::malformed, std::string("slices: ") + why}; }

// A form of nothing, or of no device, or for newer drivers without machine code, is none.
bool possible(std::uint32_t forms, bool is_there, bool has_target) {
  const bool newer_driver = (forms & kNewerDriverForm) != 0, native = (forms & kNativeForm) != 0;
  return (forms == 0 || is_there) && ((forms & kBakedForms) == 0 || has_target) && (native || !newer_driver);
}

Result<Slice> read_slice(const std::uint8_t* p, std::uint32_t target_count) {
  Slice slice;
  std::memcpy(slice.digest.data(), p + field::kDigestAt, slice.digest.size());
  slice.bytes = load64(p + field::kBytesAt);
  slice.target = load32(p + field::kTargetAt);
  slice.kinds = load32(p + field::kKindsAt);
  slice.forms = load64(p + field::kFormsAt);
  if ((slice.kinds & ~field::kKnownKinds) != 0 || slice.forms >> (3 * field::kFormsOfKinds) != 0) {
    return {Code::unsupported_version, "slices: a kind or a form that this reader does not know"};
  }
  if (slice.kinds == 0 || slice.bytes == 0) return against_rules("one of no bytes, or that serves nothing");
  if (slice.bytes > format::kMaxSliceBytes) return against_rules("one of an impossible size");
  if (slice.target >= target_count && slice.target != kNoTarget) return against_rules("a target that does not exist");
  for (unsigned kind = 0; kind < field::kFormsOfKinds; ++kind) {
    const auto forms = static_cast<std::uint32_t>(slice.forms >> (3 * kind)) & kBakedForms;
    const bool is_there = ((slice.kinds & ~kOwnPrograms) >> kind & 1) != 0;  // programs have forms of their own
    if (!possible(forms, is_there, slice.target != kNoTarget)) return against_rules(kNoForm);
  }
  return slice;
}

// The forms of the programs of one slice.
Status check_set(const SliceTable& table, const Slice& slice) {
  const std::size_t count = table.programs.size();
  for (std::size_t p = 0; p < 2 * table.sets[slice.set].size(); ++p) {
    const std::uint32_t forms = table.forms(slice, p);
    if (p >= count && forms != 0) return against_rules("a program that does not exist");
    if (!possible(forms, (forms & kSourceForm) != 0, slice.target != kNoTarget)) return against_rules(kNoForm);
  }
  return {};
}

// Slices ascend by target, then kinds; those of a target are neighbours.
Status check_order(const std::vector<Slice>& slices) {
  std::uint32_t kinds = 0;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const bool same_target = i > 0 && slices[i].target == slices[i - 1].target;
    if (i > 0 && slices[i].target < slices[i - 1].target) return against_rules("out of order");
    if (same_target && slices[i].kinds <= slices[i - 1].kinds) return against_rules("out of order");
    if (!same_target) kinds = 0;
    if ((kinds & slices[i].kinds) != 0) return against_rules("two of one target serve the same kind");
    kinds |= slices[i].kinds;
  }
  return {};
}

Result<SliceTable> read_table(ByteView section, std::uint32_t target_count) {
  if (section.size < field::kHeaderBytes || section.size > format::kMaxSlicesSection)
    return against_rules("impossible size");
  const std::uint8_t* p = section.data;
  const std::uint64_t count = load32(p + field::kCountAt), programs = load32(p + field::kProgramsAt);
  const std::uint64_t records = field::kHeaderBytes + count * field::kSliceBytes + programs * field::kProgramBytes;
  if (records > section.size) return against_rules("they end inside a record");
  SliceTable table;
  table.release = load64(p + field::kReleaseAt);
  p += field::kHeaderBytes;
  std::uint32_t sets = 0;
  for (std::uint64_t i = 0; i < count; ++i, p += field::kSliceBytes) {
    Result<Slice> slice = read_slice(p, target_count);
    if (!slice) return slice.status();
    if ((slice->kinds & kOwnPrograms) != 0) slice->set = sets++;
    table.slices.push_back(*slice);
  }
  if (Status status = check_order(table.slices); !status) return status;
  for (std::uint64_t i = 0; i < programs; ++i, p += field::kProgramBytes) {
    table.programs.push_back({load64(p), load64(p + 8)});
    if (i > 0 && !(table.programs[i - 1] < table.programs[i])) return against_rules("programs out of order");
  }
  const std::uint64_t set_bytes = (programs + 1) / 2;
  if (section.size - records != sets * set_bytes) return against_rules("the size is not that of their programs");
  for (const Slice& slice : table.slices) {
    if ((slice.kinds & kOwnPrograms) == 0) continue;
    table.sets.emplace_back(p, p + set_bytes);
    if (Status status = check_set(table, slice); !status) return status;
    p += set_bytes;
  }
  return table;
}

}  // namespace

std::string slice_name(const ContentDigest& digest) {
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4U];
    text += "0123456789abcdef"[byte & 0xFU];
  }
  return text + ".clbake";
}

bool Bundle::is_index() const { return state_->view.section(SectionType::slices).type != 0; }

Result<SliceTable> Bundle::slices() const {
  return exceptions_to_status([&]() -> Result<SliceTable> {
    if (!is_index()) return {Code::not_a_bundle, "a bundle, but no index of slices"};
    const BundleView& view = state_->view;
    if (view.has_digests()) {
      if (Status status = check_digest_layout(view.layout, view.bytes.size); !status) return status;
    }
    const Section& section = view.section(SectionType::slices);
    const ByteView bytes{view.index.data + section.offset, static_cast<std::size_t>(section.bytes)};
    if (xxh64(bytes, section.type) != section.checksum) return {Code::checksum, "slices: checksum mismatch"};
    return read_table(bytes, target_count());
  });
}

Result<Bundle> Bundle::of_digest(const ContentDigest& digest, std::shared_ptr<const void> voucher) const {
  return exceptions_to_status([&]() -> Result<Bundle> {
    Result<Bundle> bundle = voucher ? copy_of(state_->view.bytes) : Result<Bundle>(*this);
    if (!bundle) return bundle;
    if (blake2b_256(bundle->state_->view.bytes) != digest) {
      return {Code::checksum, "its digest is another one: it is damaged, or of another release"};
    }
    if (!voucher) return bundle;
    auto state = std::make_shared<State>(*bundle->state_);
    state->voucher = std::move(voucher);
    return Bundle(std::move(state));
  });
}

const void* Bundle::voucher() const { return state_->voucher.get(); }

}  // namespace clbake::cache
