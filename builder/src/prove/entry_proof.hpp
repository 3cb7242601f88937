// The proof of one entry, in the making.
#pragma once

#include <clbake/builder/jobs.hpp>

#include "prove/compile_watch.hpp"

namespace clbake::builder::prove {

// Times of a kernel that does nothing.
struct Overhead {
  double load_us = 0;   // create + build + kernel
  double first_us = 0;  // first launch
};

struct EntryProof {
  const Job& job;
  const Device& device;
  const Session& session;
  const Library& library;  // serves this entry and nothing else
  CompileWatch& watch;
  cache::Proof& proof;
  std::string remark;  // for the proof's note
  Verdict verdict;
  bool is_tried = true;  // false: nothing was launched, or no result could be compared

  void loaded(const Explanation& explanation);

  // The proof keeps the figures of the check that came closest to its tolerance.
  void checked(double error, double tolerance);
};

// Runs the trials of an application's program: times first launches against later ones, and compares what the kernels
// leave in their buffers with what is expected or, without that, with what a build from the job's source leaves there.
// Without a trial, the program is loaded: is_tried is false then.
// Throws Failure with wrong_result, or with what else went wrong; the message names the kernel and its work-group size.
void prove_program(EntryProof& entry);

}  // namespace clbake::builder::prove
