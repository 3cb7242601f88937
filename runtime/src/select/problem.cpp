#include <clbake/choice.hpp>
#include <clbake/exceptions_to_status.hpp>
#include <clbake/joined.hpp>
#include <clbake/operand.hpp>

#include <algorithm>
#include <climits>
#include <cmath>

namespace clbake {
namespace {

Status at_most(Argument argument, const char* field, std::size_t value, std::size_t most, const char* meaning) {
  if (value <= most) return {};
  return {argument, joined({field, " = ", value, " is more than ", most, meaning})};
}

// Kernels count sizes in an int; in a complex problem they count both reals of an element.
Status check_size(Argument argument, const char* field, std::size_t value, const Problem& p) {
  const Status any = at_most(argument, field, value, INT_MAX, ", the largest size that a kernel can handle");
  if (!any || !is_complex(p.precision)) return any;
  return at_most(argument, field, value, INT_MAX / 2, ", the largest size of complex problems");
}

Status check_leading_dimension(Argument argument, const char* field, std::size_t value, std::size_t least,
                               const Problem& p) {
  if (Status possible = check_size(argument, field, value, p); !possible) return possible;
  if (value >= least) return {};
  return {argument, joined({field, " = ", value, " is less than ", least, ", the length of a stored row or column"})};
}

// Distances of matrices are limited so that sums of them with a matrix's extent do not overflow.
constexpr std::size_t kMaxDistance = std::size_t{1} << 62;

Status check_distance(Argument argument, const char* field, std::size_t value, std::size_t most = kMaxDistance) {
  return at_most(argument, field, value, most, " elements, the largest distance that can be addressed");
}

Status check_batch(const Problem& p) {
  Status status = at_most(Argument::batch, "batch", p.batch, INT_MAX, ", the largest size that a kernel can handle");
  if (!status) return status;
  if (p.offsets.empty()) {
    if (p.batch <= 1) return {};
    if (p.c_stride == 0) return {Argument::c_stride, "c_stride = 0: all products would write to the same C"};
    const std::size_t most = kMaxDistance / p.batch;
    status = check_distance(Argument::a_stride, "a_stride", p.a_stride, most);
    if (status) status = check_distance(Argument::b_stride, "b_stride", p.b_stride, most);
    return status ? check_distance(Argument::c_stride, "c_stride", p.c_stride, most) : status;
  }
  if (p.offsets.size() != p.batch) {
    return {Argument::offsets, joined({"offsets has ", p.offsets.size(), " members, batch is ", p.batch})};
  }
  for (const BatchOffsets& product : p.offsets) {
    status = check_distance(Argument::offsets, "an offset", std::max({product.a, product.b, product.c}));
    if (!status) break;
  }
  return status;
}

Status check_epilogue(const Problem& p) {
  const Epilogue& e = p.epilogue;
  if (e.bias != Bias::none && e.bias != Bias::per_row && e.bias != Bias::per_column) {
    return {Argument::bias, "bias is neither none, per row nor per column"};
  }
  const std::size_t most = kMaxDistance / std::max<std::size_t>(p.batch, 1);
  Status status = check_distance(Argument::bias_stride, "bias_stride", e.bias_stride, most);
  if (!status) return status;
  if (e.activation < Activation::none || e.activation > Activation::gelu_tanh) {
    return {Argument::activation, "activation is none that is known"};
  }
  if (e.activation == Activation::clamp && !(e.low <= e.high)) {
    return {Argument::bounds,
            joined({"clamp: low = ", std::to_string(e.low), " is not at most high = ", std::to_string(e.high)})};
  }
  if (!e.has_d) return {};
  const Problem tight = make_problem(p.kind(), p.m, p.n, p.k, p.layout);
  status = check_leading_dimension(Argument::ldd, "ldd", e.ldd, tight.ldc, p);
  return status ? check_distance(Argument::d_stride, "d_stride", e.d_stride, most) : status;
}

Status check_whole_epilogue(const Problem& p) {
  const Epilogue& e = p.epilogue;
  if (element_c(p.precision) != Element::int32) return {};
  if (e.activation > Activation::clamp) return {Argument::activation, "activation: an int32 C has none, relu or clamp"};
  if (e.activation != Activation::clamp || (e.low == std::floor(e.low) && e.high == std::floor(e.high))) return {};
  return {Argument::bounds, "clamp: the bounds of an int32 C are whole numbers"};
}

Status check_zero(const char* name, int zero, Element element) {
  const bool is_unsigned = element == Element::uint8;
  const bool is_integer = is_unsigned || element == Element::int8;
  if (zero == 0 || (is_integer && zero >= (is_unsigned ? 0 : -128) && zero <= (is_unsigned ? 255 : 127))) return {};
  return {Argument::quantization, joined({name, " = ", std::to_string(zero), " is no ", clbake::name(element),
                                          is_integer ? "" : ", which has no zero point"})};
}

Status check_quantization(const Problem& p) {
  const Quantization& q = p.quantization;
  if (q.row_scales || q.column_scales) {
    if (!is_mixed(p.precision)) return {Argument::quantization, "scales: the product is not mixed"};
    if (element_c(p.precision) == Element::int32) {
      return {Argument::quantization, "scales: an int32 C has none, its sums stay whole"};
    }
  }
  if (q.weight_zeros) return {Argument::quantization, "weight_zeros: no operand is packed weights"};
  const std::size_t most = kMaxDistance / std::max<std::size_t>(p.batch, 1);
  Status status = check_distance(Argument::quantization, "row_scale_stride", q.row_scale_stride, most);
  if (status) status = check_distance(Argument::quantization, "column_scale_stride", q.column_scale_stride, most);
  if (status) status = check_zero("zero_a", q.zero_a, element_a(p.precision));
  if (status) status = check_zero("zero_b", q.zero_b, element_b(p.precision));
  return status ? check_zero("zero_c", q.zero_c, element_c(p.precision)) : status;
}

// `p` is row-major: B is packed weights.
Status check_weights(const Problem& p) {
  const Quantization& q = p.quantization;
  const auto refused = [](auto&&... why) { return Status(Argument::quantization, joined({why...})); };
  if (p.trans_b) return refused("packed weights are not transposed");
  if (q.row_scales || q.column_scales) return refused("scales: packed weights have their own");
  if (q.zero_a != 0 || q.zero_b != 0 || q.zero_c != 0) return refused("zero points: packed weights have their own");
  if (!is_weight_group(q.weight_group)) return refused("weight_group = ", q.weight_group, " is not 32, 64 or 128");
  if (p.k % q.weight_group != 0) return refused("k = ", p.k, " is no multiple of weight_group = ", q.weight_group);
  const auto is_aligned = [](std::size_t bytes) { return bytes % kWeightAlignment == 0; };
  if (p.offsets.empty() && p.batch > 1 && !is_aligned(p.b_stride)) {
    return refused("packed weights: a stride of ", p.b_stride, " bytes is no multiple of 16");
  }
  for (const BatchOffsets& product : p.offsets) {
    if (!is_aligned(product.b)) return refused("packed weights: an offset of ", product.b, " is no multiple of 16");
  }
  return {};
}

Status check_complex(const Problem& p) {
  if (!is_complex(p.precision)) {
    if (p.conj_a) return {Argument::conj_a, "conj_a: the problem is not complex"};
    return p.conj_b ? Status(Argument::conj_b, "conj_b: the problem is not complex") : Status();
  }
  const Epilogue& e = p.epilogue;
  if (e.bias != Bias::none) return {Argument::bias, "bias: complex problems have no epilogue"};
  if (e.activation != Activation::none) return {Argument::activation, "activation: complex problems have no epilogue"};
  return e.has_d ? Status(Argument::ldd, "has_d: complex problems have no epilogue") : Status();
}

// True for the mixed precision of a column-major problem.
bool known_exchanged(Precision p) {
  const Precision row_major = mixed(element_b(p), element_a(p), element_c(p));
  return std::find(mixed_precisions.begin(), mixed_precisions.end(), row_major) != mixed_precisions.end();
}

Status check_problem(const Problem& p) {
  const auto known = [&](const auto& list) {
    return std::find(std::begin(list), std::end(list), p.precision) != std::end(list);
  };
  const bool column_major = p.layout == Layout::column_major;
  const bool is_known = known(all_precisions) || known(complex_precisions) || known(mixed_precisions);
  if (column_major && is_mixed(p.precision) ? !known_exchanged(p.precision) : !is_known) {
    return {Argument::precision, joined({"precision is none of ", precision_names})};
  }
  if (p.layout != Layout::row_major && p.layout != Layout::column_major) {
    return {Argument::layout, "layout is neither row-major nor column-major"};
  }
  Status status = check_size(Argument::m, "m", p.m, p);
  if (status) status = check_size(Argument::n, "n", p.n, p);
  if (status) status = check_size(Argument::k, "k", p.k, p);
  if (!status) return status;
  const Problem tight = make_problem(p.kind(), p.m, p.n, p.k, p.layout);
  status = check_leading_dimension(Argument::lda, "lda", p.lda, tight.lda, p);
  if (status) status = check_leading_dimension(Argument::ldb, "ldb", p.ldb, tight.ldb, p);
  if (status) status = check_leading_dimension(Argument::ldc, "ldc", p.ldc, tight.ldc, p);
  if (status) status = check_batch(p);
  if (status) status = check_complex(p);
  if (status) status = check_epilogue(p);
  if (status) status = check_whole_epilogue(p);
  if (!status) return status;
  return has_weights(p.precision) ? check_weights(row_major(p)) : check_quantization(p);
}

}  // namespace

Problem make_problem(const GemmKind& kind, std::size_t m, std::size_t n, std::size_t k, Layout layout) {
  Problem p;
  p.kind() = kind;
  p.layout = layout;
  p.m = m;
  p.n = n;
  p.k = k;
  // A stored row of A holds k elements (m when transposed); column-major exchanges the two.
  const bool column_major = layout == Layout::column_major;
  const auto at_least_one = [](std::size_t length) { return length > 0 ? length : 1; };
  p.lda = at_least_one(p.trans_a != column_major ? m : k);
  p.ldb = at_least_one(p.trans_b != column_major ? k : n);
  p.ldc = at_least_one(column_major ? m : n);
  if (is_weights(element_a(p.precision))) p.lda = 1;
  if (is_weights(element_b(p.precision))) p.ldb = 1;
  return p;
}

Problem row_major(const Problem& problem) {
  if (problem.layout == Layout::row_major) return problem;
  Problem p = problem;
  p.layout = Layout::row_major;
  p.trans_a = problem.trans_b;
  p.trans_b = problem.trans_a;
  p.conj_a = problem.conj_b;
  p.conj_b = problem.conj_a;
  p.m = problem.n;
  p.n = problem.m;
  p.lda = problem.ldb;
  p.ldb = problem.lda;
  p.a_stride = problem.b_stride;
  p.b_stride = problem.a_stride;
  for (BatchOffsets& product : p.offsets) std::swap(product.a, product.b);
  if (problem.epilogue.bias == Bias::per_row) p.epilogue.bias = Bias::per_column;
  if (problem.epilogue.bias == Bias::per_column) p.epilogue.bias = Bias::per_row;
  const Quantization& q = problem.quantization;
  p.quantization = {q.column_scales, q.row_scales, q.column_scale_stride, q.row_scale_stride, q.zero_b,
                    q.zero_a,        q.zero_c,     q.weight_group,        q.weight_zeros};
  if (is_mixed(problem.precision)) {
    p.precision = mixed(element_b(problem.precision), element_a(problem.precision), element_c(problem.precision));
  }
  return p;
}

bool read_otherwise(Problem& p) {
  if (has_weights(p.precision)) return false;
  const auto turn = [&](bool& transposed, std::size_t& ld, bool along_k) {
    transposed = !transposed;
    ld = along_k ? std::max<std::size_t>(p.k, 1) : 1;
    return true;
  };
  if (p.m == 1 && (!p.trans_a || p.lda == 1)) return turn(p.trans_a, p.lda, p.trans_a);
  return p.n == 1 && (p.trans_b || p.ldb == 1) && turn(p.trans_b, p.ldb, !p.trans_b);
}

bool copies_a(const Problem& complex) { return complex.trans_a || complex.conj_a; }

Problem real_product(const Problem& problem) {
  if (!is_complex(problem.precision)) return problem;
  // Rows of copies begin at multiples of this many reals.
  constexpr std::size_t aligned = 16;
  const auto padded = [](std::size_t reals) {
    return std::max((reals + aligned - 1) / aligned, std::size_t{1}) * aligned;
  };
  Problem p = make_problem({real_precision(problem.precision), problem.trans_a, problem.trans_b}, problem.m,
                           2 * problem.n, 2 * problem.k);
  p.lda = copies_a(problem) ? padded(p.lda) : 2 * problem.lda;
  p.ldb = padded(p.ldb);
  p.ldc = 2 * problem.ldc;
  p.batch = problem.batch;
  p.a_stride = copies_a(problem) ? (p.trans_a ? p.k : p.m) * p.lda : 2 * problem.a_stride;
  p.b_stride = (p.trans_b ? p.n : p.k) * p.ldb;
  p.c_stride = 2 * problem.c_stride;
  return p;
}

Status check(const Problem& p) {
  return exceptions_to_status([&] { return check_problem(p); });
}

int version() { return CLBAKE_VERSION_NUMBER; }

const char* name(Origin origin) {
  switch (origin) {
    case Origin::native: return "native";
    case Origin::portable: return "portable";
    case Origin::overlay: return "overlay";
    case Origin::source: break;
  }
  return "source";
}

Extents extents(const Problem& p) {
  return {operand_a(p).extent(),
          operand_b(p).extent(),
          operand_c(p).extent(),
          operand_d(p).extent(),
          operand_bias(p).extent(),
          operand_row_scales(p).extent(),
          operand_column_scales(p).extent()};
}

}  // namespace clbake
