#include "compile/nvidia/ptx_kernels.hpp"

#include <cstdio>

namespace clbake::builder {

std::vector<PtxKernel> kernels_of(const std::string& ptx) {
  const std::string entry = ".entry ";
  const std::string size = ".reqntid ";
  std::vector<PtxKernel> kernels;
  for (std::size_t at = ptx.find(entry); at != std::string::npos; at = ptx.find(entry, at + 1)) {
    const std::size_t name = at + entry.size();
    const std::size_t parameters = ptx.find('(', name);
    const std::size_t body = ptx.find('{', name);
    const std::size_t directive = ptx.find(size, name);
    if (body == std::string::npos || parameters > body || directive > body) continue;
    unsigned x = 0, y = 0, z = 0;
    if (std::sscanf(ptx.c_str() + directive + size.size(), "%4u , %4u , %4u", &x, &y, &z) != 3) continue;
    kernels.push_back({ptx.substr(name, parameters - name), x * y * z, body});
  }
  return kernels;
}

}  // namespace clbake::builder
