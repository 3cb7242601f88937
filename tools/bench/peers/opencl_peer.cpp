#include "bench/peers/opencl_peer.hpp"

#include <clbake/builder/gemm_run.hpp>

namespace clbake::tool {

bool OpenClPeer::set(const Problem& problem) {
  problem_ = problem;
  a_ = b_ = c_ = cl::Buffer();  // releases the earlier ones
  const Extents e = extents(problem);
  a_ = random_buffer(e.a);
  b_ = random_buffer(e.b);
  c_ = random_buffer(e.c);
  return true;
}

void OpenClPeer::run() {
  need(builder::finish_timed(session_, [this](cl_event* event) {
    enqueue(event);
    return Status();
  }));
}

std::vector<float> OpenClPeer::single_result() const {
  std::vector<float> c(extents(problem_).c);
  need_success("clEnqueueReadBuffer",
               clEnqueueReadBuffer(queue(), c_(), CL_TRUE, 0, c.size() * sizeof(float), c.data(), 0, nullptr, nullptr));
  return c;
}

void OpenClPeer::need_success(const char* call, cl_int error) const {
  if (error == CL_SUCCESS) return;
  throw Failure(std::string(name()) + ": " + call + ": OpenCL error " + std::to_string(error));
}

cl::Buffer OpenClPeer::random_buffer(std::size_t count) const {
  std::vector<unsigned char> bytes = random_matrix(problem_.precision, count);
  cl_int error = CL_SUCCESS;
  const cl::Buffer buffer(context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes.size(), bytes.data(), &error);
  need_success("clCreateBuffer", error);
  return buffer;
}

}  // namespace clbake::tool
