#include "compile/nvidia/kernel_arguments.hpp"

#include <algorithm>
#include <map>
#include <sstream>

namespace clbake::builder::compile {
namespace {

using Nodes = std::map<std::string, std::string>;  // "!7": what is between its braces

// Lines such as: !7 = !{!"image2d_t", !"sampler_t"}
Nodes nodes_of(const std::string& llvm) {
  Nodes nodes;
  std::istringstream lines(llvm);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t brace = line.find(" = !{");
    if (line.empty() || line[0] != '!' || brace == std::string::npos) continue;
    nodes[line.substr(0, brace)] = line.substr(brace + 5, line.rfind('}') - brace - 5);
  }
  return nodes;
}

// The node that a line names behind `key`; empty when it names none.
std::string node_behind(const Nodes& nodes, const std::string& line, const std::string& key) {
  const std::size_t at = line.find(key + " !");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + key.size() + 1;
  const auto node = nodes.find(line.substr(begin, line.find_first_of(" {", begin) - begin));
  return node == nodes.end() ? std::string() : node->second;
}

// The strings of a node: !"a", !"b".
std::vector<std::string> strings_of(const std::string& node) {
  std::vector<std::string> strings;
  for (std::size_t at = node.find("!\""); at != std::string::npos; at = node.find("!\"", at)) {
    const std::size_t end = node.find('"', at + 2);
    strings.push_back(node.substr(at + 2, end - at - 2));
    at = end;
  }
  return strings;
}

// The numbers of a node: i32 8, i32 4, i32 2.
std::array<unsigned, 3> sizes_of(const std::string& node) {
  std::array<unsigned, 3> sizes = {0, 0, 0};
  std::size_t at = 0;
  for (unsigned& size : sizes) {
    at = node.find("i32 ", at);
    if (at == std::string::npos) break;
    at += 4;
    size = static_cast<unsigned>(std::strtoul(node.c_str() + at, nullptr, 10));
  }
  return sizes;
}

ArgumentKind kind_of(const std::string& type, const std::string& access) {
  if (type == "sampler_t") return ArgumentKind::sampler;
  if (type.rfind("image", 0) != 0 || type.size() < 2 || type.substr(type.size() - 2) != "_t")
    return ArgumentKind::other;
  return access == "read_only" ? ArgumentKind::texture : ArgumentKind::surface;
}

}  // namespace

std::vector<KernelArguments> kernel_arguments(const std::string& llvm) {
  const Nodes nodes = nodes_of(llvm);
  std::vector<KernelArguments> kernels;
  std::istringstream lines(llvm);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("define ", 0) != 0 || line.find("!kernel_arg_type ") == std::string::npos) continue;
    const std::size_t name = line.find('@') + 1;
    const std::vector<std::string> types = strings_of(node_behind(nodes, line, "!kernel_arg_base_type"));
    const std::vector<std::string> accesses = strings_of(node_behind(nodes, line, "!kernel_arg_access_qual"));
    KernelArguments kernel{line.substr(name, line.find('(', name) - name), {}, {0, 0, 0}};
    for (std::size_t i = 0; i < types.size() && i < accesses.size(); ++i) {
      kernel.kinds.push_back(kind_of(types[i], accesses[i]));
    }
    kernel.required = sizes_of(node_behind(nodes, line, "!reqd_work_group_size"));
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

bool takes_images(const std::vector<KernelArguments>& kernels) {
  return std::any_of(kernels.begin(), kernels.end(), [](const KernelArguments& kernel) {
    return std::any_of(kernel.kinds.begin(), kernel.kinds.end(),
                       [](ArgumentKind kind) { return kind != ArgumentKind::other; });
  });
}

void allow_inlining(std::string& llvm, bool force) {
  const std::string attribute = " noinline ";
  const std::string visible = "define dso_local ";
  std::string text;
  std::istringstream lines(llvm);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("attributes #", 0) == 0) {
      const std::size_t at = line.find(attribute);
      if (at != std::string::npos) line.erase(at, attribute.size() - 1);
      const bool of_function = line.find("\"frame-pointer\"") != std::string::npos;  // not of calls
      const bool has = line.find("alwaysinline") != std::string::npos;
      if (force && of_function && !has) line.insert(line.find('{') + 1, " alwaysinline");
    }
    if (line.rfind(visible, 0) == 0 && line.rfind(visible + "spir_kernel ", 0) != 0) {
      line.replace(0, visible.size(), "define internal ");
    }
    text += line + "\n";
  }
  llvm = std::move(text);
}

}  // namespace clbake::builder::compile
