#include "prove/results.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <limits>
#include <sstream>

namespace clbake::builder::prove {
using namespace program;
namespace {

// The error of a number, on the scale of the tolerance; infinity where one of the two is no finite number.
double error_of(double found, double expected) {
  if (found == expected || (std::isnan(found) && std::isnan(expected))) return 0;
  const double error = std::fabs(found - expected) / std::max(1.0, std::fabs(expected));
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

// The content with its elements in ascending order, by their first components first; NaN last.
void sort_elements(const TrialArgument& argument, cache::Bytes& content) {
  const std::size_t bytes = argument.element.bytes();
  const NumberType& type = *argument.element.number;
  std::vector<cache::Bytes> elements;
  for (std::size_t at = 0; at < content.size(); at += bytes) {
    const auto begin = content.begin() + static_cast<std::ptrdiff_t>(at);
    elements.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(bytes));
  }
  const auto is_less = [](double a, double b) { return !std::isnan(a) && (std::isnan(b) || a < b); };
  std::sort(elements.begin(), elements.end(), [&](const cache::Bytes& a, const cache::Bytes& b) {
    for (std::size_t i = 0; i < argument.element.width; ++i) {
      const double x = type.load(&a[i * type.bytes]), y = type.load(&b[i * type.bytes]);
      if (is_less(x, y) || is_less(y, x)) return is_less(x, y);
    }
    return false;
  });
  content.clear();
  for (const cache::Bytes& element : elements) content.insert(content.end(), element.begin(), element.end());
}

}  // namespace

Comparison compare(const TrialArgument& argument, cache::Bytes found, cache::Bytes expected) {
  if (argument.any_order) {
    sort_elements(argument, found);
    sort_elements(argument, expected);
  }
  const NumberType& type = *argument.element.number;
  Comparison all;
  for (std::uint64_t i = 0; i < argument.numbers(); ++i) {
    const std::uint8_t* const a = &found[argument.place(i)];
    const std::uint8_t* const b = &expected[argument.place(i)];
    const double error = error_of(type.load(a), type.load(b));
    all.error = std::max(all.error, error);
    // A double does not hold all of 64 bits.
    const bool exact = type.is_float() || argument.tolerance > 0 || std::memcmp(a, b, type.bytes) == 0;
    if (error <= argument.tolerance && exact) continue;
    std::ostringstream text;
    text << std::setprecision(9) << "element " << i / argument.element.width << ": " << type.load(a) << ", expected "
         << type.load(b) << " (tolerance " << argument.tolerance << ")";
    all.wrong = text.str();
    return all;
  }
  return all;
}

std::optional<Comparison> compare_varying(TrialArgument argument, const cache::Bytes& found,
                                          const std::vector<cache::Bytes>& runs) {
  const auto agree = [&](const cache::Bytes& run) { return compare(argument, run, runs[0]).wrong.empty(); };
  argument.any_order = true;
  if (std::all_of(runs.begin(), runs.end(), agree)) return compare(argument, found, runs[0]);
  const NumberType& type = *argument.element.number;
  Comparison all;
  for (std::uint64_t i = 0; i < argument.numbers(); ++i) {
    const auto number_of = [&](const cache::Bytes& content) { return type.load(&content[argument.place(i)]); };
    const double number = number_of(found), first = number_of(runs[0]);
    const auto is_near = [&](double other, double to) { return error_of(other, to) <= argument.tolerance; };
    bool varies = false;
    double least = first, greatest = first;
    for (const cache::Bytes& run : runs) {
      varies = varies || !is_near(number_of(run), first);
      least = std::fmin(least, number_of(run));
      greatest = std::fmax(greatest, number_of(run));
    }
    if (is_near(number, least) || is_near(number, greatest) || (number >= least && number <= greatest)) continue;
    if (varies) return std::nullopt;
    std::ostringstream text;
    text << std::setprecision(9) << "element " << i / argument.element.width << ": " << number << ", expected " << first
         << " (tolerance " << argument.tolerance << ", as in each of " << runs.size() << " runs)";
    all.wrong = text.str();
    return all;
  }
  return all;
}

cache::Bytes stated_content(const TrialArgument& argument) {
  cache::Bytes content(argument.size());
  for (std::uint64_t i = 0; i < argument.expected.size(); ++i) {
    argument.element.number->store(argument.expected[i], &content[argument.place(i)]);
  }
  return content;
}

}  // namespace clbake::builder::prove
