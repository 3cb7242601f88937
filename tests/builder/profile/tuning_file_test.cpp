// PROFILE.json: what is written is read again; what cannot be meant is refused with file, field and cause.
#include "profile/cost_fit.hpp"
#include "profile/tunings.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <set>

namespace clbake::builder::test {
using namespace profile;
namespace {

// The text of the made-up tuning with one part replaced.
std::string replaced(const std::string& part, const std::string& by) {
  std::string text = tuning_text(made_up_tuning());
  const std::size_t at = text.find(part);
  if (at == std::string::npos) throw std::runtime_error("no " + part + " in " + text);
  return text.replace(at, part.size(), by);
}

void check_refused(const std::string& text, const std::string& field, const std::string& cause) {
  const Result<Tuning> read = parse_tuning(text, "some.json");
  BOOST_TEST(outcome(read) == "malformed", field);
  BOOST_TEST(read.status().message().rfind("some.json: " + field, 0) == 0U, read.status().message());
  BOOST_TEST(contains(read.status().message(), cause), read.status().message());
  BOOST_TEST(!contains(read.status().message(), "\n"));
}

const std::string kFirstRow = "[0,0,40.5,0.5,1,false]";
const std::string kFirstException = "[1,[0,128],[3,128],[7,null],[2,64]]";
// The first cost model: variant, resident, call_us, start_us, wave_us, latency_us.
const std::string kModel = "[2,3,20.5,2.5,1.25,0.0625,";

}  // namespace

BOOST_AUTO_TEST_CASE(WhatIsWrittenIsReadAgain) {
  const BuildFixture shop;
  const std::string file = shop.path("tuned.json");
  const Tuning tuning = made_up_tuning();
  BOOST_REQUIRE_EQUAL(outcome(write_tuning(file, tuning)), "ok");
  const Tuning read = required(read_tuning(file));
  BOOST_TEST(read_file(file) == tuning_text(tuning));
  BOOST_TEST(tuning_text(read) == tuning_text(tuning));
  BOOST_TEST((shop.files() == std::vector<std::string>{"tuned.json"}));

  BOOST_TEST((read.target == tuning.target && read.command == tuning.command && read.date == tuning.date));
  BOOST_TEST((read.compute_units == 2U && read.shard == 2U && read.shards == 3U && read.tried == 5U));
  BOOST_TEST((read.seed == tuning.seed && read.elapsed_s == 598.25 && read.complete && read.noise == 0.015625));
  BOOST_TEST((read.variants == tuning.variants && read.shapes == tuning.shapes && read.shapes[2].weight == 2.5));
  BOOST_REQUIRE_EQUAL(read.measurements.size(), 5U);
  const Measurement& last = read.measurements[4];
  BOOST_TEST((last.variant == 3U && last.shape == 2U && last.median_us == 0.000123456 && last.runs == 4294967295U));
  BOOST_TEST((read.measurements[2].final && read.measurements[2].spread == 0.03125));
  BOOST_TEST(read.failures.at(0).cause == tuning.failures[0].cause);
  BOOST_REQUIRE_EQUAL(read.exceptions.size(), 2U);
  const cache::Rule &first = read.exceptions[0], &second = read.exceptions[1];
  BOOST_TEST((first.m_min == 0U && first.m_max == 128U && first.n_min == 3U && first.k_max == UINT32_MAX));
  BOOST_TEST((first.batch_max == 64U && second.n_max == UINT32_MAX && second.batch_min == 0U && second.trans_a));
  BOOST_REQUIRE_EQUAL(read.models.size(), 2U);
  const cache::CostModel& model = read.models[0];
  BOOST_TEST(model.variant == 2U);
  BOOST_TEST((model.kind() == GemmKind{}));
  BOOST_TEST((model.tile_m == 60U && model.tile_n == 128U && model.item_m == 6U && model.item_n == 32U));
  BOOST_TEST((model.step_k == 1U && model.slices == 1U && model.resident == 3U && model.regime == 2U));
  for (const auto& [field, number] : cache::kCostModelNumbers) {
    BOOST_TEST((model.*number) > 0, field);
    BOOST_TEST(std::abs((model.*number) / (tuning.models[0].*number) - 1) < 1e-3F, field);  // four digits are kept
  }
}

BOOST_AUTO_TEST_CASE(TextThatIsNotUtf8IsWrittenWithReplacements) {
  Tuning tuning = made_up_tuning();
  tuning.failures[0].cause = "half a letter: \xC3";
  BOOST_TEST(required(parse_tuning(tuning_text(tuning), "x")).failures[0].cause == "half a letter: \xEF\xBF\xBD");
}

BOOST_AUTO_TEST_CASE(WhatCannotBeReadAgainIsNotWritten) {
  const BuildFixture shop;
  const std::string file = shop.path("tuned.json");
  write_file(file, "before");
  for (const double figure : {std::nan(""), -1.0, 0.0, std::numeric_limits<double>::infinity()}) {
    Tuning tuning = tuning_of(kLargeWinner);
    tuning.measurements[0].median_us = figure;
    const Status status = write_tuning(file, tuning);
    BOOST_TEST(outcome(status) == "malformed");
    BOOST_TEST(contains(status.message(), file + ": measurements[0].median_us"), status.message());
  }
  BOOST_TEST(read_file(file) == "before");
  BOOST_TEST(outcome(write_tuning(shop.path("no/such/folder.json"), made_up_tuning())) == "input/output");
}

BOOST_AUTO_TEST_CASE(AFileThatCannotBeReadIsNamed) {
  const BuildFixture shop;
  const auto check = [&](const std::string& file, const std::string& code, const std::string& cause) {
    const Result<Tuning> read = read_tuning(file);
    BOOST_TEST(outcome(read) == code);
    BOOST_TEST(contains(read.status().message(), file + ": "), read.status().message());
    BOOST_TEST(contains(read.status().message(), cause), read.status().message());
  };
  check(shop.path("missing.json"), "not found", no_such_file());
  check(shop.path(""), "input/output", "s a directory");
  write_file(shop.path("large.json"), "{");
  std::filesystem::resize_file(shop.path("large.json"), (64 << 20) + 1);
  check(shop.path("large.json"), "malformed", "64 MiB");
}

BOOST_AUTO_TEST_CASE(ControlCharactersOfANameAreNotShown) {
  check_refused(replaced("\"tried\"", "\"a\\n\\u001b[2J\": 0, \"tried\""), "a??[2J: ", "is no field");
}

BOOST_AUTO_TEST_CASE(ASyntaxErrorIsNamedWithItsLine) {
  check_refused("Dear all,\n", "parse error at line 1, column 1: ", "invalid literal");
  check_refused("{\n  \"format\": \"clbake profile\",\n  oops", "parse error at line 3, column 3: ", "");
  check_refused(replaced("\"tried\": 5", "\"tried\": 1e999"), "", "1e999");
  check_refused(replaced("\"tried\": 5", "\"tried\": NaN"), "parse error at line ", "invalid literal");
  check_refused("{\"format\": \"clbake profile\"", "parse error at line 1, ", "unexpected end of input");
}

BOOST_AUTO_TEST_CASE(ListsWithinListsAreRefusedBeforeTheyTakeMemory) {
  check_refused(std::string(8000000, '['), "lists and objects", "nested more than");
}

BOOST_AUTO_TEST_CASE(ForeignFormatsAndVersionsAreNamed) {
  check_refused("[]", "no clbake profile", "format");
  check_refused("{}", "no clbake profile", "format");
  check_refused(replaced("\"clbake profile\"", "\"clbake bundle\""), "no clbake profile", "format");
  check_refused(replaced("\"version\": 5", "\"version\": \"2\""), "version", "whole number");
  check_refused(replaced("  \"version\": 5,\n", ""), "version", "missing");
  for (const std::string version : {"4", "6"}) {
    const Result<Tuning> other = parse_tuning(replaced("\"version\": 5", "\"version\": " + version), "some.json");
    BOOST_TEST(outcome(other) == "unsupported version");
    BOOST_TEST(contains(other.status().message(), "some.json: version: " + version + " "), other.status().message());
    BOOST_TEST(contains(other.status().message(), "this clbake reads version 5"), other.status().message());
  }
}

BOOST_AUTO_TEST_CASE(EveryFieldIsNeeded) {
  const std::string text = tuning_text(made_up_tuning());
  std::vector<std::string> keys;
  for (std::size_t at = text.find("\n  \""); at != std::string::npos; at = text.find("\n  \"", at + 1)) {
    keys.push_back(text.substr(at + 4, text.find('"', at + 4) - at - 4));
  }
  BOOST_TEST(keys.size() == 23U);
  for (const std::string key :
       {"platform_name", "driver_version", "architecture", "address_bits", "variant", "cause"}) {
    keys.push_back(key);
  }
  for (const std::string& key : keys) {
    const Result<Tuning> read = parse_tuning(replaced("\"" + key + "\":", "\"other\":"), "some.json");
    BOOST_TEST(!read.ok(), key);
    const std::string& message = read.status().message();
    BOOST_TEST((contains(message, key) || contains(message, "other: is no field")), message);
  }
}

BOOST_AUTO_TEST_CASE(WrongTypesAndValuesAreNamedWithTheirField) {
  check_refused(replaced("\"tried\": 5", "\"tried\": \"5\""), "tried: ", "whole number");
  check_refused(replaced("\"tried\": 5", "\"tried\": -5"), "tried: ", "whole number");
  check_refused(replaced("\"tried\": 5", "\"tried\": 5.5"), "tried: ", "whole number");
  check_refused(replaced("\"tried\": 5", "\"tried\": 4294967296"), "tried: ", "4294967296 is more than");
  check_refused(replaced("\"tried\": 5", "\"tried\": null"), "tried: ", "whole number");
  check_refused(replaced("\"complete\": true", "\"complete\": 1"), "complete: ", "neither true nor false");
  check_refused(replaced("\"strategy\": \"staged\"", "\"strategy\": []"), "strategy: ", "not a text");
  check_refused(replaced("598.25", "-1"), "elapsed_s: ", "negative");
  check_refused(replaced("598.25", "\"long\""), "elapsed_s: ", "not a number");
  check_refused(replaced("\"shard\": 2", "\"shard\": 0"), "shard: ", "outside 1 to 3");
  check_refused(replaced("\"shard\": 2", "\"shard\": 4"), "shard: ", "outside 1 to 3");
  check_refused(replaced("\"address_bits\":64", "\"address_bits\":\"64\""), "target.address_bits: ", "whole number");
  check_refused(replaced("\"tried\"", "\"extra\": 1, \"tried\""), "extra: ", "no field");
}

BOOST_AUTO_TEST_CASE(WrongNamesAreNamedWithTheirField) {
  check_refused(replaced("\"" + std::string(kLoser) + "\",", "\"register_tile-s-nn-64x64x256-8x32x1-v16-frob3\","),
                "variants[0]: ", "'frob3' is no parameter");
  check_refused(replaced("\"" + std::string(kLoser) + "\",", "\"direct-s-nn-3x4x1-2x2x1-v1\","),
                "variants[0]: ", "divisibility");
  check_refused(replaced("\"" + std::string(kLoser) + "\",", "\"direct-s-nn-0x0x0-0x0x0-v0\","),
                "variants[0]: ", "range");
  check_refused(replaced("\"" + std::string(kLoser) + "\",", "7,"), "variants[0]: ", "not a text");
  check_refused(replaced("\"single nn 512x512x512\",\n", "\"single nn 512x512\",\n"), "shapes[1]: ", "512x512");
  check_refused(replaced("\"single nn 512x512x512\",\n", "\"single nn 512x512x512 batch 1\",\n"), "shapes[1]: ", "");
  check_refused(replaced("\"single nn 512x512x512\",\n", "\"single nn 16x16x16 batch 8\",\n"), "shapes[1]: ", "twice");
  check_refused(replaced("\"single nn 512x512x512\",\n", "\"single nn 16x16x16 batch 8 weight 2\",\n"),
                "shapes[1]: ", "twice");
  check_refused(replaced("\"single nn 512x512x512\",\n", "\"single nn 512x512x512 weight 0\",\n"),
                "shapes[1]: ", "'0' is no weight");
  check_refused(replaced("{\"variant\":\"" + std::string(kFailing), "{\"variant\":\"direct-s-nn"),
                "failures[0].variant: ", "family-precision");
  Tuning twice = tuning_of(kLargeWinner);
  twice.variants.push_back(kLargeWinner);
  check_refused(tuning_text(twice), "variants[1]: ", "twice");
}

BOOST_AUTO_TEST_CASE(WrongMeasurementsAreNamedWithTheirField) {
  const auto check = [](const std::string& row, const std::string& field, const std::string& cause) {
    check_refused(replaced(kFirstRow, row), "measurements[0]" + field + ": ", cause);
  };
  check("[4,0,40.5,0.5,1,false]", ".variant", "4 is outside the list of 4");
  check("[0,3,40.5,0.5,1,false]", ".shape", "3 is outside the list of 3");
  check("[-1,0,40.5,0.5,1,false]", ".variant", "whole number");
  check("[0,0,0,0.5,1,false]", ".median_us", "outside");
  check("[0,0,1e300,0.5,1,false]", ".median_us", "outside");
  check("[0,0,-40,0.5,1,false]", ".median_us", "negative");
  check("[0,0,null,0.5,1,false]", ".median_us", "not a number");
  check("[0,0,40.5,-0.5,1,false]", ".spread", "negative");
  check("[0,0,40.5,0.5,0,false]", ".runs", "is 0");
  check("[0,0,40.5,0.5,1,0]", ".final", "neither");
  check("[0,0,40.5,0.5,1]", "", "not a list of 6");
  check("{}", "", "not a list of 6");
  check("[0,2,40.5,0.5,1,false]", "", "does not compute single tn");
  check_refused(replaced("[0,1,2500", "[0,0,2500"), "measurements[1]: ", "twice");
}

BOOST_AUTO_TEST_CASE(WrongExceptionsAreNamedWithTheirField) {
  const auto check = [](const std::string& rule, const std::string& field, const std::string& cause) {
    check_refused(replaced(kFirstException, rule), "exceptions[0]" + field + ": ", cause);
  };
  check("{}", "", "list of 4");
  check("[1,[0,128],[3,128]]", "", "list of 4");
  check("[1,[0,128],[3,128],[7,8],[2,64],5]", "", "list of 4");
  check("[4,[0,128],[3,128],[7,8]]", ".variant", "4 is outside the list of 4");
  check("[-1,[0,128],[3,128],[7,8]]", ".variant", "whole number");
  check("[1,[5],[3,128],[7,8]]", ".m", "list of 2");
  check("[1,5,[3,128],[7,8]]", ".m", "list of 2");
  check("[1,[5,4],[3,128],[7,8]]", ".m", "ends before");
  check("[1,[5,6],[\"a\",4],[7,8]]", ".n.min", "whole number");
  check("[1,[5,6],[3,4],[null,8]]", ".k.min", "whole number");
  check("[1,[5,6],[3,4],[7,8],[1,4294967296]]", ".batch.max", "more than");
  Tuning many = made_up_tuning();
  many.exceptions.resize(1);
  many.exceptions.resize(kMaxExceptionsOfKind, many.exceptions[0]);
  BOOST_TEST(outcome(parse_tuning(tuning_text(many), "some.json")) == "ok");
  many.exceptions.push_back(many.exceptions[0]);
  check_refused(tuning_text(many), "exceptions[32]: ", "one too many of single nn: 32 are allowed");
}

BOOST_AUTO_TEST_CASE(WrongCostModelsAreNamedWithTheirField) {
  const auto check = [](const std::string& part, const std::string& by, const std::string& field,
                        const std::string& cause) {
    check_refused(replaced(part, by), "models[0]" + field + ": ", cause);
  };
  check(kModel, "[2,0,20.5,2.5,1.25,0.0625,", ".resident", "is outside 1 to 64");
  check(kModel, "[2,65,20.5,2.5,1.25,0.0625,", ".resident", "is outside 1 to 64");
  check(kModel, "[2,1.5,20.5,2.5,1.25,0.0625,", ".resident", "whole number");
  check(kModel, "[2,", "", "not a list of 13");
  check(kModel, "[2,3,20.5,2.5,1.25,-1,", ".latency_us", "negative");
  check(kModel, "[2,3,20.5,2.5,1.25,1.1e12,", ".latency_us", "over 1e12");
  check(kModel, "[2,3,20.5,2.5,1.25,null,", ".latency_us", "not a number");
  for (const auto& [field, number] : cache::kCostModelNumbers) {
    Tuning tuning = made_up_tuning();
    tuning.models[0].*number = 2e12F;
    check_refused(tuning_text(tuning), std::string("models[0].") + field + ": ", "over 1e12");
  }
  check("0.02,2]", "0.02,3]", ".regime", "is neither 1 nor 2");
  check(kModel, "[4,3,20.5,2.5,1.25,0.0625,", ".variant", "4 is outside the list of 4");
  check(kModel, "[\"" + std::string(kLargeWinner) + "\",3,20.5,2.5,1.25,0.0625,", ".variant", "whole number");
  check(kModel, "7, " + kModel, "", "not a list");
  Tuning twice = made_up_tuning();
  twice.models.push_back(twice.models[0]);
  check_refused(tuning_text(twice), "models[2]: ", "is there twice");
  check_refused(replaced("\"compute_units\": 2", "\"compute_units\": 0"), "compute_units: ", "there are cost models");
  Tuning many;
  many.compute_units = 1;
  for (std::uint32_t v = 0; v <= kMaxModelsOfKind; ++v) {
    many.variants.push_back("direct-s-nn-" + std::to_string(v + 1) + "x2x1-1x1x1-v1");
    many.models.emplace_back().variant = v;
  }
  check_refused(tuning_text(many), "models[256]: ", "one too many of single nn: 256 are allowed");
}

BOOST_AUTO_TEST_CASE(TheBriefFormHoldsTheChoiceAndAShapeOfOtherKinds) {
  Tuning whole = made_up_tuning();
  for (const char* text : {"single tt 400x400x400", "single tt 512x512x512"}) {  // of a kind that the defaults won
    whole.shapes.push_back(*parse_shape(text));
  }
  const Tuning small = required(parse_tuning(tuning_text(brief(whole)), "x"));
  BOOST_TEST((small.variants == std::vector<std::string>{kSmallWinner, kLargeWinner, kTransposedWinner}));
  BOOST_TEST((small.measurements.empty() && small.failures.empty()));
  BOOST_REQUIRE_EQUAL(small.shapes.size(), 1U);
  BOOST_TEST(name(small.shapes[0]) == "single tt 400x400x400");
  BOOST_TEST(small.tried == 5U);
  BOOST_TEST(small.compute_units == 2U);
  BOOST_REQUIRE_EQUAL(small.exceptions.size(), whole.exceptions.size());
  for (std::size_t i = 0; i < small.exceptions.size(); ++i) {
    const cache::Rule& a = small.exceptions[i];
    const cache::Rule& b = whole.exceptions[i];
    BOOST_TEST(small.variants[a.variant] == whole.variants[b.variant]);
    BOOST_TEST((a.trans_a == b.trans_a && a.m_max == b.m_max && a.n_min == b.n_min && a.batch_max == b.batch_max));
  }
  BOOST_REQUIRE_EQUAL(small.models.size(), whole.models.size());
  for (std::size_t i = 0; i < small.models.size(); ++i) {
    BOOST_TEST(small.variants[small.models[i].variant] == whole.variants[whole.models[i].variant]);
    BOOST_TEST(small.models[i].call_us == whole.models[i].call_us);
  }
  BOOST_TEST(tuning_text(brief(small)) == tuning_text(small));
}

}  // namespace clbake::builder::test
