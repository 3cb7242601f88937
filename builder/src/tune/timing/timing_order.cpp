#include "tune/timing/timing_order.hpp"

#include <algorithm>
#include <sstream>

namespace clbake::builder::tune {

std::string to_line(const TimingOrder& order) {
  std::ostringstream line;
  line << name(order.shape) << '|' << order.runs << '|' << order.turn_us << '|' << order.limit_us;
  return line.str();
}

std::optional<TimingOrder> parse_order(const std::string& line) {
  std::istringstream parts(line);
  std::string shape;
  std::getline(parts, shape, '|');
  const Result<Shape> parsed = parse_shape(shape);
  TimingOrder order;
  char bar = 0;
  parts >> order.runs >> bar >> order.turn_us >> bar >> order.limit_us;
  if (!parsed || !parts) return std::nullopt;
  order.shape = *parsed;
  return order;
}

std::string to_line(const std::vector<double>& times_us) {
  std::ostringstream line;
  line << "us";
  for (const double us : times_us) line << ' ' << us;
  return line.str();
}

std::optional<std::vector<double>> parse_times(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (word != "us") return std::nullopt;
  std::vector<double> times;
  for (double us = 0; words >> us;) times.push_back(us);
  const bool valid =
      words.eof() && std::all_of(times.begin(), times.end(), [](double us) { return us > 0 && us < 1e12; });
  if (!valid) return std::nullopt;
  return times;
}

}  // namespace clbake::builder::tune
