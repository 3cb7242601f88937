#include "record/handles.hpp"

#include "down.hpp"
#include "record/guard.hpp"

#include <mutex>
#include <unordered_map>

namespace clbake::layer::record {
namespace {

// The program's references to each object.
template <typename Handle>
class References {
 public:
  void add(Handle handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++counts_[handle];
  }
  // A further reference to one that is known.
  void add_further(Handle handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = counts_.find(handle);
    if (found != counts_.end()) ++found->second;
  }
  void remove(Handle handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = counts_.find(handle);
    if (found != counts_.end() && --found->second == 0) counts_.erase(found);
  }
  bool has(Handle handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return counts_.count(handle) != 0;
  }
  bool empty() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return counts_.empty();
  }

 private:
  std::mutex mutex_;
  std::unordered_map<Handle, unsigned> counts_;
};

template <typename Handle>
References<Handle>& references() {
  static auto& all = *new References<Handle>;
  return all;
}

// The driver's function `member`, which keeps the handle that it returns.
template <auto member, typename Handle, typename... Arguments>
Handle CL_API_CALL create(Arguments... arguments) {
  Handle handle = (down().*member)(arguments...);
  if (handle) guarded([&] { references<Handle>().add(handle); });
  return handle;
}

template <auto member, typename Handle, typename... Arguments>
void install(cl_icd_dispatch& table, Handle(CL_API_CALL* /*of_the_type*/)(Arguments...)) {
  replace(table.*member, create<member, Handle, Arguments...>);
}

template <auto member, typename Handle>
cl_int CL_API_CALL retain(Handle handle) {
  const cl_int error = (down().*member)(handle);
  if (error == CL_SUCCESS) guarded([&] { references<Handle>().add_further(handle); });
  return error;
}

// Before the driver can give the address to another object.
template <auto member, typename Handle>
cl_int CL_API_CALL release(Handle handle) {
  guarded([&] { references<Handle>().remove(handle); });
  return (down().*member)(handle);
}

cl_int CL_API_CALL set_user_event_status(cl_event event, cl_int status) {
  const cl_int error = down().clSetUserEventStatus(event, status);
  if (error == CL_SUCCESS) guarded([&] { references<cl_event>().remove(event); });
  return error;
}

template <auto member>
void install(cl_icd_dispatch& table) {
  install<member>(table, table.*member);
}

}  // namespace

bool is_memory(cl_mem handle) { return references<cl_mem>().has(handle); }
bool is_sampler(cl_sampler handle) { return references<cl_sampler>().has(handle); }
bool has_open_user_event() { return !references<cl_event>().empty(); }

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
  install<&Table::clCreateUserEvent>(table);
  replace(table.clRetainMemObject, retain<&Table::clRetainMemObject, cl_mem>);
  replace(table.clRetainSampler, retain<&Table::clRetainSampler, cl_sampler>);
  replace(table.clReleaseMemObject, release<&Table::clReleaseMemObject, cl_mem>);
  replace(table.clReleaseSampler, release<&Table::clReleaseSampler, cl_sampler>);
  replace(table.clSetUserEventStatus, set_user_event_status);
}

}  // namespace clbake::layer::record
