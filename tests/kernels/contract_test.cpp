// The kernel contract (kernels/KERNELS.md): tests/reference.cl and variants of every family, launched with equal
// arguments as that page says, must leave equal numbers in C and everything around it as it was. Matrices and scalars
// are small integers, so every sum is exact in any precision and order. The reference itself is checked against a loop
// on the host.
#include "contract_launch.hpp"
#include "driver_main.hpp"
#include "reference_kernel.hpp"

#include <clbake/kernels/constraints.hpp>

#include <cmath>
#include <cstring>
#include <random>
#include <variant>

using namespace clbake;
using namespace clbake::builder;
using namespace clbake::tests;
using kernels::Params;

namespace {

// Never released: some drivers fail when objects go after main, and Intel's queue does not keep its context alive.
const cl::CommandQueue& queue() {
  static const auto* const session = new Result<Session>(Session::open(devices()->front()));
  if (!*session) throw std::runtime_error(session->status().message());
  static const auto* const opened = new cl::CommandQueue((*session)->queue(), true);
  return *opened;
}

Built build(const kernels::Kernel& kernel, const Params& params) {
  cl_int error = CL_SUCCESS;
  const cl::Program program(queue().getInfo<CL_QUEUE_CONTEXT>(), kernel.source, false, &error);
  require(error, "clCreateProgramWithSource");
  const cl::Device device(devices()->front().id, true);
  if (program.build({device}, kernel.build_options.c_str()) != CL_SUCCESS) {
    throw std::runtime_error(kernel.name + ": " + program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device));
  }
  return {kernel, params, program};
}

Built build_reference(Precision precision, bool trans_a, bool trans_b) {
  Params p;
  p.precision = precision;
  p.trans_a = trans_a;
  p.trans_b = trans_b;
  return build(reference_kernel(precision, trans_a, trans_b), p);
}

// A variant and the reference of its precision and transposes.
struct Pair {
  Built variant;
  Built reference;
};

// Every family, kind of launch, precision and transpose; as far as the device can run them.
const std::vector<Pair>& pairs() {
  static const auto* const built = [] {
    auto* const all = new std::vector<Pair>;
    // Those that are no stripes are points of matrix_test.cpp, too: a driver's cache then has them.
    for (const char* name :
         {"direct-s-nt-6x8x1-3x4x2-v4", "direct-d-nn-4x4x1-2x4x1-v4-split3", "direct-h-tn-1x8x16-1x1x4-v1",
          "direct-b-tt-8x1x4-2x1x8-v1-split3", "register_tile-s-nn-15x16x12-5x8x2-v4",
          "register_tile-d-tt-15x16x12-5x8x2-v4", "register_tile-h-tn-8x8x16-4x8x1-v8-split2",
          "register_tile-b-nt-8x8x16-4x8x1-v8-split2", "local_tile-d-nt-12x24x8-3x6x2-v1-noprefetch",
          "local_tile-s-nt-16x32x8-4x4x4-v4-split2-buffers2-load4-padding4-mapzigzag-fragments2",
          "local_tile-h-tn-16x32x8-4x4x8-v2-apad-bcbl-buffers2-noprefetch-load2-mapblocked",
          "local_tile-b-tt-16x16x4-1x4x3-v2-arbl-brbl-padding2",
          "local_tile-b-nn-16x32x8-4x4x4-v4-split0-buffers2-load4-padding4-mapzigzag-fragments2",
          "local_tile-h-tt-12x16x4-3x4x2-v2-arbl-bpad-split0-noprefetch-mapblocked-shares2",
          "stripe-s-tn-16x16x8-4x4x2-v2-alocal", "stripe-b-tt-16x16x8-4x4x2-v2-aimage-bcbl",
          "stripe-d-nt-16x16x8-4x4x2-v2-aimage-bimage"}) {
      const Params p = std::get<Params>(kernels::parse(name));
      if (!kernels::admits(devices()->front().limits, p)) continue;
      all->push_back({build(kernels::generate(p), p), build_reference(p.precision, p.trans_a, p.trans_b)});
    }
    return all;
  }();
  BOOST_REQUIRE(!built->empty());
  return *built;
}

// ---- Calls ----

struct Size {
  int m, n, k;
};
constexpr Size kSizes[] = {{1, 1, 1},   {16, 16, 16}, {15, 17, 9}, {24, 12, 24}, {31, 5, 40},
                           {2, 49, 33}, {33, 1, 7},   {5, 4, 0},   {0, 4, 3},    {4, 0, 3}};

// Rows that are longer than the matrix is wide, and offsets.
Call call_of(const Built& built, const Size& size) {
  Call call;
  call.m = size.m;
  call.n = size.n;
  call.k = size.k;
  call.a = {size.m, size.k, size.k + 2, 3, 0};
  call.b = {size.k, size.n, size.n + 5, 1, 0};
  call.c = {size.m, size.n, size.n + 3, 7, 0};
  if (built.params.trans_a) call.a = {size.k, size.m, size.m + 1, 3, 0};
  if (built.params.trans_b) call.b = {size.n, size.k, size.k + 4, 1, 0};
  return call;
}

std::size_t extent(const Stored& x) { return static_cast<std::size_t>(x.rows) * static_cast<std::size_t>(x.ld); }

// Three products in a call: A and C in their own order, B shared by two of them.
Call batch_of(const Built& built, bool offsets, int k = 19) {
  Call call = call_of(built, {17, 18, k});
  call.products = 3;
  call.alpha = 2;
  call.beta = -1;
  const std::size_t a = extent(call.a) + 1;
  const std::size_t b = extent(call.b) + 2;
  const std::size_t c = extent(call.c) + 3;
  if (offsets) {
    call.offsets = {2 * a, 0, c, 0, b, 2 * c, a, b, 0};
  } else {
    call.a.stride = a;
    call.b.stride = 0;
    call.c.stride = c;
  }
  return call;
}

std::size_t begin_of(const Call& call, const Stored& x, std::size_t operand, std::size_t product) {
  return x.offset + (call.offsets.empty() ? product * x.stride : call.offsets[3 * product + operand]);
}

// ---- Matrices ----

enum class Fill { integers, fractions, nan };

template <typename T>
T element(Fill fill, std::mt19937& random) {
  if (fill == Fill::nan) return T(std::numeric_limits<double>::quiet_NaN());
  const double number = static_cast<double>(random() % 7) - 3;
  return T(fill == Fill::integers ? number : number + static_cast<double>(random() % 1000) / 1000);
}

// The operand of all products of the batch, with `around` around and between its rows.
template <typename T>
std::vector<T> matrices(const Call& call, const Stored& x, std::size_t operand, Fill fill, T around) {
  std::mt19937 random(static_cast<std::uint32_t>(operand));
  const std::size_t batch = call.first_product + call.products;
  std::size_t end = 1;
  for (std::size_t p = 0; p < batch; ++p) end = std::max(end, begin_of(call, x, operand, p) + extent(x));
  std::vector<T> data(end, around);
  for (std::size_t p = 0; p < batch; ++p) {
    for (int i = 0; i < x.rows; ++i) {
      T* row = &data[begin_of(call, x, operand, p) + static_cast<std::size_t>(i) * static_cast<std::size_t>(x.ld)];
      std::generate_n(row, x.columns, [&] { return element<T>(fill, random); });
    }
  }
  return data;
}

template <typename T>
struct Operands {
  std::vector<T> a, b, c, bias, d;
};

// NaN around A and B, where nothing may be read, and a number around C, where nothing may be written.
template <typename T>
Operands<T> operands(const Call& call, Fill ab = Fill::integers, Fill c = Fill::integers) {
  const T nan(std::numeric_limits<double>::quiet_NaN());
  return {matrices<T>(call, call.a, 0, ab, nan),
          matrices<T>(call, call.b, 1, ab, nan),
          matrices<T>(call, call.c, 2, c, T(99)),
          {},
          {}};
}

// Equal numbers, 0 = -0, or both NaN.
template <typename T>
bool same(const std::vector<T>& x, const std::vector<T>& y) {
  const auto equal = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), equal);
}

template <typename T>
std::vector<T> run(const Built& built, const Call& call, const Operands<T>& with) {
  return Launcher<T>(queue(), built, call).run(with.a, with.b, with.c, with.bias, with.d);
}

// Calls `use` with a number of the type of the precision's elements.
template <typename Use>
void with_element(Precision precision, const Use& use) {
  std::variant<Half, Bfloat16, float, double> element;
  if (precision == Precision::bfloat16) element = Bfloat16();
  if (precision == Precision::single_precision) element = float();
  if (precision == Precision::double_precision) element = double();
  std::visit(use, element);
}

// Every variant leaves in C what the reference leaves there.
template <typename MakeCall>
void check_all(const MakeCall& make_call, Fill ab = Fill::integers, Fill c = Fill::integers) {
  for (const Pair& pair : pairs()) {
    const Call call = make_call(pair.variant);
    with_element(pair.variant.params.precision, [&](auto element) {
      using T = decltype(element);
      const Operands<T> with = operands<T>(call, ab, c);
      const bool equal = same(run<T>(pair.variant, call, with), run<T>(pair.reference, call, with));
      BOOST_TEST(equal, pair.variant.kernel.name << " at " << call.m << " x " << call.n << " x " << call.k << ", alpha "
                                                 << call.alpha << ", beta " << call.beta);
    });
  }
}

// C by loops on the host.
template <typename T>
std::vector<T> expected(const Built& built, const Call& call, const Operands<T>& with) {
  std::vector<T> c = with.c;
  const auto at = [](const Stored& x, int row, int column) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(x.ld) + static_cast<std::size_t>(column);
  };
  for (std::size_t p = call.first_product; p < call.first_product + call.products; ++p) {
    for (int i = 0; i < call.m; ++i) {
      for (int j = 0; j < call.n; ++j) {
        double sum = 0;
        for (int q = 0; q < (call.alpha == 0 ? 0 : call.k); ++q) {
          const T& a =
              with.a[begin_of(call, call.a, 0, p) + (built.params.trans_a ? at(call.a, q, i) : at(call.a, i, q))];
          const T& b =
              with.b[begin_of(call, call.b, 1, p) + (built.params.trans_b ? at(call.b, j, q) : at(call.b, q, j))];
          sum += static_cast<double>(a) * static_cast<double>(b);
        }
        T& element = c[begin_of(call, call.c, 2, p) + at(call.c, i, j)];
        element = T(call.alpha * sum + (call.beta == 0 ? 0 : call.beta * static_cast<double>(element)));
      }
    }
  }
  return c;
}

}  // namespace

BOOST_AUTO_TEST_CASE(TheReferenceIsTheEquation) {
  for (const Precision precision : all_precisions) {
    if (precision == Precision::double_precision && !devices()->front().limits.fp64) continue;
    for (const int transposes : {0, 1, 2, 3}) {
      const Built reference = build_reference(precision, transposes >= 2, transposes % 2 == 1);
      const auto check = [&](const Call& call, Fill ab, Fill c) {
        with_element(precision, [&](auto element) {
          using T = decltype(element);
          const Operands<T> with = operands<T>(call, ab, c);
          BOOST_TEST(same(run<T>(reference, call, with), expected<T>(reference, call, with)),
                     reference.kernel.name << " at " << call.m << " x " << call.n << " x " << call.k);
        });
      };
      for (const Size& size : kSizes) {
        Call call = call_of(reference, size);
        check(call, Fill::integers, Fill::nan);  // beta is 0
        call.alpha = 2;
        call.beta = -3;
        check(call, Fill::integers, Fill::integers);
        call.alpha = 0;
        check(call, Fill::nan, Fill::integers);
      }
      for (const bool offsets : {false, true}) check(batch_of(reference, offsets), Fill::integers, Fill::integers);
    }
  }
}

BOOST_AUTO_TEST_CASE(ProductsAreEqual) {
  for (const Size& size : kSizes) {
    for (const double beta : {0.0, 1.0, -2.0}) {
      check_all([&](const Built& built) {
        Call call = call_of(built, size);
        call.alpha = 3;
        call.beta = beta;
        return call;
      });
    }
  }
}

// On devices of any number of units, of which the last work in a few slices, in many, or in none.
BOOST_AUTO_TEST_CASE(TailsAreCut) {
  for (const std::size_t units : {1U, 2U, 3U, 5U, 8U, 64U}) {
    for (const Size& size : {Size{17, 30, 64}, Size{3, 3, 200}, Size{40, 9, 67}}) {
      check_all([&](const Built& built) {
        Call call = call_of(built, size);
        call.alpha = 3;
        call.beta = -2;
        call.units = units;
        return call;
      });
    }
    for (const bool offsets : {false, true}) {
      check_all([&](const Built& built) {
        Call call = batch_of(built, offsets, 70);
        call.units = units;
        return call;
      });
    }
  }
}

// alpha * 1 * 1 in bfloat16, whose 8 bits hold 1, 1 + 2^-7, ...: singles between two of its numbers go to the nearest,
// from the middle to the even one.
BOOST_AUTO_TEST_CASE(Bfloat16IsRoundedToTheNearest) {
  struct Rounded {
    double alpha, c;
  };
  const double infinity = std::numeric_limits<double>::infinity();
  const double most = std::ldexp(255, 120);
  const Rounded cases[] = {{1 + std::ldexp(1, -8), 1},
                           {1 + std::ldexp(1, -8) + std::ldexp(1, -23), 1 + std::ldexp(1, -7)},
                           {1 + std::ldexp(1, -8) - std::ldexp(1, -23), 1},
                           {1 + 3 * std::ldexp(1, -8), 1 + std::ldexp(1, -6)},
                           {-1 - 3 * std::ldexp(1, -8), -1 - std::ldexp(1, -6)},
                           {255.5, 256},
                           {most, most},
                           {std::numeric_limits<float>::max(), infinity},
                           {-infinity, -infinity},
                           {std::nan(""), std::nan("")}};
  for (const Pair& pair : pairs()) {
    if (pair.variant.params.precision != Precision::bfloat16) continue;
    for (const Size& size : {Size{1, 1, 1}, Size{5, 16, 1}}) {  // element by element, and in vectors
      for (const Rounded& rounded : cases) {
        Call call = call_of(pair.variant, size);
        call.alpha = rounded.alpha;
        Operands<Bfloat16> with = operands<Bfloat16>(call);
        for (auto* matrix : {&with.a, &with.b}) {
          for (Bfloat16& element : *matrix) element = Bfloat16(1);
        }
        BOOST_TEST((static_cast<double>(Bfloat16(rounded.alpha)) == rounded.c || std::isnan(rounded.c)));
        for (const Built* built : {&pair.variant, &pair.reference}) {
          const std::vector<Bfloat16> c = run<Bfloat16>(*built, call, with);
          const std::vector<Bfloat16> wanted = expected<Bfloat16>(*built, call, with);
          BOOST_TEST(same(c, wanted), built->kernel.name << ": " << rounded.alpha);
          const double first = c[call.c.offset];
          BOOST_TEST((first == rounded.c || (std::isnan(first) && std::isnan(rounded.c))),
                     built->kernel.name << ": " << rounded.alpha << " became " << first);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(ScalarsOfZeroReadNothing) {
  for (const Size& size : {Size{16, 16, 16}, Size{17, 5, 9}}) {
    check_all([&](const Built& built) { return call_of(built, size); }, Fill::integers, Fill::nan);
    for (const double beta : {0.0, 2.0}) {
      const auto no_product = [&](const Built& built) {
        Call call = call_of(built, size);
        call.alpha = 0;
        call.beta = beta;
        return call;
      };
      check_all(no_product, Fill::nan, beta == 0 ? Fill::nan : Fill::integers);
    }
  }
}

// Exactly, where nothing is rounded: with clamps and without activations. Two products, so that strides count.
BOOST_AUTO_TEST_CASE(EpiloguesAreEqual) {
  for (const Pair& pair : pairs()) {
    for (const Size& size : {Size{16, 16, 16}, Size{17, 5, 9}, Size{3, 33, 0}}) {
      for (const int steps : {1, 8, 16, 32, 8 + 1, 16 + 32, 8 + 32 + 1}) {
        for (const double beta : {0.0, 2.0}) {
          Call call = call_of(pair.variant, size);
          call.products = 2;
          call.a.stride = extent(call.a);
          call.b.stride = extent(call.b);
          call.c.stride = extent(call.c) + 1;
          call.beta = beta;
          const int length = (steps & 8) != 0 ? size.m : size.n;
          call.epilogue = {steps,
                           -4,
                           11,
                           {1, length, length, 2, static_cast<std::size_t>(length) + 1},
                           {size.m, size.n, size.n + 3, 1, static_cast<std::size_t>(size.m * (size.n + 3))}};
          with_element(pair.variant.params.precision, [&](auto element) {
            using T = decltype(element);
            const T nan(std::numeric_limits<double>::quiet_NaN());
            // With a D of its own, or beta = 0, C is not read.
            const bool reads_c = beta != 0 && (steps & 32) == 0;
            Operands<T> with = operands<T>(call, Fill::integers, reads_c ? Fill::integers : Fill::nan);
            with.bias = matrices<T>(call, call.epilogue.bias, 0, Fill::integers, nan);
            with.d = matrices<T>(call, call.epilogue.d, 1, Fill::integers, nan);
            const bool equal = same(run<T>(pair.variant, call, with), run<T>(pair.reference, call, with));
            BOOST_TEST(equal, pair.variant.kernel.name << " at " << size.m << " x " << size.n << " x " << size.k
                                                       << ", epilogue " << steps << ", beta " << beta);
          });
        }
      }
    }
  }
}

// Whole, and products 1 and 2 of three.
BOOST_AUTO_TEST_CASE(BatchesAreEqual) {
  for (const bool offsets : {false, true}) {
    check_all([&](const Built& built) { return batch_of(built, offsets); });
    check_all([&](const Built& built) {
      Call call = batch_of(built, offsets);
      call.first_product = 1;
      call.products = 2;
      return call;
    });
  }
}

BOOST_AUTO_TEST_CASE(WorkGroupsOutsideCDoNothing) {
  check_all([](const Built& built) {
    Call call = call_of(built, {17, 18, 19});
    call.extra_groups = 2;
    return call;
  });
}

BOOST_AUTO_TEST_CASE(EqualInputsGiveEqualBits) {
  for (const Pair& pair : pairs()) {
    with_element(pair.variant.params.precision, [&](auto element) {
      using T = decltype(element);
      const Call call = call_of(pair.variant, {33, 31, 200});
      const Operands<T> with = operands<T>(call, Fill::fractions);
      const std::vector<T> first = run<T>(pair.variant, call, with);
      for (int again = 0; again < 3; ++again) {
        const std::vector<T> next = run<T>(pair.variant, call, with);
        const bool equal = std::memcmp(next.data(), first.data(), first.size() * sizeof(T)) == 0;
        BOOST_TEST(equal, pair.variant.kernel.name);
      }
    });
  }
}
