// Launches a variant as kernels/KERNELS.md says: arguments by index, grids, workspaces. Without the runtime, whose own
// launches are thus checked against the page and not against themselves.
#pragma once

#include <clbake/builder/devices.hpp>
#include <clbake/builder/reference.hpp>
#include <clbake/builder/sixteen_bits.hpp>
#include <clbake/kernels/generator.hpp>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <algorithm>
#include <array>
#include <CL/opencl.hpp>
#include <limits>
#include <stdexcept>
#include <vector>

namespace clbake::tests {

// One of A, B and C as stored; everything in elements.
struct Stored {
  int rows = 0;
  int columns = 0;
  int ld = 0;
  std::size_t offset = 0;
  std::size_t stride = 0;  // from a product's matrix to the next one's
};

// The contract's numbers, as a kernel gets them.
struct Numbers {
  cl_ulong a_offset, b_offset, c_offset;
  cl_ulong a_stride, b_stride, c_stride;
  cl_ulong bias_offset, bias_stride, d_offset, d_stride;
  cl_int m, n, k;
  cl_int lda, ldb, ldc, ldd;
  cl_int first_product;
  cl_int steps;
  cl_int unused;
};

// The contract's number `steps` and those that belong to it.
struct CallEpilogue {
  int steps = 0;
  double low = 0;
  double high = 0;
  Stored bias, d;
};

// One product, or a part of a batch.
struct Call {
  int m = 0;
  int n = 0;
  int k = 0;
  double alpha = 1;
  double beta = 0;
  Stored a, b, c;
  CallEpilogue epilogue;
  std::vector<cl_ulong> offsets;  // of A, B and C for each product of the batch; empty: the strides count
  std::size_t first_product = 0;
  std::size_t products = 1;
  std::size_t extra_groups = 0;  // more work-groups than the problem needs, along x and y
  std::size_t units = 4;         // of which a wave of tiles consists where split_k is 0
};

// A program with the kernels of one variant.
struct Built {
  kernels::Kernel kernel;
  kernels::Params params;
  cl::Program program;
};

inline void require(cl_int error, const char* call) {
  if (error != CL_SUCCESS) throw std::runtime_error(std::string(call) + ": OpenCL error " + std::to_string(error));
}

// T: builder::Half, builder::Bfloat16, float or double.
template <typename T>
class Launcher {
 public:
  using Real = builder::Scalar<T>;

  Launcher(const cl::CommandQueue& queue, const Built& built, const Call& call)
      : queue_(queue), context_(queue.getInfo<CL_QUEUE_CONTEXT>()), built_(built), call_(call) {
    if (!call.offsets.empty()) offsets_ = buffer(call.offsets);
  }

  // Runs the call on copies of the matrices and returns C.
  std::vector<T> run(const std::vector<T>& a, const std::vector<T>& b, std::vector<T> c,
                     const std::vector<T>& bias = {}, const std::vector<T>& d = {}) {
    if (!bias.empty()) bias_ = buffer(bias);
    if (!d.empty()) d_ = buffer(d);
    a_ = {buffer(a), {}};
    b_ = {buffer(b), {}};
    c_ = buffer(c);
    for (const kernels::Launch& launch : built_.kernel.launches) {
      switch (launch.role) {
        case kernels::Role::pack_a: pack(launch, call_.m, built_.params.ml, built_.params.layout_a, a_); break;
        case kernels::Role::pack_b: pack(launch, call_.n, built_.params.nl, built_.params.layout_b, b_); break;
        case kernels::Role::gemm: multiply(launch); break;
        case kernels::Role::reduce:
          if (!cuts_tail() || tail().slices > 1) reduce(launch);
          break;
        case kernels::Role::group:
        case kernels::Role::row_terms:
        case kernels::Role::column_terms: throw std::logic_error("the reference has neither groups nor mixed products");
      }
    }
    require(queue_.enqueueReadBuffer(c_, CL_TRUE, 0, c.size() * sizeof(T), c.data()), "clEnqueueReadBuffer");
    return c;
  }

 private:
  // A matrix as a kernel gets it; in an image if that is not null.
  struct Operand {
    cl::Buffer memory;
    cl::Image2D image;
  };

  static std::size_t rounded_up(std::size_t value, std::size_t factor) {
    return (value + factor - 1) / factor * factor;
  }
  std::size_t m() const { return static_cast<std::size_t>(call_.m); }
  std::size_t n() const { return static_cast<std::size_t>(call_.n); }
  std::size_t padded_k() const { return rounded_up(static_cast<std::size_t>(call_.k), built_.params.kl); }
  std::size_t slices() const { return built_.params.split_k; }
  bool split() const { return slices() > 1; }
  bool cuts_tail() const { return slices() == 0; }

  // Which tiles are cut where split_k is 0.
  struct Tail {
    std::size_t whole = 0;
    std::size_t tiles = 0;
    std::size_t slices = 1;
    cl_int2 pair() const { return {{static_cast<cl_int>(whole), static_cast<cl_int>(slices)}}; }
  };
  Tail tail() const {
    const std::size_t rows = rounded_up(m(), built_.params.ml) / built_.params.ml;
    const std::size_t columns = rounded_up(n(), built_.params.nl) / built_.params.nl;
    const std::size_t tiles = rows * columns * call_.products;
    const std::size_t behind = tiles % call_.units;
    if (behind == 0) return {tiles, 0, 1};
    const std::size_t room = tiles > behind ? call_.units - 1 : call_.units;
    const std::size_t cut =
        std::min(room / behind, static_cast<std::size_t>(call_.k) / (std::size_t{4} * built_.params.kl));
    return cut > 1 ? Tail{tiles - behind, behind, cut} : Tail{tiles, 0, 1};
  }

  template <typename E>
  cl::Buffer buffer(std::vector<E> data) {
    if (data.empty()) data.resize(1);
    cl_int error = CL_SUCCESS;
    cl::Buffer made(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, data.size() * sizeof(E), data.data(), &error);
    require(error, "clCreateBuffer");
    return made;
  }

  cl::Image2D image(std::size_t columns, std::size_t rows) {
    const std::size_t texel = sizeof(T) == 8 ? 2 : 4;
    const cl_channel_type type = sizeof(T) == 8                         ? CL_UNSIGNED_INT32
                                 : sizeof(T) == 4                       ? CL_FLOAT
                                 : std::is_same_v<T, builder::Bfloat16> ? CL_UNSIGNED_INT16
                                                                        : CL_HALF_FLOAT;
    cl_int error = CL_SUCCESS;
    cl::Image2D made(context_, CL_MEM_READ_WRITE, cl::ImageFormat(CL_RGBA, type),
                     std::max<std::size_t>(1, columns / texel), std::max<std::size_t>(1, rows), 0, nullptr, &error);
    require(error, "clCreateImage");
    return made;
  }

  cl::Kernel kernel(const kernels::Launch& launch) {
    cl_int error = CL_SUCCESS;
    cl::Kernel made(built_.program, launch.kernel_name.c_str(), &error);
    require(error, "clCreateKernel");
    return made;
  }

  // Sets the arguments from number `index` on; returns the next number.
  template <typename... Arguments>
  static cl_uint set(cl::Kernel& kernel, cl_uint index, const Arguments&... arguments) {
    (require(kernel.setArg(index++, arguments), "clSetKernelArg"), ...);
    return index;
  }
  static cl_uint set_operand(cl::Kernel& kernel, cl_uint index, const Operand& x) {
    return x.image() ? set(kernel, index, x.image) : set(kernel, index, x.memory);
  }

  void enqueue(const cl::Kernel& kernel, const kernels::Launch& l, std::size_t rows, std::size_t columns,
               std::size_t depth) {
    enqueue_groups(kernel, l, (columns + l.tile_n - 1) / l.tile_n + call_.extra_groups,
                   (rows + l.tile_m - 1) / l.tile_m + call_.extra_groups, depth);
  }

  void enqueue_groups(const cl::Kernel& kernel, const kernels::Launch& l, std::size_t groups_x, std::size_t groups_y,
                      std::size_t depth) {
    if (groups_x * groups_y * depth == 0) return;
    const cl::NDRange global(groups_x * l.local[0], groups_y * l.local[1], depth * l.local[2]);
    const cl::NDRange local(l.local[0], l.local[1], l.local[2]);
    require(queue_.enqueueNDRangeKernel(kernel, cl::NDRange(0, 0, 0), global, local), "clEnqueueNDRangeKernel");
  }

  // Replaces the operand by its packed copy.
  void pack(const kernels::Launch& l, int extent, std::size_t block, kernels::Layout layout, Operand& x) {
    const std::size_t columns = rounded_up(static_cast<std::size_t>(extent), block);
    Operand packed;
    if (layout == kernels::Layout::image) {
      packed.image = image(columns, padded_k() * call_.products);
    } else {
      packed.memory = buffer(std::vector<T>(padded_k() * columns * call_.products));
    }
    cl::Kernel k = kernel(l);
    const cl_uint next = set_operand(k, set(k, 0, x.memory), packed);
    set(k, next, offsets_, numbers());
    enqueue(k, l, padded_k(), columns, call_.products);
    x = packed;
  }

  // C whose tail is cut: whole tiles, and partial sums of the others.
  void multiply_tail(const kernels::Launch& l) {
    const Tail t = tail();
    const std::size_t parts = t.tiles * t.slices;
    if (parts > 0) partials_ = buffer(std::vector<Real>(parts * tile(), std::numeric_limits<Real>::quiet_NaN()));
    cl::Kernel k = kernel(l);
    const cl_uint next = set_operand(k, set_operand(k, 0, a_), b_);
    set_rest(k, set(k, next, c_, partials_, t.pair()));
    enqueue_groups(k, l, t.whole + parts, 1, 1);
  }
  std::size_t tile() const { return std::size_t{built_.params.ml} * built_.params.nl; }

  void multiply(const kernels::Launch& l) {
    if (cuts_tail()) return multiply_tail(l);
    if (split()) {
      partials_ =
          buffer(std::vector<Real>(m() * n() * slices() * call_.products, std::numeric_limits<Real>::quiet_NaN()));
    }
    cl::Kernel k = kernel(l);
    const cl_uint next = set_operand(k, set_operand(k, 0, a_), b_);
    set_rest(k, set(k, next, split() ? partials_ : c_));
    enqueue(k, l, m(), n(), call_.products * slices());
  }

  void reduce(const kernels::Launch& l) {
    cl::Kernel k = kernel(l);
    if (cuts_tail()) {
      set_rest(k, set(k, 0, partials_, c_, tail().pair()));
      return enqueue_groups(k, l, rounded_up(tile(), l.tile_n) / l.tile_n, tail().tiles, 1);
    }
    set_rest(k, set(k, 0, partials_, c_));
    enqueue(k, l, 1, m() * n(), call_.products);
  }

  // The arguments after the matrices.
  void set_rest(cl::Kernel& k, cl_uint next) {
    const CallEpilogue& e = call_.epilogue;
    const std::array<Real, 4> scalars{static_cast<Real>(call_.alpha), static_cast<Real>(call_.beta),
                                      static_cast<Real>(e.low), static_cast<Real>(e.high)};
    set(k, next, offsets_, bias_, d_, numbers(), scalars);
  }

  Numbers numbers() const {
    const Call& x = call_;
    const CallEpilogue& e = x.epilogue;
    return {x.a.offset,    x.b.offset,
            x.c.offset,    x.a.stride,
            x.b.stride,    x.c.stride,
            e.bias.offset, e.bias.stride,
            e.d.offset,    e.d.stride,
            x.m,           x.n,
            x.k,           x.a.ld,
            x.b.ld,        x.c.ld,
            e.d.ld,        static_cast<cl_int>(x.first_product),
            e.steps,       0};
  }

  cl::CommandQueue queue_;
  cl::Context context_;
  const Built& built_;
  const Call& call_;
  Operand a_, b_;
  cl::Buffer c_;
  cl::Buffer offsets_;  // null without offsets
  cl::Buffer partials_;
  cl::Buffer bias_;  // null without
  cl::Buffer d_;
};

}  // namespace clbake::tests
