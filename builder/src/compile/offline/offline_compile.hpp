// Compilation by tools that need neither device nor driver: clbake/builder/offline_targets.hpp.
#pragma once

#include <clbake/builder/jobs.hpp>

namespace clbake::builder::compile {

// True when the variant's front end is clang.
bool is_clangs(const cache::Variant& variant);

struct Ptx {
  std::string text;
  std::vector<cache::Tool> tools;  // clang and libclc
};

// Compiles a variant's source to PTX for an architecture ("sm_90"): a portable program for NVIDIA's driver and ptxas.
// Every kernel of a GEMM, and one that requires a work-group size, states it in `.reqntid`, as in the driver's own PTX.
// For an architecture that clang does not know yet, the PTX is for the newest older one that it knows. Fails with
// not_found (no clang or no libclc), invalid_argument (a GEMM variant reads images; an option that the driver refuses),
// build_failed (the compiler's first error), io.
Result<Ptx> clang_ptx(const cache::Source& source, const cache::Variant& variant, const std::string& architecture);

// The programs of a job for an offline target with the tools that made each, not proven: first the native one, made
// with all tools of the target, then for NVIDIA the PTX as the portable one. Fails like clang_ptx, and with
// invalid_argument when the job's target is not an offline target.
Result<std::vector<cache::Entry>> compile_offline(const Job& job);

}  // namespace clbake::builder::compile
