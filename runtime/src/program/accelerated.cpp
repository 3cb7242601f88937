#include "program/accelerated.hpp"

#include <clbake/finalize.hpp>

#include <string>
#include <string_view>

namespace clbake {

cl::Program built_for_sm_90a(const cl::Context& context, const cl::Device& device, const cl::Program& refused) {
  constexpr std::string_view plain = ".target sm_90,";
  const Result<cache::Bytes> binary = program_binary(refused());
  if (!binary) return {};
  std::string ptx(binary->begin(), binary->end());
  const std::size_t target = ptx.find(plain);
  if (target == std::string::npos || ptx.find("wgmma.") == std::string::npos) return {};
  ptx.insert(target + plain.size() - 1, "a");

  const cl_device_id id = device();
  const auto* bytes = reinterpret_cast<const unsigned char*>(ptx.data());
  const std::size_t size = ptx.size();
  cl_int error = CL_SUCCESS;
  const cl::Program program(clCreateProgramWithBinary(context(), 1, &id, &size, &bytes, nullptr, &error));
  if (error != CL_SUCCESS || clBuildProgram(program(), 1, &id, nullptr, nullptr, nullptr) != CL_SUCCESS) return {};
  return program;
}

}  // namespace clbake
