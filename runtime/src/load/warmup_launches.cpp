// The launches that a user's product can need, as classes that drivers compile apart.
#include <clbake/exceptions_to_status.hpp>
#include <clbake/finalize.hpp>

#include "finalize/finalize_pocl.hpp"
#include "opencl/cl.hpp"

#include <algorithm>

namespace clbake {
namespace {

// From this many work-items in a dimension on, PoCL counts a grid as large.
constexpr std::size_t kLargeGrid = 65535;

// Rows or columns that few matrices exceed.
constexpr std::size_t kUsualSize = 16384;
// Elements of C that few products with slices of k have: a work-item each. They take two cores 6 ms.
constexpr std::size_t kUsualReduced = std::size_t{1} << 22;

// Bytes behind each matrix: a kernel that writes behind its C is for the proof to find, and should not hit the host.
constexpr std::size_t kSlack = 4096;

bool has(const cache::Variant& variant, cache::Role role) {
  return std::any_of(variant.launches.begin(), variant.launches.end(),
                     [&](const cache::Launch& launch) { return launch.role == role; });
}

// Row-major, without gaps, k = 1. Requires m, n > 0.
Problem thin_product(const cache::Variant& variant, std::size_t m, std::size_t n) {
  Problem p;
  p.precision = variant.precision;
  p.trans_a = variant.trans_a;
  p.trans_b = variant.trans_b;
  p.m = m;
  p.n = p.ldc = n;
  p.k = 1;
  p.lda = p.trans_a ? m : 1;
  p.ldb = p.trans_b ? 1 : n;
  return p;
}

class Launcher {
 public:
  Launcher(cl_context context, cl_device_id device, const std::function<Result<Gemm>(const Problem&)>& prepare)
      : context_(context, true), prepare_(prepare), queue_(context_, cl::Device(device, true), 0, &error_) {}

  Status run(const cache::Variant& variant, const Problem& problem, const Widen& widen) {
    if (error_ != CL_SUCCESS) return opencl_failure("clCreateCommandQueue", error_);
    Result<Gemm> gemm = prepare_(problem);
    // An image of this size is more than the device allows: nobody will launch this grid.
    const bool images = variant.image_a || variant.image_b;
    if (!gemm && gemm.status().code() == Code::out_of_memory && images) return {};
    if (!gemm) return gemm.status();
    const Extents elements = extents(problem);
    const cl::Buffer a = zeros(elements.a * element_bytes(problem.precision));
    const cl::Buffer b = zeros(elements.b * element_bytes(problem.precision));
    const cl::Buffer c = zeros(elements.c * element_bytes(problem.precision));
    if (error_ != CL_SUCCESS) return opencl_failure("clCreateBuffer, to launch every shape", error_);
    const Status enqueued = gemm->enqueue(queue_(), 1, {a()}, {b()}, 1, {c()});
    if (enqueued && widen) error_ = widen(*gemm, queue_(), kUsualReduced);
    const cl_int error = queue_.finish();  // whatever was enqueued ends before the buffers go
    return enqueued && error != CL_SUCCESS ? opencl_failure("clFinish", error) : enqueued;
  }

 private:
  cl::Buffer zeros(std::size_t matrix_bytes) {
    const std::size_t bytes = matrix_bytes + kSlack;
    cl_int error = CL_SUCCESS;
    cl::Buffer buffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, &error);
    if (error == CL_SUCCESS) error = queue_.enqueueFillBuffer(buffer, cl_uchar{0}, 0, bytes);
    if (error_ == CL_SUCCESS) error_ = error;
    return buffer;
  }

  cl::Context context_;
  const std::function<Result<Gemm>(const Problem&)>& prepare_;
  cl_int error_ = CL_SUCCESS;
  cl::CommandQueue queue_;
};

}  // namespace

const cache::Launch& product_launch(const cache::Variant& variant) {
  return *std::find_if(variant.launches.begin(), variant.launches.end(),
                       [](const cache::Launch& launch) { return launch.role == cache::Role::gemm; });
}

std::vector<Problem> large_grids(const cache::Variant& v) {
  const cache::Launch& launch = product_launch(v);
  const std::size_t rows = (kLargeGrid / launch.local[1] + 1) * std::size_t{launch.tile_m};
  const std::size_t columns = (kLargeGrid / launch.local[0] + 1) * std::size_t{launch.tile_n};
  if (has(v, cache::Role::pack_a) || has(v, cache::Role::pack_b)) {
    return {thin_product(v, rows, 1), thin_product(v, 1, columns)};
  }
  // A device may limit the groups in y to 65,535 (NVIDIA's do), which work-groups one item high would exceed.
  return {rows < columns && launch.local[1] > 1 ? thin_product(v, rows, 1) : thin_product(v, 1, columns)};
}

namespace {

// The widest grids of matrices of the usual size, with as few elements as can be.
std::vector<Problem> usual_grids(const cache::Variant& v) {
  const Problem flat = thin_product(v, 1, kUsualSize);
  const Problem tall = thin_product(v, kUsualSize, 1);
  if (has(v, cache::Role::pack_a) || has(v, cache::Role::pack_b)) return {flat, tall};
  const cache::Launch& launch = product_launch(v);  // work-items for an element: local / tile
  const bool more_in_x = launch.local[0] * launch.tile_m >= launch.local[1] * launch.tile_n;
  return {more_in_x ? flat : tall};
}

Status launch(cl_context context, cl_device_id device, const cache::Variant& variant,
              const std::vector<Problem>& problems, const Widen& widen,
              const std::function<Result<Gemm>(const Problem&)>& prepare) {
  Launcher launcher(context, device, prepare);
  Status status;
  for (const Problem& problem : problems) {
    if (status) status = launcher.run(variant, problem, widen);
  }
  return status;
}

}  // namespace

Status launch_usual_shape(cl_context context, cl_device_id device, const cache::Variant& variant,
                          const std::function<Result<Gemm>(const Problem&)>& prepare, const Widen& widen) {
  return exceptions_to_status([&] { return launch(context, device, variant, usual_grids(variant), widen, prepare); });
}

Status launch_every_shape(cl_context context, cl_device_id device, const cache::Variant& variant,
                          const std::function<Result<Gemm>(const Problem&)>& prepare) {
  return exceptions_to_status([&] {
    std::vector<Problem> problems = large_grids(variant);
    problems.insert(problems.begin(), thin_product(variant, 1, 1));
    return launch(context, device, variant, problems, {}, prepare);
  });
}

}  // namespace clbake
