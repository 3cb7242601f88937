#include "clblast/door_scene.hpp"

#include <limits>
#include <stdexcept>

namespace clbake::tests {
namespace {

cl_mem buffer_of(std::size_t count, float value) {
  std::vector<float> values(count, value);
  return clCreateBuffer(session().context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, count * sizeof value,
                        values.data(), nullptr);
}

}  // namespace

builder::Session& session() {
  static Result<builder::Session> opened = builder::Session::open(device());
  if (!opened) throw std::runtime_error(opened.status().message());
  return *opened;
}

cl_command_queue queue() { return session().queue(); }

Buffers::Buffers(std::size_t count_a, std::size_t count_b, std::size_t count_c)
    : count(count_c),
      a(buffer_of(count_a, 1)),
      b(buffer_of(count_b, 1)),
      c(buffer_of(count_c, std::numeric_limits<float>::quiet_NaN())) {}

Buffers::~Buffers() {
  for (cl_mem each : {a, b, c}) clReleaseMemObject(each);
}

std::vector<float> Buffers::read_c() const {
  std::vector<float> values(count);
  clEnqueueReadBuffer(queue(), c, CL_TRUE, 0, count * sizeof values[0], values.data(), 0, nullptr, nullptr);
  return values;
}

}  // namespace clbake::tests
