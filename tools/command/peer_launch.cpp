// A kernel that does nothing: what any launch costs on the device, the floor of small products.
#include "peers.hpp"

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

namespace clbake::tool {
namespace {

constexpr const char* kSource = "__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void nothing() {}";

class Launch : public Peer {
 public:
  Launch(cl::CommandQueue queue, cl::Kernel kernel) : queue_(std::move(queue)), kernel_(std::move(kernel)) {}
  const char* name() const override { return "launch"; }
  Status set(const Problem& /*problem*/) override { return {}; }
  Status run() override {
    cl_int error = queue_.enqueueNDRangeKernel(kernel_, cl::NullRange, cl::NDRange(1, 1, 1), cl::NDRange(1, 1, 1));
    if (error == CL_SUCCESS) error = queue_.finish();
    return error == CL_SUCCESS ? Status() : Status(Code::opencl, "launch: OpenCL error " + std::to_string(error));
  }

 private:
  cl::CommandQueue queue_;
  cl::Kernel kernel_;
};

}  // namespace

Result<std::unique_ptr<Peer>> make_launch(const builder::Session& session) {
  cl_int error = CL_SUCCESS;
  const cl::Program program(cl::Context(session.context(), true), kSource, true, &error);
  if (error != CL_SUCCESS) return {Code::build_failed, "launch: OpenCL error " + std::to_string(error)};
  cl::Kernel kernel(program, "nothing", &error);
  if (error != CL_SUCCESS) return {Code::opencl, "launch: OpenCL error " + std::to_string(error)};
  return std::unique_ptr<Peer>(std::make_unique<Launch>(cl::CommandQueue(session.queue(), true), std::move(kernel)));
}

}  // namespace clbake::tool
