#include "record/handles.hpp"

#include "down.hpp"
#include "record/guard.hpp"

#include <mutex>
#include <unordered_set>

namespace clbake::layer::record {
namespace {

// Handles stay in the sets when they are released: a number that equals one by chance is all that could be mistaken.
struct Handles {
  std::mutex mutex;
  std::unordered_set<cl_mem> memory;
  std::unordered_set<cl_sampler> samplers;
};

Handles& handles() {
  static Handles& all = *new Handles;
  return all;
}

void keep(cl_mem handle) {
  const std::lock_guard<std::mutex> lock(handles().mutex);
  handles().memory.insert(handle);
}

void keep(cl_sampler handle) {
  const std::lock_guard<std::mutex> lock(handles().mutex);
  handles().samplers.insert(handle);
}

// The driver's function `member`, which keeps the handle that it returns.
template <auto member, typename Handle, typename... Arguments>
Handle CL_API_CALL create(Arguments... arguments) {
  Handle handle = (down().*member)(arguments...);
  if (handle) guarded([&] { keep(handle); });
  return handle;
}

template <auto member, typename Handle, typename... Arguments>
void install(cl_icd_dispatch& table, Handle(CL_API_CALL* function)(Arguments...)) {
  if (function) table.*member = create<member, Handle, Arguments...>;
}

template <auto member>
void install(cl_icd_dispatch& table) {
  install<member>(table, table.*member);
}

}  // namespace

bool is_memory(cl_mem handle) {
  const std::lock_guard<std::mutex> lock(handles().mutex);
  return handles().memory.count(handle) != 0;
}

bool is_sampler(cl_sampler handle) {
  const std::lock_guard<std::mutex> lock(handles().mutex);
  return handles().samplers.count(handle) != 0;
}

void install_handles(cl_icd_dispatch& table) {
  using Table = cl_icd_dispatch;
  install<&Table::clCreateBuffer>(table);
  install<&Table::clCreateBufferWithProperties>(table);
  install<&Table::clCreateSubBuffer>(table);
  install<&Table::clCreateImage>(table);
  install<&Table::clCreateImageWithProperties>(table);
  install<&Table::clCreateImage2D>(table);
  install<&Table::clCreateImage3D>(table);
  install<&Table::clCreatePipe>(table);
  install<&Table::clCreateFromGLBuffer>(table);
  install<&Table::clCreateFromGLTexture>(table);
  install<&Table::clCreateFromGLTexture2D>(table);
  install<&Table::clCreateFromGLTexture3D>(table);
  install<&Table::clCreateFromGLRenderbuffer>(table);
  install<&Table::clCreateFromEGLImageKHR>(table);
  install<&Table::clCreateSampler>(table);
  install<&Table::clCreateSamplerWithProperties>(table);
}

}  // namespace clbake::layer::record
