// The programs beside the variants: the kernels that make a complex product a real one (kernels/complex.cl).
#pragma once

#include <clbake/builder/programs.hpp>
#include <clbake/kernels/defaults.hpp>

namespace clbake::builder {

// What all their names begin with, and no name of an application's program.
inline constexpr const char* kOwnPrefix = "clbake-";

// One for each complex precision of the list, with trials whose results were computed here.
std::vector<Program> complex_programs(kernels::DeviceType type, const std::vector<Precision>& precisions);

}  // namespace clbake::builder
