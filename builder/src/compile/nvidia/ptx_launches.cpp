#include "compile/nvidia/cubin.hpp"
#include "compile/nvidia/driver_options.hpp"
#include "compile/nvidia/ptx_edit.hpp"

#include <cxxabi.h>
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <sstream>

namespace clbake::builder::compile {
namespace {

constexpr unsigned kRegisters = 65536;     // of a multiprocessor
constexpr unsigned kMostOfWorkItem = 255;  // that a work-item can have
constexpr unsigned kGranularity = 8;

// The most registers with which a work-group of so many work-items can be launched.
unsigned registers_for(std::uint64_t items) {
  const std::uint64_t each = kRegisters / std::max<std::uint64_t>(items, 1) / kGranularity * kGranularity;
  return static_cast<unsigned>(std::min<std::uint64_t>(each, kMostOfWorkItem));
}

std::uint64_t most_items(const std::vector<cache::Launch>& launches, const std::string& kernel) {
  std::uint64_t most = 1;
  for (const cache::Launch& launch : launches) {
    const std::uint64_t items = std::uint64_t{launch.local[0]} * launch.local[1] * launch.local[2];
    if (launch.kernel_name == kernel) most = std::max(most, items);
  }
  return most;
}

std::string bounds_of(const KernelArguments& kernel, const std::vector<cache::Launch>& launches, unsigned registers) {
  std::ostringstream text;
  const auto& size = kernel.required;
  if (size[0] > 0) text << ".reqntid " << size[0] << ", " << size[1] << ", " << size[2] << "\n";
  const unsigned most = size[0] > 0 ? kMostOfWorkItem : registers_for(most_items(launches, kernel.kernel));
  const unsigned bound = registers > 0 ? std::min(registers, most) : most;
  if (bound < kMostOfWorkItem) text << ".maxnreg " << bound << "\n";
  return text.str();
}

// "read_imagef(ocl_image2d_rw, int __vector(2))" of "_Z11read_imagef14ocl_image2d_rwDv2_i".
std::string readable(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && name ? name.get() : symbol;
}

// The name in the head of a function: ".func  (.param .b32 func_retval0) name(" or ".func name".
std::string name_of(const std::string& head) {
  const std::size_t parameters = head.find("func_retval0");
  std::size_t begin = parameters == std::string::npos ? head.find(".func") + 5 : head.find(')', parameters) + 1;
  begin = head.find_first_not_of(' ', begin);
  return begin == std::string::npos ? std::string() : head.substr(begin, head.find_first_of(" (\n", begin) - begin);
}

}  // namespace

Status add_launch_bounds(std::string& ptx, const std::vector<KernelArguments>& kernels,
                         const std::vector<cache::Launch>& launches, unsigned registers) {
  const std::vector<PtxKernel> present = kernels_of(ptx);
  std::set<std::string> names;
  for (const PtxKernel& kernel : present) names.insert(kernel.name);
  for (const cache::Launch& launch : launches) {
    if (names.count(launch.kernel_name) > 0) continue;
    return {Code::build_failed, "clang left out the kernel " + launch.kernel_name};
  }
  for (auto each = present.rbegin(); each != present.rend(); ++each) {  // backwards: places stay
    const auto kernel = std::find_if(kernels.begin(), kernels.end(),
                                     [&](const KernelArguments& known) { return known.kernel == each->name; });
    if (kernel != kernels.end()) ptx.insert(each->body, bounds_of(*kernel, launches, registers));
  }
  return {};
}

bool bound_registers(std::string& ptx, const std::string& build_options) {
  const Result<DriverOptions> options = driver_options(build_options);
  if (!options || options->registers == 0 || ptx.find(".maxnreg") != std::string::npos) return false;
  const std::vector<PtxKernel> kernels = kernels_of(ptx);
  for (auto each = kernels.rbegin(); each != kernels.rend(); ++each) {  // backwards: places stay
    ptx.insert(each->body, ".maxnreg " + std::to_string(options->registers) + "\n");
  }
  return !kernels.empty();
}

// The block holds "shl.b64 %lhs, %rd3, %r1;" and "sub.u32 %amt2, 64, %r1;".
void mend_rotations(std::string& ptx) {
  const std::string mark = ".reg .u32 %amt2;\n";
  for (std::size_t at = ptx.find(mark); at != std::string::npos; at = ptx.find(mark, at + 1)) {
    const std::size_t first = at + mark.size();
    const std::size_t end = ptx.find('\n', ptx.find('\n', first) + 1);
    if (end == std::string::npos) return;
    std::string two = ptx.substr(first, end - first);
    const std::size_t distance = two.rfind(' ') + 1;
    const std::string old = two.substr(distance);  // "%r1;"
    const std::size_t again = two.find(", " + old);
    if (old[0] != '%' || again >= distance - 2) continue;
    two.replace(distance, old.size(), "%amt;");
    two.replace(again + 2, old.size(), "%amt;");
    ptx.replace(first, end - first,
                ".reg .u32 %amt;\nand.b32 %amt, " + old.substr(0, old.size() - 1) + ", 63;\n" + two);
  }
}

Status complete(const std::string& ptx) {
  std::set<std::string> declared, defined;
  const std::string function = ".func";
  for (std::size_t at = ptx.find(function); at != std::string::npos; at = ptx.find(function, at + 1)) {
    const std::size_t end = ptx.find_first_of(";{", at);
    if (end == std::string::npos) break;
    (ptx[end] == '{' ? defined : declared).insert(name_of(ptx.substr(at, end - at)));
  }
  for (const std::string& name : declared) {
    if (defined.count(name)) continue;
    // Driver 580 ends the process at clCreateKernel. Machine code that it made itself prints.
    if (name == "clbake_printf")
      return {Code::build_failed, "it calls printf: such a program bakes on the device only"};
    return {Code::build_failed, "there is no function " + readable(name) + " for NVIDIA's devices"};
  }
  return {};
}

}  // namespace clbake::builder::compile
