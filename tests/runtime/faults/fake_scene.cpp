#include "faults/fake_scene.hpp"

#include <clbake/cache/writer.hpp>

#include <cmath>
#include <cstring>
#include <limits>

namespace clbake::test {
namespace {

constexpr std::size_t kOffset = 3;  // elements before each matrix

cache::Launch launch(cache::Role role, const char* kernel, std::uint32_t local, std::uint32_t tile_m,
                     std::uint32_t tile_n) {
  cache::Launch launch;
  launch.role = role;
  launch.kernel_name = kernel;
  launch.local[0] = local;
  launch.tile_m = tile_m;
  launch.tile_n = tile_n;
  return launch;
}

cache::Variant plain(const char* name, const Problem& problem) {
  cache::Variant variant;
  variant.name = name;
  variant.family = "direct";
  variant.precision = problem.precision;
  variant.trans_a = problem.trans_a;
  variant.trans_b = problem.trans_b;
  variant.contract = 4;
  variant.build_options = "-D PRECISION=" + std::to_string(8 * element_bytes(problem.precision)) +
                          " -D TRANS_A=" + std::to_string(problem.trans_a) +
                          " -D TRANS_B=" + std::to_string(problem.trans_b) + " -D ML=4 -D NL=8 -D KL=2";
  variant.launches = {launch(cache::Role::gemm, "clbake_gemm", 8, 4, 8)};
  return variant;
}

cache::Variant with_all_launches(const char* name, const Problem& problem) {
  cache::Variant variant = plain(name, problem);
  variant.build_options += " -D LAYOUT_A=PAD -D LAYOUT_B=IMAGE -D SPLIT_K=3";
  variant.image_b = true;
  variant.block_m = 4;
  variant.block_n = 8;
  variant.block_k = 2;
  variant.split_k = 3;
  variant.launches = {launch(cache::Role::pack_a, "clbake_pack_a", 64, 16, 16),
                      launch(cache::Role::pack_b, "clbake_pack_b", 64, 16, 16), variant.launches[0],
                      launch(cache::Role::reduce, "clbake_reduce", 64, 1, 64)};
  return variant;
}

cache::Variant complex_kernels() {
  cache::Variant variant;
  variant.name = "clbake-complex-single-gpu";
  variant.family = "program";
  variant.precision = no_precision;
  variant.contract = 1;
  variant.build_options = "-D PRECISION=32 -D ITEMS=4";
  for (const char* kernel : {"clbake_complex_a", "clbake_complex_b", "clbake_complex_c"}) {
    variant.launches.push_back(launch(cache::Role::kernel, kernel, 4, 1, 1));
  }
  return variant;
}

// Offset of element (row, column) of the matrix of one product.
std::size_t place(std::size_t row, std::size_t column, bool transposed, std::size_t ld) {
  return transposed ? column * ld + row : row * ld + column;
}

std::vector<double> numbers(std::size_t count, unsigned seed) {
  std::vector<double> data(count, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = kOffset; i < count; ++i) {
    seed = seed * 1664525U + 1013904223U;
    data[i] = static_cast<double>(seed >> 16) / 65536.0 - 0.5;  // exact in single precision
  }
  return data;
}

// The data as reals of so many bytes.
std::vector<unsigned char> elements(const std::vector<double>& data, std::size_t bytes) {
  std::vector<unsigned char> all(data.size() * bytes);
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto single = static_cast<float>(data[i]);
    if (bytes == 8) std::memcpy(&all[i * 8], &data[i], 8);
    if (bytes == 4) std::memcpy(&all[i * 4], &single, 4);
  }
  return all;
}

cl_mem buffer(cl_context context, const std::vector<double>& data, std::size_t bytes) {
  std::vector<unsigned char> all = elements(data, bytes);
  return clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, all.size(), all.data(), nullptr);
}

}  // namespace

cache::Contents bundle_contents() {
  cache::Contents all;
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  clGetPlatformIDs(1, &platform, nullptr);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
  all.targets = {*identify(device)};
  all.sources = {{"fake.cl", "the fake driver reads the build options only"}};
  all.variants = {plain("native", problem_of(Case::native)), plain("source", problem_of(Case::source)),
                  with_all_launches("launches", problem_of(Case::launches)),
                  plain("rejected", problem_of(Case::rejected)), complex_kernels()};
  cache::Profile profile;
  for (std::uint32_t i = 0; i < all.variants.size(); ++i) {
    const cache::Variant& variant = all.variants[i];
    cache::Rule rule;
    rule.kind() = variant.kind();
    rule.variant = i;
    if (!variant.is_program()) profile.defaults.push_back(rule);
    if (i == static_cast<std::uint32_t>(Case::source)) continue;
    cache::Entry entry;
    entry.variant = i;
    entry.program = fake::binary_for(0, variant.build_options);
    if (i == static_cast<std::uint32_t>(Case::rejected)) entry.program.back() ^= 1;
    all.entries.push_back(entry);
  }
  all.profiles = {profile};
  return all;
}

Problem problem_of(Case which, std::size_t batch) {
  Problem problem;
  if (which == Case::source) problem.precision = Precision::double_precision;
  problem.trans_a = which == Case::launches;
  problem.trans_b = which == Case::rejected;
  if (which == Case::complex) problem.precision = Precision::complex_single;
  problem.conj_a = which == Case::complex;
  problem.m = 9;
  problem.n = 13;
  problem.k = 11;
  problem.lda = 14;
  problem.ldb = 15;
  problem.ldc = 16;
  problem.batch = batch;
  problem.a_stride = 170;
  problem.b_stride = 210;
  problem.c_stride = 150;
  return problem;
}

const cache::Bytes& bundle_bytes() {
  static const cache::Bytes bytes = *cache::encode(bundle_contents());
  return bytes;
}

namespace {
int scenes = 0;  // alive
}

Scene::Scene() {
  if (scenes++ == 0) fake::reset();  // it deletes the objects of every other scene
  cl_platform_id platform = nullptr;
  cl_device_id devices[2] = {};
  clGetPlatformIDs(1, &platform, nullptr);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 2, devices, nullptr);
  device = devices[0];
  other_device = devices[1];
  context = clCreateContext(nullptr, 2, devices, nullptr, nullptr, nullptr);
  queue = clCreateCommandQueue(context, device, 0, nullptr);
  unordered_queue = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, nullptr);
}

Scene::~Scene() {
  clReleaseCommandQueue(unordered_queue);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  --scenes;
}

Operands::Operands(const Scene& scene, const Problem& problem) : problem_(problem) {
  const Extents extent = extents(problem);
  const std::size_t reals = is_complex(problem.precision) ? 2 : 1;  // of an element
  a_ = numbers(reals * (kOffset + extent.a), 1);
  b_ = numbers(reals * (kOffset + extent.b), 2);
  c_ = numbers(reals * (kOffset + extent.c), 3);
  const std::size_t bytes = element_bytes(problem.precision) / reals;
  a = {buffer(scene.context, a_, bytes), kOffset};
  b = {buffer(scene.context, b_, bytes), kOffset};
  c = {buffer(scene.context, c_, bytes), kOffset};
  own_queue_ = clCreateCommandQueue(scene.context, scene.device, 0, nullptr);
}

Operands::~Operands() {
  for (const Matrix& matrix : {a, b, c}) clReleaseMemObject(matrix.buffer);
  clReleaseCommandQueue(own_queue_);
}

// The expected `c` after one call, all reals of its buffer. A real element is a complex one without imaginary part.
std::vector<double> Operands::expected() const {
  const Problem& p = problem_;
  const std::size_t reals = is_complex(p.precision) ? 2 : 1;
  const auto element = [&](const std::vector<double>& from, std::size_t at) {
    return std::complex<double>(from[reals * at], reals == 2 ? from[2 * at + 1] : 0);
  };
  std::vector<double> expected = c_;
  for (std::size_t e = 0; e < p.batch * p.m * p.n; ++e) {
    const std::size_t product = e / (p.m * p.n), i = e / p.n % p.m, j = e % p.n;
    std::complex<double> sum = 0;
    for (std::size_t l = 0; l < p.k; ++l) {
      const auto x = element(a_, kOffset + product * p.a_stride + place(i, l, p.trans_a, p.lda));
      sum +=
          (p.conj_a ? std::conj(x) : x) * element(b_, kOffset + product * p.b_stride + place(l, j, p.trans_b, p.ldb));
    }
    const std::size_t at = kOffset + product * p.c_stride + i * p.ldc + j;
    sum = alpha() * sum + kBeta * element(c_, at);
    expected[reals * at] = sum.real();
    if (reals == 2) expected[2 * at + 1] = sum.imag();
  }
  return expected;
}

double Operands::error(cl_command_queue queue) const {
  const std::size_t bytes = element_bytes(real_precision(problem_.precision));
  const std::vector<double> wanted = expected();
  std::vector<unsigned char> found(c_.size() * bytes);
  clFinish(queue);
  clEnqueueReadBuffer(own_queue_, c.buffer, CL_TRUE, 0, found.size(), found.data(), 0, nullptr, nullptr);
  double worst = 0;
  const std::size_t first = is_complex(problem_.precision) ? 2 * kOffset : kOffset;
  for (std::size_t i = first; i < c_.size(); ++i) {
    double value = 0;
    float single = 0;
    if (bytes == 8) std::memcpy(&value, &found[i * 8], 8);
    if (bytes == 4) std::memcpy(&single, &found[i * 4], 4);
    if (bytes == 4) value = static_cast<double>(single);
    const double difference = std::fabs(value - wanted[i]);
    worst = std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(worst, difference);
  }
  return worst;
}

Result<Library> open_library(const Scene& scene, const Options& options) {
  const Result<Bundle> bundle = Bundle::from_memory({bundle_bytes().data(), bundle_bytes().size()});
  if (!bundle) return bundle.status();
  return Library::create(scene.context, scene.device, {*bundle}, options);
}

Result<Library> open_library(const Scene& scene, const cache::Contents& contents, const Options& options) {
  const Result<cache::Bytes> bytes = cache::encode(contents);
  if (!bytes) return bytes.status();
  const Result<Bundle> bundle = Bundle::copy_of({bytes->data(), bytes->size()});
  if (!bundle) return bundle.status();
  return Library::create(scene.context, scene.device, {*bundle}, options);
}

}  // namespace clbake::test
