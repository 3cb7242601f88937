// An application that links the runtime and nothing else of clbake: no generator, no builder, no writer. Its bundle
// was made elsewhere and has nothing for this machine's device, so the runtime compiles from the bundle's source.
#include <clbake/clbake.hpp>

#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <thread>
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

// The names, up to the first dot, of the shared libraries in this process.
std::set<std::string> mapped_libraries() {
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> names;
  for (std::string line; std::getline(maps, line);) {
    const std::size_t name = line.rfind('/') + 1;
    const std::size_t dot = line.find(".so", name);
    if (name != 0 && dot != std::string::npos) names.insert(line.substr(name, line.find('.', name) - name));
  }
  return names;
}

Result<Library> golden_library(const Options& options = {}) {
  const Result<Bundle> bundle = Bundle::open(CLBAKE_GOLDEN_BUNDLE);
  if (!bundle) return bundle.status();
  return Library::create(environment().context, environment().device, {*bundle}, options);
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

BOOST_AUTO_TEST_CASE(AMissFailsWithItsReasonWhenCompilingIsNotAllowed) {
  Options options;
  options.on_miss = OnMiss::fail;
  const Result<Library> library = golden_library(options);
  BOOST_REQUIRE(library.ok());
  BOOST_TEST((library->prepare(Product().problem).status().code() == Code::no_target));
}

BOOST_AUTO_TEST_CASE(AnUnknownVariantIsRefusedByName) {
  const Result<Library> library = golden_library();
  BOOST_REQUIRE(library.ok());
  const Status status = library->prepare(Product().problem, "no-such-variant").status();
  BOOST_TEST((status.code() == Code::no_variant));
  BOOST_TEST(status.message().find("no-such-variant") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(AColumnMajorProductIsTheTransposedOne) {
  const Result<Library> library = golden_library();
  BOOST_REQUIRE(library.ok());
  Product product;
  // The same bytes read by columns are the transposes: C^T = B^T * A^T.
  Problem columns = product.problem;
  columns.layout = Layout::column_major;
  std::swap(columns.m, columns.n);
  std::swap(columns.lda, columns.ldb);
  Result<Gemm> gemm = library->prepare(columns);
  BOOST_REQUIRE_MESSAGE(gemm.ok(), gemm.status().message());
  const Status status =
      gemm->enqueue(environment().queue, 1.0, {product.b_buffer}, {product.a_buffer}, 0.0, {product.c_buffer});
  BOOST_REQUIRE_MESSAGE(status.ok(), status.message());
  BOOST_TEST(product.error() < kTolerance);
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

BOOST_AUTO_TEST_CASE(AlphaZeroReadsNeitherANorB) {
  const Result<Library> library = golden_library();
  BOOST_REQUIRE(library.ok());
  Product product;
  product.fill_c(3.0F);
  Result<Gemm> gemm = library->prepare(product.problem);
  BOOST_REQUIRE(gemm.ok());
  // 1e-60 is zero in single precision.
  for (const double alpha : {0.0, 1e-60}) {
    const Status status = gemm->enqueue(environment().queue, alpha, {}, {}, 1.0, {product.c_buffer});
    BOOST_REQUIRE_MESSAGE(status.ok(), status.message());
  }
  product.read_c();
  for (const float x : product.c) BOOST_REQUIRE_EQUAL(x, 3.0F);
}

// As in the reference BLAS.
BOOST_AUTO_TEST_CASE(ANegativeZeroInCKeepsItsSignWithoutOperands) {
  const Result<Library> library = golden_library();
  BOOST_REQUIRE(library.ok());
  for (const std::size_t k : {std::size_t{0}, std::size_t{17}}) {
    for (const double beta : {1.0, 2.0}) {
      Product product;
      product.fill_c(-0.0F);
      product.problem.k = k;
      Result<Gemm> gemm = library->prepare(product.problem);
      BOOST_REQUIRE(gemm.ok());
      const Status status = gemm->enqueue(environment().queue, k == 0 ? 1.0 : 0.0, {}, {}, beta, {product.c_buffer});
      BOOST_REQUIRE_MESSAGE(status.ok(), status.message());
      product.read_c();
      for (const float x : product.c) BOOST_REQUIRE(x == 0.0F && std::signbit(x));
    }
  }
}

// PoCL lists the whole device in the context of a sub-device.
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
  for (const cl_device_id device : {parts[0], whole.device}) {
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

BOOST_AUTO_TEST_CASE(AnInfiniteAlphaOfAnEmptySumLeavesBetaTimesC) {
  const Result<Library> library = golden_library();
  BOOST_REQUIRE(library.ok());
  Product product;
  product.fill_c(3.0F);
  product.problem.k = 0;
  Result<Gemm> gemm = library->prepare(product.problem);
  BOOST_REQUIRE(gemm.ok());
  const double infinity = std::numeric_limits<double>::infinity();
  const Status status = gemm->enqueue(environment().queue, infinity, {}, {}, 2.0, {product.c_buffer});
  BOOST_REQUIRE_MESSAGE(status.ok(), status.message());
  product.read_c();
  for (const float x : product.c) BOOST_REQUIRE_EQUAL(x, 6.0F);
}

BOOST_AUTO_TEST_CASE(MisuseIsRefusedWithTheArgumentsName) {
  const Result<Library> library = golden_library();
  BOOST_REQUIRE(library.ok());
  Product p;
  Result<Gemm> gemm = library->prepare(p.problem);
  BOOST_REQUIRE(gemm.ok());
  cl_command_queue queue = environment().queue;
  const auto refused = [](const Status& status, const char* name, Argument argument) {
    BOOST_TEST((status.code() == Code::invalid_argument));
    BOOST_TEST(status.message().find(name) == 0U, status.message());
    BOOST_TEST((status.argument() == argument), status.message());
  };
  const Matrix a{p.a_buffer};
  const Matrix b{p.b_buffer};
  const Matrix c{p.c_buffer};
  refused(gemm->enqueue(nullptr, 1, a, b, 0, c), "queue", Argument::queue);
  refused(gemm->enqueue(queue, 1, {}, b, 0, c), "A", Argument::a);
  refused(gemm->enqueue(queue, 1, a, {}, 0, c), "B", Argument::b);
  refused(gemm->enqueue(queue, 1, a, b, 0, {}), "C", Argument::c);
  refused(gemm->enqueue(queue, 1, {p.a_buffer, 1}, b, 0, c), "A", Argument::a_size);
  refused(gemm->enqueue(queue, 1, a, {p.b_buffer, 1}, 0, c), "B", Argument::b_size);
  refused(gemm->enqueue(queue, 1, a, b, 0, {p.c_buffer, 1}), "C", Argument::c_size);
  refused(gemm->enqueue(queue, 1, a, b, 0, {p.c_buffer, SIZE_MAX}), "C", Argument::c_size);

  cl_context other = clCreateContext(nullptr, 1, &environment().device, nullptr, nullptr, nullptr);
  cl_command_queue foreign = clCreateCommandQueue(other, environment().device, 0, nullptr);
  refused(gemm->enqueue(foreign, 1, a, b, 0, c), "queue", Argument::queue);
  clReleaseCommandQueue(foreign);
  cl_mem abroad = clCreateBuffer(other, CL_MEM_READ_WRITE, p.c.size() * sizeof(float), nullptr, nullptr);
  refused(gemm->enqueue(queue, 1, a, b, 0, {abroad}), "C", Argument::c);
  clReleaseMemObject(abroad);
  clReleaseContext(other);
  refused(gemm->enqueue(queue, 1, a, b, 0, c, 3, nullptr), "wait_list", Argument::wait_list);
  const cl_event none[2] = {};
  refused(gemm->enqueue(queue, 1, a, b, 0, c, 2, none), "wait_list[0]", Argument::wait_list);

  cl_mem read_only =
      clCreateBuffer(environment().context, CL_MEM_READ_ONLY, p.c.size() * sizeof(float), nullptr, nullptr);
  refused(gemm->enqueue(queue, 1, a, b, 0, {read_only}), "C", Argument::c_read_only);
  refused(gemm->enqueue(queue, 0, {}, {}, 0, {read_only, 1}), "C", Argument::c_read_only);  // before its size
  BOOST_TEST(gemm->enqueue(queue, 0, {read_only}, b, 0, c).ok());
  clFinish(queue);
  clReleaseMemObject(read_only);
  refused(gemm->enqueue(queue, 1, {p.c_buffer}, b, 0, c), "C and A", Argument::c_alias);

  Gemm moved = std::move(*gemm);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is the misuse
  refused(gemm->enqueue(queue, 1, a, b, 0, c), "the Gemm", Argument::gemm);

  Problem impossible = p.problem;
  impossible.ldc = 3;
  refused(library->prepare(impossible).status(), "ldc", Argument::ldc);
  impossible = p.problem;
  impossible.layout = static_cast<Layout>(5);
  refused(library->prepare(impossible).status(), "layout", Argument::layout);
}

BOOST_AUTO_TEST_CASE(AnImageIsRefusedAsAMatrix) {
  const Result<Library> library = golden_library();
  BOOST_REQUIRE(library.ok());
  Product p;
  Result<Gemm> gemm = library->prepare(p.problem);
  BOOST_REQUIRE(gemm.ok());
  const cl_image_format format = {CL_RGBA, CL_FLOAT};
  cl_image_desc shape = {};
  shape.image_type = CL_MEM_OBJECT_IMAGE2D;
  shape.image_width = shape.image_height = 64;
  cl_int error = CL_SUCCESS;
  cl_mem image = clCreateImage(environment().context, CL_MEM_READ_WRITE, &format, &shape, nullptr, &error);
  if (error != CL_SUCCESS) {
    BOOST_TEST_MESSAGE("the device has no images");
    return;
  }
  const Status status = gemm->enqueue(environment().queue, 1, {p.a_buffer}, {image}, 0, {p.c_buffer});
  BOOST_TEST((status.code() == Code::invalid_argument));
  BOOST_TEST(status.message() == "B: an image or a pipe, not a buffer");
  clReleaseMemObject(image);
}

BOOST_AUTO_TEST_CASE(ThreadsThatAskAtOnceShareOneProgram) {
  const Result<Library> library = golden_library();
  BOOST_REQUIRE(library.ok());
  const Problem problem = Product().problem;
  std::vector<cl_program> programs(8, nullptr);
  std::vector<std::thread> threads;
  for (cl_program& program : programs) {
    threads.emplace_back([&] {
      const Result<Gemm> gemm = library->prepare(problem);
      if (gemm) program = gemm->program();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const cl_program program : programs) {
    BOOST_TEST(program != nullptr);
    BOOST_TEST(program == programs[0]);
  }
}

BOOST_AUTO_TEST_CASE(AGemmOutlivesItsLibrary) {
  Product product;
  Result<Gemm> gemm = [&] {
    const Result<Library> library = golden_library();
    return library ? library->prepare(product.problem) : Result<Gemm>(library.status());
  }();
  BOOST_REQUIRE(gemm.ok());
  const Status status =
      gemm->enqueue(environment().queue, 1.0, {product.a_buffer}, {product.b_buffer}, 0.0, {product.c_buffer});
  BOOST_REQUIRE_MESSAGE(status.ok(), status.message());
  BOOST_TEST(product.error() < kTolerance);
}

BOOST_AUTO_TEST_CASE(PreloadLoadsNvidiasLibraryAndNothingElsewhere) {
  BOOST_TEST((preload(nullptr).code() == Code::invalid_argument));
  cl_platform_id platform = nullptr;
  char name[256] = {};
  clGetDeviceInfo(environment().device, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr);
  clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
  const std::set<std::string> before = mapped_libraries();
  const Status status = preload(platform);
  BOOST_REQUIRE_MESSAGE(status.ok(), status.message());
  if (std::string(name).find("NVIDIA") == std::string::npos) {
    BOOST_TEST((mapped_libraries() == before));
  } else {
    BOOST_TEST(mapped_libraries().count("libnvidia-nvvm") == 1U);
  }
}

int main(int argc, char** argv) {
  if (!open_environment()) {
    std::puts("skipped: no OpenCL device on this machine");
    return 77;
  }
  const int result = boost::unit_test::unit_test_main(init_unit_test, argc, argv);
  clReleaseCommandQueue(environment().queue);
  clReleaseContext(environment().context);
  return result;
}
