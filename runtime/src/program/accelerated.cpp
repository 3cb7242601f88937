#include "program/accelerated.hpp"

#include <clbake/finalize.hpp>

#include <string_view>

namespace clbake {
namespace {

constexpr std::string_view kInstruction = "wgmma.";

}  // namespace

bool needs_sm_90a(const std::string& source) { return source.find(kInstruction) != std::string::npos; }

cl::Program for_sm_90a(const cl::Context& context, const cl::Device& device, const cl::Program& refused) {
  constexpr std::string_view plain = ".target sm_90,";
  const Result<cache::Bytes> binary = program_binary(refused());
  if (!binary) return {};
  std::string ptx(binary->begin(), binary->end());
  const std::size_t target = ptx.find(plain);
  if (target == std::string::npos || !needs_sm_90a(ptx)) return {};
  ptx.insert(target + plain.size() - 1, "a");

  const cl_device_id id = device();
  const auto* bytes = reinterpret_cast<const unsigned char*>(ptx.data());
  const std::size_t size = ptx.size();
  cl_int error = CL_SUCCESS;
  const cl::Program program(clCreateProgramWithBinary(context(), 1, &id, &size, &bytes, nullptr, &error));
  return error == CL_SUCCESS ? program : cl::Program();
}

}  // namespace clbake
