#include "compile/nvidia/driver_options.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace clbake::builder::compile {
namespace {

// Words of a command line: blanks separate, quotes hold together, and a backslash takes the next character as it is.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool begun = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (blank && !quote) {
      if (begun) words.push_back(word);
      word.clear();
      begun = false;
      continue;
    }
    begun = true;
    if (c == quote) {
      quote = 0;
    } else if (!quote && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
    } else {
      word += c;
    }
  }
  if (begun) words.push_back(word);
  return words;
}

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
  const std::vector<std::string> words = words_of(build_options);
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    const bool define = starts_with(word, "-D");
    const bool folder = starts_with(word, "-I");
    if ((define || folder) && word.size() == 2) {
      if (++i == words.size()) return {Code::invalid_argument, word + " is the last option: a value is missing"};
      word += words[i];
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
