// The kernels of a PTX text, as far as their registers need it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace clbake::builder {

struct PtxKernel {
  std::string name;
  unsigned threads = 0;  // of a work-group: the product of .reqntid, which every kernel of clbake has
  std::size_t body = 0;  // where its opening brace is: directives go in front of it
};

// Without those that do not say `.reqntid`.
std::vector<PtxKernel> kernels_of(const std::string& ptx);

}  // namespace clbake::builder
