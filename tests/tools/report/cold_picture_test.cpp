// The picture of `bench cold`: what it shows of reports made by hand, and what it says of wrong ones. No device.
#include "report/cold_picture.hpp"
#include "files.hpp"

#include <clbake/builder/scratch.hpp>

#include <boost/test/unit_test.hpp>
#include <regex>

namespace clbake::tool::test {
namespace {

Json row(const std::string& path, double min_ms, double ms, double max_ms) {
  return {{"path", path}, {"first_result_ms", ms}, {"first_result_ms_min", min_ms}, {"first_result_ms_max", max_ms},
          {"trials", 7},  {"device", "Device"}};
}

// Three rows, each ten times as long as the one before it when sorted.
Json sample() {
  Json bundle = row("bundle", 4, 5, 6);
  bundle["jit_free"] = true;
  return {{"m", 512},
          {"n", 256},
          {"k", 128},
          {"precision", "single"},
          {"rows", {row("source-cold", 450, 500, 900), bundle, row("clblast-warm", 40, 50, 60)}}};
}

std::string picture_of(const Json& report) {
  const Result<std::string> picture = cold_picture(report);
  BOOST_REQUIRE_MESSAGE(picture.ok(), picture.status().message());
  return *picture;
}

// All values of the first group of `pattern`, in the order of the picture.
std::vector<std::string> all(const std::string& picture, const std::string& pattern) {
  std::vector<std::string> found;
  const std::regex regex(pattern);
  for (std::sregex_iterator i(picture.begin(), picture.end(), regex); i != std::sregex_iterator(); ++i) {
    found.push_back((*i)[1]);
  }
  return found;
}

using Texts = std::vector<std::string>;

// Every element is closed by its own end, and attributes are quoted: enough of XML for what the picture uses.
bool is_well_formed(const std::string& picture) {
  Texts open;
  const std::regex tag(R"re(<(/?)([a-z]+)((?: [a-z][A-Za-z0-9:-]*="[^"<]*")*)(/?)>)re");
  std::string rest;
  std::size_t end = 0;
  for (std::sregex_iterator i(picture.begin(), picture.end(), tag); i != std::sregex_iterator(); ++i) {
    rest += picture.substr(end, static_cast<std::size_t>(i->position()) - end);
    end = static_cast<std::size_t>(i->position() + i->length());
    const std::string name = (*i)[2];
    if ((*i)[4] == "/") continue;
    if ((*i)[1] == "") {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return false;
    } else {
      open.pop_back();
    }
  }
  return open.empty() && rest.find('<') == std::string::npos;
}

void check_refused(const Json& report, const std::string& message) {
  const Result<std::string> picture = cold_picture(report);
  BOOST_TEST((picture.status().code() == Code::malformed));
  BOOST_TEST(picture.status().message() == message);
}

// The sample with one value of its second row changed.
Json with(const char* field, const Json& value) {
  Json report = sample();
  report["rows"][1][field] = value;
  return report;
}

}  // namespace

BOOST_AUTO_TEST_CASE(EveryRowHasANameADotAndATimeTheFastestFirst) {
  const std::string picture = picture_of(sample());
  BOOST_TEST(is_well_formed(picture));
  BOOST_TEST((all(picture, "class=\"name\">([^<]*)<") == Texts{"clbake bundle", "CLBlast", "OpenCL source"}));
  BOOST_TEST((all(picture, "class=\"value\">([^<]*)<") == Texts{"5.0 ms", "50 ms", "500 ms"}));
  BOOST_TEST((all(picture, "<g class=\"([a-z]*)\"") == Texts{"ours", "other", "other"}));
}

BOOST_AUTO_TEST_CASE(TheAxisIsLogarithmic) {
  const std::string picture = picture_of(sample());
  const Texts dots = all(picture, "<circle cx=\"([0-9.]*)\"");
  BOOST_REQUIRE(dots.size() == 3U);
  const double first = std::stod(dots[1]) - std::stod(dots[0]);
  const double second = std::stod(dots[2]) - std::stod(dots[1]);
  BOOST_TEST(first > 50);
  BOOST_TEST(std::abs(first - second) < 0.2);  // both are a factor of ten; coordinates have one decimal
  BOOST_TEST((all(picture, "class=\"small middle\">([^<]*)<") == Texts{"1 ms", "10 ms", "100 ms", "1 s"}));
}

BOOST_AUTO_TEST_CASE(EverythingLiesInsideThePicture) {
  Json report = sample();
  report["rows"].push_back(row("plain", 0.001, 1e7, 1e8));
  const std::string picture = picture_of(report);
  const double width = std::stod(all(picture, "^<svg[^>]* width=\"([0-9]*)\"").at(0));
  const double height = std::stod(all(picture, "^<svg[^>]* height=\"([0-9]*)\"").at(0));
  for (const std::string& x : all(picture, " (?:x|x1|x2|cx)=\"([-0-9.]*)\"")) {
    BOOST_TEST(std::stod(x) >= 0);
    BOOST_TEST(std::stod(x) < width);
  }
  for (const std::string& y : all(picture, " (?:y|y1|y2|cy)=\"([-0-9.]*)\"")) {
    BOOST_TEST(std::stod(y) >= 0);
    BOOST_TEST(std::stod(y) < height);
  }
}

BOOST_AUTO_TEST_CASE(TitleAndDescriptionTellWhatThePictureShows) {
  const std::string picture = picture_of(sample());
  BOOST_TEST(picture.find("role=\"img\" aria-labelledby=\"clbake-cold-title clbake-cold-text\"") != std::string::npos);
  BOOST_TEST(
      (all(picture, "<title id=\"clbake-cold-title\">([^<]*)<") == Texts{"Time to the first correct matrix product"}));
  BOOST_TEST((all(picture, "<desc id=\"clbake-cold-text\">([^<]*)<") ==
              Texts{"512 x 256 x 128 in single precision on Device. clbake bundle (nothing left to compile): 5.0 ms. "
                    "CLBlast (cached by the driver): 50 ms. OpenCL source (driver's cache empty): 500 ms."}));
}

BOOST_AUTO_TEST_CASE(DarkHasColoursOfItsOwn) {
  const std::string picture = picture_of(sample());
  const std::size_t dark = picture.find("@media (prefers-color-scheme: dark)");
  BOOST_REQUIRE(dark != std::string::npos);
  for (const char* what : {"text {", ".small {", ".page {", ".grid {", ".ours {", ".other {"}) {
    BOOST_TEST(picture.find(what) < dark, what);
    BOOST_TEST(picture.find(what, dark) != std::string::npos, what);
  }
}

BOOST_AUTO_TEST_CASE(ABundleThatIsNotJitFreeIsLabelledAsSuch) {
  BOOST_TEST(picture_of(with("jit_free", false)).find("nothing left to compile") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(TextOfOthersCannotBecomeMarkup) {
  Json report = sample();
  report["rows"].push_back(row("</text><script>\"x\" & y", 7, 7, 7));
  report["rows"][0]["device"] = std::string("<b>\x01\xff&") + "\xc2\xb5";
  const std::string picture = picture_of(report);
  BOOST_TEST(is_well_formed(picture));
  BOOST_TEST(picture.find("&lt;/text&gt;&lt;script&gt;&quot;x&quot; &amp; y<") != std::string::npos);
  BOOST_TEST(picture.find("on &lt;b&gt;??&amp;\xc2\xb5<") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(WrongFieldsAreNamed) {
  check_refused(Json::array(), "rows: is not a list of results");
  check_refused({{"rows", Json::array()}}, "rows: is not a list of results");
  check_refused({{"rows", {1}}}, "rows[0]: is not an object");
  check_refused(with("path", 1), "rows[1].path: is not text");
  check_refused(with("first_result_ms", "5"), "rows[1].first_result_ms: is not a number");
  check_refused(with("first_result_ms_min", nullptr), "rows[1].first_result_ms_min: is not a number");
  for (const double ms : {0.0, -5.0, 1e300}) {
    check_refused(with("first_result_ms_max", ms),
                  "rows[1].first_result_ms_max: is not a time between a microsecond and a day, in ms");
  }
  check_refused(with("first_result_ms", 7), "rows[1].first_result_ms: does not lie between its _min and _max");
  for (const char* field : {"m", "n", "k"}) {
    Json report = sample();
    report[field] = -1;
    check_refused(report, std::string(field) + ": is not a count");
  }
  Json report = sample();
  report.erase("precision");
  check_refused(report, "precision: is not text");
  report = sample();
  report["rows"][0].erase("trials");
  check_refused(report, "rows[0].trials: is not a count");
}

BOOST_AUTO_TEST_CASE(WrongFilesAreNamed) {
  const Result<builder::ScratchDirectory> directory = builder::ScratchDirectory::create();
  BOOST_REQUIRE(directory.ok());
  const std::string path = directory->path() + "/cold.json";
  BOOST_TEST(cold_picture_of(path).status().message() == path + ": does not exist");
  tests::write_file(path, "{\"rows\": ");
  BOOST_TEST(cold_picture_of(path).status().message() == path + ": is not JSON");
  tests::write_file(path, "{}");
  BOOST_TEST(cold_picture_of(path).status().message() == path + ": rows: is not a list of results");
  BOOST_TEST(cold_picture_of(directory->path()).status().message() == directory->path() + ": is not a regular file");
  tests::write_file(path, sample().dump());
  BOOST_TEST(*cold_picture_of(path) == picture_of(sample()));
}

BOOST_AUTO_TEST_CASE(APictureReplacesPicturesOnly) {
  const Result<builder::ScratchDirectory> directory = builder::ScratchDirectory::create();
  BOOST_REQUIRE(directory.ok());
  const std::string path = directory->path() + "/cold.svg";
  BOOST_TEST(write_cold_picture(path, picture_of(with("jit_free", false))).ok());
  BOOST_TEST(write_cold_picture(path, picture_of(sample())).ok());
  BOOST_TEST(tests::read_file(path) == picture_of(sample()));
  tests::write_file(path, "<svg>mine</svg>");
  BOOST_TEST((write_cold_picture(path, picture_of(sample())).code() == Code::invalid_argument));
  BOOST_TEST(tests::read_file(path) == "<svg>mine</svg>");
}

}  // namespace clbake::tool::test
