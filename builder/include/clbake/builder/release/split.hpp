// A bundle in slices, each for one target and kind of problems, and the index that names them: a device fetches its own
// alone. builder/STORE.md.
#pragma once

#include <clbake/cache/pack.hpp>
#include <clbake/cache/reader.hpp>
#include <clbake/clbake.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace clbake::builder::release {

inline constexpr const char* kIndexName = "index.clbake-index";  // in a store
inline constexpr const char* kIndexExtension = ".clbake-index";

struct SplitOptions {
  std::uint64_t release = 0;
  std::string key_file;            // that signs the index; empty: nobody does
  std::string index = kIndexName;  // the index' file in the store
  cache::PackOptions pack;         // its digest function is not used: an index pins whole slices
};

struct SplitReport {
  std::size_t slices = 0, written = 0;         // the others were in the store
  std::uint64_t bytes = 0, written_bytes = 0;  // of slices
  std::uint64_t largest_target = 0;            // bytes of the slices of that target which has most
  std::uint64_t index_bytes = 0;
  std::string public_key;  // that signed; empty: nobody
};

// Writes the slices that the store lacks, and then the index. The store, a directory, is made if need be; other files
// in it stay, but for those that killed writers left unfinished. A slice's bytes, and so its name, depend on its
// target's contents of its kinds alone. Fails with io, with invalid_argument where the earlier index is of a later
// release, like `pack` and like `sign`; then the earlier index is still there, and whole.
Result<SplitReport> split(const cache::Contents& contents, const std::string& store, const SplitOptions& options);

// The part of a bundle that is about one of its targets: its entries and profile, and what these name, with trials.
cache::Contents part_of_target(const cache::Contents& contents, std::uint32_t target);

// True when the file is an index of slices, whatever its name.
bool is_index_file(const std::string& path);

// A slice of a store.
struct StoredSlice {
  std::string path;
  Bundle bundle;
};

// The slices that an index names, in its order, from the files beside it. Each is verified by its digest. Fails like
// Bundle::open for the first that is not there or not what it should be; the message names the file. With `left_out`
// the others are read, and it gets the message instead.
Result<std::vector<StoredSlice>> read_slices(const std::string& index, std::vector<std::string>* left_out = nullptr);

}  // namespace clbake::builder::release
