#include "program/signature.hpp"

#include <algorithm>
#include <optional>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

namespace clbake::builder::program {
namespace {

using Kind = TrialArgument::Kind;

bool begins_with(const std::string& text, const char* part) { return text.rfind(part, 0) == 0; }

// False when the driver does not tell.
bool describe(const cl::Kernel& kernel, cl_uint index, Parameter& parameter) {
  cl_int error = CL_SUCCESS;
  const auto address = kernel.getArgInfo<CL_KERNEL_ARG_ADDRESS_QUALIFIER>(index, &error);
  if (error != CL_SUCCESS) return false;
  parameter.type = kernel.getArgInfo<CL_KERNEL_ARG_TYPE_NAME>(index, &error);
  parameter.name = kernel.getArgInfo<CL_KERNEL_ARG_NAME>(index, &error);
  if (begins_with(parameter.type, "unsigned ")) parameter.type = "u" + parameter.type.substr(9);
  parameter.kind = begins_with(parameter.type, "image")       ? Kind::image
                   : parameter.type == "sampler_t"            ? Kind::sampler
                   : address == CL_KERNEL_ARG_ADDRESS_LOCAL   ? Kind::local
                   : address == CL_KERNEL_ARG_ADDRESS_PRIVATE ? Kind::value
                                                              : Kind::buffer;
  return true;
}

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::image: return "an image";
    case Kind::sampler: return "a sampler";
    case Kind::value: return "a value";
    case Kind::local: return "local memory";
    default: return "a buffer";
  }
}

std::string text_of(const Parameter& parameter) {
  return parameter.type + (parameter.name.empty() ? "" : " ") + parameter.name;
}

// "2 arguments (int* x, int n)"
std::string count_text(const cl::Kernel& kernel, cl_uint count) {
  std::string text;
  Parameter parameter;
  for (cl_uint i = 0; i < count && describe(kernel, i, parameter); ++i) {
    text += (text.empty() ? " (" : ", ") + text_of(parameter);
  }
  return std::to_string(count) + (count == 1 ? " argument" : " arguments") + text + (text.empty() ? "" : ")");
}

// Nothing: not known.
std::optional<std::uint64_t> size_of(const std::string& type, const TypeSizes& sizes) {
  const ElementType element = element_type(type);
  if (element.number) return element.bytes();
  const auto found = sizes.find(type);
  return found == sizes.end() ? std::nullopt : std::optional(found->second);
}

// True for local memory and values that are set by the same call as a buffer that is NULL: a recording of a program
// whose driver tells no kinds cannot tell them apart.
bool may_be_null(const TrialArgument& given) {
  if (given.kind == Kind::local) return given.count == sizeof(cl_mem);
  if (given.kind != Kind::value || !given.bytes || given.size() != sizeof(cl_mem)) return false;
  return std::all_of(given.bytes->begin.begin(), given.bytes->begin.end(), [](std::uint8_t byte) { return byte == 0; });
}

// Why the argument does not fit; empty when it does.
std::string misfit(const Parameter& parameter, const TrialArgument& given, const TypeSizes& sizes) {
  const Kind kind = given.kind == Kind::null ? Kind::buffer : given.kind;
  if (parameter.kind == Kind::buffer && may_be_null(given)) return {};
  if (kind != parameter.kind) {
    return std::string("is ") + kind_name(parameter.kind) + ", and the trial gives " + kind_name(kind);
  }
  const std::string& type = parameter.type;
  if (kind == Kind::image) {
    const ImageShape* const shape = image_shape_of(type);
    const bool differs = shape && shape != given.image.shape;
    return differs ? std::string("is given a ") + given.image.shape->name + " image" : std::string();
  }
  if (kind != Kind::value) return {};
  const bool is_other = given.element.width == 1 && number_type(given.type) && number_type(type) && given.type != type;
  if (is_other) return "is " + type + ", and the trial gives " + given.type;
  const std::optional<std::uint64_t> bytes = size_of(type, sizes);
  if (!bytes || *bytes == given.size()) return {};
  return "has " + std::to_string(*bytes) + " bytes, and the trial gives " + std::to_string(given.size()) + " (" +
         given.type + ")";
}

}  // namespace

std::vector<Parameter> parameters_of(cl_kernel id) {
  const cl::Kernel kernel(id, true);
  std::vector<Parameter> parameters;
  Parameter parameter;
  for (cl_uint i = 0; describe(kernel, i, parameter); ++i) parameters.push_back(parameter);
  return parameters;
}

bool tells_parameters(cl_kernel id) {
  const cl::Kernel kernel(id, true);
  Parameter parameter;
  for (cl_uint i = 0; i < kernel.getInfo<CL_KERNEL_NUM_ARGS>(); ++i) {
    if (!describe(kernel, i, parameter) || parameter.type.empty()) return false;
  }
  return true;
}

std::set<std::string> unknown_types(cl_kernel id) {
  const cl::Kernel kernel(id, true);
  std::set<std::string> types;
  Parameter parameter;
  for (cl_uint i = 0; describe(kernel, i, parameter); ++i) {
    if (parameter.kind == Kind::value && !element_type(parameter.type).number) types.insert(parameter.type);
  }
  return types;
}

Status check_signature(cl_kernel id, const Trial& trial, const TypeSizes& sizes) {
  const cl::Kernel kernel(id, true);
  cl_int error = CL_SUCCESS;
  const cl_uint taken = kernel.getInfo<CL_KERNEL_NUM_ARGS>(&error);
  if (error != CL_SUCCESS) return {Code::opencl, "clGetKernelInfo: error " + std::to_string(error), error};
  const std::vector<TrialArgument>& arguments = trial.arguments;
  if (taken != arguments.size()) {
    return {Code::invalid_argument, "the kernel takes " + count_text(kernel, taken) + ", and the trial gives " +
                                        std::to_string(arguments.size())};
  }
  Parameter parameter;
  for (cl_uint i = 0; i < taken && describe(kernel, i, parameter); ++i) {
    const TrialArgument& given = arguments[i].kind == Kind::same ? arguments[arguments[i].count] : arguments[i];
    const std::string why = misfit(parameter, given, sizes);
    if (why.empty()) continue;
    return {Code::invalid_argument,
            "argument " + std::to_string(i) + " (" + text_of(parameter) + ") of the kernel " + why};
  }
  return {};
}

}  // namespace clbake::builder::program
