#include "compile/nvidia/ptx_edit.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace clbake::builder::compile {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// True for instructions on images: those of builtins/images.cl.
bool is_on_image(const std::string& line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) return false;
  for (const char* name : {"tex.", "txq.", "sust.", "suq."}) {
    if (line.compare(begin, std::string(name).size(), name) == 0) return true;
  }
  return false;
}

// "mov.u64 %rd1, 20;" and "ld.param.u64 %rd1, [f_param_0];": the register and what it is set to.
struct Setting {
  std::string name, value;
};

Setting setting_of(const std::string& line) {
  std::string text = line;
  std::replace(text.begin(), text.end(), '\t', ' ');
  std::istringstream words(text);
  std::string instruction;
  Setting setting;
  words >> instruction >> setting.name >> setting.value;
  if (instruction != "mov.u64" && instruction != "ld.param.u64") setting.value.clear();
  if (setting.name.empty() || setting.name.back() != ',' || setting.name[0] != '%') return {};
  setting.name.pop_back();
  while (!setting.value.empty() && (setting.value.back() == ';' || setting.value.back() == ']'))
    setting.value.pop_back();
  if (!setting.value.empty() && setting.value[0] == '[') setting.value.erase(0, 1);
  return setting;
}

// The one thing that each register of 64 bits holds; empty when there are several or it is not known.
std::map<std::string, std::string> registers_of(const Lines& lines, std::size_t begin, std::size_t end) {
  std::map<std::string, std::string> registers;
  for (std::size_t i = begin; i < end; ++i) {
    const Setting setting = setting_of(lines[i]);
    if (setting.name.empty()) continue;
    const auto [found, is_new] = registers.insert({setting.name, setting.value});
    if (!is_new) found->second.clear();
  }
  return registers;
}

std::string resolve(const std::map<std::string, std::string>& registers, std::string name) {
  for (std::size_t steps = 0; steps < registers.size() && !name.empty() && name[0] == '%'; ++steps) {
    const auto found = registers.find(name);
    if (found == registers.end()) return {};
    name = found->second;
  }
  return name;
}

// Samplers of the module, by the bits that CLK_... stand for.
class Samplers {
 public:
  std::string named(const std::string& bits) {
    used_.insert(bits);
    return "clbake_sampler_" + bits;
  }

  std::string declarations() const {
    std::string text;
    for (const std::string& bits : used_) {
      const int value = std::stoi(bits);
      const char* const modes[] = {"wrap", "clamp_to_edge", "clamp_to_border", "wrap", "mirror"};
      const int mode = std::min(value >> 1 & 7, 4);  // none, clamp to edge, clamp, repeat, mirrored repeat
      text += ".global .samplerref clbake_sampler_" + bits + " = { ";
      for (const char* axis : {"0", "1", "2"}) text += std::string("addr_mode_") + axis + " = " + modes[mode] + ", ";
      text += std::string("filter_mode = ") + (value & 0x20 ? "linear" : "nearest");
      text += value & 1 ? " };\n" : ", force_unnormalized_coords = 1 };\n";
    }
    return text;
  }

 private:
  std::set<std::string> used_;
};

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// Writes the names in the places of the registers: "[%rd1, %rd2, {%r1}]", "[%rd1, {%r1}]" and "[%rd1]".
bool bind(std::string& line, const std::map<std::string, std::string>& registers,
          const std::map<std::string, ArgumentKind>& parameters, Samplers& samplers) {
  const std::size_t begin = line.find('[') + 1;
  const std::size_t end = std::min(line.find('{', begin), line.find(']', begin));
  if (end == std::string::npos) return false;
  std::istringstream names(line.substr(begin, end - begin));
  std::string bound;
  for (std::string name; std::getline(names, name, ',');) {
    name.erase(0, name.find_first_not_of(' '));
    if (name.empty()) continue;
    std::string value = resolve(registers, name);
    if (!is_number(value) && parameters.count(value) == 0) return false;
    if (is_number(value)) value = samplers.named(value);
    bound += (bound.empty() ? "" : ", ") + value;
  }
  if (line[end] == '{') bound += ", ";
  line.replace(begin, end - begin, bound);
  return true;
}

// The names of a kernel's images and samplers, with their kinds.
std::map<std::string, ArgumentKind> parameters_of(const KernelArguments& kernel) {
  std::map<std::string, ArgumentKind> parameters;
  for (std::size_t i = 0; i < kernel.kinds.size(); ++i) {
    if (kernel.kinds[i] == ArgumentKind::other) continue;
    parameters[kernel.kernel + "_param_" + std::to_string(i)] = kernel.kinds[i];
  }
  return parameters;
}

// ".param .u64 .ptr .global .align 1 f_param_0," becomes ".param .texref f_param_0,".
void declare(std::string& line, const std::map<std::string, ArgumentKind>& parameters) {
  const std::size_t begin = line.find_last_of(" \t") + 1;
  std::string name = line.substr(begin);
  const bool more = !name.empty() && name.back() == ',';
  if (more) name.pop_back();
  const auto found = parameters.find(name);
  if (found == parameters.end() || !contains(line, ".param ")) return;
  const char* const kind = found->second == ArgumentKind::texture   ? ".texref "
                           : found->second == ArgumentKind::surface ? ".surfref "
                                                                    : ".samplerref ";
  line = "\t.param " + (kind + name) + (more ? "," : "");
}

// The lines of a function or kernel, from its first to behind its closing brace.
std::size_t end_of_body(const Lines& lines, std::size_t begin) {
  std::size_t end = begin;
  while (end < lines.size() && lines[end] != "}" && lines[end] != ";") ++end;
  return std::min(end + 1, lines.size());
}

Status bind_kernel(Lines& lines, std::size_t begin, std::size_t end, const KernelArguments& kernel,
                   Samplers& samplers) {
  const std::map<std::string, ArgumentKind> parameters = parameters_of(kernel);
  const std::map<std::string, std::string> registers = registers_of(lines, begin, end);
  for (std::size_t i = begin; i < end; ++i) {
    declare(lines[i], parameters);
    if (is_on_image(lines[i]) && !bind(lines[i], registers, parameters, samplers)) {
      return {Code::build_failed, "the kernel " + kernel.kernel +
                                      " takes an image or sampler otherwise than from its arguments or a constant, "
                                      "which PTX cannot"};
    }
    if (contains(lines[i], "ld.param.u64") && parameters.count(setting_of(lines[i]).value)) lines[i].clear();
  }
  return {};
}

}  // namespace

Status bind_images(std::string& ptx, const std::vector<KernelArguments>& kernels) {
  if (!takes_images(kernels)) return {};
  Lines lines = lines_of(ptx);
  Samplers samplers;
  std::size_t first = lines.size();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool entry = lines[i].rfind(".entry ", 0) == 0;
    if (!entry && lines[i].rfind(".func ", 0) != 0) continue;
    first = std::min(first, i);
    const std::size_t end = end_of_body(lines, i);
    const auto kernel = std::find_if(kernels.begin(), kernels.end(), [&](const KernelArguments& each) {
      return lines[i].rfind(".entry " + each.kernel + "(", 0) == 0;
    });
    const KernelArguments function{lines[i].substr(0, lines[i].find('(')), {}, {0, 0, 0}};
    const Status status = bind_kernel(lines, i, end, kernel == kernels.end() ? function : *kernel, samplers);
    if (!status) return status;
    i = end - 1;
  }
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == first) text += samplers.declarations();
    text += lines[i] + "\n";
  }
  ptx = std::move(text);
  return {};
}

}  // namespace clbake::builder::compile
