// The peers on OpenCL: CLBlast, through its C interface (clblast_c.h), and the alternative to an epilogue, a kernel of
// its own.
#include "bench/peers/peers.hpp"
#include "bench/peers/shared_library.hpp"
#include "cli/json.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/os/files.hpp>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <algorithm>
#include <charconv>
#include <CL/opencl.hpp>

namespace clbake::tool {
namespace {

// A queue, and matrices in buffers.
class OpenClPeer : public Peer {
 public:
  bool uses_opencl() const override { return true; }
  void attach(const builder::Session* session) override { session_ = *session; }

  bool set(const Problem& problem) override {
    problem_ = problem;
    a_ = b_ = c_ = cl::Buffer();  // releases the earlier ones
    const Extents e = extents(problem);
    a_ = random_buffer(e.a);
    b_ = random_buffer(e.b);
    c_ = random_buffer(e.c);
    return true;
  }

  void run() override {
    need(builder::finish_timed(session_, [this](cl_event* event) {
      enqueue(event);
      return Status();
    }));
  }

  std::vector<unsigned char> result() const override {
    std::vector<unsigned char> c(extents(problem_).c * bytes_of(element_c(problem_.precision)));
    need_success("clEnqueueReadBuffer",
                 clEnqueueReadBuffer(queue(), c_(), CL_TRUE, 0, c.size(), c.data(), 0, nullptr, nullptr));
    return c;
  }

 protected:
  // Enqueues the product; `event`, if not null, takes the event of its end. Throws Failure.
  virtual void enqueue(cl_event* event) = 0;

  // Throws Failure, which names the peer and `call`, for anything but success.
  void need_success(const char* call, cl_int error) const {
    if (error != CL_SUCCESS)
      throw Failure(std::string(name()) + ": " + call + ": OpenCL error " + std::to_string(error));
  }

  cl::Context context() const { return cl::Context(session_.context(), true); }
  cl_command_queue queue() const { return session_.queue(); }

  // A buffer of the problem's precision.
  cl::Buffer random_buffer(std::size_t count) const {
    std::vector<unsigned char> bytes = random_matrix(element_a(problem_.precision), count);
    cl_int error = CL_SUCCESS;
    const cl::Buffer buffer(context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes.size(), bytes.data(), &error);
    need_success("clCreateBuffer", error);
    return buffer;
  }

  Problem problem_;
  cl::Buffer a_, b_, c_;

 private:
  builder::Session session_;
};

// T is float, double, cl_float2 or cl_double2.
template <typename T>
struct Routines {
  using Gemm = int (*)(int, int, int, std::size_t, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t,
                       cl_mem, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t, cl_command_queue*,
                       cl_event*);
  using Batch = int (*)(int, int, int, std::size_t, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t,
                        std::size_t, cl_mem, std::size_t, std::size_t, std::size_t, T, cl_mem, std::size_t, std::size_t,
                        std::size_t, std::size_t, cl_command_queue*, cl_event*);

  Routines(const SharedLibrary& library, const std::string& letter)
      : gemm(library["CLBlast" + letter + "gemm"]), batch(library["CLBlast" + letter + "gemmStridedBatched"]) {}

  Gemm gemm;
  Batch batch;
};

// The best parameters of one of CLBlast's kernels for GEMM.
struct TunedParameters {
  std::string kernel;
  int bits = 0;  // of the precision: 32 or 64
  std::vector<std::string> names;
  std::vector<std::size_t> values;
};

// By the beginning of "kernel_family", which ends in the number of the tuner's stage.
constexpr std::pair<const char*, const char*> kTunedKernels[] = {
    {"xgemm_direct_", "XgemmDirect"}, {"xgemm_", "Xgemm"}, {"gemm_routine", "GemmRoutine"}};

// A file that one of CLBlast's tuners wrote, with "best_parameters" as "KWG=32 MWG=64". Throws Failure.
TunedParameters read_parameters(const std::string& path) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{16} << 20;
  const Result<std::string> read =
      path == "-" ? os::read_standard_input(kMostBytes) : os::read_file_or_pipe(path, kMostBytes);
  if (!read) throw Failure(read.status().message());
  const Json json = Json::parse(*read, nullptr, false);
  const auto text = [&](const char* field) {
    if (json.is_object() && json.contains(field) && json[field].is_string()) return json[field].get<std::string>();
    throw Failure(path + ": no text '" + field + "': not the result of a tuner of CLBlast's");
  };
  TunedParameters tuned;
  const std::string family = text("kernel_family"), precision = text("precision");
  for (const auto& [prefix, kernel] : kTunedKernels) {
    if (tuned.kernel.empty() && family.rfind(prefix, 0) == 0) tuned.kernel = kernel;
  }
  if (tuned.kernel.empty()) throw Failure(path + ": kernel_family: '" + family + "' is none of GEMM's");
  if (precision != "32" && precision != "64") {
    throw Failure(path + ": precision: '" + precision + "' is neither 32 nor 64");
  }
  tuned.bits = std::stoi(precision);
  for (const std::string& part : split(text("best_parameters"), ' ')) {
    const std::size_t equals = std::min(part.find('='), part.size()), digits = equals + 1;
    std::size_t value = 0;
    const char* const end = part.data() + part.size();
    if (equals == 0 || digits >= part.size() || std::from_chars(part.data() + digits, end, value).ptr != end) {
      throw Failure(path + ": best_parameters: '" + part + "' is not NAME=NUMBER");
    }
    tuned.names.push_back(part.substr(0, equals));
    tuned.values.push_back(value);
  }
  return tuned;
}

class Clblast : public OpenClPeer {
 public:
  explicit Clblast(const std::vector<std::string>& tuned_files) {
    for (const std::string& path : tuned_files) tuned_.push_back(read_parameters(path));
  }
  const char* name() const override { return "clblast"; }

  void attach(const builder::Session* session) override {
    OpenClPeer::attach(session);
    cl_device_id device = nullptr;
    need_success("clGetCommandQueueInfo",
                 clGetCommandQueueInfo(queue(), CL_QUEUE_DEVICE, sizeof device, &device, nullptr));
    for (const TunedParameters& tuned : tuned_) {
      std::vector<const char*> names;
      for (const std::string& name : tuned.names) names.push_back(name.c_str());
      const int status =
          override_(device, tuned.kernel.c_str(), tuned.bits, names.size(), names.data(), tuned.values.data());
      if (status == 0) continue;
      throw Failure("clblast: refuses the parameters for " + tuned.kernel + " in " + std::to_string(tuned.bits) +
                    " bits: status " + std::to_string(status));
    }
  }

 private:
  void enqueue(cl_event* event) override {
    switch (problem_.precision) {
      case Precision::single_precision: return call<float>(single_, 1, event);
      case Precision::complex_single: return call<cl_float2>(complex_single_, {{1, 0}}, event);
      case Precision::complex_double: return call<cl_double2>(complex_double_, {{1, 0}}, event);
      default: return call<double>(double_, 1, event);
    }
  }

  template <typename T>
  void call(const Routines<T>& routines, const T& one, cl_event* event) const {
    const Problem& p = problem_;
    cl_command_queue to = queue();
    const int trans_a = blas_operation(p.trans_a, p.conj_a), trans_b = blas_operation(p.trans_b, p.conj_b);
    const T zero = {};
    const int status =
        p.batch == 1 ? routines.gemm(kRowMajor, trans_a, trans_b, p.m, p.n, p.k, one, a_(), 0, p.lda, b_(), 0, p.ldb,
                                     zero, c_(), 0, p.ldc, &to, event)
                     : routines.batch(kRowMajor, trans_a, trans_b, p.m, p.n, p.k, one, a_(), 0, p.lda, p.a_stride, b_(),
                                      0, p.ldb, p.b_stride, zero, c_(), 0, p.ldc, p.c_stride, p.batch, &to, event);
    if (status != 0) throw Failure("clblast: status " + std::to_string(status));
  }

  const SharedLibrary library_{{"libclblast.so.1", "libclblast.so"}};
  const Routines<float> single_{library_, "S"};
  const Routines<double> double_{library_, "D"};
  const Routines<cl_float2> complex_single_{library_, "C"};
  const Routines<cl_double2> complex_double_{library_, "Z"};
  int (*const override_)(cl_device_id, const char*, int, std::size_t, const char**,
                         const std::size_t*) = library_["CLBlastOverrideParameters"];
  std::vector<TunedParameters> tuned_;
};

// One work-item for each element of C, which is n columns wide without gaps.
constexpr const char* kSource = R"(
__kernel void epilogue(__global float* c, __global const float* bias, const int n) {
  const size_t i = get_global_id(1) * (size_t)n + get_global_id(0);
  const float x = c[i] + bias[get_global_id(0)];
  c[i] = ACTIVATION;
}
)";

// By the number of the Activation; a clamp is to 0 and 1.
constexpr const char* kExpressions[] = {"x",
                                        "fmax(x,0.0f)",
                                        "clamp(x,0.0f,1.0f)",
                                        "1/(1+exp(-x))",
                                        "x/(1+exp(-x))",
                                        "x*0.5f*erfc(x*-0.70710678f)",
                                        "x/(1+exp(-x*(1.59576912f+0.07135481f*x*x)))"};

// The product, then a kernel of its own for the bias and the activation.
class Separate : public OpenClPeer {
 public:
  explicit Separate(const Library& library) : library_(library) {}
  const char* name() const override { return "separate"; }
  bool has(Precision precision) const override { return precision == Precision::single_precision; }

  bool set(const Problem& problem) override {
    OpenClPeer::set(problem);
    Problem plain = problem;
    plain.epilogue = {};
    product_ = std::make_unique<Gemm>(need(library_.prepare(plain)));
    bias_ = random_buffer(problem.n);
    const auto activation = static_cast<std::size_t>(problem.epilogue.activation);
    cl::Program program(context(), kSource);
    const std::string options = std::string("-cl-std=CL1.2 -DACTIVATION=") + kExpressions[activation];
    need_success("clBuildProgram", program.build(options.c_str()));
    kernel_ = cl::Kernel(program, "epilogue");
    kernel_.setArg(0, c_);
    kernel_.setArg(1, bias_);
    kernel_.setArg(2, static_cast<cl_int>(problem.n));
    return true;
  }

 private:
  void enqueue(cl_event* event) override {
    need(product_->enqueue(queue(), 1, {a_()}, {b_()}, 0, {c_()}));
    const std::size_t global[] = {problem_.n, problem_.m};
    need_success("clEnqueueNDRangeKernel",
                 clEnqueueNDRangeKernel(queue(), kernel_(), 2, nullptr, global, nullptr, 0, nullptr, event));
  }

  const Library& library_;
  std::unique_ptr<Gemm> product_;
  cl::Buffer bias_;
  cl::Kernel kernel_;
};

}  // namespace

std::unique_ptr<Peer> make_clblast(const std::vector<std::string>& tuned_files) {
  return std::make_unique<Clblast>(tuned_files);
}

std::unique_ptr<Peer> make_separate(const Library& library) { return std::make_unique<Separate>(library); }

}  // namespace clbake::tool
