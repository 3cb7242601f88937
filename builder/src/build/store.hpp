// A store of slices as a build's cache: for each target, with its driver, an index of its own. So builds for different
// drivers share a store, and a new driver finds nothing of another one's. builder/STORE.md.
#pragma once

#include <clbake/builder/jobs.hpp>
#include <clbake/builder/release/split.hpp>

#include <string>
#include <vector>

namespace clbake::builder::build {

struct StoredJobs {
  std::vector<Job> jobs;
  std::vector<std::string> unread;  // a line for each slice, or target, that is of no use, and why
};

// The programs that the store has for these targets.
StoredJobs read_store(const std::string& store, const std::vector<Target>& targets);

// Puts the programs of all targets into the store, in the place of those of the same target and variant. Fails like
// release::split.
Status write_store(const std::string& store, const cache::Contents& contents, const cache::PackOptions& pack);

}  // namespace clbake::builder::build
