#include "read/layout.hpp"

#include <clbake/cache/xxh64.hpp>
#include <clbake/joined.hpp>

#include "coding.hpp"

#include <algorithm>
#include <cstring>

namespace clbake::cache {
namespace {

using format::SectionType;
namespace header = format::header;

// A half-open range of bytes of the file.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

bool all_zero(const std::uint8_t* p, std::size_t bytes) {
  return std::all_of(p, p + bytes, [](std::uint8_t byte) { return byte == 0; });
}

// The first 16 bytes, which mean the same in every version, and the header's checksum.
Status check_fixed_part(ByteView bytes) {
  const std::size_t magic = std::min(bytes.size, sizeof format::kMagic);
  if (magic > 0 && std::memcmp(bytes.data, format::kMagic, magic) != 0) {
    return {Code::not_a_bundle, "not a bundle: does not begin with a bundle's magic"};
  }
  if (bytes.size < header::kFixedBytes) return {Code::truncated, "header: the file ends inside it"};
  const std::uint32_t size = load32(bytes.data + header::kHeaderBytesAt);
  if (size < header::kMinBytes || size > header::kMaxBytes) {
    return {Code::checksum, joined({"header: impossible size of ", size, " bytes"})};
  }
  if (bytes.size < size) return {Code::truncated, "header: the file ends inside it"};
  if (load64(bytes.data + size - 8) != xxh64(bytes.data, size - 8, 0)) {
    return {Code::checksum, "header: checksum mismatch"};
  }
  return {};
}

Status check_version(const std::uint8_t* head) {
  const std::uint16_t major = load16(head + header::kMajorAt);
  if (major != format::kMajor) {
    return {Code::unsupported_version,
            joined({"format version ", major, ".", load16(head + header::kMinorAt), ", this reader knows version 1"})};
  }
  if (load32(head + header::kHeaderBytesAt) != header::kBytes) {
    return {Code::malformed, "header: its size is not that of version 1"};
  }
  if ((load32(head + header::kFlagsAt) & format::kRefusedFlags) != 0 ||
      !all_zero(head + header::kReservedAt, header::kTableChecksumAt - header::kReservedAt)) {
    return {Code::unsupported_version, "header: asks for a feature that this reader lacks"};
  }
  return {};
}

Status check_file_size(ByteView bytes, std::uint64_t file_bytes) {
  const std::uint64_t declared = load64(bytes.data + header::kFileBytesAt);
  if (declared == file_bytes) return {};
  std::string message = joined({file_bytes, " bytes instead of ", declared});
  if (declared > file_bytes) return {Code::truncated, joined({"truncated: ", message})};
  return {Code::malformed, joined({"more data after the end: ", message})};
}

Result<ByteRange> locate_table(ByteView bytes) {
  const std::uint64_t offset = load64(bytes.data + header::kTableOffsetAt);
  const std::uint64_t count = load32(bytes.data + header::kSectionCountAt);
  if (count > format::kMaxSections) return Status(Code::malformed, "section table: too many sections");
  const std::uint64_t size = count * format::section::kBytes;
  if (offset < header::kBytes || offset > bytes.size || size > bytes.size - offset) {
    return Status(Code::malformed, "section table: outside the file");
  }
  if (load64(bytes.data + header::kTableChecksumAt) != xxh64(bytes.data + offset, size, 0)) {
    return Status(Code::checksum, "section table: checksum mismatch");
  }
  return ByteRange{offset, offset + size};
}

// Rules for sections of a known type only.
Status check_known(SectionType type, const std::uint8_t* p) {
  const std::uint64_t count = load64(p + format::section::kCountAt);
  const std::uint32_t record_bytes = load32(p + format::section::kRecordBytesAt);
  if (count > format::known(type).max_count) return {Code::malformed, "too many records"};
  if (record_bytes != format::known(type).record_bytes) return {Code::malformed, "wrong record size"};
  if (record_bytes != 0 && load64(p + format::section::kBytesAt) != count * record_bytes) {
    return {Code::malformed, joined({"its size is not its number of records times ", record_bytes})};
  }
  return {};
}

// Checks one record of the section table. `end` is the end of the section before it.
Result<Section> read_section(const std::uint8_t* from, std::uint64_t file_bytes, std::uint64_t end, ByteRange table) {
  namespace at = format::section;
  std::uint8_t p[at::kBytes];  // a copy: whoever changes the file now changes nothing that was checked
  std::memcpy(p, from, sizeof p);
  Section section;
  section.type = load32(p + at::kTypeAt);
  section.flags = load32(p + at::kFlagsAt);
  section.offset = load64(p + at::kOffsetAt);
  section.bytes = load64(p + at::kBytesAt);
  section.checksum = load64(p + at::kChecksumAt);
  const bool known = section.type >= 1 && section.type <= format::kSectionTypes;
  if (!known && (section.flags & at::kRequired) != 0) {
    return Status(Code::unsupported_version, "required by the bundle, unknown to this reader");
  }
  if ((section.flags & format::kRefusedFlags & ~at::kRequired) != 0 || load32(p + at::kReservedAt) != 0) {
    return Status(Code::unsupported_version, "asks for a feature that this reader lacks");
  }
  if (section.offset % at::kAlignment != 0) return Status(Code::malformed, "misaligned");
  if (section.offset > file_bytes || section.bytes > file_bytes - section.offset) {
    return Status(Code::malformed, "outside the file");
  }
  const std::uint64_t section_end = section.offset + section.bytes;
  if (section.offset < end || (section.offset < table.end && section_end > table.begin)) {
    return Status(Code::malformed, "overlaps the section table or the section before it");
  }
  if (!known) return section;
  if (Status status = check_known(static_cast<SectionType>(section.type), p); !status) return status;
  section.count = static_cast<std::uint32_t>(load64(p + at::kCountAt));
  return section;
}

Status read_sections(ByteView bytes, std::uint64_t file_bytes, ByteRange table, Layout& layout) {
  std::uint64_t end = header::kBytes;
  for (std::uint64_t at = table.begin; at < table.end; at += format::section::kBytes) {
    Result<Section> section = read_section(bytes.data + at, file_bytes, end, table);
    if (!section) {
      const std::uint32_t type = load32(bytes.data + at + format::section::kTypeAt);
      return section.status().within(joined({"section of type ", type}));
    }
    const std::uint32_t type = section->type;
    end = section->offset + section->bytes;
    layout.sections.push_back(*section);
    if (type < 1 || type > format::kSectionTypes) continue;
    if (layout.by_type[type].type != 0) return {Code::malformed, joined({"two sections of type ", type})};
    layout.by_type[type] = *section;
  }
  return {};
}

Status check_complete(const Layout& layout) {
  for (std::uint32_t type = 1; type <= format::kRequiredTypes; ++type) {
    if (layout.by_type[type].type == 0) {
      return {Code::malformed, joined({"no section of ", name(static_cast<SectionType>(type))})};
    }
  }
  const auto count = [&](SectionType type) { return layout.by_type[static_cast<std::size_t>(type)].count; };
  if (count(SectionType::index) != count(SectionType::proofs)) {
    return {Code::malformed, "the numbers of proofs and of index records differ"};
  }
  return {};
}

}  // namespace

std::string_view name(SectionType type) { return format::known(type).name; }

Status read_layout_in(ByteView index, std::uint64_t file_bytes, Layout& layout) {
  if (Status status = check_fixed_part(index); !status) return status;
  if (Status status = check_version(index.data); !status) return status;
  if (Status status = check_file_size(index, file_bytes); !status) return status;
  const Result<ByteRange> table = locate_table(index);
  if (!table) return table.status();
  layout.version = {load16(index.data + header::kMajorAt), load16(index.data + header::kMinorAt)};
  layout.table_offset = table->begin;
  layout.sections.reserve((table->end - table->begin) / format::section::kBytes);
  if (Status status = read_sections(index, file_bytes, *table, layout); !status) return status;
  return check_complete(layout);
}

Result<BundleView> read_layout(ByteView bytes) {
  BundleView view;
  view.bytes = view.index = bytes;
  if (Status status = read_layout_in(bytes, bytes.size, view.layout); !status) return status;
  return view;
}

}  // namespace clbake::cache
