// Writes an index of slices.
#include <clbake/cache/blake2b.hpp>
#include <clbake/cache/pack.hpp>
#include <clbake/exceptions_to_status.hpp>

#include "bodies.hpp"
#include "coding.hpp"
#include "format.hpp"
#include "write/canonical.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace clbake::cache {
namespace {

namespace field = format::slices;

void append(Bytes& to, const Slice& slice) {
  to.resize(to.size() + field::kSliceBytes);
  std::uint8_t* p = to.data() + to.size() - field::kSliceBytes;
  std::memcpy(p + field::kDigestAt, slice.digest.data(), slice.digest.size());
  store64(p + field::kBytesAt, slice.bytes);
  store32(p + field::kTargetAt, slice.target);
  store32(p + field::kKindsAt, slice.kinds);
  store64(p + field::kFormsAt, slice.forms);
}

// The section; `table` has the targets of the file. Sorts slices and programs.
Bytes encode_table(SliceTable table) {
  std::sort(table.slices.begin(), table.slices.end(), [](const Slice& a, const Slice& b) {
    return a.target != b.target ? a.target < b.target : a.kinds < b.kinds;
  });
  std::vector<std::size_t> order(table.programs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return table.programs[a] < table.programs[b]; });
  Bytes section(field::kHeaderBytes);
  store64(section.data() + field::kReleaseAt, table.release);
  store32(section.data() + field::kCountAt, static_cast<std::uint32_t>(table.slices.size()));
  store32(section.data() + field::kProgramsAt, static_cast<std::uint32_t>(order.size()));
  for (const Slice& slice : table.slices) append(section, slice);
  for (const std::size_t program : order) {
    section.resize(section.size() + field::kProgramBytes);
    std::uint8_t* p = section.data() + section.size() - field::kProgramBytes;
    store64(p, table.programs[program].name);
    store64(p + 8, table.programs[program].content);
  }
  for (const Slice& slice : table.slices) {
    if ((slice.kinds & kOwnPrograms) == 0) continue;
    const std::size_t set = section.size();
    section.resize(set + (order.size() + 1) / 2);
    for (std::size_t i = 0; i < order.size(); ++i) {
      section[set + i / 2] |= static_cast<std::uint8_t>(table.forms(slice, order[i]) << (4 * (i % 2)));
    }
  }
  return section;
}

}  // namespace

Result<Bytes> pack_index(const std::vector<Target>& targets, const SliceTable& table) {
  return exceptions_to_status([&]() -> Result<Bytes> {
    Contents contents;
    contents.targets = targets;
    const Result<CanonicalContents> canonical = canonicalize(contents);
    if (!canonical) return canonical.status();
    SliceTable written = table;
    for (Slice& slice : written.slices) {
      if (slice.target == kNoTarget) continue;
      if (slice.target >= targets.size()) return {Code::invalid_argument, "slices: a target that does not exist"};
      const Bytes body = encode_target(targets[slice.target]);
      const auto& bodies = canonical->targets;
      const auto found = std::find_if(bodies.begin(), bodies.end(), [&](const auto& of) { return of.bytes == body; });
      slice.target = static_cast<std::uint32_t>(found - bodies.begin());
    }
    const Bytes section = encode_table(std::move(written));
    Result<Bytes> bytes = encode_canonical(*canonical, {}, blake2b_256, {section.data(), section.size()});
    if (!bytes) return bytes;
    const Result<SliceTable> read = Bundle::from_memory({bytes->data(), bytes->size()})->slices();
    if (!read) return {Code::invalid_argument, read.status().message()};
    return bytes;
  });
}

}  // namespace clbake::cache
