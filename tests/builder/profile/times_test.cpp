// Raw timings as CSV.
#include "build_fixture.hpp"

#include <clbake/builder/times.hpp>

#include <boost/test/unit_test.hpp>
#include <fstream>

namespace clbake::builder::test {
using namespace profile;
namespace {

const std::string kTile = "local_tile-s-nn-64x128x16-8x8x16-v4-load4-padding4";
const std::string kDirect = "direct-s-nn-16x16x1-1x1x4-v1";

std::string header(const std::string& variants = kTile + "," + kDirect) {
  return "# clbake times 1\n# device_name: Imagined\n# compute_units: 20\n# date: 2026-11-27T05:00:00Z\n"
         "# tool: clbake 1.0.0\n# kind: single nn\nm,n,k,batch," +
         variants + "\n";
}

// The tuning that files with these texts give.
Result<Tuning> read(const std::vector<std::string>& texts) {
  const process::ScratchDirectory directory = required(process::ScratchDirectory::create());
  std::vector<std::string> paths;
  for (const std::string& text : texts) {
    paths.push_back(directory.path() + "/times" + std::to_string(paths.size()) + ".csv");
    std::ofstream(paths.back()) << text;
  }
  return read_times(paths);
}

}  // namespace

BOOST_AUTO_TEST_CASE(TimesAreReadAsTheyAreWritten) {
  TimesFile file;
  file.target = made_up_device().target;
  file.compute_units = 20;
  file.notes = {{"date", "2026-11-27T05:00:00Z"}, {"tool", "clbake 1.0.0"}, {"commit", "abc: 1"}};
  file.variants = {kTile, kDirect};
  const Shape thin = *parse_shape("single nn 1x200x3000"), batch = *parse_shape("single nn 16x16x16 batch 9");
  const Tuning tuning = required(
      read({times_header(file) + times_row(thin, 0.25, {1.2345, 0}) + times_row(batch, 0, {12345.6, 123.45})}));
  BOOST_TEST((tuning.target == file.target));
  BOOST_TEST(tuning.compute_units == 20U);
  BOOST_TEST(tuning.date == "2026-11-27T05:00:00Z");
  BOOST_TEST(tuning.tool == "clbake 1.0.0");
  BOOST_TEST((tuning.variants == file.variants));
  BOOST_TEST((tuning.shapes == std::vector<Shape>{thin, batch}));
  BOOST_REQUIRE(tuning.measurements.size() == 3U);
  const double us[] = {1.234, 12346, 123.5};
  for (std::size_t i = 0; i < 3; ++i) {
    const Measurement& m = tuning.measurements[i];
    BOOST_TEST(m.median_us == us[i], boost::test_tools::tolerance(1e-3));
    BOOST_TEST((m.runs > 1 && m.final && m.spread == (i == 0 ? 0.25 : 0)));
  }
}

BOOST_AUTO_TEST_CASE(FilesAreJoinedAndAProblemCountsOnce) {
  const Tuning tuning = required(read({header() + "1,2,3,1,5,6\n", header(kDirect) + "1,2,3,1,7\n2,2,3,1,8\n"}));
  BOOST_TEST(tuning.variants.size() == 2U);
  BOOST_TEST(tuning.shapes.size() == 2U);
  BOOST_REQUIRE(tuning.measurements.size() == 3U);
  BOOST_TEST(tuning.measurements[2].variant == 1U);
  BOOST_TEST(tuning.measurements[2].median_us == 8);
}

BOOST_AUTO_TEST_CASE(TimesThatCannotBeMeantAreRefusedWithTheirLine) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "times0.csv: no line of columns"},
      {"m,n,k,batch\n", "times0.csv: line 1: not '# clbake times 1'"},
      {"# clbake times 1\n# kind: single nn\nm,n,k,batch\n", "line 3: columns before '# compute_units: N'"},
      {"# clbake times 1\n# compute_units: 1\nm,n,k,batch\n", "line 3: columns before '# kind: PRECISION TRANSPOSES'"},
      {"# clbake times 1\n# kind: single n\n", "line 2: no kind: 'single n'"},
      {header("nonsense"), "line 7: no variant of this kind: 'nonsense'"},
      {header("direct-d-nn-16x16x1-1x1x4-v1"), "line 7: no variant of this kind: 'direct-d-nn-16x16x1-1x1x4-v1'"},
      {header() + "1,2,3,1,5\n", "line 8: 5 cells, not 6"},
      {header() + "1,2,3,1,5,six\n", "line 8: no time: 'six'"},
      {header() + "1,2,3,1,5,-6\n", "line 8: no time: '-6'"},
      {header("spread," + kTile) + "1,2,3,1,-1,6\n", "line 8: no spread: '-1'"},
      {header() + "1,2,3,0,5,6\n", "line 8: "},
      {header() + "1,2,x,1,5,6\n", "line 8: "}};
  for (const auto& [text, message] : cases) {
    const Result<Tuning> tuning = read({text});
    BOOST_TEST(outcome(tuning) == "malformed", text);
    BOOST_TEST(tuning.status().message().find(message) != std::string::npos, tuning.status().message());
  }
  std::string other = header();
  other.replace(other.find("Imagined"), 8, "Other GPU");
  BOOST_TEST(outcome(read({header(), other})) == "invalid argument");
  BOOST_TEST(outcome(read_times({"/nonexistent.csv"})) == "not found");
}

// The H100 and the H200 are both sm_90.
BOOST_AUTO_TEST_CASE(DevicesOfOneArchitectureAndDriverAreJoined) {
  const auto of = [](const std::string& device, const std::string& architecture, const std::string& driver) {
    std::string text = header();
    return text.replace(text.find("Imagined"), 8,
                        device + "\n# architecture: " + architecture + "\n# driver_version: " + driver) +
           "1,2,3,1,5,6\n";
  };
  const std::string first = of("H100", "sm_90", "580");
  BOOST_TEST(required(read({first, of("H200", "sm_90", "580")})).target.device_name == "H100");
  BOOST_TEST(outcome(read({first, of("B200", "sm_100", "580")})) == "invalid argument");
  BOOST_TEST(outcome(read({first, of("H200", "sm_90", "590")})) == "invalid argument");
}

}  // namespace clbake::builder::test
