#include "launch/warm_up.hpp"

#include <clbake/exceptions_to_status.hpp>
#include <clbake/finalize.hpp>
#include <clbake/launch_kind.hpp>

#include "launch/prepared_gemm.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string>

namespace clbake {
namespace {

// Rows or columns that few matrices exceed.
constexpr std::size_t kUsualSize = 16384;
// Elements of C that few products with a split k exceed. Their reduction takes two cores 6 ms.
constexpr std::size_t kUsualReduced = std::size_t{1} << 22;

// Tiles that few groups exceed.
constexpr std::size_t kUsualTiles = 4096;

// Bytes after each matrix, so that a kernel that writes past its C does not overwrite host memory. To detect that is
// the proof's job.
constexpr std::size_t kSlack = 4096;

bool packs(const cache::Variant& variant) {
  return has(variant, cache::Role::pack_a) || has(variant, cache::Role::pack_b);
}

// Steps of k, at least so many: packed weights have whole groups.
std::size_t depth_of(const cache::Variant& variant, std::size_t least) {
  return has_weights(variant.precision) ? round_up(least, Quantization().weight_group) : least;
}

// The least k but 0. Requires m, n > 0.
Problem thin_product(const cache::Variant& variant, std::size_t m, std::size_t n) {
  return make_problem(variant.kind(), m, n, depth_of(variant, 1));
}

// Columns of one row for which a launch's grid is large in x.
std::size_t large_in_x(const cache::Launch& launch) {
  return (kLargeGrid / launch.local[0] + 1) * std::size_t{launch.tile_n};
}

// Problems for split_k = 0: a large grid, all of it in x, and a tile that is cut, so that there is a reduction.
std::vector<Problem> grids_of_tail(const cache::Variant& v) {
  return {thin_product(v, 1, large_in_x(product_launch(v))),
          make_problem(v.kind(), 1, 1, depth_of(v, 2 * kSliceBlocks * v.block_k))};
}

// A group of so many tiles, all in x: products of one element.
Problem many_tiles(const cache::Variant& v, std::size_t tiles) {
  Problem problem = thin_product(v, 1, 1);
  problem.batch = tiles;
  problem.c_stride = 1;
  return problem;
}

// The widest grids of matrices of the usual size, with as few elements as can be.
std::vector<Problem> usual_grids(const cache::Variant& v) {
  if (v.split_k == 0) return grids_of_tail(v);
  if (v.is_group()) return {many_tiles(v, kUsualTiles)};
  const Problem flat = thin_product(v, 1, kUsualSize);
  const Problem tall = thin_product(v, kUsualSize, 1);
  if (packs(v)) return {flat, tall};
  const cache::Launch& launch = product_launch(v);  // work-items for an element: local / tile
  const bool more_in_x = launch.local[0] * launch.tile_m >= launch.local[1] * launch.tile_n;
  return {more_in_x ? flat : tall};
}

// Matrices without gaps, on the host.
struct Matrices {
  explicit Matrices(const Problem& p) {
    const Extents elements = extents(p);
    a.resize(elements.a * bytes_of(element_a(p.precision)) + kSlack);
    b.resize(elements.b * bytes_of(element_b(p.precision)) + kSlack);
    c.resize(elements.c * bytes_of(element_c(p.precision)) + kSlack);
  }
  std::vector<unsigned char> a, b, c;
};

// `problem` is row-major; the program must outlive the result.
Result<std::unique_ptr<PreparedGemm>> prepare_program(const cl::Context& context, const cl::Device& device,
                                                      const Program& program, const Problem& problem) {
  const Result<DeviceLimits> limits = limits_of(device);
  if (!limits) return limits.status();
  const auto parts = std::make_shared<PreparedGemm::Parts>();
  parts->context = context;
  parts->device = device;
  parts->limits = *limits;
  parts->found.explanation = program.explanation;
  parts->found.program = {std::shared_ptr<void>(), &program};  // the caller's
  parts->problem = problem;
  return PreparedGemm::create(parts);
}

// Computes products, one after another, and waits for each.
class Launcher {
 public:
  Launcher(const cl::Context& context, const cl::Device& device)
      : context_(context), device_(device), queue_(clCreateCommandQueue(context(), device(), 0, &error_)) {}

  // Adds op(A) * op(B) to C. `reduced`: then launches the reduction once more, for so many elements; 0: does not.
  Status run(PreparedGemm& gemm, Matrices& matrices, std::size_t reduced = 0) {
    Status status = opencl_status("clCreateCommandQueue", error_of(queue_, error_));
    if (!status) return status;
    const cl::Memory a = buffer_of(matrices.a), b = buffer_of(matrices.b), c = buffer_of(matrices.c);
    status = opencl_status("matrices for a first launch", error_);
    const Scalars ones{1, 1};
    if (status) status = gemm.enqueue(queue_(), ScalarList(ones), {a()}, {b()}, {c()}, {}, {});
    const Step wider = reduced > 0 ? widened_reduction(gemm.plan(), reduced) : Step();
    if (status && wider.groups[0] > 0) {
      status = opencl_status("clEnqueueNDRangeKernel", gemm.launch(queue_(), wider, {}));
    }
    cl_int error = clFinish(queue_());  // even after a failure: the buffers are released next
    if (status) status = opencl_status("clFinish", error);
    if (!status) return status;
    error = clEnqueueReadBuffer(queue_(), c(), CL_TRUE, 0, matrices.c.size(), matrices.c.data(), 0, nullptr, nullptr);
    return opencl_status("clEnqueueReadBuffer", error);
  }

  // On zeros.
  Status run(const Program& program, const std::vector<Problem>& problems, std::size_t reduced = 0) {
    const bool images = program.variant.image_a || program.variant.image_b;
    for (const Problem& problem : problems) {
      const Result<std::unique_ptr<PreparedGemm>> gemm = prepare_program(context_, device_, program, problem);
      // The device does not allow an image of this size: no user can launch this grid.
      if (images && gemm.status().code() == Code::out_of_memory) continue;
      if (!gemm) return gemm.status();
      Matrices zeros(problem);
      if (const Status status = run(**gemm, zeros, reduced); !status) return status;
    }
    return {};
  }

 private:
  cl::Memory buffer_of(std::vector<unsigned char>& bytes) {
    cl_int error = CL_SUCCESS;
    cl::Memory buffer(
        clCreateBuffer(context_(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes.size(), bytes.data(), &error));
    if (error_ == CL_SUCCESS) error_ = error_of(buffer, error);
    return buffer;
  }

  const cl::Context& context_;
  const cl::Device& device_;
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
    std::vector<std::string> busy;
  };
  static Gate& gate = *new Gate;  // never destroyed: threads may come here until the process has ended
  const auto at = [&] { return std::find(gate.busy.begin(), gate.busy.end(), name); };
  std::unique_lock<std::mutex> lock(gate.mutex);
  gate.changed.wait(lock, [&] { return at() == gate.busy.end(); });
  gate.busy.push_back(name);
  lock.unlock();
  work();
  lock.lock();
  gate.busy.erase(at());
  gate.changed.notify_all();
}

// The product with a known result: A(i, l) = f(i) * s(l) and B(l, j) = s(l) * g(j), so that C(i, j) is f(i) * g(j)
// times the sum of s(l)^2, which is 16 for seven steps. So C has at most eight significant bits, which every precision
// holds.
unsigned row_factor(std::size_t i) { return 1 + static_cast<unsigned>(i % 3); }
unsigned column_factor(std::size_t j) { return 1 + static_cast<unsigned>(j % 5); }
unsigned step_factor(std::size_t l) { return l % 7 == 1 || l % 7 == 2 || l % 7 == 4 ? 2 : 1; }

// Kernels have other ways for rows that do not begin at multiples of 16 bytes, so there is a product of either kind.
// Both have several tiles and steps of k, the last ones partial; the second is deep enough to fill all buffers of the
// longest pipeline, 8 of 64 steps, and one of them again.
struct Sizes {
  std::size_t multiple;  // of m and n: the least one above a tile
  std::size_t depth;     // a multiple of seven
};
constexpr Sizes kSizes[] = {{1, 70}, {8, 616}};
constexpr Sizes kWeightSizes[] = {{1, 224}, {8, 672}};

std::size_t above(std::size_t tile, std::size_t multiple) { return (tile / multiple + 1) * multiple; }

// The bits of a single as e4m3 or e5m2, rounded to nearest even, from `cut` on; `bias`: another one of the exponent.
std::uint8_t narrowed(std::uint32_t bits, unsigned cut, std::uint32_t bias) {
  return static_cast<std::uint8_t>(((bits + (1U << (cut - 1)) - 1 + (bits >> cut & 1)) >> cut) - bias);
}

// A whole number of at most eight significant bits as an element; of 8 bits the nearest there is. 0 is not stored.
void store(Element element, unsigned value, unsigned char* to) {
  const auto put = [to](const auto& number) { std::memcpy(to, &number, sizeof number); };
  const auto single = static_cast<float>(value);
  const auto small = static_cast<float>(std::min(value, element == Element::e4m3 ? 448U : 57344U));
  std::uint32_t bits = 0, small_bits = 0;
  std::memcpy(&bits, &single, sizeof bits);
  std::memcpy(&small_bits, &small, sizeof small_bits);
  switch (element) {
    case Element::real_double: put(static_cast<double>(value)); break;
    case Element::bfloat16: put(static_cast<std::uint16_t>(bits >> 16)); break;
    case Element::half: put(static_cast<std::uint16_t>((bits >> 13) - ((127 - 15) << 10))); break;
    case Element::int8: put(static_cast<std::int8_t>(std::min(value, 127U))); break;
    case Element::uint8: put(static_cast<std::uint8_t>(std::min(value, 255U))); break;
    case Element::int32: put(value); break;
    case Element::e4m3: put(narrowed(small_bits, 20, (127 - 7) << 3)); break;
    case Element::e5m2: put(narrowed(small_bits, 21, (127 - 15) << 2)); break;
    default: put(single);
  }
}

// A stored matrix of `rows` x `columns` (as op() sees it), element (i, j) being of(i, j).
template <typename Of>
void fill(std::vector<unsigned char>& all, Element element, std::size_t rows, std::size_t columns, bool transposed,
          const Of& of) {
  const std::size_t bytes = bytes_of(element);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      store(element, of(i, j), &all[(transposed ? j * rows + i : i * columns + j) * bytes]);
    }
  }
}

// Packed weights of the same numbers (kernels/WEIGHTS.md): scales g(j) of codes s(l) above the zero point of all.
void fill_weights(std::vector<unsigned char>& all, const Problem& p) {
  const WeightFormat format{p.k, p.n, element_b(p.precision) == Element::q4 ? std::size_t{4} : 8};
  const std::size_t chunks = p.k / format.group;  // each a group
  for (std::size_t j = 0; j < p.n; ++j) {
    const std::size_t column = j % kWeightPanel;
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      unsigned char* const block = &all[kWeightHeader + (j / kWeightPanel * chunks + chunk) * weight_block(format)];
      store(Element::half, column_factor(j), block + 2 * column);
      for (std::size_t i = 0; i < format.group; ++i) {
        const unsigned code = step_factor(chunk * format.group + i) + (1U << (format.bits - 1));
        const std::size_t in_word = format.bits == 4 ? i % 16 : i;  // of four codes, or twice four
        const std::size_t word = in_word / 4 * kWeightPanel + column;
        unsigned char& byte = block[weight_head(format) + word * 4 + swapped_in_word(in_word)];
        byte = static_cast<unsigned char>(byte | code << (i != in_word ? 4 : 0));
      }
    }
  }
}

}  // namespace

const cache::Launch& product_launch(const cache::Variant& variant) {
  return *std::find_if(variant.launches.begin(), variant.launches.end(), [](const cache::Launch& launch) {
    return launch.role == cache::Role::gemm || launch.role == cache::Role::group;
  });
}

std::vector<Problem> large_grids(const cache::Variant& v) {
  if (v.split_k == 0) return grids_of_tail(v);
  if (v.is_group()) return {many_tiles(v, kLargeGrid / product_launch(v).local[0] + 1)};
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
  Status launched;
  one_at_a_time(program.variant.build_options, [&] {
    launched = exceptions_to_status(
        [&] { return Launcher(context, device).run(program, usual_grids(program.variant), kUsualReduced); });
  });
  const std::chrono::duration<double, std::micro> us = std::chrono::steady_clock::now() - start;
  return launched ? us.count() : 0;
}

Status launch_every_shape(const cl::Context& context, const cl::Device& device, const Program& program) {
  std::vector<Problem> problems = large_grids(program.variant);
  problems.push_back(thin_product(program.variant, 1, 1));
  return Launcher(context, device).run(program, problems);
}

Status launch_every_shape(const Gemm& gemm) {
  return exceptions_to_status([&] {
    const PreparedGemm& like = *gemm.prepared_;
    return launch_every_shape(like.context(), like.device(), like.program());
  });
}

Status check_product(const cl::Context& context, const cl::Device& device, const Program& program) {
  const cache::Launch& launch = product_launch(program.variant);
  const bool weights = has_weights(program.variant.precision);
  for (const Sizes& sizes : weights ? kWeightSizes : kSizes) {
    const Problem p = make_problem(program.variant.kind(), above(launch.tile_m, sizes.multiple),
                                   above(launch.tile_n, sizes.multiple), sizes.depth);
    const Result<std::unique_ptr<PreparedGemm>> gemm = prepare_program(context, device, program, p);
    if (!gemm) return gemm.status();
    Matrices found(p);
    fill(found.a, element_a(p.precision), p.m, p.k, p.trans_a,
         [](std::size_t i, std::size_t l) { return row_factor(i) * step_factor(l); });
    if (weights) {
      fill_weights(found.b, p);
    } else {
      fill(found.b, element_b(p.precision), p.k, p.n, p.trans_b,
           [](std::size_t l, std::size_t j) { return step_factor(l) * column_factor(j); });
    }
    const Status computed = Launcher(context, device).run(**gemm, found);
    if (!computed) return computed;
    Matrices expected(p);
    const auto squares = static_cast<unsigned>(p.k / 7 * 16);
    fill(expected.c, element_c(p.precision), p.m, p.n, false,
         [&](std::size_t i, std::size_t j) { return row_factor(i) * column_factor(j) * squares; });
    if (found.c != expected.c) return {Code::driver_rejected, "computed a wrong result in a product of whole numbers"};
  }
  return {};
}

}  // namespace clbake
