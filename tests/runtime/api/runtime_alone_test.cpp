// An application that links the runtime and nothing else of clbake: no generator, no builder, no writer. Its bundle
// was made elsewhere and has nothing for this machine's device, so the runtime compiles from the bundle's source.
#include <clbake/clbake.hpp>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace clbake;

namespace {

struct Environment {
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
};

Environment& environment() {
  static Environment e;
  return e;
}

bool open_environment() {
  cl_platform_id platforms[16];
  cl_uint count = 0;
  if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS) return false;
  Environment& e = environment();
  for (cl_uint i = 0; i < count && i < 16; ++i) {
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &e.device, nullptr) != CL_SUCCESS) continue;
    e.context = clCreateContext(nullptr, 1, &e.device, nullptr, nullptr, nullptr);
    if (e.context) e.queue = clCreateCommandQueue(e.context, e.device, 0, nullptr);
    if (e.queue) return true;
  }
  return false;
}

bool on_pocl() {
  const Result<Target> target = identify(environment().device);
  return target && target->platform_name == "Portable Computing Language";
}

cl_mem buffer_of(const std::vector<float>& data) {
  return clCreateBuffer(environment().context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, data.size() * sizeof(float),
                        const_cast<float*>(data.data()), nullptr);
}

std::vector<float> random_matrix(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> data(count);
  for (float& x : data) x = static_cast<float>(random() % 2001) / 1000.0F - 1.0F;
  return data;
}

Result<Library> golden_library() {
  const Result<Bundle> bundle = Bundle::open(CLBAKE_GOLDEN_BUNDLE);
  if (!bundle) return bundle.status();
  return Library::create(environment().context, environment().device, {*bundle});
}

// 33 x 29 x 17, row-major, tight.
struct Product {
  Problem problem;
  std::vector<float> a = random_matrix(561, 1);
  std::vector<float> b = random_matrix(493, 2);
  std::vector<float> c = std::vector<float>(957, std::numeric_limits<float>::quiet_NaN());
  cl_mem a_buffer = buffer_of(a);
  cl_mem b_buffer = buffer_of(b);
  cl_mem c_buffer = buffer_of(c);

  Product() {
    problem.m = 33;
    problem.n = problem.ldb = problem.ldc = 29;
    problem.k = problem.lda = 17;
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;
  ~Product() {
    for (const cl_mem buffer : {a_buffer, b_buffer, c_buffer}) clReleaseMemObject(buffer);
  }

  void fill_c(float value) {
    std::fill(c.begin(), c.end(), value);
    clEnqueueWriteBuffer(environment().queue, c_buffer, CL_TRUE, 0, c.size() * sizeof(float), c.data(), 0, nullptr,
                         nullptr);
  }
  void read_c() {
    clEnqueueReadBuffer(environment().queue, c_buffer, CL_TRUE, 0, c.size() * sizeof(float), c.data(), 0, nullptr,
                        nullptr);
  }

  // Largest difference from the product in double precision.
  double error() {
    read_c();
    double worst = 0;
    for (std::size_t i = 0; i < 33; ++i) {
      for (std::size_t j = 0; j < 29; ++j) {
        double sum = 0;
        for (std::size_t l = 0; l < 17; ++l)
          sum += static_cast<double>(a[i * 17 + l]) * static_cast<double>(b[l * 29 + j]);
        const double difference = std::fabs(sum - static_cast<double>(c[i * 29 + j]));
        worst = std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(worst, difference);
      }
    }
    return worst;
  }
};

// 17 products of numbers below 1, summed in single precision: 17 * 20 * 2^-24.
constexpr double kTolerance = 2e-5;

}  // namespace

BOOST_AUTO_TEST_CASE(AMissIsCompiledFromTheBundlesSourceAndSaysSo) {
  const Result<Library> library = golden_library();
  BOOST_REQUIRE_MESSAGE(library.ok(), library.status().message());
  Product product;
  Result<Gemm> gemm = library->prepare(product.problem);
  BOOST_REQUIRE_MESSAGE(gemm.ok(), gemm.status().message());
  BOOST_TEST((gemm->explanation().origin == Origin::source));
  BOOST_TEST((gemm->explanation().miss == Code::no_target));
  BOOST_TEST(!gemm->explanation().miss_message.empty());
  const Status status =
      gemm->enqueue(environment().queue, 1.0, {product.a_buffer}, {product.b_buffer}, 0.0, {product.c_buffer});
  BOOST_REQUIRE_MESSAGE(status.ok(), status.message());
  BOOST_TEST(product.error() < kTolerance);
}

BOOST_AUTO_TEST_CASE(AnUnknownVariantIsRefusedByName) {
  const Result<Library> library = golden_library();
  BOOST_REQUIRE(library.ok());
  const Status status = library->prepare(Product().problem, "no-such-variant").status();
  BOOST_TEST((status.code() == Code::no_variant));
  BOOST_TEST(status.message().find("no-such-variant") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(EmptyProductsSucceedAndTheirEventCompletes) {
  const Result<Library> library = golden_library();
  BOOST_REQUIRE(library.ok());
  Problem empty;
  empty.n = 4;
  empty.k = 4;
  empty.lda = empty.ldb = empty.ldc = 4;
  Result<Gemm> gemm = library->prepare(empty);
  BOOST_REQUIRE_MESSAGE(gemm.ok(), gemm.status().message());
  cl_event event = nullptr;
  const Status status = gemm->enqueue(environment().queue, 1.0, {}, {}, 0.0, {}, 0, nullptr, &event);
  BOOST_REQUIRE_MESSAGE(status.ok(), status.message());
  BOOST_REQUIRE(event != nullptr);
  BOOST_TEST(clWaitForEvents(1, &event) == CL_SUCCESS);
  clReleaseEvent(event);
}

// A and B are not read; as in the reference BLAS a negative zero keeps its sign.
BOOST_AUTO_TEST_CASE(WithoutOperandsCIsMultipliedByBeta) {
  const Result<Library> library = golden_library();
  BOOST_REQUIRE(library.ok());
  const double infinity = std::numeric_limits<double>::infinity();
  const struct {
    std::size_t k;
    double alpha, beta;
    float before, after;
  } cases[] = {{17, 0, 1, 3, 3},         {17, 1e-60, 1, 3, 3},  // 1e-60 is zero in single precision
               {0, infinity, 2, 3, 6},   {0, 1, 1, -0.0F, -0.0F}, {0, 1, 2, -0.0F, -0.0F},
               {17, 0, 1, -0.0F, -0.0F}, {17, 0, 2, -0.0F, -0.0F}};
  for (const auto& each : cases) {
    Product product;
    product.fill_c(each.before);
    product.problem.k = each.k;
    Result<Gemm> gemm = library->prepare(product.problem);
    BOOST_REQUIRE(gemm.ok());
    const Status status = gemm->enqueue(environment().queue, each.alpha, {}, {}, each.beta, {product.c_buffer});
    BOOST_REQUIRE_MESSAGE(status.ok(), status.message());
    product.read_c();
    for (const float x : product.c) BOOST_REQUIRE(x == each.after && std::signbit(x) == std::signbit(each.after));
  }
}

BOOST_AUTO_TEST_CASE(AReadOnlyCIsRefused) {
  const Result<Library> library = golden_library();
  BOOST_REQUIRE(library.ok());
  Product p;
  Result<Gemm> gemm = library->prepare(p.problem);
  BOOST_REQUIRE(gemm.ok());
  cl_mem read_only =
      clCreateBuffer(environment().context, CL_MEM_READ_ONLY, p.c.size() * sizeof(float), nullptr, nullptr);
  const Status status = gemm->enqueue(environment().queue, 0, {}, {}, 0, {read_only, 1});  // before its size
  BOOST_TEST((status.argument() == Argument::c_read_only), status.message());
  clReleaseMemObject(read_only);
}

// By the whole device's handle as well where the context of a sub-device lists it, as PoCL's does.
BOOST_AUTO_TEST_CASE(ASubDeviceIsServedAsItsDevice) {
  const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  cl_device_id parts[64] = {};
  cl_uint count = 0;
  if (clCreateSubDevices(environment().device, equally, 64, parts, &count) != CL_SUCCESS) {
    BOOST_TEST_MESSAGE("the device has no sub-devices");
    return;
  }
  const Environment whole = environment();
  environment().context = clCreateContext(nullptr, 1, &parts[0], nullptr, nullptr, nullptr);
  environment().queue = clCreateCommandQueue(environment().context, parts[0], 0, nullptr);
  cl_device_id listed = nullptr;  // the only one, or the first
  clGetContextInfo(environment().context, CL_CONTEXT_DEVICES, sizeof listed, &listed, nullptr);
  if (on_pocl()) BOOST_TEST(listed == whole.device);
  for (const cl_device_id device : {parts[0], listed}) {
    environment().device = device;
    const Result<Library> library = golden_library();
    BOOST_REQUIRE_MESSAGE(library.ok(), library.status().message());
    Product product;
    const Status status = library->gemm(environment().queue, product.problem, 1.0, {product.a_buffer},
                                        {product.b_buffer}, 0.0, {product.c_buffer});
    BOOST_REQUIRE_MESSAGE(status.ok(), status.message());
    BOOST_TEST(product.error() < kTolerance);
  }
  clReleaseCommandQueue(environment().queue);
  clReleaseContext(environment().context);
  environment() = whole;
  for (cl_uint i = 0; i < count; ++i) clReleaseDevice(parts[i]);
}

int main(int argc, char** argv) {
  if (!open_environment()) {
    std::puts("skipped: no OpenCL device on this machine");
    return 77;
  }
  const int result = boost::unit_test::unit_test_main([] { return true; }, argc, argv);
  clReleaseCommandQueue(environment().queue);
  clReleaseContext(environment().context);
  return result;
}
