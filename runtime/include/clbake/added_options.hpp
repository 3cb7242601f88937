// Variables of the environment that change what compilers of OpenCL make of a program, or what drivers say of
// themselves. Neither a program's digest nor its target knows them, so what is compiled then must serve no other
// process. The runtime itself reads no environment: this is for the layer and for what bakes. Not installed.
#pragma once

#include <clbake/status.hpp>

#include <cstdlib>
#include <string>

namespace clbake {

inline constexpr const char* kAddedOptions[] = {
    // PoCL: options, the work-item loops, the vectorizer, the CPU; its names and version
    "POCL_EXTRA_BUILD_FLAGS", "POCL_WORK_GROUP_METHOD", "POCL_FORCE_PARALLEL_OUTER_LOOP",
    "POCL_WILOOPS_MAX_UNROLL_COUNT", "POCL_PREGION_VALUE_REMAT", "POCL_LLVM_ALWAYS_INLINE",
    "POCL_VECTORIZER_FORCE_VECTOR_WIDTH", "POCL_VECTORIZER_PREFER_VECTOR_WIDTH", "POCL_IGNORE_CL_STD",
    "POCL_LLVM_CPU_NAME", "POCL_KERNELLIB_NAME", "POCL_BITCODE_FINALIZER", "POCL_CPU_JIT", "POCL_CUDA_GPU_ARCH",
    "POCL_DRIVER_VERSION_OVERRIDE", "POCL_PLATFORM_NAME_OVERRIDE", "POCL_CPU_VENDOR_ID_OVERRIDE",
    // Oclgrind
    "OCLGRIND_BUILD_OPTIONS",
    // AMD; the first and the third take the place of the program's options
    "AMD_OCL_BUILD_OPTIONS", "AMD_OCL_BUILD_OPTIONS_APPEND", "AMD_OCL_LINK_OPTIONS", "AMD_OCL_LINK_OPTIONS_APPEND",
    // Mesa's clover
    "CLOVER_EXTRA_BUILD_OPTIONS", "CLOVER_EXTRA_COMPILE_OPTIONS", "CLOVER_EXTRA_LINK_OPTIONS",
    // Intel: of graphics, and of processors
    "IGC_ExtraOCLOptions", "IGC_ExtraOCLInternalOptions", "CL_CONFIG_USE_FAST_RELAXED_MATH",
    "CL_CONFIG_CPU_TARGET_ARCH", "CL_CONFIG_USE_VECTORIZER", "CL_CONFIG_CPU_VECTORIZER_MODE",
    "CL_CONFIG_CPU_O0_VECTORIZATION", "CL_CONFIG_CPU_EXPENSIVE_MEM_OPT", "CL_CONFIG_CPU_RT_LOOP_UNROLL_FACTOR",
    "CL_CONFIG_CPU_STREAMING_ALWAYS", "CL_CONFIG_LLVM_OPTIONS", "CL_CONFIG_REPLACE_IR_BEFORE_OPTIMIZER",
    "CL_CONFIG_REPLACE_IR_AFTER_OPTIMIZER"};

// Fails with invalid_argument, and names the variable, if one of them is set now. Not beside setenv in another thread,
// as the drivers' own reading.
inline Status no_added_options() {
  for (const char* name : kAddedOptions) {
    if (!std::getenv(name)) continue;
    return {Argument::options,
            std::string(name) + " is set: it changes programs in a way that clbake does not see; unset it"};
  }
  return {};
}

}  // namespace clbake
