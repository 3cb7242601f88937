// Programs of the driver for what the application builds: of baked binaries, or of its source.
#pragma once

#include "serve/catalogue.hpp"
#include "serve/registry.hpp"

#include <memory>
#include <string>
#include <vector>

namespace clbake::layer::serve {

// A program of binaries, and what to tell the catalogue if the driver rejects them.
struct Loaded {
  std::shared_ptr<Baked> baked;
  std::vector<BakedBinary> binaries;  // one for each of its devices; without the bytes, which the driver has
};

// The digest of what a driver would compile now. Fails like no_added_options and content_digest.
Result<ContentDigest> digest_of(const ProgramText& text);

// The wish to build a program, with its options, for these devices.
std::vector<DeviceBuild> builds_for(const std::vector<cl_device_id>& devices, const std::string& options,
                                    const Result<ContentDigest>& digest);

// Makes the program, not built yet, if there is a binary for each of these devices, which have digests. Fails with the
// miss.
Result<Loaded> load_baked(cl_context context, std::vector<DeviceBuild> builds);

// Builds it, with a callback or without.
cl_int build(const Baked& baked, void(CL_CALLBACK* notify)(cl_program, void*) = nullptr, void* data = nullptr);

// True when the driver built the program for all of its devices.
bool is_built(const Baked& baked);

// Builds it and waits for that. Fails like rejected().
Status build_baked(const Loaded& loaded);

// The failure of the program, which the driver could not build. A binary whose build failed is not offered again,
// unless the driver has no memory. `error`: of the call that failed.
Status rejected(const Loaded& loaded, cl_int error);

// Has the driver compile the source of a program for these devices, each with its options.
cl_int build_source(cl_program program, const std::vector<DeviceBuild>& builds);

// A binary for each of its devices, as bundles and overlay have it at the first call; the same ever after. Null if they
// are gone.
const std::vector<cache::Bytes>* binaries_of(const Baked& baked);

// The program that answers what the baked one cannot, built by the driver's compiler at the first call; null if that
// fails. `why`: for the log.
cl_program source_of(Program& program, const std::string& why);

// Has the driver compile what clCompileProgram deferred.
cl_int compile_deferred(Program& program);

bool has(const std::vector<cl_device_id>& devices, cl_device_id device);

// Tells the log where a program is from, or why the driver compiles it.
void log_served(const ProgramText& text, const Result<ContentDigest>& digest, const Loaded& loaded);
void log_miss(const ProgramText& text, const Result<ContentDigest>& digest, const Status& why);

}  // namespace clbake::layer::serve
