#include "launch/workspace.hpp"

#include <clbake/finalize.hpp>

#include "select/problem.hpp"
#include "select/tail.hpp"

#include <algorithm>
#include <climits>

namespace clbake {
namespace {

// Batches are split so that the workspace takes no more than this, unless one product needs more.
constexpr std::size_t kMostBytes = std::size_t{256} << 20;

std::size_t round_up(std::size_t value, std::size_t factor) { return (value + factor - 1) / factor * factor; }

bool packs(const cache::Variant& variant, cache::Role role) {
  return std::any_of(variant.launches.begin(), variant.launches.end(),
                     [&](const cache::Launch& launch) { return launch.role == role; });
}

// Elements of a row that one texel holds: KERNELS.md.
std::size_t texel(Precision precision) { return precision == Precision::double_precision ? 2 : 4; }

cl::ImageFormat image_format(Precision precision) {
  switch (precision) {
    case Precision::half_precision: return {CL_RGBA, CL_HALF_FLOAT};
    case Precision::single_precision: return {CL_RGBA, CL_FLOAT};
    case Precision::bfloat16: return {CL_RGBA, CL_UNSIGNED_INT16};
    default: break;
  }
  return {CL_RGBA, CL_UNSIGNED_INT32};
}

Status too_large(const char* what, std::size_t value, std::size_t limit) {
  return {Code::out_of_memory, std::string(what) + " would be " + std::to_string(value) + ", the device's limit is " +
                                   std::to_string(limit)};
}

class Sizer {
 public:
  Sizer(const cl::Device& device, const cache::Variant& variant, const Problem& problem, const Problem* complex)
      : device_(device), v_(variant), p_(problem), copies_a_(complex && copies_a(*complex)), copies_b_(complex) {
    w_.rows = std::min(p_.m, kMaxGroups * product_launch(v_).tile_m);
    w_.padded_m = round_up(w_.rows, v_.block_m);
    w_.padded_n = round_up(p_.n, v_.block_n);
    w_.padded_k = round_up(p_.k, v_.block_k);
    w_.products = std::min(std::max<std::size_t>(p_.batch, 1), kMaxGroups / std::max(v_.split_k, 1U));
  }

  Result<Workspace> run() {
    const bool pack_a = packs(v_, cache::Role::pack_a);
    const bool pack_b = packs(v_, cache::Role::pack_b);
    const std::size_t element = element_bytes(p_.precision);
    const std::size_t real =
        p_.precision == Precision::double_precision ? 8 : 4;  // bytes; partial sums are never of 16 bits
    for (const std::size_t padded : {w_.padded_m, w_.padded_n, w_.padded_k}) {
      if (padded > INT_MAX && (pack_a || pack_b)) return too_large("a padded size", padded, INT_MAX);
    }
    for (const std::size_t ld : {copies_a_ ? p_.lda : 0, copies_b_ ? p_.ldb : 0}) {
      if (ld > INT_MAX) return too_large("a padded row of a copy, in reals,", ld, INT_MAX);
    }
    Status status;
    if (pack_a) status = v_.image_a ? fit_image(w_.padded_m) : fit_buffer(w_.padded_m * w_.padded_k, element);
    if (status && pack_b) status = v_.image_b ? fit_image(w_.padded_n) : fit_buffer(w_.padded_n * w_.padded_k, element);
    if (status && v_.split_k > 1) status = fit_buffer(w_.rows * p_.n, real * v_.split_k);
    if (status && v_.split_k == 0) status = count_units();
    if (status && copies_a_) status = fit_buffer(p_.a_stride, real);
    if (status && copies_b_) status = fit_buffer(p_.b_stride, real);
    if (!status) return status;
    w_.products = std::max<std::size_t>(1, std::min(w_.products, kMostBytes / std::max<std::size_t>(bytes_, 1)));
    // Never empty where there is one: OpenCL has no empty buffers.
    const auto all = [&](std::size_t per_product) { return std::max<std::size_t>(per_product * w_.products, 8); };
    if (pack_a && !v_.image_a) w_.a_bytes = all(w_.padded_m * w_.padded_k * element);
    if (pack_b && !v_.image_b) w_.b_bytes = all(w_.padded_n * w_.padded_k * element);
    if (v_.split_k > 1) w_.partials_bytes = all(w_.rows * p_.n * real * v_.split_k);
    if (v_.split_k == 0)
      w_.partials_bytes = slices_of_tail() * product_launch(v_).tile_m * product_launch(v_).tile_n * real;
    if (copies_a_) w_.copy_a_bytes = all(p_.a_stride * real);
    if (copies_b_) w_.copy_b_bytes = all(p_.b_stride * real);
    return std::move(w_);
  }

 private:
  // All tiles are in one dimension of the grid, which has at least 2^31 - 1 groups.
  Status count_units() {
    w_.products = std::min(w_.products, (std::size_t{1} << 30) / std::max<std::size_t>(1, tiles_of(v_, w_.rows, p_.n)));
    w_.products = std::max<std::size_t>(w_.products, 1);
    cl_uint units = 0;
    const cl_int error = device_.getInfo(CL_DEVICE_MAX_COMPUTE_UNITS, &units);
    w_.units = units;
    return opencl_status("clGetDeviceInfo", error);
  }

  // The most that a launch has: never more than units. Of a batch, a launch may be for any number of products.
  std::size_t slices_of_tail() const {
    const bool one_launch = p_.batch <= 1 && w_.rows == p_.m;
    const std::size_t tiles = one_launch ? tiles_of(v_, p_.m, p_.n) : 1;  // of one tile: whether k is deep enough
    const Tail tail = tail_of(tiles, w_.units, p_.k, v_.block_k);
    return tail.slices == 1 ? 0 : one_launch ? tail.parts() : w_.units;
  }

  // Lowers the number of products at a time to what a buffer can hold.
  Status fit_buffer(std::size_t elements, std::size_t bytes_per_element) {
    cl_ulong largest = 0;
    const cl_int error = device_.getInfo(CL_DEVICE_MAX_MEM_ALLOC_SIZE, &largest);
    if (error != CL_SUCCESS) return opencl_status("clGetDeviceInfo", error);
    const std::size_t most = largest / bytes_per_element / std::max<std::size_t>(elements, 1);
    if (most == 0)
      return too_large("the workspace of one product, in elements,", elements, largest / bytes_per_element);
    w_.products = std::min(w_.products, most);
    bytes_ += elements * bytes_per_element;
    return {};
  }

  Status fit_image(std::size_t width) {
    const std::size_t texels = width / texel(p_.precision);
    std::size_t widest = 0;
    std::size_t highest = 0;
    cl_int error = device_.getInfo(CL_DEVICE_IMAGE2D_MAX_WIDTH, &widest);
    if (error == CL_SUCCESS) error = device_.getInfo(CL_DEVICE_IMAGE2D_MAX_HEIGHT, &highest);
    if (error != CL_SUCCESS) return opencl_status("clGetDeviceInfo", error);
    if (texels > widest) return too_large("the width of an operand's image in texels", texels, widest);
    if (w_.padded_k > highest) return too_large("the height of an operand's image", w_.padded_k, highest);
    w_.products = std::min(w_.products, highest / std::max<std::size_t>(w_.padded_k, 1));
    return fit_buffer(width * w_.padded_k, element_bytes(p_.precision));
  }

  const cl::Device& device_;
  const cache::Variant& v_;
  const Problem& p_;
  bool copies_a_;
  bool copies_b_;
  Workspace w_;
  std::size_t bytes_ = 0;  // of one product's workspace
};

Status create_image(const cl::Context& context, const Problem& p, const Workspace& w, std::size_t width,
                    cl::Memory& memory) {
  cl_int error = CL_SUCCESS;
  memory = cl::Image2D(context, CL_MEM_READ_WRITE, image_format(p.precision),
                       std::max<std::size_t>(width / texel(p.precision), 1),
                       std::max<std::size_t>(w.products * w.padded_k, 1), 0, nullptr, &error);
  return opencl_status("clCreateImage", error_of(memory, error));
}

// Creates the buffers one after another with `create` (bytes -> cl::Buffer, error).
template <typename Create>
Status create_each(const char* call, Workspace& w, const Create& create) {
  cl_int error = CL_SUCCESS;
  const auto make = [&](std::size_t bytes, auto& memory) {
    if (error != CL_SUCCESS || bytes == 0) return;
    memory = create(bytes, error);
    error = error_of(memory, error);
  };
  make(w.a_bytes, w.a);
  make(w.b_bytes, w.b);
  make(w.partials_bytes, w.partials);
  make(w.copy_a_bytes, w.copy_a);
  make(w.copy_b_bytes, w.copy_b);
  return opencl_status(call, error);
}

}  // namespace

std::size_t tiles_of(const cache::Variant& variant, std::size_t m, std::size_t n) {
  const cache::Launch& launch = product_launch(variant);
  return round_up(m, launch.tile_m) / launch.tile_m * (round_up(n, launch.tile_n) / launch.tile_n);
}

Result<Workspace> size_workspace(const cl::Device& device, const cache::Variant& variant, const Problem& problem,
                                 const Problem* complex) {
  return Sizer(device, variant, problem, complex).run();
}

Status create_images(const cl::Context& context, const cache::Variant& variant, const Problem& problem, Workspace& w) {
  Status status;
  if (variant.image_a) status = create_image(context, problem, w, w.padded_m, w.a);
  if (status && variant.image_b) status = create_image(context, problem, w, w.padded_n, w.b);
  return status;
}

Status create_buffers(const cl::Context& context, Workspace& w) {
  return create_each("clCreateBuffer", w, [&](std::size_t bytes, cl_int& error) {
    return cl::Buffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &error);
  });
}

Status create_sub_buffers(cl_mem memory, std::size_t offset, std::size_t alignment, Workspace& w) {
  return create_each("clCreateSubBuffer", w, [&](std::size_t bytes, cl_int& error) {
    const cl_buffer_region region{offset, bytes};
    offset += round_up(bytes, alignment);
    return cl::Buffer(clCreateSubBuffer(memory, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
  });
}

std::size_t sub_buffer_bytes(const Workspace& w, std::size_t alignment) {
  std::size_t bytes = 0;
  for (const std::size_t part : {w.a_bytes, w.b_bytes, w.partials_bytes, w.copy_a_bytes, w.copy_b_bytes}) {
    bytes += round_up(part, alignment);
  }
  return bytes;
}

}  // namespace clbake
