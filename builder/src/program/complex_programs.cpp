#include <clbake/builder/programs.hpp>

#include <clbake/kernels/generator.hpp>
#include "process/json_reader.hpp"

#include <complex>

namespace clbake::builder {
namespace {

using Complex = std::complex<double>;

// A matrix of whole vectors and of elements that are left over, in a batch with offsets. Complex elements.
constexpr std::size_t kRows = 3;
constexpr std::size_t kColumns = 11;
constexpr std::size_t kLd = 13;
constexpr std::size_t kOffset = 2;
constexpr std::size_t kPlaces[] = {41, 0};  // of the products, beside the offset
constexpr std::size_t kElements = kOffset + 41 + kRows * kLd;
// The copies: reals.
constexpr std::size_t kTargetLd = 24;
constexpr std::size_t kTargetStride = 2 * kRows * kTargetLd + 3;
constexpr double kUntouched = 7;

Complex element(std::size_t at) { return {static_cast<double>(at * 7 % 11) - 5, static_cast<double>(at * 5 % 13) - 6}; }

Complex source_of(std::size_t product, std::size_t row, std::size_t column) {
  return element(kOffset + kPlaces[product] + row * kLd + column);
}

std::vector<double> source_matrix() {
  std::vector<double> reals;
  for (std::size_t at = 0; at < kElements; ++at) reals.insert(reals.end(), {element(at).real(), element(at).imag()});
  return reals;
}

// The arguments of a trial.
class Trials {
 public:
  explicit Trials(Precision precision) : real_(precision == Precision::complex_double ? "double" : "float") {}

  Json copy_a(bool transposed, std::uint32_t items) const {
    std::vector<double> expected = untouched();
    for_each([&](std::size_t product, std::size_t row, std::size_t column) {
      const Complex z = std::conj(source_of(product, row, column));
      double* const to = &expected[product * kTargetStride];
      const std::size_t at = transposed ? 2 * row * kTargetLd + column : row * kTargetLd + 2 * column;
      to[at] = z.real();
      to[at + (transposed ? kTargetLd : 1)] = z.imag();
    });
    Json arguments = source_arguments(0);
    add_target(arguments, expected);
    arguments.push_back(scalar("int", transposed ? 1 : 0));
    arguments.push_back(scalar(real_, -1));
    return trial(std::move(arguments), items);
  }

  Json copy_b(bool transposed, std::uint32_t items) const {
    const Complex alpha(2, -3);
    std::vector<double> expected = untouched();
    for_each([&](std::size_t product, std::size_t row, std::size_t column) {
      Complex z = alpha * std::conj(source_of(product, row, column));
      if (transposed) z = std::conj(z);
      double* const to = &expected[product * kTargetStride + 2 * row * kTargetLd + 2 * column];
      to[0] = z.real();
      to[1] = z.imag();
      to[kTargetLd] = -z.imag();
      to[kTargetLd + 1] = z.real();
    });
    Json arguments = source_arguments(1);
    add_target(arguments, expected);
    arguments.push_back({{"scalar", real_ + "2"}, {"value", {alpha.real(), alpha.imag()}}});
    arguments.push_back(scalar(real_, -1));
    arguments.push_back(scalar(real_, transposed ? -1 : 1));
    return trial(std::move(arguments), items);
  }

  Json scale_c(std::uint32_t items) const {
    const Complex beta(-1, 4);
    std::vector<double> expected = source_matrix();
    for_each([&](std::size_t product, std::size_t row, std::size_t column) {
      const std::size_t at = kOffset + kPlaces[product] + row * kLd + column;
      const Complex z = beta * element(at);
      expected[2 * at] = z.real();
      expected[2 * at + 1] = z.imag();
    });
    Json arguments = source_arguments(2);
    arguments[2]["expected"] = expected;
    arguments.push_back({{"scalar", real_ + "2"}, {"value", {beta.real(), beta.imag()}}});
    return trial(std::move(arguments), items);
  }

 private:
  template <typename Use>
  static void for_each(const Use& use) {
    for (std::size_t product = 0; product < std::size(kPlaces); ++product) {
      for (std::size_t row = 0; row < kRows; ++row) {
        for (std::size_t column = 0; column < kColumns; ++column) use(product, row, column);
      }
    }
  }

  static std::vector<double> untouched() { return std::vector<double>(std::size(kPlaces) * kTargetStride, kUntouched); }

  static Json scalar(const std::string& type, double value) { return {{"scalar", type}, {"value", value}}; }

  static Json trial(Json arguments, std::uint32_t items) {
    return {{"global", {items, 2, std::size(kPlaces)}}, {"arguments", std::move(arguments)}};
  }

  // rows, columns, source, offset, ld, stride, offsets and first_product; the products are the second and the third.
  Json source_arguments(std::size_t operand) const {
    std::vector<double> offsets(9, 0);
    for (std::size_t product = 0; product < std::size(kPlaces); ++product) {
      offsets[3 * (product + 1) + operand] = static_cast<double>(kPlaces[product]);
    }
    const std::vector<double> source = source_matrix();
    return Json::array({scalar("int", kRows),
                        scalar("int", kColumns),
                        {{"buffer", real_}, {"count", source.size()}, {"fill", source}},
                        scalar("ulong", kOffset),
                        scalar("int", kLd),
                        scalar("ulong", 0),
                        {{"buffer", "ulong"}, {"count", offsets.size()}, {"fill", offsets}},
                        scalar("int", 1)});
  }

  void add_target(Json& arguments, const std::vector<double>& expected) const {
    arguments.push_back({{"buffer", real_}, {"count", expected.size()}, {"fill", kUntouched}, {"expected", expected}});
    arguments.push_back(scalar("ulong", kTargetStride));
    arguments.push_back(scalar("int", kTargetLd));
  }

  std::string real_;
};

Program program_of(kernels::DeviceType type, Precision precision) {
  const kernels::ComplexProgram made = kernels::complex_program(type, precision);
  const Trials trials(precision);
  Program program;
  program.name = std::string(kOwnPrefix) + name(precision) + "-" + kernels::name(type);
  program.source = {made.source_name, made.source};
  program.options = made.build_options;
  const Json of_kernels[] = {{trials.copy_a(false, made.items), trials.copy_a(true, made.items)},
                             {trials.copy_b(false, made.items), trials.copy_b(true, made.items)},
                             Json::array({trials.scale_c(made.items)})};
  Json kernels = Json::array();
  for (std::size_t i = 0; i < made.kernel_names.size(); ++i) {
    program.launches.push_back({cache::Role::kernel, made.kernel_names[i], {made.items, 1, 1}, 1, 1});
    kernels.push_back({{"name", made.kernel_names[i]},
                       {"work_group_sizes", Json::array({Json::array({made.items, 1, 1})})},
                       {"trials", of_kernels[i]}});
  }
  program.trial = kernels.dump();
  return program;
}

}  // namespace

std::vector<Program> complex_programs(kernels::DeviceType type, const std::vector<Precision>& precisions) {
  std::vector<Program> programs;
  for (const Precision precision : complex_precisions) {
    const bool wanted = std::find(precisions.begin(), precisions.end(), precision) != precisions.end();
    if (wanted) programs.push_back(program_of(type, precision));
  }
  return programs;
}

}  // namespace clbake::builder
