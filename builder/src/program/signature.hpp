// The arguments of trials against those that the kernels take.
#pragma once

#include "program/trial.hpp"

#include <CL/cl.h>

#include <map>
#include <set>
#include <string>

namespace clbake::builder::program {

// An argument of a kernel, as a driver tells it.
struct Parameter {
  TrialArgument::Kind kind = TrialArgument::Kind::buffer;
  std::string type;  // "int*", "image2d_t"
  std::string name;  // empty: not known
};

// Those that the driver tells: all of the kernel's, or none.
std::vector<Parameter> parameters_of(cl_kernel kernel);

// True when the driver tells all of the kernel's arguments, with their types.
bool tells_parameters(cl_kernel kernel);

// Bytes of types, by name.
using TypeSizes = std::map<std::string, std::uint64_t>;

// The types of the kernel's arguments by value that are neither numbers nor vectors: structs and the program's own
// names. Empty when the driver does not tell types.
std::set<std::string> unknown_types(cl_kernel kernel);

// Fails with invalid_argument, naming the argument, when those of the trial are not what the kernel takes: their
// number; and where the driver tells, whether each is a buffer, an image, a sampler, a value or local memory, a
// number's type, and a value's size as far as it is known or in `sizes`.
Status check_signature(cl_kernel kernel, const Trial& trial, const TypeSizes& sizes = {});

}  // namespace clbake::builder::program
