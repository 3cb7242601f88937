// `clbake bench cold`: the rows of the demo's table, and those of other libraries.
#include "command.hpp"

#include <algorithm>

namespace clbake::tool::test {
namespace {

const std::vector<std::string> kSteps = {"start_ms",        "platform_ms",     "context_ms", "load_ms",
                                         "first_launch_ms", "first_result_ms", "steady_ms"};

// One trial of each row of a small product.
Arguments small_bench(const Arguments& more) {
  Arguments all = {"bench", "cold", baked_bundle(), "--trials", "1", "--size", "64"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<std::string> paths_of(const nlohmann::json& json) {
  std::vector<std::string> paths;
  for (const nlohmann::json& row : json.at("rows")) paths.push_back(row.at("path"));
  return paths;
}

// `without`: the steps that the row does not have.
void check_row(const nlohmann::json& row, const std::vector<std::string>& without) {
  BOOST_TEST_CONTEXT(row.dump()) {
    for (const std::string& step : kSteps) {
      const bool absent = std::find(without.begin(), without.end(), step) != without.end();
      BOOST_TEST((absent || row.at(step).get<double>() > 0), step);
      BOOST_TEST((!absent || row.at(step) == 0), step);
      BOOST_TEST(row.at(step + "_min").get<double>() <= row.at(step).get<double>());
      BOOST_TEST(row.at(step + "_max").get<double>() >= row.at(step).get<double>());
    }
    BOOST_TEST(row.at("against_bundle").get<double>() > 0);
    BOOST_TEST(row.at("trials") == 1);
    BOOST_TEST(row.at("device").is_string());
  }
}

const Environment& fake_openblas() {
  static const Environment environment = {{"LD_LIBRARY_PATH", CLBAKE_FAKE_OPENBLAS}};
  return environment;
}

}  // namespace

BOOST_AUTO_TEST_CASE(TheFourRowsAndTheProcessesAreMeasuredWithAllTheirFigures) {
  const nlohmann::json json = json_of(clbake({"bench", "cold", baked_bundle(), "--trials", "1", "--json"}));
  BOOST_TEST(json.at("m") == 512);
  const std::vector<std::string> paths = {"source-cold", "source-warm", "plain", "bundle"};
  BOOST_TEST(paths_of(json) == paths, boost::test_tools::per_element());
  for (const nlohmann::json& row : json.at("rows")) {
    check_row(row, {});
    const bool compiles = row.at("path").get<std::string>().rfind("source", 0) == 0;
    BOOST_TEST((row.at("origin") == "source") == compiles);
    BOOST_TEST(row.contains("jit_free") == (row.at("path") == "bundle"));
  }
  const nlohmann::json& process = json.at("process");
  for (const char* field : {"context_ms", "bundle_ms", "product_ms", "ratio"}) {
    BOOST_TEST(process.at(field).get<double>() > 0, field);
  }
}

BOOST_AUTO_TEST_CASE(TheTableHasTheFourRows) {
  const Outcome outcome = clbake(small_bench({}));
  BOOST_REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  for (const char* label : {"source, cold", "source, warm", "plain binary", "clbake bundle", "Whole process"}) {
    BOOST_TEST(contains(outcome.out, label), outcome.out);
  }
}

BOOST_AUTO_TEST_CASE(APeerWithoutOpenClHasARowWithoutItsSteps) {
  const nlohmann::json json = json_of(clbake(small_bench({"--peer", "openblas", "--json"}), fake_openblas()));
  const std::vector<std::string> paths = {"source-cold", "source-warm", "plain", "bundle", "openblas"};
  BOOST_TEST(paths_of(json) == paths, boost::test_tools::per_element());
  check_row(json.at("rows").at(4), {"platform_ms", "load_ms"});
}

BOOST_AUTO_TEST_CASE(AWrongResultOfAPeerIsFound) {
  Environment environment = fake_openblas();
  environment.emplace_back("FAKE_OPENBLAS_WRONG", "1");
  const Outcome outcome = clbake(small_bench({"--peer", "openblas"}), environment);
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(contains(outcome.err, "openblas: wrong result"), outcome.err);
}

BOOST_AUTO_TEST_CASE(APeerOnOpenClHasARowForEachStateOfTheDriversCache) {
  const Outcome outcome = clbake(small_bench({"--peer", "clblast", "--json"}));
  if (outcome.status != 0) {
    check_refused(outcome, 1, {"clbake bench cold: --peer: clblast is not installed"});
    return;
  }
  const nlohmann::json json = json_of(outcome);
  const std::vector<std::string> paths = {"source-cold", "source-warm",  "plain",
                                          "bundle",      "clblast-cold", "clblast-warm"};
  BOOST_TEST(paths_of(json) == paths, boost::test_tools::per_element());
  check_row(json.at("rows").at(4), {"load_ms"});
  check_row(json.at("rows").at(5), {"load_ms"});
}

BOOST_AUTO_TEST_CASE(ABundleWithoutThisDeviceIsRefused) {
  const Directory directory;
  cache::Contents contents = baked_contents();
  for (cache::Target& target : contents.targets) target.driver_version += "-other";
  const std::string file = directory.write("other.clbake", encoded(contents));
  check_refused(clbake({"bench", "cold", file, "--trials", "1"}), 1, {"clbake bench cold", file, "driver"});
}

}  // namespace clbake::tool::test
