#include "gemm.hpp"

#include <algorithm>
#include <climits>

namespace clbake {
namespace {

// Batches are cut so that the workspace takes no more than this, unless one product needs more.
constexpr std::size_t kMostBytes = std::size_t{256} << 20;

// The least maximum of a grid's third dimension among the drivers known: NVIDIA's.
constexpr std::size_t kMaxGridDepth = 65535;

std::size_t round_up(std::size_t value, std::size_t factor) { return (value + factor - 1) / factor * factor; }

bool copies(const cache::Variant& variant, cache::Role role) {
  return std::any_of(variant.launches.begin(), variant.launches.end(),
                     [&](const cache::Launch& launch) { return launch.role == role; });
}

// Neighbours in a row that one texel holds: KERNELS.md.
std::size_t texel(Precision precision) { return precision == Precision::double_precision ? 2 : 4; }

cl::ImageFormat image_format(Precision precision) {
  switch (precision) {
    case Precision::half_precision: return {CL_RGBA, CL_HALF_FLOAT};
    case Precision::single_precision: return {CL_RGBA, CL_FLOAT};
    case Precision::double_precision: break;
  }
  return {CL_RGBA, CL_UNSIGNED_INT32};
}

Status too_large(const char* what, std::size_t value, std::size_t limit) {
  return {Code::out_of_memory, std::string(what) + " would be " + std::to_string(value) + ", the device's limit is " +
                                   std::to_string(limit)};
}

class Allocator {
 public:
  Allocator(const cl::Context& context, const cl::Device& device, const cache::Variant& variant, const Problem& problem)
      : context_(context), device_(device), v_(variant), p_(problem) {
    w_.padded_m = round_up(p_.m, v_.block_m);
    w_.padded_n = round_up(p_.n, v_.block_n);
    w_.padded_k = round_up(p_.k, v_.block_k);
    w_.products = std::min(std::max<std::size_t>(p_.batch, 1), kMaxGridDepth / v_.split_k);
  }

  Result<Workspace> run() {
    const bool copy_a = copies(v_, cache::Role::copy_a);
    const bool copy_b = copies(v_, cache::Role::copy_b);
    const std::size_t element = element_bytes(p_.precision);
    const std::size_t part = p_.precision == Precision::double_precision ? 8 : 4;  // parts are not rounded to half
    for (const std::size_t padded : {w_.padded_m, w_.padded_n, w_.padded_k}) {
      if (padded > INT_MAX && (copy_a || copy_b)) return too_large("a padded size", padded, INT_MAX);
    }
    Status status;
    if (copy_a) status = v_.image_a ? fit_image(w_.padded_m) : fit_buffer(w_.padded_m * w_.padded_k, element);
    if (status && copy_b) status = v_.image_b ? fit_image(w_.padded_n) : fit_buffer(w_.padded_n * w_.padded_k, element);
    if (status && v_.split_k > 1) status = fit_buffer(p_.m * p_.n, part * v_.split_k);
    w_.products = std::max<std::size_t>(1, std::min(w_.products, kMostBytes / std::max<std::size_t>(bytes_, 1)));
    if (status && copy_a) status = make(v_.image_a, w_.padded_m, w_.a);
    if (status && copy_b) status = make(v_.image_b, w_.padded_n, w_.b);
    if (status && v_.split_k > 1) {
      cl::Memory parts;
      status = make_buffer(v_.split_k * p_.m * p_.n * part, parts);
      w_.parts = cl::Buffer(parts(), true);
    }
    if (!status) return status;
    return std::move(w_);
  }

 private:
  // Lowers the number of products at a time to what a buffer can hold.
  Status fit_buffer(std::size_t elements, std::size_t bytes_per_element) {
    const std::size_t largest = device_.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>();
    const std::size_t most = largest / bytes_per_element / std::max<std::size_t>(elements, 1);
    if (most == 0)
      return too_large("the workspace of one product, in elements,", elements, largest / bytes_per_element);
    w_.products = std::min(w_.products, most);
    bytes_ += elements * bytes_per_element;
    return {};
  }

  Status fit_image(std::size_t width) {
    const std::size_t texels = width / texel(p_.precision);
    const std::size_t widest = device_.getInfo<CL_DEVICE_IMAGE2D_MAX_WIDTH>();
    const std::size_t highest = device_.getInfo<CL_DEVICE_IMAGE2D_MAX_HEIGHT>();
    if (texels > widest) return too_large("the width of an operand's image in texels", texels, widest);
    if (w_.padded_k > highest) return too_large("the height of an operand's image", w_.padded_k, highest);
    w_.products = std::min(w_.products, highest / std::max<std::size_t>(w_.padded_k, 1));
    return fit_buffer(width * w_.padded_k, element_bytes(p_.precision));
  }

  Status make(bool image, std::size_t width, cl::Memory& memory) {
    if (!image) return make_buffer(width * w_.padded_k * element_bytes(p_.precision), memory);
    cl_int error = CL_SUCCESS;
    memory = cl::Image2D(context_, CL_MEM_READ_WRITE, image_format(p_.precision),
                         std::max<std::size_t>(width / texel(p_.precision), 1),
                         std::max<std::size_t>(w_.products * w_.padded_k, 1), 0, nullptr, &error);
    return error == CL_SUCCESS ? Status() : opencl_failure("clCreateImage", error);
  }

  Status make_buffer(std::size_t bytes_per_product, cl::Memory& memory) {
    cl_int error = CL_SUCCESS;
    memory = cl::Buffer(context_, CL_MEM_READ_WRITE, std::max<std::size_t>(bytes_per_product * w_.products, 8), nullptr,
                        &error);
    return error == CL_SUCCESS ? Status() : opencl_failure("clCreateBuffer", error);
  }

  const cl::Context& context_;
  const cl::Device& device_;
  const cache::Variant& v_;
  const Problem& p_;
  Workspace w_;
  std::size_t bytes_ = 0;  // of one product's workspace
};

}  // namespace

Result<Workspace> make_workspace(const cl::Context& context, const cl::Device& device, const cache::Variant& variant,
                                 const Problem& problem) {
  return Allocator(context, device, variant, problem).run();
}

}  // namespace clbake
