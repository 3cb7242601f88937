#include "compile/nvidia/ptx.hpp"

#include <clbake/compute_capability.hpp>

#include <algorithm>
#include <cstdio>

namespace clbake::builder {

std::vector<PtxKernel> kernels_of(const std::string& ptx) {
  constexpr unsigned kMostThreads = 1024;  // of a work-group, on all of NVIDIA's devices
  const std::string entry = ".entry ";
  std::vector<PtxKernel> kernels;
  for (std::size_t at = ptx.find(entry); at != std::string::npos; at = ptx.find(entry, at + 1)) {
    const std::size_t name = at + entry.size();
    const std::size_t body = ptx.find('{', name);
    if (body == std::string::npos) break;
    const std::size_t size = std::min(ptx.find(".reqntid ", name), body);
    unsigned x = 0, y = 1, z = 1;
    std::sscanf(ptx.c_str() + size, ".reqntid %u, %u, %u", &x, &y, &z);
    const bool plausible = x <= kMostThreads && y <= kMostThreads && z <= kMostThreads && x * y * z <= kMostThreads;
    kernels.push_back({ptx.substr(name, ptx.find_first_of("( \n", name) - name), body, plausible ? x * y * z : 0});
  }
  return kernels;
}

bool is_for_one_architecture(const std::string& ptx) {
  const std::string directive = ".target ";
  const std::size_t at = ptx.find(directive);
  if (at == std::string::npos) return false;
  const std::size_t architecture = at + directive.size();
  const std::size_t end = ptx.find_first_of(", \r\n", architecture);
  return compute_capability(ptx.substr(architecture, end - architecture)) == 0;
}

bool is_linked_for_one_architecture(const std::string& ptx, int capability) {
  return capability == 90 || is_for_one_architecture(ptx);
}

}  // namespace clbake::builder
