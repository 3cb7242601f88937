// LLVM's text of an OpenCL program, as clang writes it: what its metadata tell of the kernels.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace clbake::builder::compile {

enum class ArgumentKind { other, texture, surface, sampler };  // an image that is only read is a texture

struct KernelArguments {
  std::string kernel;
  std::vector<ArgumentKind> kinds;
  std::array<unsigned, 3> required = {0, 0, 0};  // reqd_work_group_size; zeros: none
};

// Those of each kernel in the text.
std::vector<KernelArguments> kernel_arguments(const std::string& llvm);

// True when one of them takes an image or a sampler.
bool takes_images(const std::vector<KernelArguments>& kernels);

// Lets functions become part of the kernels that call them, or with `force` makes them: the attribute `noinline` goes,
// and a function that is no kernel is not seen from outside.
void allow_inlining(std::string& llvm, bool force);

}  // namespace clbake::builder::compile
