// Puts signatures into a bundle: they are its end, and moving nothing they change only their record of the section
// table, the size of the file and the checksums of both.
#include <clbake/cache/pack.hpp>
#include <clbake/cache/xxh64.hpp>
#include <clbake/exceptions_to_status.hpp>

#include "coding.hpp"
#include "read/records.hpp"

#include <algorithm>

namespace clbake::cache {
namespace {

using format::SectionType;

Status check(const std::vector<Signature>& sorted) {
  if (sorted.size() > format::kMaxSignatures) {
    return {Code::invalid_argument, "more than " + std::to_string(format::kMaxSignatures) + " signatures"};
  }
  const auto same_key = [](const Signature& a, const Signature& b) { return a.public_key == b.public_key; };
  const bool twice = std::adjacent_find(sorted.begin(), sorted.end(), same_key) != sorted.end();
  return twice ? Status(Code::invalid_argument, "two signatures of one key") : Status();
}

void append(Bytes& file, const Signature& signature, std::uint32_t i) {
  namespace at = format::signature;
  file.resize(file.size() + at::kBytes);
  std::uint8_t* p = file.data() + file.size() - at::kBytes;
  std::copy(signature.public_key.begin(), signature.public_key.end(), p + at::kPublicKeyAt);
  std::copy(signature.signature.begin(), signature.signature.end(), p + at::kSignatureAt);
  store64(p + at::kReleaseAt, signature.release);
  store64(p + at::kChecksumAt, xxh64(p, at::kChecksumAt, format::record_seed(SectionType::signatures, i)));
}

// Seals the header and the section table, for signatures that begin at `offset`.
void seal(Bytes& file, const Layout& layout, std::uint64_t offset) {
  namespace at = format::section;
  const std::size_t table_bytes = layout.sections.size() * at::kBytes;
  std::uint8_t* table = file.data() + layout.table_offset;
  std::uint8_t* last = table + table_bytes - at::kBytes;
  const ByteView content{file.data() + offset, static_cast<std::size_t>(file.size() - offset)};
  store64(last + at::kBytesAt, content.size);
  store64(last + at::kCountAt, content.size / format::signature::kBytes);
  store64(last + at::kChecksumAt, xxh64(content, static_cast<std::uint32_t>(SectionType::signatures)));
  std::uint8_t* header = file.data();
  store64(header + format::header::kFileBytesAt, file.size());
  store64(header + format::header::kTableChecksumAt, xxh64(table, table_bytes, 0));
  store64(header + format::header::kChecksumAt, xxh64(header, format::header::kChecksumAt, 0));
}

}  // namespace

Result<Bytes> with_signatures(ByteView bundle, std::vector<Signature> signatures) {
  return exceptions_to_status([&]() -> Result<Bytes> {
    const Result<BundleView> view = read_layout(bundle);
    if (!view) return view.status();
    if (!view->has_digests())
      return Status(Code::not_trusted, "the bundle has no digests, which signatures are made of");
    std::sort(signatures.begin(), signatures.end(),
              [](const Signature& a, const Signature& b) { return a.public_key < b.public_key; });
    if (Status status = check(signatures); !status) return status;
    if (Status status = check_digest_layout(view->layout, bundle.size); !status) return status;
    const std::uint64_t offset = view->section(SectionType::signatures).offset;
    Bytes file(bundle.data, bundle.data + offset);
    for (std::uint32_t i = 0; i < signatures.size(); ++i) append(file, signatures[i], i);
    seal(file, view->layout, offset);
    return file;
  });
}

}  // namespace clbake::cache
