// The report of a release: its figures, for bundles made by hand. No browser, no device.
#include "report/release/release_report.hpp"
#include "files.hpp"
#include "report/releases.hpp"

#include <clbake/builder/scratch.hpp>
#include <clbake/builder/shape/shapes_file.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>

namespace clbake::tool::test {
namespace {

using namespace clbake::tests;
using Json = nlohmann::ordered_json;

std::vector<builder::Shape> shapes(const std::string& text) {
  return required(builder::parse_shapes(text, "shapes", {{}}));
}

// The release of the bundle as it is made by hand, for one small problem of single precision, one large one, and one of
// double precision.
Release one_release() {
  Release release;
  release.bundles = {named("new.clbake", release_contents())};
  release.shapes = shapes("single nn 64x64x64 weight 3\nsingle nn 4096x4096x4096\ndouble nn 64x64x64\n");
  release.shapes_file = "shapes.txt";
  return release;
}

void near(const Json& value, double expected) {
  BOOST_TEST(value.get<double>() == expected, boost::test_tools::tolerance(1e-6));
}

// The text that the page's script would parse: from the data's opening tag to the first closing one, as a browser reads
// it.
Json data_in(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(open) + open.size();
  return Json::parse(page.substr(begin, page.find("</script", begin) - begin));
}

}  // namespace

BOOST_AUTO_TEST_CASE(EachDeviceWithADriverHasItsFiguresForEachPrecision) {
  const Json data = release_data(one_release());
  BOOST_REQUIRE(data["targets"].size() == 3U);
  BOOST_TEST(data["columns"] == Json({{{"name", "single"}, {"count", 2}}, {{"name", "double"}, {"count", 1}}}));
  const Json& native = data["targets"][0]["cells"][0];
  BOOST_TEST(data["targets"][0]["device"] == "Device <A>");
  BOOST_TEST(data["targets"][0]["driver"] == "1");
  for (const char* figure : {"count", "native", "proven", "jit_free", "expected"}) BOOST_TEST(native[figure] == 2);
  near(native["native_share"], 1);
  const double small = 2.0 * 64 * 64 * 64 / 10 / 1000, large = 2.0 * 4096 * 4096 * 4096 / 100 / 1000;
  near(native["gflops"], std::pow(small * small * small * large, 0.25));  // by their weights
  BOOST_TEST(native["speedup"].is_null());

  const Json& portable = data["targets"][1]["cells"][0];
  BOOST_TEST(portable["portable"] == 2);
  BOOST_TEST(portable["jit_free"] == 0);
  near(portable["native_share"], 0);

  const Json& some = data["targets"][2]["cells"][0];
  BOOST_TEST(some["native"] == 1);
  BOOST_TEST(some["source"] == 1);
  near(some["native_share"], 0.75);

  const Json& without_model = data["targets"][0]["cells"][1];
  BOOST_TEST(without_model["native"] == 1);
  BOOST_TEST(without_model["gflops"].is_null());
}

BOOST_AUTO_TEST_CASE(WhatIsMissingIsGroupedByItsCause) {
  const Json data = release_data(one_release());
  BOOST_REQUIRE(data["missing"].size() == 2U);
  BOOST_TEST(data["missing"][0]["missing"] == "not native");
  BOOST_TEST(data["missing"][0]["count"] == 3);
  BOOST_TEST(data["missing"][0]["targets"] == Json({"Device <A>, driver 2"}));
  BOOST_TEST(data["missing"][1]["missing"] == "compiled from source");
  BOOST_TEST(data["missing"][1]["code"] == "no entry");
  BOOST_TEST(data["missing"][1]["examples"] == Json({"single nn 4096x4096x4096"}));
}

BOOST_AUTO_TEST_CASE(TotalsAndSizesAreThoseOfTheBundles) {
  Release release = one_release();
  release.bundles.push_back(named("twice.clbake", release_contents()));
  const Json data = release_data(release);
  BOOST_TEST(data["total"]["count"] == 9);
  BOOST_TEST(data["total"]["native"] == 5);
  BOOST_TEST(data["total"]["portable"] == 3);
  BOOST_TEST(data["total"]["source"] == 1);
  BOOST_REQUIRE(data["bundles"].size() == 2U);
  BOOST_TEST(data["bundles"][0]["file"] == "new.clbake");
  BOOST_TEST(data["bundles"][0]["bytes"] == release.bundles[0].bundle.size_bytes());
  BOOST_TEST(data["bundles"][0]["targets"] == 3);
  BOOST_TEST(data["bundles"][0]["entries"] == 8);
}

// As an application that opens both.
BOOST_AUTO_TEST_CASE(OfSeveralBundlesTheBestProgramServes) {
  cache::Contents part = release_contents();
  part.entries.erase(part.entries.begin());  // "small" of the first target
  Release release = one_release();
  release.bundles = {named("part.clbake", part)};
  BOOST_TEST(release_data(release)["targets"][0]["cells"][0]["native"] == 1);
  release.bundles.push_back(named("all.clbake", release_contents()));
  BOOST_TEST(release_data(release)["targets"][0]["cells"][0]["native"] == 2);
}

BOOST_AUTO_TEST_CASE(WhatAReleaseAddsAndLosesIsNamed) {
  cache::Contents before = release_contents();
  before.targets[1].driver_version = "0";  // in place of driver 2
  before.profiles[0].models[0].wave_us = 15;
  Release release = one_release();
  release.against = {named("old.clbake", before)};
  const Json data = release_data(release);
  BOOST_REQUIRE(data["targets"].size() == 4U);
  std::string all;
  for (const Json& target : data["targets"]) {
    all += target["driver"].get<std::string>() + " " + target["status"].get<std::string>() + ", ";
  }
  BOOST_TEST(all == "1 kept, 2 added, 1 kept, 0 lost, ");

  const Json& lost = data["targets"][3]["cells"][0];
  BOOST_TEST(lost["source"] == 2);
  near(data["targets"][0]["cells"][0]["speedup"], std::pow(1.5, 0.75));  // the small problem, by its weight
  BOOST_TEST(data["total"]["count"] == 9);                               // without the lost target
  BOOST_TEST(data["missing"].size() == 2U);                              // likewise

  BOOST_TEST(data["worse"] == 3);
  BOOST_TEST(data["better"] == 3);
  BOOST_REQUIRE(data["changes"].size() == 4U);  // of each kind; worse ones first, the heaviest of them first
  BOOST_TEST(data["more_changes"] == 0);
  BOOST_TEST(data["changes"][0]["kind"] == "single nn");
  BOOST_TEST(data["changes"][0]["count"] == 2);
  BOOST_TEST(data["changes"][0]["examples"] == Json({"single nn 64x64x64", "single nn 4096x4096x4096"}));
  BOOST_TEST(data["changes"][0]["before"] == "portable");
  BOOST_TEST(data["changes"][0]["after"] == "source");
  BOOST_TEST(contains(data["changes"][0]["why"].get<std::string>(), "driver"));
  BOOST_TEST(data["changes"][3]["why"].is_null());
}

// Programs of the application's own beside the products: "softmax" for all three targets, "scale" for the first.
cache::Contents with_programs() {
  cache::Contents all = release_contents();
  all.sources.push_back({"mine.cl", "kernel void mine() {}"});
  for (const char* name : {"softmax", "scale"}) {
    all.variants.push_back(own_program(name));
    all.variants.back().source = 1;
  }
  for (std::uint32_t t = 0; t < 3; ++t) {
    cache::Entry entry = all.entries[0];
    entry.target = t;
    entry.variant = 3;
    entry.proof.proven = t != 2;
    entry.proof.jit_free = t == 0;
    entry.program.resize(500);
    all.entries.push_back(entry);
    entry.variant = 4;
    if (t == 0) all.entries.push_back(entry);
  }
  return all;
}

BOOST_AUTO_TEST_CASE(ProgramsOfTheApplicationsOwnAreAColumnOfTheirOwn) {
  Release release = one_release();
  release.bundles = {named("new.clbake", with_programs())};
  release.shapes.clear();
  const Json data = data_in(release_html(release_data(release)));
  BOOST_TEST(data["columns"].dump() == R"([{"name":"programs","count":2}])");
  for (const auto& [figure, count] :
       {std::pair("count", 6), {"native", 4}, {"source", 2}, {"proven", 3}, {"jit_free", 2}}) {
    BOOST_TEST(data["total"][figure] == count, figure);
  }
  std::set<std::string> missing;
  for (const Json& group : data["missing"]) {
    BOOST_TEST(group["kinds"] == Json({"program"}));
    missing.insert(group["missing"].get<std::string>() + " " + group["examples"].dump());
  }
  BOOST_TEST(missing == (std::set<std::string>{"compiled from source [\"scale\"]", "not JIT-free [\"softmax\"]",
                                               "not proven [\"softmax\"]", "not tried [\"scale\",\"softmax\"]"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(ProgramsThatAReleaseLosesAreNamed) {
  cache::Contents now = with_programs();
  now.entries.pop_back();  // "softmax" of the third target
  now.variants.pop_back();
  now.entries.erase(std::remove_if(now.entries.begin(), now.entries.end(), [](auto& e) { return e.variant == 4; }),
                    now.entries.end());
  Release release = one_release();
  release.bundles = {named("new.clbake", now)};
  release.against = {named("old.clbake", with_programs())};
  const Json data = release_data(release);
  BOOST_TEST(data["worse"] == 4);  // "scale" is gone on three targets, "softmax" is compiled on one
  std::set<std::string> changes;
  for (const Json& change : data["changes"]) {
    BOOST_TEST(change["kind"] == "program");
    changes.insert(change["before"].get<std::string>() + " " + change["after"].get<std::string>() + " " +
                   change["examples"].dump());
  }
  BOOST_TEST(changes == (std::set<std::string>{"native none [\"scale\"]", "native source [\"softmax\"]",
                                               "source none [\"scale\"]"}),
             boost::test_tools::per_element());
}

// As Library::program: the first bundle says which source is meant.
BOOST_AUTO_TEST_CASE(AProgramOfAnotherSourceDoesNotCount) {
  cache::Contents first = with_programs(), second = with_programs();
  first.entries.clear();
  Release release = one_release();
  release.shapes.clear();
  release.bundles = {named("first.clbake", first), named("second.clbake", second)};
  BOOST_TEST(release_data(release)["total"]["native"] == 4);
  second.sources[1].text += "// changed";
  release.bundles[1] = named("second.clbake", second);
  BOOST_TEST(release_data(release)["total"]["native"] == 0);
}

BOOST_AUTO_TEST_CASE(NewerDriversCountOnlyIfTheyAreAllowed) {
  cache::Contents contents = release_contents();
  contents.entries.resize(3);  // of driver 1 alone
  for (cache::Entry& entry : contents.entries) entry.newer_driver = true;
  cache::Contents later = contents;
  std::swap(later.targets[0], later.targets[1]);  // of driver 2 alone
  Release release = one_release();
  release.bundles = {named("old driver.clbake", contents)};
  release.against = {named("new driver.clbake", later)};
  BOOST_TEST(release_data(release)["targets"][1]["cells"][0]["source"] == 2);
  release.newer_driver = true;
  const Json cell = release_data(release)["targets"][1]["cells"][0];
  BOOST_TEST(cell["native"] == 2);
  near(cell["native_share"], 0);  // it is not made for exactly this driver
}

BOOST_AUTO_TEST_CASE(TheStandardShapesAreSquaresOfEachKind) {
  const std::vector<builder::Shape> shapes =
      standard_shapes({{Precision::single_precision, false, true}, {Precision::double_precision, true, true}});
  BOOST_REQUIRE(shapes.size() == 12U);
  BOOST_TEST(builder::name(shapes.front()) == "single nt 64x64x64");
  BOOST_TEST(builder::name(shapes.back()) == "double tt 4096x4096x4096");
}

BOOST_AUTO_TEST_CASE(ThePageHoldsTheDataAndNeedsNothingElse) {
  cache::Contents contents = release_contents();
  contents.targets[0].device_name = "</script><img src=x>\"'\\ <!-- /* data */ \xE2\x80\xA8 \xFF";
  Release release = one_release();
  release.bundles = {named("new.clbake", contents)};
  release.against = {named("old.clbake", release_contents())};
  const Json data = release_data(release);
  const std::string page = release_html(data);
  BOOST_TEST((data_in(page).dump() == Json::parse(data.dump(-1, ' ', true, Json::error_handler_t::replace)).dump()));
  for (const char* part : {"href=", "@import", "url(", "fetch(", "<img"}) {
    BOOST_TEST((page.find(part) == std::string::npos), part);
  }
  BOOST_TEST(page.find("default-src 'none'") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(ThePageOfManyTargetsAndShapesIsASmallFile) {
  cache::Contents contents;
  const cache::Contents one = release_contents();
  contents.sources = one.sources;
  contents.variants = one.variants;
  for (std::uint32_t t = 0; t < 100; ++t) {
    contents.targets.push_back(one.targets[0]);
    contents.targets.back().driver_version = std::to_string(t);
    contents.profiles.push_back(one.profiles[0]);
    contents.profiles.back().target = t;
    contents.entries.push_back(one.entries[0]);
    contents.entries.back().target = t;
  }
  Release release;
  release.bundles = {named("many.clbake", contents)};
  release.against = {named("one.clbake", one)};
  std::string text;
  for (int i = 1; i <= 200; ++i) text += "single nn " + std::to_string(i) + "x64x64\n";
  release.shapes = shapes(text);
  BOOST_TEST(release_html(release_data(release)).size() < 500000U);
}

BOOST_AUTO_TEST_CASE(AReportIsKnownByItsBeginning) {
  const auto directory = required(builder::process::ScratchDirectory::create());
  const std::string path = directory.path() + "/report.html";
  BOOST_TEST(!is_release_page(path));
  write_file(path, release_html(release_data(one_release())));
  BOOST_TEST(is_release_page(path));
  write_file(path, "<!DOCTYPE html>\n");
  BOOST_TEST(!is_release_page(path));
}

}  // namespace clbake::tool::test
