#include "compile/nvidia/ptx.hpp"

#include <clbake/compute_capability.hpp>

#include <cstdlib>

namespace clbake::builder::compile {

std::vector<PtxKernel> kernels_of(const std::string& ptx) {
  constexpr std::size_t kMostThreads = 1024;  // of a work-group, on all of NVIDIA's devices
  const std::string entry = ".entry ";
  std::vector<PtxKernel> kernels;
  for (std::size_t at = ptx.find(entry); at != std::string::npos; at = ptx.find(entry, at + 1)) {
    const std::size_t name = at + entry.size();
    const std::size_t body = ptx.find('{', name);
    if (body == std::string::npos) break;
    const std::string directive = ".reqntid ";
    const std::size_t size = ptx.find(directive, name);
    std::size_t threads = size < body ? 1 : 0;
    for (std::size_t number = size + directive.size(); threads > 0;) {
      char* end = nullptr;
      threads *= std::strtoul(ptx.c_str() + number, &end, 10);
      if (threads > kMostThreads) threads = 0;
      if (*end != ',') break;
      number = static_cast<std::size_t>(end - ptx.c_str()) + 1;
    }
    kernels.push_back({ptx.substr(name, ptx.find_first_of("( \n", name) - name), body, static_cast<unsigned>(threads)});
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

}  // namespace clbake::builder::compile
