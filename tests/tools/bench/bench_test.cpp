// `clbake bench`: its figures, its rows of other libraries, and what it refuses.
#include "command.hpp"

#include <clbake/builder/times.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

namespace clbake::tool::test {
namespace {

const std::vector<std::string> kSteps = {"start_ms",        "platform_ms",     "context_ms", "load_ms",
                                         "first_launch_ms", "first_result_ms", "steady_ms"};

// The rows of one trial of a small product, by their path: each has all figures, which are 0 for the steps of
// `without`.
std::map<std::string, nlohmann::json> cold_rows(const Arguments& more, const Environment& environment,
                                                const std::string& peer, const std::vector<std::string>& without) {
  const nlohmann::json json = json_of(clbake(
      Arguments{"bench", "cold", baked_bundle(), "--trials", "1", "--size", "64", "--json"} + more, environment));
  BOOST_TEST(json.at("m") == 64);
  std::map<std::string, nlohmann::json> rows;
  for (const nlohmann::json& row : json.at("rows")) {
    const std::string path = row.at("path");
    rows[path] = row;
    for (const std::string& step : kSteps) {
      const bool absent = contains(path, peer) && std::count(without.begin(), without.end(), step) > 0;
      BOOST_TEST((row.at(step).get<double>() > 0) == !absent, path << ": " << step);
    }
    BOOST_TEST(row.at("against_bundle").get<double>() > 0);
  }
  return rows;
}

nlohmann::json choices(const std::string& file, const Arguments& more) {
  return json_of(clbake(Arguments{"bench", "choice", file, "--rounds", "1", "--json"} + more));
}

Environment fake_openblas() { return {{"LD_LIBRARY_PATH", CLBAKE_FAKE_OPENBLAS}}; }
Environment fake_clblast() { return {{"LD_LIBRARY_PATH", CLBAKE_FAKE_CLBLAST}}; }

}  // namespace

BOOST_AUTO_TEST_CASE(AFirstResultIsTimedInFourWaysAndByOtherLibraries) {
  auto rows = cold_rows({"--peer", "openblas"}, fake_openblas(), "openblas", {"platform_ms", "load_ms"});
  BOOST_TEST(rows.size() == 5U);
  for (const char* path : {"source-cold", "source-warm"}) BOOST_TEST(rows[path]["origin"] == "source");
  BOOST_TEST(rows["plain"]["origin"] != "source");
  BOOST_TEST(rows["bundle"]["origin"] == baked_origin());
  BOOST_TEST(rows["bundle"].contains("jit_free"));
  rows = cold_rows({"--peer", "clblast"}, fake_clblast(), "clblast", {"load_ms"});
  BOOST_TEST((rows.count("clblast-cold") == 1 && rows.count("clblast-warm") == 1));
  const std::string text = clbake({"bench", "cold", baked_bundle(), "--trials", "1", "--size", "64"}).out;
  for (const char* part : {"  first result  ", "\nclbake bundle "}) BOOST_TEST(contains(text, part), text);
}

BOOST_AUTO_TEST_CASE(AWrongResultOfAPeerIsFound) {
  Environment environment = fake_openblas();
  environment.emplace_back("FAKE_OPENBLAS_WRONG", "1");
  const Outcome outcome =
      clbake({"bench", "cold", baked_bundle(), "--trials", "1", "--size", "64", "--peer", "openblas"}, environment);
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(contains(outcome.err, "openblas: wrong result"), outcome.err);
}

BOOST_AUTO_TEST_CASE(TheChoiceIsComparedWithTheBestVariant) {
  const nlohmann::json json =
      choices(baked_bundle(), {"--sizes", "16,8x24x12", "--trans", "nn,tn", "--precision", "single"});
  BOOST_REQUIRE(json.at("rows").size() == 4U);
  double logarithms = 0, least = 1;
  for (const nlohmann::json& row : json.at("rows")) {
    BOOST_TEST_CONTEXT(row.dump()) {
      BOOST_TEST(row.at("variants").get<std::size_t>() == row.at("timed").size());
      BOOST_TEST(row.at("timed").size() > 1U);
      BOOST_TEST(row.at("timed").contains(row.at("choice").get<std::string>()));
      BOOST_TEST(row.at("timed").contains(row.at("best").get<std::string>()));
      for (const auto& [variant, us] : row.at("timed").items()) BOOST_TEST(us.get<double>() > 0, variant);
      const double ratio = row.at("ratio");
      BOOST_TEST((ratio > 0 && ratio <= 1));
      BOOST_TEST((ratio == 1) == (row.at("best") == row.at("choice")));
      logarithms += std::log(ratio);
      least = std::min(least, ratio);
      std::vector<std::string> run = {"run", baked_bundle(), "--json", "--repeat", "1"};
      for (const char* size : {"m", "n", "k"}) run.insert(run.end(), {std::string("--") + size, row.at(size).dump()});
      if (row.at("trans") == "tn") run.emplace_back("--trans-a");
      BOOST_TEST(json_of(clbake(run)).at("variant") == row.at("choice"));
    }
  }
  BOOST_TEST(json.at("rows").at(1).at("n") == 24);
  BOOST_TEST(json.at("rows").at(2).at("trans") == "tn");
  BOOST_TEST(json.at("geometric_mean").get<double>() == std::exp(logarithms / 4), boost::test_tools::tolerance(1e-9));
  BOOST_TEST(json.at("minimum").get<double>() == least);
}

BOOST_AUTO_TEST_CASE(TheChoiceIsTheProfiles) {
  const Directory directory;
  cache::Contents contents = baked_contents();
  const std::string variant = served_by_direct(contents);
  const std::string file = directory.write("direct.clbake", encoded(contents));
  const Arguments sizes = {"--sizes", "16,8x40x24", "--precision", "single"};
  const nlohmann::json json = choices(file, sizes);
  for (const nlohmann::json& row : json.at("rows")) BOOST_TEST(row.at("choice") == variant);
  const Outcome text = clbake(Arguments{"bench", "choice", file, "--rounds", "1"} + sizes);
  BOOST_TEST(contains(text.out, "geometric mean"), text.out);
}

BOOST_AUTO_TEST_CASE(TimesOfListedProblemsAreWritten) {
  const Directory directory;
  const std::string times = directory.path("times.csv"), problems = directory.path("problems");
  std::ofstream(problems) << "16x24x32 batch 3\n8x8x8\n";
  const Arguments listed = {"--trans", "tn", "--precision", "single", "--problems", problems, "--times", times};
  const nlohmann::json rows = choices(baked_bundle(), listed).at("rows");
  const builder::profile::Tuning tuning = required(builder::profile::read_times({times}));
  BOOST_REQUIRE(rows.size() == 2U);
  BOOST_REQUIRE(tuning.shapes.size() == 2U);
  BOOST_TEST(builder::name(tuning.shapes[0]) == "single tn 16x24x32 batch 3");
  BOOST_TEST(builder::name(tuning.shapes[1]) == "single tn 8x8x8");
  BOOST_TEST(tuning.measurements.size() == rows[0].at("timed").size() + rows[1].at("timed").size());
  for (const builder::profile::Measurement& m : tuning.measurements) {
    const double us = rows.at(m.shape).at("timed").at(tuning.variants[m.variant]);
    BOOST_TEST(m.median_us == us, boost::test_tools::tolerance(1e-3));
  }
  std::ofstream(problems) << "single nn 16x24x32\n";
  check_refused(clbake(Arguments{"bench", "choice", baked_bundle()} + listed), 2,
                {"--times", "single tn", "single nn"});
  const std::string nowhere = directory.path("none/times.csv");
  check_refused(
      clbake({"bench", "choice", baked_bundle(), "--precision", "single", "--sizes", "8", "--times", nowhere}), 1,
      {nowhere});
  check_refused(clbake({"bench", "choice", baked_bundle(), "--times", times}), 2, {"--times"});
  const std::string file = directory.write("bundle", encoded(baked_contents()));
  check_refused(clbake({"bench", "choice", file, "--precision", "single", "--times", file}), 1, {"also an input"});
  required(Bundle::open(file));
  check_refused(clbake({"bench", "choice", baked_bundle(), "--sizes", "16x"}), 2, {"--sizes"});
  check_refused(clbake({"bench", "choice", baked_bundle(), "--problems", directory.path("missing")}), 1,
                {"--problems", "missing"});
}

BOOST_AUTO_TEST_CASE(ABundleWithoutAProfileOrAProgramIsNamed) {
  const Directory directory;
  cache::Contents contents = baked_contents();
  contents.profiles.clear();
  const std::string file = directory.write("blank.clbake", encoded(contents));
  check_refused(clbake({"bench", "choice", file}), 1, {"clbake bench choice", "blank.clbake", "no profile"});
  contents.entries.clear();
  const std::string empty = directory.write("empty.clbake", encoded(contents));
  check_refused(clbake({"bench", "bundle", empty, "--load", "--rounds", "1"}), 1, {empty, "no program for"});
}

BOOST_AUTO_TEST_CASE(ClblastGetsTheParametersOfItsTuners) {
  const Directory directory;
  const std::string gemm = directory.write(
      "clblast_xgemm_2_32.json",
      std::string(R"({"kernel_family": "xgemm_2", "precision": "32", "best_parameters": "KWG=32 PRECISION=32"})"));
  const std::string routine = directory.write(
      "clblast_gemm_routine_64.json",
      std::string(R"({"kernel_family": "gemm_routine", "precision": "64", "best_parameters": "XGEMM_MIN=0"})"));
  const std::string bad = directory.write(
      "bad.json", std::string(R"({"kernel_family": "xgemm_2", "precision": "32", "best_parameters": "KWG=3x"})"));
  Environment environment = fake_clblast();
  environment.emplace_back("FAKE_CLBLAST_LOG", directory.path("log"));
  const auto bench = [&](const std::string& files) {
    return clbake({"bench", "gemm", baked_bundle(), "--sizes", "64", "--rounds", "1", "--precision", "single", "--peer",
                   "clblast", "--json", "--clblast-parameters", files},
                  environment);
  };
  BOOST_TEST(json_of(bench(gemm + "," + routine)).at("rows").at(0).at("peer") == "clblast");
  BOOST_TEST(read_file(directory.path("log")) == "Xgemm 32 KWG=32 PRECISION=32\nGemmRoutine 64 XGEMM_MIN=0\n");
  check_refused(bench(directory.path("")), 1, {directory.path(""), "Is a directory"});
  check_refused(bench(bad), 1, {bad, "best_parameters: 'KWG=3x' is not NAME=NUMBER"});
  environment.emplace_back("FAKE_CLBLAST_REFUSES", "1");
  check_refused(bench(gemm), 1, {"clblast: refuses the parameters for Xgemm in 32 bits"});
}

// bench gemm beside the fake cuBLASLt, which proposes so many algorithms (fake_cublaslt.cpp).
Outcome beside_cublaslt(const char* proposed, const char* peer = "cublaslt") {
  return clbake({"bench", "gemm", baked_bundle(), "--sizes", "40x24x56", "--precision", "single", "--trans",
                 "nn,nt,tn,tt", "--rounds", "1", "--peer", peer, "--json"},
                {{"LD_LIBRARY_PATH", CLBAKE_FAKE_CUBLASLT}, {"FAKE_CUBLASLT_PROPOSES", proposed}});
}

// Their rows exist only if the product, column-major there, is right: m, n, k and the transposes differ.
BOOST_AUTO_TEST_CASE(CublasAndAnAlgorithmThatCublasltProposesComputeTheSameProduct) {
  const nlohmann::json json = json_of(beside_cublaslt("4", "cublas,cublaslt"));
  BOOST_REQUIRE(json.at("rows").size() == 8U);
  for (std::size_t i = 0; i < 8; ++i) BOOST_TEST(json["rows"][i]["peer"] == (i % 2 == 0 ? "cublas" : "cublaslt"));
}

BOOST_AUTO_TEST_CASE(AnAlgorithmOfCublasltThatComputesNothingIsFound) {
  check_refused(beside_cublaslt("5"), 1, {"cublaslt: wrong result"});
}

BOOST_AUTO_TEST_CASE(ProductsThatCublasltDoesNotComputeAreLeftOut) {
  for (const char* proposed : {"0", "1"}) {
    const Outcome outcome = beside_cublaslt(proposed);
    BOOST_TEST(contains(outcome.err, "left out: cublaslt: single nn 40x24x56: no proposed algorithm"), outcome.err);
    const nlohmann::json json = json_of(outcome);
    for (const nlohmann::json& row : json.at("rows")) BOOST_TEST(row.at("peer").is_null());
  }
}

// As above; the peer compares its diagonal.
BOOST_AUTO_TEST_CASE(OnednnComputesTheSameProduct) {
  const Directory directory;
  const std::string bundle = directory.path("bytes.clbk"), point = "-4x1x1-1x1x1-v1";
  std::string variants = "direct-uuw-nn" + point;
  for (const char* kind : {"s-tn", "iiw-nt", "uiw-nn", "b-nn"}) variants += ",direct-" + (kind + point);
  BOOST_REQUIRE(clbake({"build", "-o", bundle, "--variant", variants}).status == 0);
  Environment environment = {{"LD_LIBRARY_PATH", CLBAKE_FAKE_DNNL}};
  const auto bench = [&](const char* precision, const char* trans) {
    return clbake({"bench", "gemm", bundle, "--sizes", "40x24x56", "--precision", precision, "--trans", trans,
                   "--rounds", "1", "--peer", "onednn", "--json"},
                  environment);
  };
  const std::pair<const char*, const char*> kinds[] = {
      {"single", "tn"}, {"int8-int8-int32", "nt"}, {"uint8-int8-int32", "nn"}, {"bfloat16", "nn"}};
  for (const auto& [precision, trans] : kinds)
    BOOST_TEST(json_of(bench(precision, trans)).at("rows").at(0).at("peer") == "onednn");
  const Outcome lacking = bench("uint8-uint8-int32", "nn");
  BOOST_TEST(contains(lacking.err, "left out: onednn: uint8-uint8-int32 nn 40x24x56: no"), lacking.err);
  environment.emplace_back("FAKE_DNNL_WRONG", "1");
  for (const auto& [precision, trans] : kinds) check_refused(bench(precision, trans), 1, {"onednn: wrong result"});
}

// The rows exist only if both ways give the product, bias and activation of the reference.
BOOST_AUTO_TEST_CASE(AnEpilogueIsTimedBesideAKernelOfItsOwn) {
  const nlohmann::json json = json_of(clbake({"bench", "gemm", baked_bundle(), "--sizes", "24x40x16", "--activation",
                                              "relu,gelu", "--rounds", "1", "--json"}));
  BOOST_REQUIRE(json.at("rows").size() == 2U);
  for (const nlohmann::json& row : json.at("rows")) BOOST_TEST(row.at("peer") == "separate");
  BOOST_TEST(json.at("rows").at(1).at("activation") == "gelu");
  check_refused(clbake({"bench", "gemm", baked_bundle(), "--activation", "tanh"}), 2, {"--activation", "'tanh'"});
}

BOOST_AUTO_TEST_CASE(TheBareCallsComputeTheSameProduct) {
  const nlohmann::json json =
      json_of(clbake({"bench", "gemm", baked_bundle(), "--host", "--sizes", "40x24x56", "--rounds", "2", "--json"}));
  for (const char* call :
       {"bare_us", "prepared_us", "recorded_us", "one_call_us", "prepare_us", "stream_us", "stream_end_us"}) {
    BOOST_TEST(json.at("rows").at(0).at(call).get<double>() > 0, call);
  }
}

BOOST_AUTO_TEST_CASE(AGroupIsTimedBesideItsProductsOneByOne) {
  const nlohmann::json json =
      json_of(clbake({"bench", "gemm", baked_bundle(), "--group", "3,7", "--rounds", "1", "--json"}));
  BOOST_TEST(json.at("one_launch") == false);  // nothing was baked for that
  for (const char* time : {"one_by_one_us", "group_us", "sum_on_device_us", "group_on_device_us"}) {
    BOOST_TEST(json.at(time).get<double>() > 0, time);
  }
  check_refused(clbake({"bench", "gemm", baked_bundle(), "--group", "x"}), 2, {"--group", "'x'"});
}

BOOST_AUTO_TEST_CASE(EveryEntryOfAMadeUpBundleIsFound) {
  const nlohmann::json json =
      json_of(clbake({"bench", "bundle", "--entries", "10000", "--rounds", "3", "--json"}, no_platform()));
  BOOST_REQUIRE(json.at("search").size() == 2U);
  BOOST_TEST(json.at("search").at(1).at("entries") == 10000);
}

BOOST_AUTO_TEST_CASE(EachProgramIsLoadedBesideTheDriversOwnTime) {
  const nlohmann::json json = json_of(clbake({"bench", "bundle", baked_bundle(), "--load", "--rounds", "2", "--json"}));
  const nlohmann::json& loads = json.at("loads");
  BOOST_TEST(loads.size() > 2U);
  for (const nlohmann::json& load : loads) {
    BOOST_TEST(load.at("driver_us").get<double>() > 0);
    BOOST_TEST(load.at("prepare_us").get<double>() >= load.at("driver_us").get<double>());
  }
}

BOOST_AUTO_TEST_CASE(ABundleOfOnePrecisionIsTimedInThatAlone) {
  const Directory directory;
  cache::Contents contents = baked_contents();
  contents.entries.erase(std::remove_if(contents.entries.begin(), contents.entries.end(),
                                        [&](const cache::Entry& entry) {
                                          return contents.variants[entry.variant].precision !=
                                                 Precision::single_precision;
                                        }),
                         contents.entries.end());
  const std::string file = directory.write("single.clbake", encoded(contents));
  const Outcome outcome = clbake({"bench", "gemm", file, "--sizes", "16", "--rounds", "1"});
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(!contains(outcome.err, "left out"), outcome.err);
  BOOST_TEST(contains(outcome.out, "\nsingle "), outcome.out);
  BOOST_TEST(!contains(outcome.out, "\ndouble "), outcome.out);
}

BOOST_AUTO_TEST_CASE(ABundleWithoutThisDeviceIsRefused) {
  const Directory directory;
  cache::Contents contents = baked_contents();
  for (cache::Target& target : contents.targets) target.driver_version += "-other";
  const std::string file = directory.write("other.clbake", encoded(contents));
  check_refused(clbake({"bench", "cold", file, "--trials", "1"}), 1, {"clbake bench cold", file, "driver"});
}

}  // namespace clbake::tool::test
