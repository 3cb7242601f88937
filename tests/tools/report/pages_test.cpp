// The pages in a browser, 400 pixels wide: no complaint, no scrolling sideways, and what is shown is what the data
// says. Skipped where there is no Chromium.
#include "report/browser.hpp"
#include "report/release/release_report.hpp"
#include "report/releases.hpp"

#include "command.hpp"

#include <clbake/builder/shape/shapes_file.hpp>

#include <cmath>
#include <set>

namespace clbake::tool::test {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kNarrow = 400;  // CSS pixels

ShownPage shown(const std::string& html) {
  ShownPage page = shown_in_browser(html, kNarrow);
  for (const std::string& complaint : page.complaints) BOOST_ERROR(complaint);
  BOOST_TEST(page.width == kNarrow);
  BOOST_TEST(page.needed <= kNarrow);
  return page;
}

// A release of three targets, compared with another one, both with long names.
Release two_releases() {
  Release release;
  cache::Contents now = release_contents(), before = release_contents();
  for (cache::Contents* contents : {&now, &before}) {
    contents->targets[2].device_name = std::string(300, 'x') + " and blanks between some of the words";
  }
  // Programs of the application's own: one is new, one is gone.
  for (cache::Contents* contents : {&now, &before}) {
    contents->variants.push_back(own_program(contents == &now ? "softmax" : std::string(64, 'p')));
    cache::Entry entry = contents->entries[0];
    entry.variant = 3;
    entry.program.resize(500);
    contents->entries.insert(contents->entries.begin(), entry);
  }
  before.targets[1].driver_version = "0";
  before.profiles[0].models[0].wave_us = 11;
  before.entries.pop_back();
  release.bundles = {named(std::string(100, 'f') + ".clbake", now)};
  release.against = {named("old.clbake", before)};
  release.shapes = required(builder::parse_shapes(
      "single nn 64x64x64 weight 3\nsingle nn 100000x4096x4096 batch 1000\ndouble nn 64x64x64\n", "", {{}}));
  return release;
}

// The number that a text begins with, and how many digits it shows after the point.
struct Number {
  double value = 0;
  int digits = 0;
};

Number number_in(const std::string& text) {
  Number number;
  bool negative = false, fraction = false;
  std::string digits;
  for (std::size_t i = 0; i < text.size() && text[i] != ' '; ++i) {
    if (text.compare(i, 3, "\xE2\x88\x92") == 0) negative = true;
    if (text[i] == '.') fraction = true;
    if (text[i] != '.' && (text[i] < '0' || text[i] > '9')) continue;
    digits += text[i];
    number.digits += fraction && text[i] != '.' ? 1 : 0;
  }
  number.value = digits.empty() ? NAN : std::stod(digits) * (negative ? -1 : 1);
  return number;
}

// The value of a figure in the unit that its text has.
double in_unit_of(const std::string& path, const std::string& text, double value) {
  if (contains(path, "speedup")) return 100 * (value - 1);
  if (contains(text, "%")) return 100 * value;
  if (contains(text, "kB")) return value / 1e3;
  return contains(text, "MB") ? value / 1e6 : value;
}

void check_figure(const Json& data, const std::string& path, const std::string& text) {
  const Json& value = data.at(Json::json_pointer(path));
  if (value.is_null()) {
    BOOST_TEST(text == "-", path);
    return;
  }
  const Number number = number_in(text);
  const double wanted = in_unit_of(path, text, value.get<double>());
  const double half_a_digit = 0.5 * std::pow(10.0, -number.digits) * (1 + 1e-9);
  BOOST_TEST(std::fabs(number.value - wanted) <= half_a_digit, path << ": '" << text << "' is not " << wanted);
}

}  // namespace

BOOST_AUTO_TEST_CASE(TheReleaseReportShowsTheFiguresOfItsJson) {
  const Json data = release_data(two_releases());
  const ShownPage page = shown(release_html(data));
  std::set<std::string> paths;
  for (const auto& [path, text] : page.figures) {
    check_figure(data, path, text);
    paths.insert(path);
  }
  const auto is_shown = [&](const std::string& path) { BOOST_TEST(paths.count(path) == 1U, path); };
  for (const char* path : {"/total/native_share", "/total/proven", "/total/jit_free", "/worse", "/better",
                           "/bundles/0/bytes", "/against/0/entries", "/missing/0/count", "/changes/0/count"}) {
    is_shown(path);
  }
  for (std::size_t t = 0; t < data["targets"].size(); ++t) {
    for (std::size_t c = 0; c < data["columns"].size(); ++c) {
      const std::string cell = "/targets/" + std::to_string(t) + "/cells/" + std::to_string(c);
      const Json& figures = data["targets"][t]["cells"][c];
      for (const char* figure : {"/count", "/proven", "/jit_free"}) is_shown(cell + figure);
      for (const char* source : {"native", "portable", "source", "none"}) {
        if (figures[source] > 0) is_shown(cell + "/" + source);
      }
      if (!figures["gflops"].is_null()) is_shown(cell + "/gflops");
    }
  }
}

BOOST_AUTO_TEST_CASE(AReleaseWithoutProgramsIsShown) {
  Release release = two_releases();
  cache::Contents contents = release_contents();
  contents.entries.clear();
  release.bundles = {named("empty.clbake", contents)};
  release.against.clear();
  shown(release_html(release_data(release)));
}

}  // namespace clbake::tool::test
