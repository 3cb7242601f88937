#include "compile/overhead_job.hpp"
#include <clbake/kernels/generator.hpp>
#include "compile/entries_for_bundle.hpp"

#include <chrono>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

namespace clbake::builder {
namespace {

constexpr const char* kName = "do_nothing";  // of variant, family and kernel
// The local size is fixed, as those of the variants are.
constexpr const char* kSource =
    "__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void do_nothing(__global uint* out) { out[0] = 1; }\n";

Status failure(const char* call, cl_int error) {
  return {Code::opencl, std::string("a kernel that does nothing: ") + call + ": error " + std::to_string(error)};
}

// Launches the kernel once, enqueue to finish; microseconds.
Result<double> launch_once(cl_program program, const Session& session) {
  cl_int error = CL_SUCCESS;
  cl::Kernel kernel(cl::Program(program, true), kName, &error);
  if (error != CL_SUCCESS) return failure("clCreateKernel", error);
  const cl::Context context(session.context(), true);
  const cl::CommandQueue queue(session.queue(), true);
  const cl::Buffer out(context, CL_MEM_READ_WRITE, sizeof(cl_uint), nullptr, &error);
  if (error == CL_SUCCESS) error = kernel.setArg(0, out);
  if (error != CL_SUCCESS) return failure("clSetKernelArg", error);
  const auto start = std::chrono::steady_clock::now();
  error = queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1), cl::NDRange(1));
  if (error == CL_SUCCESS) error = queue.finish();
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  if (error != CL_SUCCESS) return failure("clEnqueueNDRangeKernel", error);
  return took.count();
}

}  // namespace

Job overhead_job(const Target& target) {
  Job job;
  job.target = target;
  job.source = {"do_nothing.cl", kSource};
  job.variant.name = kName;
  job.variant.family = kName;
  job.variant.contract = kernels::contract_version;
  job.variant.launches = {{cache::Role::gemm, kName, {1, 1, 1}, 1, 1}};
  return job;
}

bool is_overhead_job(const Job& job) { return job.variant.family == kName; }

Result<std::vector<cache::Entry>> compile_overhead_job(const Job& job, const Device& device, const Session& session) {
  cl_int error = CL_SUCCESS;
  const cl::Program program(cl::Context(session.context(), true), job.source.text, false, &error);
  if (error == CL_SUCCESS) error = program.build({cl::Device(device.id, true)});
  if (error != CL_SUCCESS) return failure("clBuildProgram", error);
  const auto launch = [&] { return launch_once(program(), session).status(); };
  return entries_for_bundle({device.target, job.variant, program(), launch}, job.source);
}

Result<LaunchOverhead> measure_launch_overhead(const Job& compiled, const Device& device, const Session& session) {
  if (compiled.entries.empty()) return {Code::no_entry, "a kernel that does nothing: nothing was compiled"};
  const cache::Bytes& bytes = compiled.entries.front().program;
  const std::vector<cl::Device> devices = {cl::Device(device.id, true)};
  cl_int error = CL_SUCCESS;
  const auto start = std::chrono::steady_clock::now();
  const cl::Program program(cl::Context(session.context(), true), devices, {bytes}, nullptr, &error);
  if (error == CL_SUCCESS) error = program.build(devices);
  if (error != CL_SUCCESS) return failure("clCreateProgramWithBinary", error);
  const cl::Kernel kernel(program, kName, &error);
  const std::chrono::duration<double, std::micro> load = std::chrono::steady_clock::now() - start;
  if (error != CL_SUCCESS) return failure("clCreateKernel", error);
  const Result<double> first = launch_once(program(), session);
  if (!first) return first.status();
  return LaunchOverhead{load.count(), *first};
}

}  // namespace clbake::builder
