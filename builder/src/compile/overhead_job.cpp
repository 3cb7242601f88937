#include "compile/overhead_job.hpp"
#include <clbake/kernels/generator.hpp>
#include "compile/finalize.hpp"

#include <chrono>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

namespace clbake::builder {
namespace {

constexpr const char* kFamily = "do_nothing";
// The local size is fixed, as those of the variants are.
constexpr const char* kSource =
    "__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void do_nothing(__global uint* out) { out[0] = 1; }\n";

Status failure(const char* call, cl_int error) {
  return {Code::opencl, std::string("a kernel that does nothing: ") + call + ": error " + std::to_string(error)};
}

}  // namespace

Job overhead_job(const Target& target) {
  Job job;
  job.target = target;
  job.source = {"do_nothing.cl", kSource};
  job.variant.name = kFamily;
  job.variant.family = kFamily;
  job.variant.contract = kernels::contract_version;
  job.variant.launches = {{cache::Role::gemm, kOverheadKernel, {1, 1, 1}, 1, 1}};
  return job;
}

bool is_overhead_job(const Job& job) { return job.variant.family == kFamily; }

Result<std::vector<cache::Entry>> compile_overhead_job(const Job& job, const Device& device, const Session& session) {
  cl_int error = CL_SUCCESS;
  const cl::Program program(cl::Context(session.context(), true), job.source.text, false, &error);
  if (error == CL_SUCCESS) error = program.build({cl::Device(device.id, true)});
  if (error != CL_SUCCESS) return failure("clBuildProgram", error);
  const auto launch_once = [&] { return launch_overhead_kernel(program(), session).status(); };
  return finalize_in_child({device.target, job.variant, program(), launch_once}, job.source);
}

Result<double> launch_overhead_kernel(cl_program program, const Session& session) {
  cl_int error = CL_SUCCESS;
  cl::Kernel kernel(cl::Program(program, true), kOverheadKernel, &error);
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

}  // namespace clbake::builder
