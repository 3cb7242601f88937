#include "compile/nvidia/ptx_kernels.hpp"

#include <clbake/compute_capability.hpp>

#include <cstdlib>

namespace clbake::builder {
namespace {

constexpr unsigned long kMostThreads = 1024;  // of a work-group, on all of NVIDIA's devices

}  // namespace

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
    unsigned long threads = 1;  // "16, 8, 1"
    const char* number = ptx.c_str() + directive + size.size();
    for (int dimension = 0; dimension < 3; ++dimension) {
      char* end = nullptr;
      threads *= std::strtoul(number, &end, 10);
      number = *end == ',' ? end + 1 : end;
    }
    if (threads == 0 || threads > kMostThreads) continue;
    kernels.push_back({ptx.substr(name, parameters - name), static_cast<unsigned>(threads), body});
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
