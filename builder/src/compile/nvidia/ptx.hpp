// NVIDIA's PTX, a text: its kernels, as far as their registers need it, and for which devices it is.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace clbake::builder::compile {

struct PtxKernel {
  std::string name;
  std::size_t body = 0;  // where its opening brace is: directives go in front of it
  // Work-items of a work-group: the product of .reqntid, which every kernel of clbake has; 0: it does not say.
  unsigned threads = 0;
};

std::vector<PtxKernel> kernels_of(const std::string& ptx);

// True when the text is for an architecture with a suffix, such as sm_90a: later ones do not run it.
bool is_for_one_architecture(const std::string& ptx);

// True when machine code of the text for a device of this compute capability (90 for 9.0) is linked with the suffix
// "a". On sm_90 always: no other device runs its machine code anyway, and the suffix lifts the assembler's limit of 48
// KB of local memory to what the device has.
bool is_linked_for_one_architecture(const std::string& ptx, int capability);

}  // namespace clbake::builder::compile
