// On an NVIDIA device: the programs of cases.hpp give the results that they give when the driver compiles them.
#include "baked.hpp"
#include "files.hpp"
#include "selected_devices.hpp"

#include <CL/cl.h>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>

using namespace clbake;
using namespace clbake::tests;
using clbake::builder::Device;
using clbake::builder::Session;

namespace {

constexpr std::size_t kBytes = 256 << 10;  // of a buffer
constexpr std::size_t kPixels = 16 * 16;

void check(cl_int error, const char* call) {
  if (error != CL_SUCCESS) throw std::runtime_error(std::string(call) + ": error " + std::to_string(error));
}

template <typename T>
T special(std::mt19937_64& random, bool normal) {
  const T values[] = {0, -T(0), 1, -1, INFINITY, -INFINITY, NAN, T(0.5), 2, 3, T(88), T(1e-40)};
  return values[random() % (sizeof values / sizeof values[0] - (normal ? 1 : 0))];
}

// Mostly of moderate size: functions of very large numbers tell little.
template <typename T>
std::vector<std::uint8_t> reals(std::mt19937_64& random, bool normal) {
  std::vector<std::uint8_t> bytes(kBytes);
  for (std::size_t at = 0; at < kBytes; at += sizeof(T)) {
    const T unit = T(static_cast<std::int64_t>(random() >> 11)) / T(std::int64_t{1} << 52) - 1;
    const T scales[] = {1, 10, T(1e3), T(1e-3), T(1e10)};
    const T value = random() % 16 == 0 ? special<T>(random, normal) : unit * scales[random() % 5];
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
  return bytes;
}

std::vector<std::uint8_t> data(Input input, unsigned seed) {
  std::mt19937_64 random(seed);
  if (input == Input::doubles) return reals<double>(random, false);
  if (input != Input::bits) return reals<float>(random, input == Input::normal_floats);
  std::vector<std::uint8_t> bytes(kBytes);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() >> 32);
  return bytes;
}

// The pixels of an image, as bytes.
std::vector<std::uint8_t> pixels(unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> bytes(4 * kPixels);
  for (std::size_t at = 0; at < bytes.size(); at += 4) {
    const float pixel = static_cast<float>(random() % 1000) / 7;
    std::memcpy(bytes.data() + at, &pixel, sizeof pixel);
  }
  return bytes;
}

// A loaded program on its device, and one run of a kernel.
class Loaded {
 public:
  Loaded(const Session& session, const Device& device, const std::string& source, const std::string& options)
      : session_(session), device_(device) {
    const char* text = source.c_str();
    cl_int error = CL_SUCCESS;
    program_ = clCreateProgramWithSource(session.context(), 1, &text, nullptr, &error);
    check(error, "clCreateProgramWithSource");
    build(options.c_str());
  }
  Loaded(const Session& session, const Device& device, const cache::Bytes& binary)
      : session_(session), device_(device) {
    const std::size_t size = binary.size();
    const unsigned char* bytes = binary.data();
    cl_int error = CL_SUCCESS;
    program_ = clCreateProgramWithBinary(session.context(), 1, &device.id, &size, &bytes, nullptr, &error);
    check(error, "clCreateProgramWithBinary");
    build("");
  }
  ~Loaded() { clReleaseProgram(program_); }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  std::vector<std::uint8_t> run(const NvidiaKernel& kernel) const;

 private:
  void build(const char* options) const {
    const cl_int error = clBuildProgram(program_, 1, &device_.id, options, nullptr, nullptr);
    if (error == CL_SUCCESS) return;
    std::string log(1 << 16, '\0');
    clGetProgramBuildInfo(program_, device_.id, CL_PROGRAM_BUILD_LOG, log.size(), &log[0], nullptr);
    throw std::runtime_error("clBuildProgram: error " + std::to_string(error) + ": " + log.c_str());
  }

  const Session& session_;
  const Device& device_;
  cl_program program_ = nullptr;
};

cl_mem buffer(const Session& session, std::vector<std::uint8_t> bytes) {
  cl_int error = CL_SUCCESS;
  const cl_mem made =
      clCreateBuffer(session.context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes.size(), bytes.data(), &error);
  check(error, "clCreateBuffer");
  return made;
}

// The image that a letter of cases.hpp stands for, with its size; 256 pixels each.
struct Image {
  cl_mem memory = nullptr;
  std::size_t region[3] = {16, 16, 1};
};

Image image(const Session& session, char letter) {
  struct Kind {
    char letter;
    cl_mem_object_type type;
    cl_channel_order order;
    cl_channel_type channel;
    std::size_t region[3];
  };
  const Kind kinds[] = {{'i', CL_MEM_OBJECT_IMAGE2D, CL_BGRA, CL_UNORM_INT8, {16, 16, 1}},
                        {'j', CL_MEM_OBJECT_IMAGE2D, CL_R, CL_FLOAT, {16, 16, 1}},
                        {'w', CL_MEM_OBJECT_IMAGE2D, CL_BGRA, CL_UNORM_INT8, {16, 16, 1}},
                        {'u', CL_MEM_OBJECT_IMAGE2D, CL_RGBA, CL_UNSIGNED_INT8, {16, 16, 1}},
                        {'I', CL_MEM_OBJECT_IMAGE2D, CL_R, CL_SIGNED_INT32, {16, 16, 1}},
                        {'1', CL_MEM_OBJECT_IMAGE1D, CL_RGBA, CL_UNORM_INT8, {256, 1, 1}},
                        {'3', CL_MEM_OBJECT_IMAGE3D, CL_RGBA, CL_UNORM_INT8, {16, 4, 4}},
                        {'a', CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_RGBA, CL_UNORM_INT8, {16, 16, 1}},
                        {'A', CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_RGBA, CL_UNORM_INT8, {16, 4, 4}},
                        {'b', CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_RGBA, CL_UNORM_INT8, {256, 1, 1}}};
  const Kind* kind = kinds;
  while (kind->letter != letter) ++kind;
  const cl_image_format format = {kind->order, kind->channel};
  cl_image_desc description = {};
  description.image_type = kind->type;
  description.image_width = kind->region[0];
  description.image_height = kind->region[1];
  description.image_depth = description.image_array_size = kind->region[2];
  if (kind->type == CL_MEM_OBJECT_IMAGE1D_ARRAY) description.image_array_size = kind->region[1];
  std::vector<std::uint8_t> bytes = pixels(static_cast<unsigned char>(letter));
  const bool of_buffer = kind->type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
  if (of_buffer) description.buffer = buffer(session, bytes);
  Image made;
  std::memcpy(made.region, kind->region, sizeof made.region);
  cl_int error = CL_SUCCESS;
  const cl_mem_flags flags = CL_MEM_READ_WRITE | (of_buffer ? 0 : CL_MEM_COPY_HOST_PTR);
  made.memory =
      clCreateImage(session.context(), flags, &format, &description, of_buffer ? nullptr : bytes.data(), &error);
  check(error, (std::string("clCreateImage of ") + letter).c_str());
  return made;
}

// Adds what an image holds.
void append(std::vector<std::uint8_t>& result, const Session& session, const Image& image) {
  const std::size_t origin[3] = {0, 0, 0};
  const std::size_t at = result.size();
  result.resize(at + 4 * kPixels);
  check(clEnqueueReadImage(session.queue(), image.memory, CL_TRUE, origin, image.region, 0, 0, result.data() + at, 0,
                           nullptr, nullptr),
        "clEnqueueReadImage");
}

std::vector<std::uint8_t> Loaded::run(const NvidiaKernel& tried) const {
  struct Given {
    cl_int a;
    cl_float b;
    cl_char c[8];
  };
  cl_int error = CL_SUCCESS;
  const cl_kernel kernel = clCreateKernel(program_, tried.name.c_str(), &error);
  check(error, "clCreateKernel");
  cl_mem output = nullptr;
  std::vector<Image> images;
  cl_sampler sampler = clCreateSampler(session_.context(), CL_TRUE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR, &error);
  std::vector<cl_mem> memory;
  cl_uint index = 0;
  const auto object = [&](cl_mem made) {
    memory.push_back(made);
    check(clSetKernelArg(kernel, index, sizeof made, &made), "clSetKernelArg");
    return made;
  };
  for (const char argument : tried.arguments) {
    const Given given = {7, 1.25F, {1, 2, 3, 4, 5, 6, 7, 8}};
    const cl_float4 vector = {{1, 2, 3, 4}};
    const cl_int number = 11;
    const cl_char small = -5;
    switch (argument) {
      case 'o': output = object(buffer(session_, data(Input::bits, 1))); break;
      case 's': check(clSetKernelArg(kernel, index, sizeof sampler, &sampler), "clSetKernelArg"); break;
      case 'l': check(clSetKernelArg(kernel, index, 4096, nullptr), "clSetKernelArg"); break;
      case 'S': check(clSetKernelArg(kernel, index, sizeof given, &given), "clSetKernelArg"); break;
      case 'c': check(clSetKernelArg(kernel, index, sizeof small, &small), "clSetKernelArg"); break;
      case 'v': check(clSetKernelArg(kernel, index, sizeof vector, &vector), "clSetKernelArg"); break;
      case 'n': check(clSetKernelArg(kernel, index, sizeof number, &number), "clSetKernelArg"); break;
      case 'x':
      case 'y':
      case 'z': object(buffer(session_, data(tried.input, static_cast<unsigned char>(argument)))); break;
      default: images.push_back(image(session_, argument)); object(images.back().memory);
    }
    ++index;
  }
  check(
      clEnqueueNDRangeKernel(session_.queue(), kernel, 3, tried.offset, tried.global, tried.local, 0, nullptr, nullptr),
      "clEnqueueNDRangeKernel");
  std::vector<std::uint8_t> result(kBytes);
  check(clEnqueueReadBuffer(session_.queue(), output, CL_TRUE, 0, kBytes, result.data(), 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
  for (const Image& each : images) append(result, session_, each);
  for (const cl_mem each : memory) clReleaseMemObject(each);
  clReleaseSampler(sampler);
  clReleaseKernel(kernel);
  return result;
}

// Numbers are equal when they are both none, when their bits agree, or when they are `units` in the last place apart;
// where some difference is allowed, denormal numbers count as zero.
template <typename T>
bool near(const std::uint8_t* a, const std::uint8_t* b, double units, bool flushed) {
  T x, y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  if (std::memcmp(a, b, sizeof x) == 0 || (std::isnan(x) && std::isnan(y))) return true;
  if ((flushed || units > 0) && std::abs(x - y) <= std::numeric_limits<T>::min()) return true;
  const T unit = std::nextafter(std::abs(x), std::numeric_limits<T>::infinity()) - std::abs(x);
  return std::abs(x - y) <= units * unit;
}

// The first difference, in words; empty when there is none.
std::string difference(const NvidiaKernel& kernel, const std::vector<std::uint8_t>& baked,
                       const std::vector<std::uint8_t>& driver) {
  const std::size_t step = kernel.output == Output::bytes ? 1 : kernel.output == Output::floats ? 4 : 8;
  std::size_t count = 0;
  std::string first;
  for (std::size_t at = 0; at + step <= driver.size(); at += step) {
    const std::uint8_t* a = baked.data() + at;
    const std::uint8_t* b = driver.data() + at;
    const bool equal = step == 1   ? *a == *b
                       : step == 4 ? near<float>(a, b, kernel.units, kernel.flushed)
                                   : near<double>(a, b, kernel.units, kernel.flushed);
    if (equal) continue;
    if (count++ > 0) continue;
    first = "at byte " + std::to_string(at) + ": " + std::to_string(*a) + ", the driver's " + std::to_string(*b);
    if (step == 4) {
      float x, y;
      std::memcpy(&x, a, 4);
      std::memcpy(&y, b, 4);
      char text[100];
      std::snprintf(text, sizeof text, "number %zu: %a, the driver's %a", at / 4, x, y);
      first = text;
    }
  }
  return count == 0 ? std::string() : std::to_string(count) + " differ; " + first;
}

// The first NVIDIA device for which there is machine code; null when there is none.
const Device* nvidia() {
  static const Result<std::vector<Device>> devices = selected_devices();
  if (!devices) return nullptr;
  for (const Device& device : *devices) {
    const bool is_nvidia = device.target.platform_name == "NVIDIA CUDA";
    if (is_nvidia && (std::getenv("CLBAKE_TEST_CUBINS") || bakes_for(device.target.architecture))) return &device;
  }
  return nullptr;
}

void compare(const NvidiaProgram& program, const Device& device, const Session& session) {
  const Loaded ours(session, device, baked(program, device.target.architecture));
  const Loaded drivers(session, device, program.reference.empty() ? program.text : program.reference, program.options);
  for (const NvidiaKernel& kernel : program.kernels) {
    const std::vector<std::uint8_t> a = ours.run(kernel);
    const std::vector<std::uint8_t> b = drivers.run(kernel);
    const std::string text = program.text.substr(program.text.find("void " + kernel.name + "("), 300);
    BOOST_TEST(difference(kernel, a, b) == "", program.name << "." << kernel.name << ": " << difference(kernel, a, b)
                                                            << "\n"
                                                            << text);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(ProgramsGiveTheDriversResults) {
  const Device* const device = nvidia();
  const Session session = required(Session::open(*device));
  for (const NvidiaProgram& program : nvidia_programs()) {
    std::fprintf(stderr, "%s\n", program.name.c_str());  // the last one is that with which a driver crashed
    try {
      compare(program, *device, session);
    } catch (const std::exception& error) {
      BOOST_ERROR(program.name + ": " + error.what());
    }
  }
}

int main(int argc, char** argv) {
  if (!nvidia()) {
    std::puts("skipped: no NVIDIA device with the compilers for it is here");
    return 77;
  }
  return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}
