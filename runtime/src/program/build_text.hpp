// Programs that are no plain source: linked ones, SPIR-V, sources with headers.
#pragma once

#include <clbake/program_text.hpp>

#include "program/program.hpp"

#include <string>
#include <vector>

namespace clbake {

// Has a driver compile texts for devices of a context, which must outlive it. Functions fail with build_failed,
// unsupported_version (the driver takes no SPIR-V), opencl or out_of_memory.
class TextBuilder {
 public:
  // There is a device at least. `more_options` are added where something is compiled.
  TextBuilder(cl_context context, std::vector<cl_device_id> devices, std::string more_options = {});

  // A program that can be run or, for a part, one that can be linked.
  Result<cl::Program> make(const ProgramText& text, const std::string& options, bool is_part) const;

  // Compiles a program that was made of the text's source or SPIR-V.
  Status compile(const cl::Program& program, const ProgramText& text, const std::string& options) const;

 private:
  Result<cl::Program> from_source(const std::string& text) const;
  Result<cl::Program> from_il(const std::string& il) const;
  Status build(const cl::Program& program, const std::string& options) const;
  Result<cl::Program> link_parts(const ProgramText& text, const std::string& options) const;
  Result<cl::Program> link(const std::vector<cl::Program>& parts, const std::string& options) const;
  Status failure(const cl::Program& program, const char* call, cl_int error) const;
  cl_uint device_count() const { return static_cast<cl_uint>(devices_.size()); }

  cl_context context_;
  std::vector<cl_device_id> devices_;
  std::string more_options_;
};

// The built program of an encoded text (program_text.hpp) whose options are given: of clBuildProgram, or of
// clLinkProgram for a linked program. `more_options` are added where something is compiled. Fails with build_failed,
// unsupported_version (the driver takes no SPIR-V), malformed, opencl or out_of_memory.
Result<cl::Program> build_text(const cl::Context& context, const cl::Device& device, const std::string& encoded,
                               const std::string& options, const std::string& more_options);

}  // namespace clbake
