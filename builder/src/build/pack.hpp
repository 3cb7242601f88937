// Jobs into one bundle.
#pragma once

#include <clbake/builder/jobs.hpp>

namespace clbake::builder {

// Adds a job's entries; equal targets, sources and variants are shared.
void add_job(cache::Contents& contents, const Job& job);

// Replaces the file in one step, unless it holds these bytes: its time of change goes on saying when it changed.
Status write_if_changed(const std::string& path, const cache::Bytes& bytes);

}  // namespace clbake::builder
