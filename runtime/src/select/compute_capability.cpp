#include <clbake/compute_capability.hpp>

namespace clbake {

int compute_capability(std::string_view architecture, bool with_suffix) {
  constexpr std::string_view prefix = "sm_";
  if (architecture.substr(0, prefix.size()) != prefix) return 0;
  std::string_view digits = architecture.substr(prefix.size());
  const bool has_suffix = !digits.empty() && (digits.back() == 'a' || digits.back() == 'f');
  if (has_suffix && !with_suffix) return 0;
  if (has_suffix) digits.remove_suffix(1);
  if (digits.empty() || digits.size() > 3 || digits.front() == '0') return 0;
  int capability = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return 0;
    capability = 10 * capability + (digit - '0');
  }
  return capability;
}

}  // namespace clbake
