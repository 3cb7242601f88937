// An empty kernel: the device's launch overhead, below which no small product can go.
#include "bench/peers/peers.hpp"

#include <clbake/builder/gemm_run.hpp>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

namespace clbake::tool {
namespace {

constexpr const char* kSource = "__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void nothing() {}";

class Launch : public Peer {
 public:
  const char* name() const override { return "launch"; }
  bool uses_opencl() const override { return true; }
  bool computes() const override { return false; }
  Status attach(const builder::Session* session) override {
    cl_int error = CL_SUCCESS;
    const cl::Program program(cl::Context(session->context(), true), kSource, true, &error);
    if (error != CL_SUCCESS) return {Code::build_failed, "launch: OpenCL error " + std::to_string(error)};
    kernel_ = cl::Kernel(program, "nothing", &error);
    if (error != CL_SUCCESS) return {Code::opencl, "launch: OpenCL error " + std::to_string(error)};
    session_ = *session;
    return {};
  }
  Status set(const Problem& /*problem*/) override { return {}; }
  Status run() override {
    constexpr std::size_t kOne[] = {1, 1, 1};
    return builder::finish_timed(session_, [&](cl_event* event) -> Status {
      const cl_int error =
          clEnqueueNDRangeKernel(session_.queue(), kernel_(), 3, nullptr, kOne, kOne, 0, nullptr, event);
      return error == CL_SUCCESS ? Status() : Status(Code::opencl, "launch: OpenCL error " + std::to_string(error));
    });
  }
  Result<std::vector<float>> single_result() const override { return {Code::wrong_result, "launch computes nothing"}; }

 private:
  builder::Session session_;
  cl::Kernel kernel_;
};

}  // namespace

std::unique_ptr<Peer> make_launch() { return std::make_unique<Launch>(); }

}  // namespace clbake::tool
