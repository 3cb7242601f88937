#include "program/build_text.hpp"

#include <clbake/joined.hpp>

#include <utility>
#include <vector>

// OpenCL 2.1; null where the loader is older.
extern "C" CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithIL(cl_context context, const void* il, size_t length,
                                                                     cl_int* error) __attribute__((weak));

namespace clbake {
namespace {

// Owned programs as OpenCL's functions take them: null where there are none.
std::vector<cl_program> handles_of(const std::vector<cl::Program>& programs) {
  std::vector<cl_program> handles;
  for (const cl::Program& program : programs) handles.push_back(program());
  return handles;
}

template <typename T>
T* data_of(std::vector<T>& values) {
  return values.empty() ? nullptr : values.data();
}

// An encoded text, and one that the layer knows, has one source at most.
std::string source_of(const ProgramText& text) { return text.sources.empty() ? "" : text.sources.front(); }

}  // namespace

TextBuilder::TextBuilder(cl_context context, std::vector<cl_device_id> devices, std::string more_options)
    : context_(context), devices_(std::move(devices)), more_options_(std::move(more_options)) {}

Result<cl::Program> TextBuilder::make(const ProgramText& text, const std::string& options, bool is_part) const {
  if (!text.parts.empty()) return link_parts(text, options);
  Result<cl::Program> program = text.il.empty() ? from_source(source_of(text)) : from_il(text.il);
  if (!program) return program;
  const bool compiles = is_part || !text.headers.empty();
  const Status done = compiles ? compile(*program, text, options) : build(*program, options);
  if (!done) return done;
  if (is_part || !compiles) return program;
  return link({*program}, {});
}

Status TextBuilder::compile(const cl::Program& program, const ProgramText& text, const std::string& options) const {
  std::vector<cl::Program> owners;
  std::vector<const char*> names;
  for (const ProgramText::Header& header : text.headers) {
    Result<cl::Program> one = from_source(header.text);
    if (!one) return one.status();
    names.push_back(header.name.c_str());
    owners.push_back(std::move(*one));
  }
  std::vector<cl_program> headers = handles_of(owners);
  const cl_int error =
      clCompileProgram(program(), device_count(), devices_.data(), (options + more_options_).c_str(),
                       static_cast<cl_uint>(headers.size()), data_of(headers), data_of(names), nullptr, nullptr);
  return error == CL_SUCCESS ? Status() : failure(program, "clCompileProgram", error);
}

Result<cl::Program> TextBuilder::from_source(const std::string& text) const {
  cl_int error = CL_SUCCESS;
  const char* data = text.c_str();
  const std::size_t length = text.size();  // 0: up to the zero
  const cl::Program program(clCreateProgramWithSource(context_, 1, &data, &length, &error));
  error = error_of(program, error);
  if (error != CL_SUCCESS) return opencl_status("clCreateProgramWithSource", error);
  return program;
}

Result<cl::Program> TextBuilder::from_il(const std::string& il) const {
  if (!clCreateProgramWithIL) return {Code::unsupported_version, "clCreateProgramWithIL: OpenCL's loader has none"};
  cl_int error = CL_SUCCESS;
  const cl::Program program(clCreateProgramWithIL(context_, il.data(), il.size(), &error));
  error = error_of(program, error);
  if (error != CL_SUCCESS) return opencl_status("clCreateProgramWithIL", error);
  return program;
}

Status TextBuilder::build(const cl::Program& program, const std::string& options) const {
  const cl_int error =
      clBuildProgram(program(), device_count(), devices_.data(), (options + more_options_).c_str(), nullptr, nullptr);
  return error == CL_SUCCESS ? Status() : failure(program, "clBuildProgram", error);
}

Result<cl::Program> TextBuilder::link_parts(const ProgramText& text, const std::string& options) const {
  std::vector<cl::Program> parts;
  for (const ProgramText& part : text.parts) {
    Result<cl::Program> one = make(part, part.options, true);
    if (!one) return one;
    parts.push_back(std::move(*one));
  }
  return link(parts, options);
}

Result<cl::Program> TextBuilder::link(const std::vector<cl::Program>& parts, const std::string& options) const {
  const std::vector<cl_program> all = handles_of(parts);
  cl_int error = CL_SUCCESS;
  const cl::Program program(clLinkProgram(context_, device_count(), devices_.data(), options.c_str(),
                                          static_cast<cl_uint>(all.size()), all.data(), nullptr, nullptr, &error));
  if (error != CL_SUCCESS && program()) return failure(program, "clLinkProgram", error);
  error = error_of(program, error);
  if (error != CL_SUCCESS) return {Code::build_failed, joined({"clLinkProgram: ", opencl_error(error)}), error};
  return program;
}

Status TextBuilder::failure(const cl::Program& program, const char* call, cl_int error) const {
  return build_failure(program, cl::Device(devices_.front(), true), call, error);
}

Result<cl::Program> build_text(const cl::Context& context, const cl::Device& device, const std::string& encoded,
                               const std::string& options, const std::string& more_options) {
  const Result<ProgramText> text = decode_program_text(encoded);
  if (!text) return text.status();
  return TextBuilder(context(), {device()}, more_options).make(*text, options, false);
}

}  // namespace clbake
