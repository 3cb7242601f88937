// The single precision products of whisper.cpp's tiny.en through CLBlast's API: milliseconds of the first call, then
// microseconds of each size, from the call to the end of clFinish, medians of up to 60 calls, or
// of those of two seconds.
// Build: c++ -O2 time_sizes.cpp -o time_sizes -lclblast -lOpenCL. Run: ./time_sizes PLATFORM, part of a platform's
// name.
#include <clblast.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace {

struct Size {
  std::size_t m, n, k;
};
constexpr Size kSizes[] = {{64, 256, 256},   {64, 256, 1500},   {64, 1500, 1500},  {256, 256, 64},  {384, 256, 384},
                           {384, 256, 1536}, {384, 1500, 384},  {384, 1500, 1536}, {1500, 256, 64}, {1500, 1500, 64},
                           {1536, 256, 384}, {1536, 1500, 384}, {51864, 256, 384}};
constexpr std::size_t kElements = 51864 * 384;  // no operand is larger
constexpr std::size_t kCalls = 60;
constexpr double kMostUs = 2e6;

cl_device_id find_device(const std::string& platform_name) {
  cl_uint count = 0;
  clGetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(count);
  clGetPlatformIDs(count, platforms.data(), nullptr);
  for (const cl_platform_id platform : platforms) {
    char name[256] = "";
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
    cl_device_id device = nullptr;
    const bool wanted = std::string(name).find(platform_name) != std::string::npos;
    if (wanted && clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS) return device;
  }
  return nullptr;
}

cl_mem make_matrix(cl_context context, cl_command_queue queue) {
  const std::size_t bytes = kElements * sizeof(float);
  const cl_mem matrix = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, nullptr);
  const float value = 0.5F;
  clEnqueueFillBuffer(queue, matrix, &value, sizeof value, 0, bytes, 0, nullptr, nullptr);
  return matrix;
}

}  // namespace

int main(int argc, char** argv) {
  const cl_device_id device = find_device(argc > 1 ? argv[1] : "");
  if (!device) return std::fprintf(stderr, "no such platform\n"), 1;
  const cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, nullptr);
  const cl_mem a = make_matrix(context, queue), b = make_matrix(context, queue), c = make_matrix(context, queue);
  clFinish(queue);
  bool first = true;
  for (const Size& size : kSizes) {
    std::vector<double> us;
    double all_us = 0;
    while (us.size() <= kCalls && all_us < kMostUs) {
      const auto start = std::chrono::steady_clock::now();
      const clblast::StatusCode status =
          clblast::Gemm<float>(clblast::Layout::kColMajor, clblast::Transpose::kYes, clblast::Transpose::kNo, size.m,
                               size.n, size.k, 1, a, 0, size.k, b, 0, size.k, 0, c, 0, size.m, &queue, nullptr);
      clFinish(queue);
      us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
      all_us += us.back();
      if (status != clblast::StatusCode::kSuccess) return std::fprintf(stderr, "status %d\n", int(status)), 1;
    }
    if (first) std::printf("first call %.2f ms\n", us.front() / 1000);
    first = false;
    std::nth_element(us.begin(), us.begin() + us.size() / 2, us.end());
    std::printf("%zu x %zu x %zu: %.1f us\n", size.m, size.n, size.k, us[us.size() / 2]);
  }
}
