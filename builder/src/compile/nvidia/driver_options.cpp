#include "compile/nvidia/driver_options.hpp"

#include <clbake/includes.hpp>

#include <cstdlib>
#include <set>
#include <string_view>

namespace clbake::builder::compile {
namespace {

bool starts_with(const std::string& text, const std::string& prefix) { return text.rfind(prefix, 0) == 0; }

// Options that leave the driver's code as it is; the last two belong to OpenCL 3.0, and the driver has sub-groups
// neither way.
bool is_without_effect(const std::string& option) {
  static const std::set<std::string> known = {"-w",
                                              "-Werror",
                                              "-g",
                                              "-cl-mad-enable",  // the driver always fuses
                                              "-cl-no-signed-zeros",
                                              "-cl-finite-math-only",
                                              "-cl-kernel-arg-info",
                                              "-cl-opt-disable",
                                              "-cl-uniform-work-group-size",
                                              "-cl-no-subgroup-ifp",
                                              "-create-library",
                                              "-enable-link-options"};
  return known.count(option) > 0 || starts_with(option, "-cl-nv-");
}

Status take_standard(DriverOptions& options, const std::string& value) {
  for (const char* known : {"CL1.1", "CL1.2", "CL2.0", "CL3.0"}) {
    if (value != known) continue;
    options.standard = value;
    return {};
  }
  return {Code::invalid_argument, "NVIDIA's driver knows -cl-std=CL1.1, CL1.2, CL2.0 and CL3.0, not " + value};
}

Status take(DriverOptions& options, const std::string& option) {
  const std::string standard = "-cl-std=";
  const std::string registers = "-cl-nv-maxrregcount=";
  if (starts_with(option, standard)) return take_standard(options, option.substr(standard.size()));
  if (starts_with(option, registers)) {
    options.registers = static_cast<unsigned>(std::strtoul(option.c_str() + registers.size(), nullptr, 10));
  } else if (option == "-cl-denorms-are-zero") {
    options.flush = true;
  } else if (option == "-cl-unsafe-math-optimizations") {
    options.flush = options.fast = true;
  } else if (option == "-cl-fast-relaxed-math") {
    options.flush = options.fast = options.relaxed = true;
  } else if (option == "-cl-fp32-correctly-rounded-divide-sqrt") {
    options.exact = true;
  } else if (option == "-cl-single-precision-constant") {
    options.single_constants = true;
  } else if (option == "-cl-strict-aliasing") {
    options.strict_aliasing = true;
  } else if (!is_without_effect(option)) {
    return {Code::invalid_argument, "NVIDIA's driver does not know the option " + option};
  }
  return {};
}

}  // namespace

Result<DriverOptions> driver_options(const std::string& build_options) {
  DriverOptions options;
  std::string_view left = build_options;
  for (std::string raw, word; includes::next_option(left, raw, word);) {
    const bool define = starts_with(word, "-D");
    const bool folder = starts_with(word, "-I");
    if ((define || folder) && word.size() == 2) {
      const std::string option = word;
      if (!includes::next_option(left, raw, word))
        return {Code::invalid_argument, option + " is the last option: a value is missing"};
      word.insert(0, option);
    }
    if (define) options.defines.push_back(word);
    if (define || folder) continue;
    const Status status = take(options, word);
    if (!status) return status;
  }
  return options;
}

std::vector<std::string> clang_options(const DriverOptions& options) {
  std::vector<std::string> clang = options.defines;
  clang.push_back("-cl-std=" + options.standard);
  if (options.relaxed) clang.emplace_back("-D__FAST_RELAXED_MATH__=1");
  if (options.single_constants) clang.emplace_back("-cl-single-precision-constant");
  if (!options.strict_aliasing) clang.emplace_back("-fno-strict-aliasing");
  return clang;
}

}  // namespace clbake::builder::compile
