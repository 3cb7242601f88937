// The report of a tuning: what its page shows, for tunings made by hand. No browser, no device.
#include "report/tune_report.hpp"
#include "files.hpp"
#include "report/model_picture.hpp"

#include <clbake/builder/scratch.hpp>
#include <clbake/kernels/defaults.hpp>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

namespace clbake::tool::test {
namespace {

using namespace clbake::tests;
using builder::Measurement;
using builder::Shape;
using builder::Tuning;
using Json = nlohmann::ordered_json;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Shape cube(std::size_t size) {
  Shape shape;
  shape.m = shape.n = shape.k = size;
  return shape;
}

Measurement measured(std::uint32_t variant, std::uint32_t shape, double median_us, std::uint32_t runs = 5) {
  return {variant, shape, median_us, 0.01, runs, false};
}

// Two squares and a small shape of single nn, three variants; the first wins the squares, the second the small one. The
// third was stopped after one quick call.
Tuning handmade() {
  Tuning t;
  t.target.device_name = "Device";
  t.seed = 18446744073709551615U;
  t.tried = 4;
  t.variants = {"register_tile-s-nn-a", "direct-s-nn-b", "local_tile-s-nn-c"};
  t.shapes = {cube(1000), cube(500), cube(100)};
  t.measurements = {measured(0, 0, 2000), measured(1, 0, 3000), measured(2, 0, 1900, 1), measured(0, 1, 250),
                    measured(1, 1, 750),  measured(1, 2, 20),   measured(0, 2, 50)};
  t.winners = {{"square", t.measurements[0]}, {"square", t.measurements[3]}, {"small", t.measurements[5]}};
  t.curve = {{9.0, 3, 0, 0, 990}, {1.0, 1, 1, 0, 600}};
  t.failures = {
      {"x-1", "wrong result at 3x4x5 of x-1"}, {"x-2", "no end after 60 s"}, {"x-3", "wrong result at 77x4x5 of x-3"}};
  t.exceptions = {cache::Rule{}};
  return t;
}

Json data_of(const Tuning& tuning) {
  const Result<Json> data = report_data(tuning);
  BOOST_REQUIRE_MESSAGE(data.ok(), data.status().message());
  return *data;
}

std::string page_of(const Tuning& tuning) {
  const Result<std::string> page = report_html(tuning);
  BOOST_REQUIRE_MESSAGE(page.ok(), page.status().message());
  return *page;
}

// What the page's script would parse: from the data's opening tag to the first closing one, as a browser reads it.
Json data_in(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(open) + open.size();
  return Json::parse(page.substr(begin, page.find("</script", begin) - begin));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

void near(const Json& value, double expected) {
  BOOST_TEST(value.get<double>() == expected, boost::test_tools::tolerance(1e-9));
}

}  // namespace

BOOST_AUTO_TEST_CASE(WinnersHaveTheirFiguresAndTheirLead) {
  const Json data = data_of(handmade());
  BOOST_REQUIRE(data["kinds"].size() == 1U);
  const Json& kind = data["kinds"][0];
  BOOST_TEST(kind["precision"] == "single");
  BOOST_TEST(kind["transposes"] == "nn");
  BOOST_REQUIRE(kind["cells"].size() == 3U);
  const Json& cell = kind["cells"][0];
  BOOST_TEST(cell["m"] == 1000);
  BOOST_TEST(data["variants"][cell["variant"].get<std::size_t>()] == "register_tile-s-nn-a");
  near(cell["gflops"], 1000);
  near(cell["lead"], 1.5);  // not against the variant that was stopped after one call
  BOOST_TEST(cell["timed"] == 3);
  near(kind["cells"][2]["gflops"], 100);
  near(kind["cells"][2]["lead"], 2.5);
}

BOOST_AUTO_TEST_CASE(AWinnerWithoutRivalsHasNoLead) {
  Tuning tuning = handmade();
  tuning.measurements = {measured(0, 0, 2000), measured(2, 0, 1900, 1)};
  BOOST_TEST(data_of(tuning)["kinds"][0]["cells"][0]["lead"].is_null());
}

BOOST_AUTO_TEST_CASE(LossesAreGeometricMeansByClass) {
  const Json losses = data_of(handmade())["kinds"][0]["losses"];
  BOOST_REQUIRE(losses["classes"].size() == 2U);
  BOOST_TEST(losses["classes"][0]["name"] == "small");
  BOOST_TEST(losses["classes"][1]["shapes"] == 2);
  BOOST_REQUIRE(losses["rows"].size() == 2U);  // winners only, the one with more shapes first
  near(losses["rows"][0]["cells"][0]["ratio"], 2.5);
  near(losses["rows"][0]["cells"][1]["ratio"], 1);
  BOOST_TEST(losses["rows"][0]["all"]["served"] == 2);
  near(losses["rows"][1]["cells"][1]["ratio"], std::sqrt(1.5 * 3));
  near(losses["rows"][1]["cells"][1]["worst"], 3);
  BOOST_TEST(losses["rows"][1]["cells"][1]["served"] == 0);
}

BOOST_AUTO_TEST_CASE(CurvesRunInTimeAndEndAtTheWinner) {
  const Json curves = data_of(handmade())["kinds"][0]["curves"];
  BOOST_REQUIRE(curves.size() == 1U);
  BOOST_TEST(curves[0]["shape"] == "1000x1000x1000");
  near(curves[0]["points"][0][0], 1);
  near(curves[0]["points"][1][0], 9);
  BOOST_TEST(curves[0]["points"][1][1] == 3);
  near(curves[0]["winner"], 1000);
}

BOOST_AUTO_TEST_CASE(DistributionsCountEveryVariantOnce) {
  Tuning tuning = handmade();
  const auto shipped = kernels::default_variants(kernels::DeviceType::cpu, Precision::single_precision);
  tuning.variants[1] = kernels::name(shipped.front());
  const Json data = data_of(tuning);
  const Json& distributions = data["kinds"][0]["distributions"];
  BOOST_REQUIRE(distributions.size() == 1U);  // of the shapes that have a curve
  const Json& d = distributions[0];
  BOOST_TEST(d["count"] == 3);
  BOOST_TEST(d["stopped"] == 1);
  near(d["top"], 2e9 / 1900 / 1e3);
  BOOST_TEST(data["variants"][d["default"]["variant"].get<std::size_t>()] == tuning.variants[1]);
  near(d["winner"]["gflops"], 1000);
  std::size_t counted = 0;
  BOOST_REQUIRE(d["rows"].size() == data["families"].size());
  for (const Json& row : d["rows"]) {
    std::size_t in_bins = 0;
    for (const Json& bin : row["bins"]) in_bins += bin.get<std::size_t>();
    BOOST_TEST(in_bins == row["count"].get<std::size_t>());
    counted += in_bins;
  }
  BOOST_TEST(counted == 3U);
  BOOST_TEST(data["families"][2] == "local_tile");
  BOOST_TEST(d["rows"][2]["bins"].back() == 1);  // the fastest is in the last bin
}

BOOST_AUTO_TEST_CASE(WithoutACurveTheShapesTimedMostAreTheProbes) {
  Tuning tuning = handmade();
  tuning.curve.clear();
  const Json kind = data_of(tuning)["kinds"][0];
  BOOST_TEST(kind["curves"].empty());
  BOOST_REQUIRE(kind["distributions"].size() == 2U);
  BOOST_TEST(kind["distributions"][0]["shape"] == "1000x1000x1000");
}

BOOST_AUTO_TEST_CASE(SimilarFailuresAreCountedTogether) {
  const Json failures = data_of(handmade())["failures"];
  BOOST_REQUIRE(failures.size() == 2U);
  BOOST_TEST(failures[0]["count"] == 2);
  BOOST_TEST(failures[0]["cause"] == "wrong result at 3x4x5 of x-1");
  BOOST_TEST(failures[0]["examples"] == Json({"x-1", "x-3"}));
  BOOST_TEST(failures[1]["count"] == 1);
}

BOOST_AUTO_TEST_CASE(TextOfOthersCannotBecomeMarkup) {
  Tuning tuning = handmade();
  const std::string evil = "</script><img src=x>\"'\\ <!-- /* data */ \xE2\x80\xA8 ]]>";
  tuning.target.device_name = evil;
  tuning.failures = {{evil, evil}};
  tuning.variants[0] = evil;
  const std::string plain = page_of(handmade());
  const std::string page = page_of(tuning);
  for (const char* markup : {"</script", "<img", "<!--", "\xE2\x80\xA8"}) {
    BOOST_TEST(count(page, markup) == count(plain, markup), markup);
  }
  const Json data = data_in(page);
  BOOST_TEST(data["head"]["device"] == evil);
  BOOST_TEST(data["failures"][0]["cause"] == evil);
  BOOST_TEST(data["variants"][0] == evil);

  tuning.target.device_name = "not UTF-8: \xFF";
  BOOST_TEST(data_in(page_of(tuning))["head"]["device"] == "not UTF-8: \xEF\xBF\xBD");
}

BOOST_AUTO_TEST_CASE(NumbersThatAreNotFiniteAreLeftOut) {
  Tuning tuning = handmade();
  tuning.elapsed_s = kInfinity;
  for (const double none : {kNaN, kInfinity, 0.0, -1.0}) tuning.measurements.push_back(measured(2, 1, none));
  tuning.curve.push_back({kNaN, 5, 0, 0, 10});
  tuning.curve.push_back({2, 5, 0, 0, kInfinity});
  tuning.winners[1].figures.median_us = 0;
  tuning.winners[2].figures.spread = kNaN;
  const Json data = data_in(page_of(tuning));  // JSON has no word for them: it would not parse
  BOOST_TEST(data["head"]["elapsed_s"].is_null());
  const Json& kind = data["kinds"][0];
  BOOST_TEST(kind["cells"].size() == 2U);
  BOOST_TEST(kind["cells"][1]["spread"].is_null());
  BOOST_TEST(kind["curves"][0]["points"].size() == 2U);
  for (const Json& row : kind["losses"]["rows"]) BOOST_TEST(row["all"]["ratio"].is_number());
}

BOOST_AUTO_TEST_CASE(AnEmptyTuningHasAPage) {
  const Json data = data_in(page_of(Tuning{}));
  BOOST_TEST(data["kinds"].empty());
  BOOST_TEST(data["failures"].empty());
}

BOOST_AUTO_TEST_CASE(ThePageNeedsNothingElse) {
  const std::string page = page_of(handmade());
  for (const char* part : {"src=", "href=", "@import", "url(", "fetch(", "tune_report."})
    BOOST_TEST(count(page, part) == 0U, part);
  BOOST_TEST(count(page, "default-src 'none'") == 1U);
  BOOST_TEST(data_in(page)["head"]["seed"] == "18446744073709551615");
}

BOOST_AUTO_TEST_CASE(ALargeTuningIsASmallFile) {
  Tuning tuning;
  for (std::uint32_t v = 0; v < 3000; ++v) {
    tuning.variants.push_back("register_tile-s-nn-60x128x512-6x64x1-v16-number" + std::to_string(v));
    std::string log(5000, 'e');
    for (std::uint32_t i = 0; i < v; ++i) log[i] = 'x';  // all differ
    tuning.failures.push_back({tuning.variants.back(), log});
  }
  for (std::uint32_t s = 0; s < 204; ++s) {
    Shape shape = cube(16 + s);
    shape.precision = s % 3 == 0   ? Precision::half_precision
                      : s % 3 == 1 ? Precision::single_precision
                                   : Precision::double_precision;
    shape.trans_a = s / 3 % 2 != 0;
    shape.trans_b = s / 6 % 2 != 0;
    tuning.shapes.push_back(shape);
    for (std::uint32_t i = 0; i < 150; ++i) tuning.measurements.push_back(measured((s * 150 + i) % 3000, s, 10.0 + i));
    tuning.winners.push_back({"square", tuning.measurements[tuning.measurements.size() - 150]});
    for (std::uint32_t i = 0; i < 8; ++i) tuning.curve.push_back({i * 1.7, i, (s * 150 + i) % 3000, s, 10.0 + i});
  }
  const std::string page = page_of(tuning);
  BOOST_TEST(page.size() < 1500000U);
  std::size_t failed = 0;
  const Json data = data_in(page);
  for (const Json& group : data["failures"]) failed += group["count"].get<std::size_t>();
  BOOST_TEST(failed == 3000U);
}

BOOST_AUTO_TEST_CASE(IndicesThatPointNowhereAreRefused) {
  const auto refused = [](auto&& damage) {
    Tuning tuning = handmade();
    damage(tuning);
    const Result<std::string> page = report_html(tuning);
    BOOST_REQUIRE(!page.ok());
    BOOST_TEST((page.status().code() == Code::malformed));
  };
  refused([](Tuning& t) { t.measurements[0].variant = 3; });
  refused([](Tuning& t) { t.measurements[0].shape = 3; });
  refused([](Tuning& t) { t.winners[0].figures.variant = 3; });
  refused([](Tuning& t) { t.curve[0].shape = 3; });
}

BOOST_AUTO_TEST_CASE(TheFileIsThePage) {
  const auto directory = required(builder::ScratchDirectory::create());
  const std::string path = directory.path() + "/report.html";
  BOOST_TEST(write_report(path, handmade()).ok());
  BOOST_TEST(read_file(path) == page_of(handmade()));
  const Status status = write_report(directory.path() + "/none/report.html", handmade());
  BOOST_TEST((status.code() == Code::io));
  BOOST_TEST(contains(status.message(), "none/report.html"));
}

// One variant, of which a call is expected to take 100 us; it took 200.
Tuning with_model() {
  Tuning t = handmade();
  t.compute_units = 1;
  cache::CostModel model;
  model.call_us = 100;
  t.models = {model};
  t.measurements = {{0, 0, 200, 0.01, 5, true}, {0, 1, 7, 0.01, 5, false}, {1, 0, 7, 0.01, 5, true}};
  return t;
}

BOOST_AUTO_TEST_CASE(ThePictureHasADotForEachTimeOfAModelledVariantInARace) {
  const std::string picture = model_picture(with_model());
  BOOST_TEST(picture.find("single: 1 times, error 69 %") != std::string::npos);  // ln 2
  BOOST_TEST(picture.find("d=\"M70.0 293.7h0\"") != std::string::npos);  // 100 us to 1 ms on 300: ln 2 / ln 10 up
  BOOST_TEST(page_of(with_model()).find(picture) != std::string::npos);
  BOOST_TEST(model_picture(handmade()).empty());
}

BOOST_AUTO_TEST_CASE(AReportNamedSvgIsThePictureAlone) {
  const auto directory = required(builder::ScratchDirectory::create());
  const std::string path = directory.path() + "/picture.svg";
  BOOST_TEST((write_report(path, handmade()).code() == Code::not_found));
  BOOST_TEST(!is_report(path));
  BOOST_TEST(write_report(path, with_model()).ok());
  BOOST_TEST(is_report(path));
  BOOST_TEST(read_file(path) == model_picture(with_model()));
}

}  // namespace clbake::tool::test
