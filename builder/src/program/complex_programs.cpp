#include <clbake/builder/programs.hpp>

#include <clbake/kernels/generator.hpp>
#include "process/json_reader.hpp"

#include <algorithm>
#include <complex>

namespace clbake::builder::program {
using namespace process;
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

enum class Step { copy_a, copy_b, scale_c };

Complex element(std::size_t at) { return {static_cast<double>(at * 7 % 11) - 5, static_cast<double>(at * 5 % 13) - 6}; }

Json scalar(const std::string& type, double value) { return {{"scalar", type}, {"value", value}}; }
Json scalar(const std::string& type, Complex z) { return {{"scalar", type + "2"}, {"value", {z.real(), z.imag()}}}; }

// One launch of a kernel with the numbers that it has to leave.
Json trial_of(Step step, bool transposed, const std::string& real, std::uint32_t items) {
  const Complex alpha(2, -3), beta(-1, 4);
  std::vector<double> source;
  for (std::size_t at = 0; at < kElements; ++at) source.insert(source.end(), {element(at).real(), element(at).imag()});
  std::vector<double> offsets(9, 0);  // of A, B and C of each product
  std::vector<double> expected = source;
  if (step != Step::scale_c) expected.assign(std::size(kPlaces) * kTargetStride, kUntouched);
  const auto put = [&](std::size_t at, Complex z, std::size_t distance) {
    expected[at] = z.real();
    expected[at + distance] = z.imag();
  };
  for (std::size_t product = 0; product < std::size(kPlaces); ++product) {
    offsets[3 * (product + 1) + static_cast<std::size_t>(step)] = static_cast<double>(kPlaces[product]);
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::size_t column = 0; column < kColumns; ++column) {
        const std::size_t from = kOffset + kPlaces[product] + row * kLd + column;
        const std::size_t to = product * kTargetStride + 2 * row * kTargetLd;
        const Complex z = std::conj(element(from));
        if (step == Step::scale_c) put(2 * from, beta * element(from), 1);
        if (step == Step::copy_a && transposed) put(to + column, z, kTargetLd);
        if (step == Step::copy_a && !transposed) put(to - row * kTargetLd + 2 * column, z, 1);
        if (step != Step::copy_b) continue;
        const Complex b = transposed ? std::conj(alpha * z) : alpha * z;
        put(to + 2 * column, b, 1);
        put(to + 2 * column + kTargetLd, {-b.imag(), b.real()}, 1);
      }
    }
  }
  // rows, columns, source, offset, ld, stride, offsets and first_product; the products are the second and the third.
  Json arguments = {scalar("int", kRows),
                    scalar("int", kColumns),
                    {{"buffer", real}, {"count", source.size()}, {"fill", source}},
                    scalar("ulong", kOffset),
                    scalar("int", kLd),
                    scalar("ulong", 0),
                    {{"buffer", "ulong"}, {"count", offsets.size()}, {"fill", offsets}},
                    scalar("int", 1)};
  const auto add = [&](Json argument) { arguments.push_back(std::move(argument)); };
  if (step == Step::scale_c) {
    arguments[2]["expected"] = expected;
    add(scalar(real, beta));
  } else {
    add({{"buffer", real}, {"count", expected.size()}, {"fill", kUntouched}, {"expected", expected}});
    add(scalar("ulong", kTargetStride));
    add(scalar("int", kTargetLd));
    if (step == Step::copy_a) add(scalar("int", transposed ? 1 : 0));
    if (step == Step::copy_b) add(scalar(real, alpha));
    add(scalar(real, -1));
    if (step == Step::copy_b) add(scalar(real, transposed ? -1 : 1));
  }
  return {{"global", {items, 2, std::size(kPlaces)}}, {"arguments", std::move(arguments)}};
}

Program program_of(kernels::DeviceType type, Precision precision) {
  const kernels::ComplexProgram made = kernels::complex_program(type, precision);
  const std::string real = precision == Precision::complex_double ? "double" : "float";
  Program program;
  program.name = std::string(kOwnPrefix) + name(precision) + "-" + kernels::name(type);
  program.source = {made.source_name, made.source};
  program.options = made.build_options;
  Json kernels = Json::array();
  for (const Step step : {Step::copy_a, Step::copy_b, Step::scale_c}) {
    const std::string& kernel = made.kernel_names.at(static_cast<std::size_t>(step));
    program.launches.push_back({cache::Role::kernel, kernel, {made.items, 1, 1}, 1, 1});
    Json trials = Json::array({trial_of(step, false, real, made.items)});
    if (step != Step::scale_c) trials.push_back(trial_of(step, true, real, made.items));
    kernels.push_back({{"name", kernel},
                       {"work_group_sizes", Json::array({Json::array({made.items, 1, 1})})},
                       {"trials", std::move(trials)}});
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

}  // namespace clbake::builder::program
