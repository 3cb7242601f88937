// Writing bundles that are kept and shipped: as `encode`, but smaller and on all cores. For the builder and tools; an
// application's overlay has no use for it, and does not link it.
#pragma once

#include <clbake/cache/reader.hpp>
#include <clbake/cache/slices.hpp>
#include <clbake/cache/writer.hpp>

#include <atomic>
#include <functional>

namespace clbake::cache {

struct PackOptions {
  unsigned threads = 0;                       // 0: one for each core
  const std::atomic<bool>* cancel = nullptr;  // polled between programs; may be null
  std::function<void(std::size_t done, std::size_t all)>
      report;                       // programs; called on the caller's thread; may be empty
  DigestFunction digest = nullptr;  // null: the bundle holds no digests, and cannot be signed or pinned
};

// The bytes of a bundle. Programs that resemble others of the bundle are compressed with one of these as their
// dictionary. Equal contents in any order give equal bytes, with any number of threads. Fails like `encode`, and with
// cancelled.
Result<Bytes> pack(const Contents& contents, const PackOptions& options = {});

// An index of slices. The targets of `table` are indices into `targets`; its slices need no order. Equal targets and
// tables give equal bytes. Fails with invalid_argument for a table against the rules of FORMAT.md.
Result<Bytes> pack_index(const std::vector<Target>& targets, const SliceTable& table);

// The bundle with exactly these signatures, in any order, in the place of those that it has; everything else stays as
// it is. `bundle` is intact. Fails with not_trusted when it has no digests, with invalid_argument when two signatures
// are of one key or there are more than 64, and as opening does.
Result<Bytes> with_signatures(ByteView bundle, std::vector<Signature> signatures);

}  // namespace clbake::cache
