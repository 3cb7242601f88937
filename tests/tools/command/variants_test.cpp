// Variants and presets by name: `--variant` of `build`, `run`, `tune` and `bench gemm`.
#include "command.hpp"

namespace clbake::tool::test {
namespace {

using Json = nlohmann::json;

constexpr const char* kVariant = "direct-s-nn-6x16x1-6x16x2-v16";  // runs on every device

}  // namespace

BOOST_AUTO_TEST_CASE(ExactlyTheNamedVariantsAreBakedAndServeByName) {
  baked_bundle();  // or skipped
  const Directory directory;
  const std::string file = directory.path("two.clbake");
  const Json report = json_of(clbake(
      {"build", "--device", "0", "--variant", kVariant, "--variant", "tutorial-3,tutorial-3", "-o", file, "--json"}));
  BOOST_TEST(report.at("baked") == 2);
  BOOST_TEST(report.at("bytes").get<std::size_t>() == read_file(file).size());
  BOOST_REQUIRE(report.at("jobs").size() == 2U);
  for (const Json& job : report.at("jobs")) {
    BOOST_TEST(job.at("outcome") == "baked");
    BOOST_TEST(job.at("cause").is_null());
    BOOST_TEST(job.at("device").is_string());
    BOOST_TEST(job.at("proof").at("max_error").get<double>() <= job.at("proof").at("tolerance").get<double>());
  }
  BOOST_TEST(report.at("jobs").at(0).at("variant") == kVariant);
  const std::string preset = report.at("jobs").at(1).at("variant");

  const Json run = json_of(clbake(
      {"run", file, "--m", "40", "--n", "40", "--k", "40", "--variant", "tutorial-3", "--no-compile", "--json"}));
  BOOST_TEST(run.at("variant") == preset);
  BOOST_TEST(run.at("ok") == true);
  check_refused(clbake({"run", file, "--m", "8", "--n", "8", "--k", "8", "--variant", "tutorial-2"}), 1,
                {"clbake run", file, "no variant named local_tile-s-nn-32x32x32-1x1x1"});

  const Outcome inspected = clbake({"inspect", file, "--entries"});
  for (const char* column : {"proven", "error"}) BOOST_TEST(contains(inspected.out, column), inspected.out);

  const Json timed = json_of(clbake({"bench", "gemm", file, "--sizes", "33x65x17", "--rounds", "1", "--json",
                                     "--variant", "tutorial-3," + std::string(kVariant)}));
  BOOST_REQUIRE(timed.at("rows").size() == 2U);
  BOOST_TEST(timed.at("rows").at(0).at("variant") == preset);
  BOOST_TEST(timed.at("rows").at(1).at("variant") == kVariant);
}

BOOST_AUTO_TEST_CASE(AVariantThatTheDeviceCannotRunIsRefusedWithTheNumbers) {
  baked_bundle();
  const Directory directory;
  const std::string file = directory.path("new.clbake");
  const auto refused = [&](const char* variant, const std::vector<std::string>& parts) {
    check_refused(clbake({"build", "--device", "0", "--variant", variant, "-o", file}), 1, parts);
  };
  refused("direct-s-nn-9x8x1-2x1x1-v1", {"clbake build: direct-s-nn-9x8x1-2x1x1-v1", "divisibility", "ml = 9, ms = 2"});
  refused("direct-s-nn-8192x8192x1-1x1x1-v1", {"work-group-size", "67108864, limit"});
  BOOST_TEST(directory.files().empty());
}

BOOST_AUTO_TEST_CASE(HalfIsMeasuredWithoutThePeersThatLackIt, *boost::unit_test::label("slow")) {
  baked_bundle();
  const Directory directory;
  const std::string file = directory.path("half.clbake");
  json_of(clbake({"build", "--device", "0", "--variant", "direct-h-nn-6x16x1-6x16x2-v16", "-o", file, "--json"}));
  const Outcome outcome = clbake({"bench", "gemm", file, "--precision", "half", "--sizes", "24", "--rounds", "1"});
  BOOST_TEST(outcome.status == 0, outcome.err);
  BOOST_TEST(contains(outcome.out, "\nhalf "), outcome.out);

  const auto operations = [&](const char* batch) {
    const nlohmann::json row = json_of(clbake({"bench", "gemm", file, "--precision", "half", "--sizes", "24",
                                               "--rounds", "1", "--batch", batch, "--json"}))["rows"][0];
    BOOST_TEST(row["batch"] == std::stoi(batch));
    return row["gflops"].get<double>() * row["median_us"].get<double>();  // thousands of a call
  };
  BOOST_TEST(operations("3") == 3 * operations("1"), boost::test_tools::tolerance(1e-6));
  check_refused(clbake({"bench", "gemm", file, "--batch", "0"}), 2, {"--batch"});
}

BOOST_AUTO_TEST_CASE(NamedVariantsAreTimedOnTheShapesOfAFile) {
  baked_bundle();  // or skipped
  const Directory directory;
  const std::string profile = directory.path("p.json");
  const auto tune = [&](const std::string& shapes) {
    const std::string file = directory.write("shapes.txt", shapes);
    return clbake(
        {"tune", "--device", "0", "--variant", kVariant, "--shapes", file, "--trans", "nn,tn", "-o", profile});
  };
  check_refused(tune("64x64x64\n8x8\n"), 1, {"clbake tune: --shapes: ", "shapes.txt: line 2: '8x8' is no size"});
  check_refused(tune("double 64x64x64\n"), 1, {"--shapes: ", "no shape of what is to be tuned: single nn"});
  const Outcome tuned = tune("nn 64x64x64 weight 2\n16x16x16\ntn 5x5x5\n");
  BOOST_REQUIRE_EQUAL(tuned.status, 0);
  BOOST_TEST(contains(tuned.err, "leaves out 1 shape of other kinds than those to be tuned: single nn"), tuned.err);
  const Json json = Json::parse(read_file(profile));
  BOOST_TEST(json.at("strategy") == "variants");
  BOOST_TEST((json.at("shapes") == Json{"single nn 64x64x64 weight 2", "single nn 16x16x16"}));
  BOOST_TEST((json.at("variants").dump().find(kVariant) != std::string::npos));
}

}  // namespace clbake::tool::test
