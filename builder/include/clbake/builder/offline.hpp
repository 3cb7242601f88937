// Offline targets: machine code for devices that are not here, made by compilers that need neither device nor driver.
//
//   NVIDIA  clang's NVPTX back end and libclc write PTX, ptxas of the CUDA toolkit makes machine code of it.
//   Intel   ocloc, the compiler of Intel's GPU driver as a command.
//
// Nothing of it can be run here, so nothing is proven.
#pragma once

#include <clbake/builder/jobs.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace clbake::builder {

// A program, or a file that a program needs.
struct Tool {
  std::string name;     // "clang"
  std::string path;     // empty when it is not on this machine
  std::string version;  // "15.0.6"; empty when it tells none
  std::string package;  // who has it
};

struct OfflineTarget {
  std::string name;  // "nvidia:sm_90"
  // `target` as entries carry it: what any such device reports, empty where devices differ, and the oldest driver that
  // loads the machine code. `limits` are those that every such device keeps. No handles.
  Device device;
  std::vector<Tool> tools;
  std::string obstacle;  // why this machine cannot compile for it; empty when it can
};

// All of them, whether this machine can compile for them or not. Looks for the tools in PATH and runs them for their
// versions: about 0.2 s.
std::vector<OfflineTarget> offline_targets();

// Those named, in that order. Fails with invalid_argument for a name that is none, not_found for one that this
// machine cannot compile for; the message says which tool is missing and who has it.
Result<std::vector<OfflineTarget>> offline_targets_named(const std::vector<std::string>& names);

// "clang 15.0.6, libclc, ptxas 13.0.88": what an entry's note says of its origin.
std::string tools_of(const OfflineTarget& target);

// The variant that is compiled for the target: NVIDIA's is always clang's.
kernels::Params offline_variant(const OfflineTarget& target, kernels::Params params);

// Whether the variant's front end is clang's.
bool is_clangs(const cache::Variant& variant);

struct Ptx {
  std::string text;
  std::string tool;  // "clang 15.0.6"
};

// What clang makes of a variant's source for an architecture ("sm_90"): a portable program, which NVIDIA's driver and
// ptxas take. Every kernel has its work-group size as `.reqntid`, like the driver's own.
// An architecture that clang does not know yet gets the PTX of the newest older one that it knows. Fails with
// not_found (no clang, no libclc), invalid_argument (the variant reads images), build_failed (the first error; a
// compiler that ran longer than `timeout`), io.
Result<Ptx> clang_ptx(const cache::Source& source, const cache::Variant& variant, const std::string& architecture,
                      std::chrono::seconds timeout);

// Worker, in a process of its own: writes the bundle `job` with its programs in it to `output`. Whoever kills the
// worker kills the compiler that it runs.
Status compile_offline_job(const std::string& job, const std::string& output);

// The programs of a job whose target is an offline one, not proven: the native one, and for NVIDIA the PTX as the
// portable one behind it. Fails like clang_ptx, and with invalid_argument when the target is no offline one.
Result<std::vector<cache::Entry>> compile_offline(const Job& job, std::chrono::seconds timeout);

}  // namespace clbake::builder
