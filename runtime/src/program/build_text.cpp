#include "program/build_text.hpp"

#include <clbake/joined.hpp>
#include <clbake/program_text.hpp>

#include <algorithm>
#include <utility>
#include <vector>

// OpenCL 2.1; null where the loader is older.
extern "C" CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithIL(cl_context context, const void* il, size_t length,
                                                                     cl_int* error) __attribute__((weak));

namespace clbake {
namespace {

class TextBuilder {
 public:
  TextBuilder(const cl::Context& context, const cl::Device& device, const std::string& more_options)
      : context_(context), device_(device), more_options_(more_options) {}

  // As a program that can be run or, for a part, one that can be linked.
  Result<cl::Program> make(const ProgramText& text, const std::string& options, bool is_part) const {
    if (!text.parts.empty()) return link_parts(text, options);
    Result<cl::Program> program = text.il.empty() ? from_source(source_of(text)) : from_il(text.il);
    if (!program) return program;
    const bool compiles = is_part || !text.headers.empty();
    const Status done = compiles ? compile(*program, text, options) : build(*program, options);
    if (!done) return done;
    if (is_part || !compiles) return program;
    return link({*program}, {});
  }

 private:
  // An encoded text has one source at most.
  static std::string source_of(const ProgramText& text) { return text.sources.empty() ? "" : text.sources.front(); }

  Result<cl::Program> from_source(const std::string& text) const {
    cl_int error = CL_SUCCESS;
    const char* data = text.c_str();
    const std::size_t length = text.size();  // 0: up to the zero
    const cl::Program program(clCreateProgramWithSource(context_(), 1, &data, &length, &error));
    error = error_of(program, error);
    if (error != CL_SUCCESS) return opencl_status("clCreateProgramWithSource", error);
    return program;
  }

  Result<cl::Program> from_il(const std::string& il) const {
    if (!clCreateProgramWithIL) return {Code::unsupported_version, "clCreateProgramWithIL: OpenCL's loader has none"};
    cl_int error = CL_SUCCESS;
    const cl::Program program(clCreateProgramWithIL(context_(), il.data(), il.size(), &error));
    error = error_of(program, error);
    if (error != CL_SUCCESS) return opencl_status("clCreateProgramWithIL", error);
    return program;
  }

  Status build(const cl::Program& program, const std::string& options) const {
    const cl_device_id id = device_();
    const cl_int error = clBuildProgram(program(), 1, &id, (options + more_options_).c_str(), nullptr, nullptr);
    return error == CL_SUCCESS ? Status() : build_failure(program, device_, "clBuildProgram", error);
  }

  Status compile(const cl::Program& program, const ProgramText& text, const std::string& options) const {
    std::vector<cl::Program> owners;
    std::vector<cl_program> headers;
    std::vector<const char*> names;
    for (const ProgramText::Header& header : text.headers) {
      Result<cl::Program> one = from_source(header.text);
      if (!one) return one.status();
      headers.push_back((*one)());
      names.push_back(header.name.c_str());
      owners.push_back(std::move(*one));
    }
    const cl_device_id id = device_();
    const bool has_headers = !headers.empty();
    const cl_int error = clCompileProgram(program(), 1, &id, (options + more_options_).c_str(),
                                          static_cast<cl_uint>(headers.size()), has_headers ? headers.data() : nullptr,
                                          has_headers ? names.data() : nullptr, nullptr, nullptr);
    return error == CL_SUCCESS ? Status() : build_failure(program, device_, "clCompileProgram", error);
  }

  Result<cl::Program> link_parts(const ProgramText& text, const std::string& options) const {
    std::vector<cl::Program> parts;
    for (const ProgramText& part : text.parts) {
      Result<cl::Program> one = make(part, part.options, true);
      if (!one) return one;
      parts.push_back(std::move(*one));
    }
    return link(parts, options);
  }

  Result<cl::Program> link(const std::vector<cl::Program>& parts, const std::string& options) const {
    std::vector<cl_program> all;
    for (const cl::Program& part : parts) all.push_back(part());
    const cl_device_id id = device_();
    cl_int error = CL_SUCCESS;
    const cl::Program program(clLinkProgram(context_(), 1, &id, options.c_str(), static_cast<cl_uint>(all.size()),
                                            all.data(), nullptr, nullptr, &error));
    if (error != CL_SUCCESS && program()) return build_failure(program, device_, "clLinkProgram", error);
    error = error_of(program, error);
    if (error != CL_SUCCESS) return {Code::build_failed, joined({"clLinkProgram: ", opencl_error(error)}), error};
    return program;
  }

  const cl::Context& context_;
  const cl::Device& device_;
  const std::string& more_options_;
};

}  // namespace

Result<cl::Program> build_text(const cl::Context& context, const cl::Device& device, const std::string& encoded,
                               const std::string& options, const std::string& more_options) {
  const Result<ProgramText> text = decode_program_text(encoded);
  if (!text) return text.status();
  return TextBuilder(context, device, more_options).make(*text, options, false);
}

}  // namespace clbake
