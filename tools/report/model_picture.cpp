#include "report/model_picture.hpp"

#include <clbake/choice.hpp>

#include "cli/printable.hpp"
#include "report/svg.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace clbake::tool {
namespace {

struct Dot {
  double expected_us = 0;
  double measured_us = 0;
};

using Panels = std::map<Precision, std::vector<Dot>>;

Panels panels_of(const builder::Tuning& tuning) {
  std::map<std::uint32_t, const cache::CostModel*> models;
  for (const cache::CostModel& model : tuning.models) models[model.variant] = &model;
  Panels panels;
  for (const builder::Measurement& m : tuning.measurements) {
    const auto model = models.find(m.variant);
    if (model == models.end() || !m.final || m.runs < 2 || m.median_us <= 0) continue;
    const builder::Shape& shape = tuning.shapes[m.shape];
    const double us = expected_us(*model->second, builder::problem_of(shape), std::max(tuning.compute_units, 1U));
    if (us > 0) panels[shape.precision].push_back({us, m.median_us});
  }
  return panels;
}

// ---- To SVG; lengths in user units ----

constexpr double kSide = 300;  // of a panel
constexpr double kLeft = 70;
constexpr double kGap = 60;
constexpr double kTop = 84;
constexpr double kBelow = 56;
constexpr std::size_t kMostDots = 1500;

// The powers of ten, in us, between which all dots lie.
struct Axis {
  int first = 0;
  int last = 1;
  double at(double us) const { return (std::log10(us) - first) / (last - first) * kSide; }
};

Axis axis_of(const Panels& panels) {
  double least = 1e12;
  double most = 1e-6;
  for (const auto& [precision, dots] : panels) {
    for (const Dot& dot : dots) {
      least = std::min({least, dot.expected_us, dot.measured_us});
      most = std::max({most, dot.expected_us, dot.measured_us});
    }
  }
  const int first = static_cast<int>(std::floor(std::log10(least)));
  return {first, std::max(first + 1, static_cast<int>(std::ceil(std::log10(most))))};
}

std::string power_of_ten(int exponent) {
  if (exponent < 3) return number(std::pow(10, exponent), std::max(0, -exponent)) + " us";
  return exponent < 6 ? number(std::pow(10, exponent - 3), 0) + " ms" : number(std::pow(10, exponent - 6), 0) + " s";
}

double root_mean_square_error(const std::vector<Dot>& dots) {
  double sum = 0;
  for (const Dot& dot : dots) sum += std::pow(std::log(dot.measured_us / dot.expected_us), 2);
  return std::sqrt(sum / static_cast<double>(dots.size()));
}

std::string draw_dots(const std::vector<Dot>& dots, const Axis& axis, double x) {
  std::string path;
  const std::size_t every = (dots.size() + kMostDots - 1) / kMostDots;
  for (std::size_t i = 0; i < dots.size(); i += every) {
    path += "M" + number(x + axis.at(dots[i].expected_us), 1) + " " +
            number(kTop + kSide - axis.at(dots[i].measured_us), 1) + "h0";
  }
  return "<path class=\"dots\" d=\"" + path + "\"/>\n";
}

std::string draw_panel(Precision precision, const std::vector<Dot>& dots, const Axis& axis, double x) {
  std::string svg;
  for (int exponent = axis.first; exponent <= axis.last; ++exponent) {
    const double along = axis.at(std::pow(10, exponent));
    svg += line(x + along, kTop, x + along, kTop + kSide, "grid");
    svg += line(x, kTop + kSide - along, x + kSide, kTop + kSide - along, "grid");
    svg += text_at(x + along, kTop + kSide + 16, "small middle", power_of_ten(exponent));
    svg += text_at(x - 6, kTop + kSide - along + 4, "small end", power_of_ten(exponent));
  }
  svg += line(x, kTop + kSide, x + kSide, kTop, "equal");
  svg += draw_dots(dots, axis, x);
  svg += text_at(x, kTop - 10, "small",
                 std::string(name(precision)) + ": " + std::to_string(dots.size()) + " times, error " +
                     number(100 * root_mean_square_error(dots), 0) + " %");
  svg += text_at(x + kSide / 2, kTop + kSide + 36, "small middle", "expected");
  return svg;
}

constexpr const char* kStyle = R"(<style>
  .expected text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", Arial, sans-serif;
    fill: #1f2328; font-size: 15px; }
  .expected .title { font-size: 20px; font-weight: 600; }
  .expected .small { font-size: 12.5px; fill: #59636e; }
  .expected .middle { text-anchor: middle; }
  .expected .end { text-anchor: end; }
  .expected .page { fill: #ffffff; stroke: #d1d9e0; }
  .expected .grid { stroke: #d1d9e0; }
  .expected .equal { stroke: #59636e; }
  .expected .dots { stroke: #0969da; stroke-width: 3; stroke-linecap: round; stroke-opacity: 0.35; fill: none; }
  @media (prefers-color-scheme: dark) {
    .expected text { fill: #f0f6fc; }
    .expected .small { fill: #9198a1; }
    .expected .page { fill: #0d1117; stroke: #3d444d; }
    .expected .grid { stroke: #30363d; }
    .expected .equal { stroke: #9198a1; }
    .expected .dots { stroke: #4493f8; }
  }
</style>
)";

}  // namespace

std::string model_picture(const builder::Tuning& tuning) {
  const Panels panels = panels_of(tuning);
  if (panels.empty()) return {};
  const Axis axis = axis_of(panels);
  const double width = kLeft + static_cast<double>(panels.size()) * (kSide + kGap) - kGap + 24;
  const std::string view = number(width, 0) + " " + number(kTop + kSide + kBelow, 0);
  const std::string title = "Measured against expected time of a call";
  std::string svg = std::string(kPictureBegin) + "role=\"img\" aria-label=\"" + title + ", " +
                    escaped(tuning.target.device_name) + "\" viewBox=\"0 0 " + view + "\">\n";
  svg += kStyle;
  svg += "<rect x=\"0.5\" y=\"0.5\" width=\"" + number(width - 1, 0) + "\" height=\"" +
         number(kTop + kSide + kBelow - 1, 0) + "\" rx=\"8\" class=\"page\"/>\n";
  svg += text_at(20, 32, "title", title);
  svg += text_at(20, 52, "small", tuning.target.device_name + ", driver " + tuning.target.driver_version);
  double x = kLeft;
  for (const auto& [precision, dots] : panels) {
    svg += draw_panel(precision, dots, axis, x);
    x += kSide + kGap;
  }
  return svg + "</svg>\n";
}

}  // namespace clbake::tool
