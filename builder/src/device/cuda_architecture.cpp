#include "device/cuda_architecture.hpp"

#include <cctype>

namespace clbake::builder {

int cuda_capability(const std::string& architecture, bool with_suffix) {
  if (architecture.rfind("sm_", 0) != 0) return 0;
  std::string digits = architecture.substr(3);
  const bool has_suffix = !digits.empty() && (digits.back() == 'a' || digits.back() == 'f');
  if (has_suffix && !with_suffix) return 0;
  if (has_suffix) digits.pop_back();
  if (digits.empty() || digits.size() > 3 || digits[0] == '0') return 0;
  int capability = 0;
  for (const char digit : digits) {
    if (std::isdigit(static_cast<unsigned char>(digit)) == 0) return 0;
    capability = 10 * capability + (digit - '0');
  }
  return capability;
}

}  // namespace clbake::builder
