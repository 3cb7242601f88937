#include "program/proof_note.hpp"

#include <algorithm>

namespace clbake::builder {

std::string part_of(const std::string& note, const std::string& mark) {
  const std::string separator = "; ";
  for (std::size_t begin = 0; begin < note.size();) {
    const std::size_t end = std::min(note.find(separator, begin), note.size());
    if (note.compare(begin, mark.size(), mark) == 0) return note.substr(begin + mark.size(), end - begin - mark.size());
    begin = end + separator.size();
  }
  return {};
}

std::string not_listed(const std::vector<std::string>& kernels, const cache::Variant& program) {
  std::string names;
  for (const std::string& kernel : kernels) {
    const auto is_it = [&](const cache::Launch& launch) { return launch.kernel_name == kernel; };
    if (std::any_of(program.launches.begin(), program.launches.end(), is_it)) continue;
    names += (names.empty() ? "" : ", ") + kernel;
  }
  return names.empty() ? names : kNotListed + names;
}

}  // namespace clbake::builder
