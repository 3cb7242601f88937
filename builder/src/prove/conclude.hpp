// The parts of a proof that GEMM's variants and an application's programs share.
#pragma once

#include <clbake/builder/devices.hpp>

#include "prove/compile_watch.hpp"

namespace clbake::builder {

// The parts that do not depend on the measurements.
cache::Proof new_proof(const cache::Entry& entry, const Device& device);

void set_load_times(const Explanation& loaded, cache::Proof& proof);

// Gives the entry its proof, with the verdict and a note: the compiler's, `remarks`, times of the kernel that does
// nothing, and why the entry is not JIT-free. Returns whether the verdict is a near miss of machine code.
bool conclude(const CompileWatch::Verdict& verdict, const LaunchOverhead& overhead,
              const std::vector<std::string>& remarks, cache::Proof proof, cache::Entry& entry);

}  // namespace clbake::builder
