#include "opencl_gemm.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace clbake::test {

namespace {

constexpr int skipped = 77;

void require(cl_int error, const char* call) {
  if (error != CL_SUCCESS) {
    throw std::runtime_error(std::string(call) + " failed with " + std::to_string(error));
  }
}

cl_device_id first_device() {
  cl_uint count = 0;
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) {
    return nullptr;
  }
  std::vector<cl_platform_id> platforms(count);
  require(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  for (cl_platform_id platform : platforms) {
    cl_device_id device = nullptr;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS) {
      return device;
    }
  }
  return nullptr;
}

std::string device_text(cl_device_id device, cl_device_info what) {
  std::size_t size = 0;
  require(clGetDeviceInfo(device, what, 0, nullptr, &size), "clGetDeviceInfo");
  std::string text(size, '\0');
  require(clGetDeviceInfo(device, what, size, text.data(), nullptr), "clGetDeviceInfo");
  return text.c_str();
}

template <class T>
T device_value(cl_device_id device, cl_device_info what) {
  T value{};
  require(clGetDeviceInfo(device, what, sizeof(value), &value, nullptr), "clGetDeviceInfo");
  return value;
}

// A buffer that ends with its last element, so that a checking driver sees every access past it.
class Buffer {
 public:
  Buffer(cl_context context, std::size_t bytes, const void* data) {
    cl_int error = CL_SUCCESS;
    handle_ = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, const_cast<void*>(data), &error);
    require(error, "clCreateBuffer");
  }
  ~Buffer() { clReleaseMemObject(handle_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  const cl_mem& handle() const { return handle_; }

 private:
  cl_mem handle_ = nullptr;
};

// Sets the arguments of a kernel one after the other.
class Arguments {
 public:
  explicit Arguments(cl_kernel kernel) : kernel_(kernel) {}
  template <class T>
  Arguments& operator<<(const T& value) {
    require(clSetKernelArg(kernel_, index_++, sizeof(value), &value), "clSetKernelArg");
    return *this;
  }

 private:
  cl_kernel kernel_;
  cl_uint index_ = 0;
};

}  // namespace

Device::Device() : id_(first_device()) {
  if (id_ == nullptr) {
    std::puts("skipped: no OpenCL device");
    std::exit(skipped);
  }
  cl_int error = CL_SUCCESS;
  context_ = clCreateContext(nullptr, 1, &id_, nullptr, nullptr, &error);
  require(error, "clCreateContext");
  queue_ = clCreateCommandQueue(context_, id_, 0, &error);
  require(error, "clCreateCommandQueue");
  name_ = device_text(id_, CL_DEVICE_NAME) + ", driver " + device_text(id_, CL_DRIVER_VERSION);
  limits_.fp64 = device_text(id_, CL_DEVICE_EXTENSIONS).find("cl_khr_fp64") != std::string::npos;
  limits_.max_work_group_size = device_value<std::size_t>(id_, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  std::size_t sizes[3] = {};
  require(clGetDeviceInfo(id_, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof(sizes), sizes, nullptr), "clGetDeviceInfo");
  for (std::size_t i = 0; i < 3; ++i) {
    limits_.max_work_item_sizes[i] = sizes[i];
  }
  limits_.local_memory_bytes = device_value<cl_ulong>(id_, CL_DEVICE_LOCAL_MEM_SIZE);
}

Device::~Device() {
  clReleaseCommandQueue(queue_);
  clReleaseContext(context_);
}

GemmKernel::GemmKernel(const Device& device, const kernels::Kernel& kernel) : device_(device), kernel_(kernel) {
  cl_int error = CL_SUCCESS;
  const char* source = kernel.source.c_str();
  program_ = clCreateProgramWithSource(device.context(), 1, &source, nullptr, &error);
  require(error, "clCreateProgramWithSource");
  const cl_device_id id = device.id();
  error = clBuildProgram(program_, 1, &id, kernel.build_options.c_str(), nullptr, nullptr);
  if (error != CL_SUCCESS) {
    std::string log(65536, '\0');
    clGetProgramBuildInfo(program_, id, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), nullptr);
    throw std::runtime_error(kernel.name + " does not build:\n" + log.c_str());
  }
  handle_ = clCreateKernel(program_, kernel.kernel_name.c_str(), &error);
  require(error, "clCreateKernel");
}

GemmKernel::~GemmKernel() {
  clReleaseKernel(handle_);
  clReleaseProgram(program_);
}

template <class Real>
std::vector<Real> GemmKernel::run(const Problem& p, const std::vector<Real>& a, const std::vector<Real>& b,
                                  std::vector<Real> c, std::size_t extra_groups) const {
  const Buffer a_buffer(device_.context(), a.size() * sizeof(Real), a.data());
  const Buffer b_buffer(device_.context(), b.size() * sizeof(Real), b.data());
  const Buffer c_buffer(device_.context(), c.size() * sizeof(Real), c.data());
  Arguments(handle_) << p.m << p.n << p.k << static_cast<Real>(p.alpha) << a_buffer.handle() << p.a.offset << p.a.ld
                     << b_buffer.handle() << p.b.offset << p.b.ld << static_cast<Real>(p.beta) << c_buffer.handle()
                     << p.c.offset << p.c.ld;
  const auto groups = [extra_groups](std::int32_t extent, std::uint32_t tile) {
    return (static_cast<std::size_t>(extent) + tile - 1) / tile + extra_groups;
  };
  const std::size_t local[3] = {kernel_.local[0], kernel_.local[1], kernel_.local[2]};
  const std::size_t global[3] = {groups(p.n, kernel_.tile_n) * local[0], groups(p.m, kernel_.tile_m) * local[1],
                                 local[2]};
  require(clEnqueueNDRangeKernel(device_.queue(), handle_, 3, nullptr, global, local, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
  require(clEnqueueReadBuffer(device_.queue(), c_buffer.handle(), CL_TRUE, 0, c.size() * sizeof(Real), c.data(), 0,
                              nullptr, nullptr),
          "clEnqueueReadBuffer");
  return c;
}

template std::vector<float> GemmKernel::run(const Problem&, const std::vector<float>&, const std::vector<float>&,
                                            std::vector<float>, std::size_t) const;
template std::vector<double> GemmKernel::run(const Problem&, const std::vector<double>&, const std::vector<double>&,
                                             std::vector<double>, std::size_t) const;

}  // namespace clbake::test
