#include "prove/launch_overhead.hpp"
#include "compile/overhead_job.hpp"

#include <chrono>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

namespace clbake::builder {
namespace {

Status failure(const char* call, cl_int error) {
  return {Code::opencl, std::string("launch overhead: ") + call + ": error " + std::to_string(error)};
}

}  // namespace

Result<LaunchOverhead> measure_launch_overhead(const Job& compiled, const Device& device, const Session& session) {
  if (compiled.entries.empty()) return {Code::no_entry, "launch overhead: nothing was compiled"};
  const cache::Bytes& bytes = compiled.entries.front().program;
  const std::vector<cl::Device> devices = {cl::Device(device.id, true)};
  cl_int error = CL_SUCCESS;
  const auto start = std::chrono::steady_clock::now();
  const cl::Program program(cl::Context(session.context(), true), devices, {bytes}, nullptr, &error);
  if (error == CL_SUCCESS) error = program.build(devices);
  if (error != CL_SUCCESS) return failure("clCreateProgramWithBinary", error);
  const cl::Kernel kernel(program, kOverheadKernel, &error);
  const std::chrono::duration<double, std::micro> load = std::chrono::steady_clock::now() - start;
  if (error != CL_SUCCESS) return failure("clCreateKernel", error);
  const Result<double> first = launch_overhead_kernel(program(), session);
  if (!first) return first.status();
  return LaunchOverhead{load.count(), *first};
}

}  // namespace clbake::builder
