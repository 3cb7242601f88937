#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/reference.hpp>
#include <clbake/operand.hpp>

#include "run/mixed_host.hpp"
#include "run/random_numbers.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <sstream>
#include <variant>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

namespace clbake::builder {
namespace {

constexpr std::size_t kGuard = 64;  // guard elements after C
constexpr double kGuardValue = 12345.0;
constexpr std::size_t kCountsOffset = 3;

// A and B end with their last element, so that checkers see any access behind it; no buffer may be empty.
using Operands = std::vector<Operand>;  // of each product of a group, or of one problem
std::size_t elements(const Operands& operands, std::size_t guard) {
  std::size_t most = 1;
  for (const Operand& each : operands) most = std::max(most, std::max(each.extent(), each.offset) + guard);
  return most;
}

// A number, of a complex type in both parts.
template <typename T>
T filled(double value) {
  if constexpr (is_complex_type<T>) {
    return T(static_cast<typename T::value_type>(value), static_cast<typename T::value_type>(value));
  } else {
    return T(value);
  }
}

template <typename T>
Scalar<T> scalar_of(std::complex<double> value) {
  if constexpr (is_complex_type<T>) {
    return Scalar<T>(value);
  } else {
    return static_cast<Scalar<T>>(value.real());
  }
}

// Uniform in [-1, 1), complex numbers in each part. Plain scaling of the generator's bits: the standard's distributions
// differ from library to library.
template <typename T>
const std::vector<T>& random_numbers(Ring ring) {
  static const auto draw_ring = [](Ring of) {
    std::mt19937 random(std::mt19937::default_seed + of);
    const auto draw = [&] { return (static_cast<double>(random()) - 2147483648.0) / 2147483648.0; };
    std::vector<T> numbers(kRandomNumbers);
    for (T& number : numbers) {
      number = filled<T>(draw());
      if constexpr (is_complex_type<T>) number.imag(static_cast<typename T::value_type>(draw()));
    }
    return numbers;
  };
  static const std::vector<T> drawn[] = {draw_ring(of_a), draw_ring(of_others)};
  return drawn[ring];
}

// `outside` everywhere but in the matrices themselves, which are random (or `inside`, when that is given).
template <typename T>
std::vector<T> make_matrix(Ring ring, const Operands& operands, T outside, const T* inside, std::mt19937& random,
                           std::size_t guard = 0) {
  std::vector<T> data(elements(operands, guard), outside);
  std::size_t next = random() % kRandomNumbers;
  for (const Operand& operand : operands) {
    operand.for_each_row([&](std::size_t at) {
      if (inside) std::fill_n(&data[at], operand.cols, *inside);
      if (!inside) repeat(random_numbers<T>(ring), next, operand.cols, &data[at]);
    });
  }
  return data;
}

// True when everything between and after the rows of the matrices is unchanged. Compares bytes, as a NaN must not pass
// for a guard value.
template <typename T>
bool guards_intact(const Operands& operands, const std::vector<T>& before, const std::vector<T>& after) {
  std::vector<std::pair<std::size_t, std::size_t>> rows;  // first element, one behind the last
  for (const Operand& operand : operands) {
    operand.for_each_row([&](std::size_t at) { rows.emplace_back(at, at + operand.cols); });
  }
  std::sort(rows.begin(), rows.end());  // products of a batch lie in any order
  rows.emplace_back(before.size(), before.size());
  std::size_t gap = 0;
  for (const auto& [row, end] : rows) {
    if (row > gap && std::memcmp(&before[gap], &after[gap], (row - gap) * sizeof(T)) != 0) return false;
    gap = end;
  }
  return true;
}

std::vector<std::size_t> rows_to_check(const Problem& p, std::uint64_t multiplications, std::mt19937& random) {
  if (p.n == 0) return {};
  std::vector<std::size_t> rows(p.m);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const std::size_t work_per_row = std::max<std::size_t>(1, p.n * std::max<std::size_t>(1, p.k));
  const std::size_t limit = std::max<std::size_t>(4, multiplications / work_per_row);
  if (rows.size() <= limit) return rows;
  std::shuffle(rows.begin() + 1, rows.end() - 1, random);  // first and last row stay in
  std::swap(rows[1], rows.back());
  rows.resize(limit);
  return rows;
}

}  // namespace

template <typename T>
struct Host {
  std::vector<T> a;
  std::vector<T> b;
  std::vector<T> c;
  std::vector<T> d;
  std::vector<T> bias;
};

struct GemmRun::State {
  std::vector<Problem> products;  // of a group; else one problem
  Problem problem;                // the first
  GemmRunOptions options;
  std::variant<Host<Half>, Host<Bfloat16>, Host<float>, Host<double>, Host<std::complex<float>>,
               Host<std::complex<double>>, MixedHost>
      host;
  Session session;
  cl::Buffer a;
  cl::Buffer b;
  cl::Buffer c;
  cl::Buffer d;
  cl::Buffer bias;
  cl::Buffer row_scales;
  cl::Buffer column_scales;
  cl::Buffer counts;
  std::mt19937 random;
  bool cuts_sums = false;  // the kernel of the last call does: tolerance()

  cl::CommandQueue queue() const { return cl::CommandQueue(session.queue(), true); }
  Status enqueue(Gemm& gemm, cl_event* event);
  Status enqueue(GemmGroup& group, cl_event* event) const;
  template <typename Product>  // a Gemm or a GemmGroup
  Result<double> run(Product& product);
  template <typename Product>
  Result<double> time(Product& product);

  Operands places(Operand (*of)(const Problem&, std::size_t), std::size_t offset) const {
    Operands all;
    for (const Problem& product : products) all.push_back(of(product, offset));
    return all;
  }
  Operands place_a() const { return places(operand_a, options.a_offset); }
  Operands place_b() const { return places(operand_b, options.b_offset); }
  Operands place_c() const { return places(operand_c, options.c_offset); }
  Operands place_d() const { return places(operand_d, options.d_offset); }
  Operands place_bias() const {
    Operands all;
    std::size_t at = options.bias_offset;
    for (const Problem& product : products) {
      all.push_back(operand_bias(product, at));
      at +=
          !options.counts.empty() && product.epilogue.bias == Bias::per_row ? product.m : product.epilogue.bias_stride;
    }
    return all;
  }

  template <typename T>
  void fill() {
    const T nan = filled<T>(std::numeric_limits<double>::quiet_NaN());
    Host<T> h;
    const Operands in_c = place_c();
    h.a = make_matrix<T>(of_a, place_a(), nan, nullptr, random, options.behind);
    h.b = make_matrix<T>(of_others, place_b(), nan, nullptr, random);
    h.c = make_matrix<T>(of_others, in_c, filled<T>(kGuardValue),
                         options.each.empty() && options.beta == 0.0 ? &nan : nullptr, random, kGuard + options.behind);
    h.d = make_matrix<T>(of_others, place_d(), nan, options.beta == 0.0 ? &nan : nullptr, random, options.behind);
    h.bias = make_matrix<T>(of_others, place_bias(), nan, nullptr, random, options.behind);
    for (std::size_t i = 0; i < options.each.size() && i < problem.batch; ++i) {
      if (options.each[i].beta != 0.0) continue;  // its C may hold NaN, whatever those of the others hold
      for (std::size_t row = 0; row < in_c[0].rows; ++row) {
        std::fill_n(h.c.begin() + static_cast<std::ptrdiff_t>(in_c[0].start(i) + row * in_c[0].ld), in_c[0].cols, nan);
      }
    }
    const Operand in_a = place_a()[0];
    for (std::size_t i = 0; options.infinite_a && !in_a.empty() && i < problem.batch; ++i) {
      h.a[in_a.start(i)] = T(std::numeric_limits<double>::infinity());
    }
    host = std::move(h);
  }

  template <typename Matrices>
  Status upload(const cl::Context& context, const Matrices& h) {
    const auto make = [&](cl::Buffer& buffer, cl_mem_flags flags, const auto& data) {
      cl_int error = CL_SUCCESS;
      const std::size_t bytes = data.size() * sizeof data[0];
      buffer = cl::Buffer(context, flags, bytes, nullptr, &error);
      if (error == CL_SUCCESS) error = queue().enqueueWriteBuffer(buffer, CL_TRUE, 0, bytes, data.data());
      return error;
    };
    cl_int error = make(a, CL_MEM_READ_ONLY, h.a);
    if (error == CL_SUCCESS) error = make(b, CL_MEM_READ_ONLY, h.b);
    if (error == CL_SUCCESS) error = make(c, CL_MEM_READ_WRITE, h.c);
    if (error == CL_SUCCESS && problem.epilogue.has_d) error = make(d, CL_MEM_READ_ONLY, h.d);
    if (error == CL_SUCCESS && problem.epilogue.bias != Bias::none) error = make(bias, CL_MEM_READ_ONLY, h.bias);
    std::vector<std::int32_t> rows(kCountsOffset, 1);
    rows.insert(rows.end(), options.counts.begin(), options.counts.end());
    if (error == CL_SUCCESS && !options.counts.empty()) error = make(counts, CL_MEM_READ_ONLY, rows);
    if constexpr (std::is_same_v<Matrices, MixedHost>) {
      if (error == CL_SUCCESS) error = make(row_scales, CL_MEM_READ_ONLY, h.row_scales);
      if (error == CL_SUCCESS) error = make(column_scales, CL_MEM_READ_ONLY, h.column_scales);
    }
    if (error == CL_SUCCESS) return {};
    return {Code::out_of_memory,
            "the device has no room for the matrices (OpenCL error " + std::to_string(error) + ")"};
  }

  // True when every element of C was written, in unchecked rows too: C starts as NaN when beta = 0.
  template <typename T>
  bool all_written(const std::vector<T>& result) const {
    if (!options.each.empty() || options.beta != 0.0 || options.alpha != 1.0 || options.infinite_a) return true;
    bool written = true;
    for (const Operand& in_c : place_c()) {
      in_c.for_each_row([&](std::size_t at) {
        // Only NaN differs from itself.
        for (std::size_t j = 0; j < in_c.cols; ++j) written &= wide(result[at + j]) == wide(result[at + j]);
      });
    }
    return written;
  }

  Result<Check> check_against(const MixedHost& h) const {
    std::vector<std::uint8_t> result(h.c.size());
    const cl_int error = queue().enqueueReadBuffer(c, CL_TRUE, 0, result.size(), result.data());
    if (error != CL_SUCCESS) return {Code::opencl, "clEnqueueReadBuffer: OpenCL error " + std::to_string(error)};
    std::mt19937 sample(options.seed);
    Check check;
    check.tolerance = tolerance(problem, cuts_sums);
    check.guards_intact = guards_intact(h, problem, options, result);
    for (std::size_t i = 0; i < problem.batch; ++i) {
      const std::vector<std::size_t> rows = rows_to_check(problem, options.check_limit, sample);
      check.rows_checked += rows.size();
      check.max_error = std::max(check.max_error, builder::max_error(h, problem, options, i, result, rows));
    }
    return check;
  }

  template <typename T>
  Result<Check> check_against(const Host<T>& h) const {
    std::vector<T> result(h.c.size());
    const cl_int error = queue().enqueueReadBuffer(c, CL_TRUE, 0, result.size() * sizeof(T), result.data());
    if (error != CL_SUCCESS) return {Code::opencl, "clEnqueueReadBuffer: OpenCL error " + std::to_string(error)};
    std::mt19937 sample(options.seed);
    Check worst;
    worst.tolerance = tolerance(problem);
    worst.guards_intact = guards_intact(place_c(), h.c, result);
    for (std::size_t number = 0; number < products.size(); ++number) {
      const Check check = check_product(h, result, number, sample);
      worst.rows_checked += check.rows_checked;
      if (check.max_error / check.tolerance <= worst.max_error / worst.tolerance) continue;
      worst.max_error = check.max_error;
      worst.tolerance = check.tolerance;
    }
    if (!all_written(result)) worst.max_error = std::numeric_limits<double>::infinity();
    return worst;
  }

  template <typename T>
  Check check_product(const Host<T>& h, const std::vector<T>& result, std::size_t number, std::mt19937& sample) const {
    const Problem& product = products[number];
    const Operand in_a = place_a()[number], in_b = place_b()[number], in_c = place_c()[number],
                  in_d = place_d()[number], in_bias = place_bias()[number];
    Check check;
    check.tolerance = tolerance(product);
    for (std::size_t i = 0; i < product.batch; ++i) {
      const std::vector<std::size_t> rows = rows_to_check(product, options.check_limit, sample);
      const HostOperands<T> operands{product,
                                     scalar_of<T>(options.each.empty() ? options.alpha : options.each[i].alpha),
                                     scalar_of<T>(options.each.empty() ? options.beta : options.each[i].beta),
                                     h.a,
                                     in_a.start(i),
                                     h.b,
                                     in_b.start(i),
                                     h.c,
                                     in_c.start(i),
                                     &h.d,
                                     in_d.start(i),
                                     &h.bias,
                                     in_bias.start(i)};
      check.rows_checked += rows.size();
      check.max_error = std::max(check.max_error, max_error(operands, result, rows));
    }
    return check;
  }
};

namespace {

// The device's own limits, before the host allocates anything.
Status check_memory(const Device& device, const std::vector<Problem>& products, const GemmRunOptions& o) {
  const Problem& p = products[0];
  Extents e;
  double places = 0;
  for (std::size_t i = 0; i < products.size(); ++i) {
    const Extents each = extents(products[i]);
    for (std::size_t Extents::*of : {&Extents::a, &Extents::b, &Extents::c, &Extents::d}) {
      e.*of = std::max(e.*of, each.*of);
    }
    e.bias = std::max(e.bias, i * std::max(p.epilogue.bias_stride, p.m) + each.bias);
    places += 8.0 * static_cast<double>(products[i].batch) * (3 + static_cast<double>(products[i].m));
  }
  const cl::Device d(device.id, true);
  const double largest = static_cast<double>(d.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>());
  const double total = static_cast<double>(d.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>());
  double sum = 0;
  const std::uint32_t a = bytes_of(element_a(p.precision)), b = bytes_of(element_b(p.precision)),
                      c = bytes_of(element_c(p.precision)),
                      vector = is_mixed(p.precision) && !has_weights(p.precision) ? 4 : c;
  const std::pair<std::size_t, std::uint32_t> buffers[] = {{o.a_offset + e.a, a},
                                                           {o.b_offset + e.b, b},
                                                           {o.c_offset + e.c + kGuard, c},
                                                           {o.d_offset + e.d, c},
                                                           {o.bias_offset + e.bias, vector}};
  for (const auto& [elements, each] : buffers) {
    const double bytes = static_cast<double>(elements) * each;
    sum += bytes;
    if (bytes > largest) {
      return {Code::out_of_memory, "a matrix of " + std::to_string(static_cast<std::uint64_t>(bytes)) +
                                       " bytes is more than the device's largest buffer of " +
                                       std::to_string(static_cast<std::uint64_t>(largest))};
    }
  }
  // A CPU device shares the host's memory, where copies of the matrices, for the check a second copy of C, and the
  // positions of products and rows are kept.
  const bool host_shares = device.type == kernels::DeviceType::cpu;
  if (sum * (host_shares ? 2.5 : 1.0) + (host_shares ? places : 0) <= total) return {};
  return {Code::out_of_memory, "matrices of " + std::to_string(static_cast<std::uint64_t>(sum)) +
                                   " bytes in total are too much for the device's memory of " +
                                   std::to_string(static_cast<std::uint64_t>(total))};
}

// How long `call` takes, if it succeeds.
template <typename Call>
Result<double> microseconds(const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  const Status status = call();
  const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - start;
  if (!status) return status;
  return elapsed.count();
}

}  // namespace

GemmRun::GemmRun(std::unique_ptr<State> state) : state_(std::move(state)) {}
GemmRun::GemmRun(GemmRun&&) noexcept = default;
GemmRun::~GemmRun() = default;

Result<GemmRun> GemmRun::create(const Session& session, const Device& device, const Problem& problem,
                                const GemmRunOptions& options) {
  return create(session, device, std::vector<Problem>{problem}, options);
}

Result<GemmRun> GemmRun::create(const Session& session, const Device& device, const std::vector<Problem>& products,
                                const GemmRunOptions& options) {
  for (const Problem& product : products) {
    const Status possible = clbake::check(product);
    if (!possible) return possible;
  }
  const Problem& problem = products.front();
  if (is_mixed(problem.precision) && products.size() > 1) {
    return {Code::invalid_argument, "a group of mixed products is not checked"};
  }
  auto s = std::make_unique<State>();
  s->options = options;
  s->random.seed(options.seed);
  s->products = products;
  s->problem = problem;
  Status status = check_memory(device, products, options);
  if (!status) return status;
  s->session = session;
  const cl::Context context(session.context(), true);
  switch (problem.precision) {
    case Precision::half_precision: s->fill<Half>(); break;
    case Precision::bfloat16: s->fill<Bfloat16>(); break;
    case Precision::single_precision: s->fill<float>(); break;
    case Precision::double_precision: s->fill<double>(); break;
    case Precision::complex_single: s->fill<std::complex<float>>(); break;
    case Precision::complex_double: s->fill<std::complex<double>>(); break;
    default: s->host = make_mixed(problem, options, kGuard, s->random);
  }
  status = std::visit([&](const auto& host) { return s->upload(context, host); }, s->host);
  if (!status) return status;
  return GemmRun(std::move(s));
}

Status GemmRun::State::enqueue(Gemm& gemm, cl_event* event) {
  cuts_sums = gemm.explanation().variant.rfind(name(kernels::Family::warpgroup_tile), 0) == 0;
  const Matrix a_matrix{a(), options.a_offset};
  const Matrix b_matrix{b(), options.b_offset};
  const Matrix c_matrix{c(), options.c_offset};
  const EpilogueBuffers more{{bias(), options.bias_offset}, {d(), options.d_offset}, {row_scales()}, {column_scales()}};
  return options.each.empty()
             ? gemm.enqueue(session.queue(), options.alpha, a_matrix, b_matrix, options.beta, c_matrix, more, 0,
                            nullptr, event)
             : gemm.enqueue(session.queue(), options.each, a_matrix, b_matrix, c_matrix, more, 0, nullptr, event);
}

Status GemmRun::State::enqueue(GemmGroup& group, cl_event* event) const {
  return group.enqueue(session.queue(), options.alpha, {a(), options.a_offset}, {b(), options.b_offset}, options.beta,
                       {c(), options.c_offset},
                       {{{bias(), options.bias_offset}, {d(), options.d_offset}}, {counts(), kCountsOffset}}, 0,
                       nullptr, event);
}

template <typename Product>
Result<double> GemmRun::State::run(Product& product) {
  return microseconds([&] {
    cl_event event = nullptr;
    const Status status = enqueue(product, &event);
    return status ? finish(session.queue(), event) : status;
  });
}

template <typename Product>
Result<double> GemmRun::State::time(Product& product) {
  return microseconds([&] { return finish_timed(session, [&](cl_event* event) { return enqueue(product, event); }); });
}

Result<double> GemmRun::run(Gemm& gemm) { return state_->run(gemm); }
Result<double> GemmRun::run(GemmGroup& group) { return state_->run(group); }
Result<double> GemmRun::time(Gemm& gemm) { return state_->time(gemm); }
Result<double> GemmRun::time(GemmGroup& group) { return state_->time(group); }

std::array<cl_mem, 3> GemmRun::buffers() const { return {state_->a(), state_->b(), state_->c()}; }

Status GemmRun::reset() {
  State& s = *state_;
  const cl_int error = std::visit(
      [&](const auto& host) {
        return s.queue().enqueueWriteBuffer(s.c, CL_TRUE, 0, host.c.size() * sizeof host.c[0], host.c.data());
      },
      s.host);
  return error == CL_SUCCESS ? Status() : Status(Code::opencl, "clEnqueueWriteBuffer: " + std::to_string(error));
}

Result<Check> GemmRun::check() const {
  return std::visit([&](const auto& host) { return state_->check_against(host); }, state_->host);
}

Status Check::status(const std::string& problem) const {
  if (ok()) return {};
  std::ostringstream text;
  text << "wrong result at " << problem << ": error " << max_error << ", tolerance " << tolerance
       << (guards_intact ? "" : ", wrote outside C");
  return {Code::wrong_result, text.str()};
}

Status finish(cl_command_queue queue, cl_event event) {
  const cl::Event last(event);
  cl_int error = clFinish(queue);
  if (error == CL_SUCCESS && event) error = last.wait();
  return error == CL_SUCCESS ? Status() : Status(Code::opencl, "clFinish: OpenCL error " + std::to_string(error));
}

Status finish_timed(const Session& session, const std::function<Status(cl_event*)>& enqueue) {
  cl_event event = nullptr;
  const Status status = enqueue(session.finish_waits() ? nullptr : &event);
  const Status end = finish(session.queue(), event);
  return status ? end : status;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Problem tight_problem(Precision precision, std::size_t m, std::size_t n, std::size_t k, bool trans_a, bool trans_b,
                      Layout layout) {
  return make_problem({precision, trans_a, trans_b}, m, n, depth_for(precision, k), layout);
}

}  // namespace clbake::builder
