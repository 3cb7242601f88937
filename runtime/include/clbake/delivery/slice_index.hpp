// A release in slices (`clbake split`): the application opens the index alone, is told which slices a device needs, and
// fetches them by its own means. builder/STORE.md.
//
//   auto index = clbake::SliceIndex::open("index.clbake-index", {5});  // release 5 or later
//   auto needed = index->needed(device, problems, {"softmax"});
//   for (const clbake::NeededSlice& slice : needed->slices) {
//     // fetch slice.name, slice.bytes, unless it is there
//     auto bundle = index->open_slice(slice.name, "store/" + slice.name);
//     if (bundle) bundles.push_back(*bundle);                           // for Library::create
//   }
#pragma once

#include <clbake/clbake.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace clbake {

struct IndexOptions {
  std::uint64_t minimum_release = 0;   // an index of an older release is refused
  std::shared_ptr<const Trust> trust;  // that the index must pass, and that its slices then pass with it; null: any
};

struct NeededSlice {
  std::string name;                // of its file: 64 hexadecimal digits, its digest, and ".clbake"
  std::uint64_t bytes = 0;         // of the whole file
  Origin origin = Origin::native;  // of what it has for the question, the last where several: native, portable, source
};

// An answer about one device. Each slice is listed once, in one of the lists.
struct NeededSlices {
  std::vector<NeededSlice> slices;    // to fetch: they serve best
  std::vector<NeededSlice> instead;   // what would serve without them, portable or compiled from source
  std::vector<std::string> unserved;  // kinds of problems, as "single nt", and programs that no slice serves

  std::uint64_t bytes() const {  // of what is to be fetched
    std::uint64_t sum = 0;
    for (const NeededSlice& slice : slices) sum += slice.bytes;
    return sum;
  }
};

// A question about a device, which need not be here.
struct SliceQuery {
  Target device;
  bool is_cpu = false;
  bool newer_driver = false;  // as Options::newer_driver
  std::vector<Problem> problems;
  std::vector<std::string> programs;  // names, or content_name() of programs that are asked for by content
};

// An open index. Copies are cheap and share everything. Any number of threads at once.
class SliceIndex {
 public:
  // Reads the file of `clbake split`, which may then change or go. Fails like Bundle::open; with not_a_bundle for a
  // bundle that is no index; with not_trusted when the trust refuses it, or when its release is older than the least
  // one.
  CLBAKE_API static Result<SliceIndex> open(const std::string& path, const IndexOptions& options = {});

  // Copies the bytes; the caller may free them at once. Fails like open.
  CLBAKE_API static Result<SliceIndex> copy_of(cache::ByteView bytes, const IndexOptions& options = {});

  CLBAKE_API std::uint64_t release() const;

  // The slices that the device needs for these problems and programs: those made for it and its driver, else what it
  // can load of another target, else sources. Fetches and opens nothing. A problem of a kind that the device's own
  // slice does not have counts as any other. Fails with invalid_argument (an impossible problem; a null device),
  // opencl, or with what is wrong with the index.
  CLBAKE_API Result<NeededSlices> needed(const SliceQuery& query) const;
  CLBAKE_API Result<NeededSlices> needed(cl_device_id device, const std::vector<Problem>& problems,
                                         const std::vector<std::string>& programs = {},
                                         bool newer_driver = false) const;

  // Opens a slice that was fetched, in any order, once its digest is the one that the index has. Reads all of it; with
  // a trust, into memory. Fails with invalid_argument for a name that the index does not have; like Bundle::open
  // (truncated: a part of it is there, and fetching may go on from its end); with checksum for a damaged or swapped
  // one, or one of another release.
  CLBAKE_API Result<Bundle> open_slice(const std::string& name, const std::string& path) const;

  // The same for bytes in memory, which are copied.
  CLBAKE_API Result<Bundle> copy_slice(const std::string& name, cache::ByteView bytes) const;

 private:
  struct State;
  explicit SliceIndex(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace clbake
