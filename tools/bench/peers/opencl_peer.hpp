// The base of the peers on OpenCL: a queue, and matrices in buffers.
#pragma once

#include "bench/peers/peers.hpp"
#include "cli/cli.hpp"

#include <functional>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

namespace clbake::tool {

class OpenClPeer : public Peer {
 public:
  bool uses_opencl() const override { return true; }
  void attach(const builder::Session* session) override { session_ = *session; }
  bool set(const Problem& problem) override;
  void run() override;
  std::vector<float> single_result() const override;

 protected:
  // Enqueues the product; `event`, if not null, takes the event of its end. Throws Failure.
  virtual void enqueue(cl_event* event) = 0;

  // Throws Failure, which names the peer and `call`, for anything but success.
  void need_success(const char* call, cl_int error) const;
  cl::Context context() const { return cl::Context(session_.context(), true); }
  cl_command_queue queue() const { return session_.queue(); }
  cl::Buffer random_buffer(std::size_t count) const;  // of the problem's precision

  Problem problem_;
  cl::Buffer a_, b_, c_;

 private:
  builder::Session session_;
};

}  // namespace clbake::tool
