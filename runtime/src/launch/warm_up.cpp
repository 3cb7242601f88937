#include "launch/warm_up.hpp"

#include <clbake/exceptions_to_status.hpp>
#include <clbake/finalize.hpp>

#include "launch/prepared_gemm.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>

namespace clbake {
namespace {

// From this many work-items in a dimension on, PoCL counts a grid as large.
constexpr std::size_t kLargeGrid = 65535;

// Rows or columns that few matrices exceed.
constexpr std::size_t kUsualSize = 16384;
// Elements of C that few products with a split k exceed. Their reduction takes two cores 6 ms.
constexpr std::size_t kUsualReduced = std::size_t{1} << 22;

// Bytes after each matrix, so that a kernel that writes past its C does not overwrite host memory. To detect that is
// the proof's job.
constexpr std::size_t kSlack = 4096;

using Prepare = std::function<Result<Gemm>(const Problem&)>;

bool packs(const cache::Variant& variant) {
  return has(variant, cache::Role::pack_a) || has(variant, cache::Role::pack_b);
}

// k = 1. Requires m, n > 0.
Problem thin_product(const cache::Variant& variant, std::size_t m, std::size_t n) {
  return make_problem(variant.kind(), m, n, 1);
}

// Columns of one row for which a launch's grid is large in x.
std::size_t large_in_x(const cache::Launch& launch) {
  return (kLargeGrid / launch.local[0] + 1) * std::size_t{launch.tile_n};
}

// Problems for split_k = 0: a large grid, all of it in x, and a tile that is cut, so that there is a reduction.
std::vector<Problem> grids_of_tail(const cache::Variant& v) {
  return {thin_product(v, 1, large_in_x(product_launch(v))),
          make_problem(v.kind(), 1, 1, 2 * kSliceBlocks * v.block_k)};
}

// The widest grids of matrices of the usual size, with as few elements as can be.
std::vector<Problem> usual_grids(const cache::Variant& v) {
  if (v.split_k == 0) return grids_of_tail(v);
  const Problem flat = thin_product(v, 1, kUsualSize);
  const Problem tall = thin_product(v, kUsualSize, 1);
  if (packs(v)) return {flat, tall};
  const cache::Launch& launch = product_launch(v);  // work-items for an element: local / tile
  const bool more_in_x = launch.local[0] * launch.tile_m >= launch.local[1] * launch.tile_n;
  return {more_in_x ? flat : tall};
}

// Launches products of zeros, one after another, and waits for each.
class Launcher {
 public:
  // Enqueues more after the product that was prepared last.
  using Then = std::function<Status(cl_command_queue queue)>;

  Launcher(const cl::Context& context, const cl::Device& device)
      : context_(context), queue_(clCreateCommandQueue(context_(), device(), 0, &error_)) {}

  Status run(const cache::Variant& variant, const std::vector<Problem>& problems, const Prepare& prepare,
             const Then& then) {
    Status status = opencl_status("clCreateCommandQueue", error_);
    for (const Problem& problem : problems) {
      if (status) status = run_one(variant, problem, prepare, then);
    }
    return status;
  }

 private:
  Status run_one(const cache::Variant& variant, const Problem& problem, const Prepare& prepare, const Then& then) {
    Result<Gemm> gemm = prepare(problem);
    // The device does not allow an image of this size: no user can launch this grid.
    const bool images = variant.image_a || variant.image_b;
    if (images && gemm.status().code() == Code::out_of_memory) return {};
    if (!gemm) return gemm.status();
    const Extents elements = extents(problem);
    const std::size_t bytes = element_bytes(problem.precision);
    const cl::Memory a = zeros(elements.a * bytes);
    const cl::Memory b = zeros(elements.b * bytes);
    const cl::Memory c = zeros(elements.c * bytes);
    Status status = opencl_status("matrices of zeros for a first launch", error_);
    if (status) status = gemm->enqueue(queue_(), 1, {a()}, {b()}, 1, {c()});
    if (status && then) status = then(queue_());
    const cl_int error = clFinish(queue_());  // even after a failure: the buffers are released next
    return status ? opencl_status("clFinish", error) : status;
  }

  cl::Memory zeros(std::size_t matrix_bytes) {
    const std::size_t bytes = matrix_bytes + kSlack;
    cl_int error = CL_SUCCESS;
    cl::Memory buffer(clCreateBuffer(context_(), CL_MEM_READ_WRITE, bytes, nullptr, &error));
    if (error == CL_SUCCESS) {
      const cl_uchar zero = 0;
      error = clEnqueueFillBuffer(queue_(), buffer(), &zero, 1, 0, bytes, 0, nullptr, nullptr);
    }
    if (error_ == CL_SUCCESS) error_ = error;
    return buffer;
  }

  cl::Context context_;
  cl_int error_ = CL_SUCCESS;
  cl::CommandQueue queue_;
};

// Runs `work` while no other thread of the process does so for the same name; no lock is held meanwhile. `work` must
// not throw.
template <typename Work>
void one_at_a_time(const std::string& name, const Work& work) {
  struct Gate {
    std::mutex mutex;
    std::condition_variable changed;
    std::set<std::string> busy;
  };
  static Gate& gate = *new Gate;  // never destroyed: threads may come here until the process has ended
  std::unique_lock<std::mutex> lock(gate.mutex);
  gate.changed.wait(lock, [&] { return gate.busy.count(name) == 0; });
  gate.busy.insert(name);
  lock.unlock();
  work();
  lock.lock();
  gate.busy.erase(name);
  gate.changed.notify_all();
}

}  // namespace

const cache::Launch& product_launch(const cache::Variant& variant) {
  return *std::find_if(variant.launches.begin(), variant.launches.end(),
                       [](const cache::Launch& launch) { return launch.role == cache::Role::gemm; });
}

std::vector<Problem> large_grids(const cache::Variant& v) {
  if (v.split_k == 0) return grids_of_tail(v);
  const cache::Launch& launch = product_launch(v);
  const std::size_t rows = (kLargeGrid / launch.local[1] + 1) * std::size_t{launch.tile_m};
  // The last launch is the reduction, if k is cut.
  const std::size_t columns = std::max(large_in_x(launch), v.split_k == 1 ? 0 : large_in_x(v.launches.back()));
  if (packs(v)) return {thin_product(v, rows, 1), thin_product(v, 1, columns)};
  // A device may limit the groups in y to 65,535 (NVIDIA's do), which work-groups one item high would exceed.
  const bool tall = v.split_k == 1 && rows < columns && launch.local[1] > 1;
  return {tall ? thin_product(v, rows, 1) : thin_product(v, 1, columns)};
}

double launch_usual_grids(const cl::Context& context, const cl::Device& device, const Program& program) {
  const auto start = std::chrono::steady_clock::now();
  PreparedGemm* latest = nullptr;
  const auto prepared = [&](const Problem& problem) -> Result<Gemm> {
    Result<std::unique_ptr<PreparedGemm>> made = prepare_program(context, device, borrowed(program), problem);
    if (!made) return made.status();
    latest = made->get();
    return Gemm(std::move(*made));
  };
  const auto widen = [&](cl_command_queue queue) {
    const Step step = widened_reduction(latest->plan(), kUsualReduced);
    if (step.groups[0] == 0) return Status();
    return opencl_status("clEnqueueNDRangeKernel", latest->launch(queue, step, {}));
  };
  Status launched;
  one_at_a_time(program.variant.build_options, [&] {
    launched = exceptions_to_status(
        [&] { return Launcher(context, device).run(program.variant, usual_grids(program.variant), prepared, widen); });
  });
  const std::chrono::duration<double, std::micro> us = std::chrono::steady_clock::now() - start;
  return launched ? us.count() : 0;
}

Status launch_every_shape(const cl::Context& context, const cl::Device& device,
                          const std::shared_ptr<const Program>& program) {
  return launch_every_shape(context(), device(), program->variant, [&](const Problem& problem) -> Result<Gemm> {
    Result<std::unique_ptr<PreparedGemm>> made = prepare_program(context, device, program, problem);
    if (!made) return made.status();
    return Gemm(std::move(*made));
  });
}

Status launch_every_shape(cl_context context, cl_device_id device, const cache::Variant& variant,
                          const Prepare& prepare) {
  return exceptions_to_status([&] {
    Launcher launcher(cl::Context(context, true), cl::Device(device, true));
    const Status status = launcher.run(variant, {thin_product(variant, 1, 1)}, prepare, nullptr);
    return status ? launcher.run(variant, large_grids(variant), prepare, nullptr) : status;
  });
}

}  // namespace clbake
