// Parameters that CLBlast's tuners found, from the JSON files that they write.
#pragma once

#include <clbake/status.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace clbake::tool {

// The best parameters for one of CLBlast's kernels in one precision.
struct ClblastParameters {
  std::string kernel;  // by its name in CLBlast: Xgemm, XgemmDirect (small products), GemmRoutine (which of the two)
  int precision = 32;  // bits: 32 or 64
  std::vector<std::pair<std::string, std::size_t>> values;
};

// Fails with io or malformed, naming the file, the field and the cause.
Result<ClblastParameters> read_clblast_parameters(const std::string& path);

}  // namespace clbake::tool
