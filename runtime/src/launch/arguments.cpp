#include "launch/arguments.hpp"

namespace clbake {

Arguments& Arguments::bytes(const void* value, std::size_t size) {
  void* const held = &held_.words[word_];
  const std::uint32_t bit = 1U << index_;
  const cl_uint index = index_++;
  word_ += (size + 7) / 8;
  if (error_ != CL_SUCCESS || ((held_.set & bit) != 0 && std::memcmp(held, value, size) == 0)) return *this;
  error_ = clSetKernelArg(kernel_, index, size, value);
  held_.set &= ~bit;
  if (error_ != CL_SUCCESS) return *this;
  held_.set |= bit;
  std::memcpy(held, value, size);
  return *this;
}

}  // namespace clbake
