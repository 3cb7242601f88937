#include "pack/sketch.hpp"

#include "coding.hpp"

#include <algorithm>

namespace clbake::cache {
namespace {

constexpr std::size_t kPieceBytes = 8;
constexpr std::size_t kPruneAt = 8 * kSketchHashes;  // hashes that are gathered before they are sorted

// Every step can be undone, so different pieces have different hashes.
std::uint64_t hash_of(std::uint64_t piece) {
  piece = (piece ^ piece >> 32) * 0xD6E8FEB86659FD93;
  piece = (piece ^ piece >> 32) * 0xD6E8FEB86659FD93;
  return piece ^ piece >> 32;
}

void keep_smallest(Sketch& hashes) {
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  if (hashes.size() > kSketchHashes) hashes.resize(kSketchHashes);
}

}  // namespace

Sketch sketch_of(ByteView program) {
  Sketch hashes;
  std::uint64_t limit = UINT64_MAX;  // larger ones are not among the smallest
  for (std::size_t i = 0; i + kPieceBytes <= program.size; ++i) {
    const std::uint64_t hash = hash_of(load64(program.data + i));
    if (hash > limit) continue;
    hashes.push_back(hash);
    if (hashes.size() < kPruneAt) continue;
    keep_smallest(hashes);
    if (hashes.size() == kSketchHashes) limit = hashes.back();
  }
  keep_smallest(hashes);
  return hashes;
}

std::uint64_t shared_part(const Sketch& a, const Sketch& b) {
  // Counts the smallest hashes of both programs together, and those in both.
  std::uint64_t seen = 0, both = 0;
  std::size_t i = 0, j = 0;
  for (; seen < kSketchHashes && i < a.size() && j < b.size(); ++seen) {
    const bool equal = a[i] == b[j];
    const bool first = a[i] < b[j];
    both += equal ? 1 : 0;
    i += equal || first ? 1 : 0;
    j += equal || !first ? 1 : 0;
  }
  seen = std::min<std::uint64_t>(kSketchHashes, seen + (a.size() - i) + (b.size() - j));
  // That share of the union is 2 * both / (seen + both) of each of two programs of equal size.
  return seen == 0 ? 0 : kSketchHashes * 2 * both / (seen + both);
}

}  // namespace clbake::cache
