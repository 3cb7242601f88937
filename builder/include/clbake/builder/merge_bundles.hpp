// Several bundles as one: what other machines baked, and what overlays gathered in the field.
#pragma once

#include <clbake/cache/reader.hpp>
#include <clbake/status.hpp>

#include <string>
#include <vector>

namespace clbake::builder::build {

struct NamedBundle {
  std::string file;  // for messages
  cache::Contents contents;
  std::size_t signatures = 0;  // that it has; they do not hold for what becomes of it
};

struct MergedBundle {
  cache::Contents contents;
  // A line for each thing that could not be taken along: the file and the cause.
  std::vector<std::string> left_out;
};

// The bundle at `path`, every byte of it verified. Fails like Bundle::open.
Result<NamedBundle> read_bundle(const std::string& path);

// The same of one that was opened there, whatever is there now.
Result<NamedBundle> read_bundle(const cache::Bundle& bundle, const std::string& path);

// Appends the bundle at `path`; the slices of an index, or of a directory's (that of a release, else all), all of which
// must be there; of another directory all files whose names end in ".clbake", in the order of their names. Every byte
// is verified: a bundle that is named fails like Bundle::open, one of a directory without an index goes into `left_out`
// instead, as an overlay's may be damaged. What an overlay's file (its name is 32 hexadecimal digits) says about proofs
// is dropped: runtimes prove nothing. Fails with io for a directory that cannot be read, and with not_found for one
// without bundles.
Status read_bundles(const std::string& path, std::vector<NamedBundle>& bundles, std::vector<std::string>& left_out);

// Equal targets, sources and variants become one. Of two entries for one target, variant and form the proven one is
// kept; if both are or none is, the JIT-free one; else the first. The profile of a target is that of the first bundle
// that has one. A variant with the name of another one in an earlier bundle, and something else in it, is left out with
// its entries and rules; one without entries gives way instead. The default variants for what no bundle has are added.
MergedBundle merge_bundles(std::vector<NamedBundle> bundles);

// Takes out how proofs try programs, and so the recorded contents of arguments. Needs sources that differ.
void drop_trials(cache::Contents& contents);

}  // namespace clbake::builder::build
