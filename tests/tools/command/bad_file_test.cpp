// Files that are not valid bundles, given to every verb that takes one: exit status 1 and one line with the file and
// the cause. Needs no OpenCL device: a file is verified before any driver is asked.
#include "command.hpp"

#include "forge.hpp"
#include "samples.hpp"

namespace clbake::tool::test {
namespace {

using cache::test::Forge;
using cache::test::small_bundle;

const std::vector<Arguments> kVerbs = {{"inspect"},
                                       {"inspect", "--json"},
                                       {"run", "--m", "8", "--n", "8", "--k", "8"},
                                       {"run", "--m", "8", "--n", "8", "--k", "8", "--json", "--no-compile"},
                                       {"bench", "cold", "--trials", "1"},
                                       {"bench", "gemm", "--sizes", "8"}};

void check_refused_by(const Arguments& verb, const std::string& file, const std::string& cause) {
  check_refused(clbake(verb + Arguments{file}), 1, {"clbake " + verb[0], file, cause});
}

void check_refused_by_every_verb(const std::string& file, const std::string& cause) {
  for (const Arguments& verb : kVerbs) check_refused_by(verb, file, cause);
}

}  // namespace

BOOST_AUTO_TEST_CASE(WhatIsNoBundleIsNamedWithItsCause) {
  const Directory directory;
  cache::Bytes longer = small_bundle();
  longer.push_back(0);
  Forge version, section;
  cache::store16(version.header() + cache::format::header::kMajorAt, 2);
  section.add_section(77, 1, {1, 2, 3});
  const std::pair<std::string, const char*> cases[] = {
      {directory.path("missing.clbake"), "No such file or directory"},
      {directory.path("no/such/directory.clbake"), "No such file or directory"},
      {directory.path(""), "directory"},
      {directory.write("empty.clbake", std::string()), "ends inside"},
      {directory.write("letter.txt", std::string("Dear all,\n")), "not a bundle"},
      {directory.write("long.txt", std::string(100000, 'x')), "not a bundle"},
      {directory.write("longer.clbake", longer), ""},
      {directory.write("newer.clbake", version.seal().bytes), "version 2"},
      {directory.write("section.clbake", section.bytes), "77"},
  };
  for (const auto& [file, cause] : cases) check_refused_by_every_verb(file, cause);
  for (const char* device : {"/dev/null", "/dev/zero"}) check_refused_by({"inspect"}, device, "");
}

BOOST_AUTO_TEST_CASE(ATruncatedBundleIsNamedAsSuch) {
  const Directory directory;
  const cache::Bytes& whole = small_bundle();
  const auto first = [&](std::size_t size) {
    return directory.write(std::to_string(size), cache::Bytes(whole.begin(), whole.begin() + static_cast<long>(size)));
  };
  check_refused_by_every_verb(first(whole.size() / 2), "truncated");
  for (const std::size_t size : {std::size_t{1}, std::size_t{8}, std::size_t{127}}) {
    check_refused_by({"inspect"}, first(size), "ends inside");
  }
  for (const std::size_t size : {std::size_t{128}, std::size_t{1000}, whole.size() - 1}) {
    check_refused_by({"inspect"}, first(size), "truncated");
  }
}

BOOST_AUTO_TEST_CASE(AFlippedBitIsFoundWhereverItIs) {
  const Directory directory;
  const cache::Bytes& good = small_bundle();
  const std::size_t step = good.size() / 40;
  for (std::size_t at = 0; at < good.size(); at += step) {
    cache::Bytes bad = good;
    bad[at] ^= static_cast<std::uint8_t>(1U << (at % 8));
    check_refused_by({"inspect"}, directory.write("flipped.clbake", bad), "");
  }
  for (const std::size_t at : {std::size_t{20}, good.size() - 100}) {
    cache::Bytes bad = good;
    bad[at] ^= 1;
    check_refused_by_every_verb(directory.write("flipped.clbake", bad), "");
  }
}

BOOST_AUTO_TEST_CASE(AGoodBundleIsShownWithoutADevice) {
  const Directory directory;
  const std::string file = directory.write("small.clbake", small_bundle());
  const nlohmann::json json = json_of(clbake({"inspect", file, "--json"}, {{"OCL_ICD_VENDORS", directory.path("")}}));
  BOOST_TEST(json.at("format") == "1.0");
  BOOST_TEST(json.at("file_bytes") == small_bundle().size());
  BOOST_TEST(json.at("targets").size() == 3U);
  BOOST_TEST(json.at("entries").size() == 5U);
  const nlohmann::json& entry = json.at("entries").at(0);
  BOOST_TEST(entry.at("target") == 0);
  BOOST_TEST(entry.at("variant") == "direct-4");
  BOOST_TEST(entry.at("precision") == "single");
  BOOST_TEST(entry.at("jit_free") == true);
  BOOST_TEST(entry.at("first_us") == 12.25);
  BOOST_TEST(entry.at("steady_us") == 10.0);
  BOOST_TEST(entry.at("bytes") == 70);
  BOOST_TEST(entry.at("stored_bytes").is_number_unsigned());
  BOOST_TEST(entry.at("tools").at(0).at("name") == "compiler");
  BOOST_TEST(entry.at("tools").at(0).at("version") == "1.0");
  BOOST_TEST(entry.at("device") == "Device P");
  BOOST_TEST(entry.at("driver") == "535.1");
  BOOST_TEST(json.at("entries").at(1).at("jit_free") == false);
  BOOST_TEST(json.at("profiles").size() == 2U);
  const nlohmann::json& profile = json.at("profiles").at(0);
  BOOST_TEST(profile.at("units") == 24);
  const nlohmann::json& exception = profile.at("exceptions").at(0);
  BOOST_TEST(exception.at("variant") == "tile-16");
  BOOST_TEST(exception.at("trans") == "nn");
  BOOST_TEST(exception.at("m").is_null());
  BOOST_TEST(exception.at("k").dump() == "[0,128]");
  BOOST_TEST(exception.at("batch").dump() == "[2,4096]");
  BOOST_TEST(profile.at("defaults").at(0).at("precision") == "double");
  const nlohmann::json& model = profile.at("models").at(0);
  BOOST_TEST(model.at("variant") == "tile-16");
  BOOST_TEST(model.at("trans") == "nt");
  BOOST_TEST(model.at("tile_n") == 32);
  BOOST_TEST(model.at("slices") == 4);
  BOOST_TEST(model.at("resident") == 3);
  double number = 0.5;
  for (const auto& [name, field] : cache::kCostModelNumbers) BOOST_TEST(model.at(name).get<double>() == number++, name);
  BOOST_TEST(json.at("profiles").at(1).at("models").empty());

  const Outcome text = clbake({"inspect", file, "--entries", "--profile"});
  BOOST_TEST(text.status == 0);
  BOOST_TEST(contains(text.out, "direct-4"), text.out);
  BOOST_TEST(contains(text.out, "NO"), text.out);
  BOOST_TEST(contains(text.out, "profile of target 0: 1 cost model, 1 exception, 1 default"), text.out);
  BOOST_TEST(contains(text.out, "any  any  0 to 128  2 to 4096\n"), text.out);
  BOOST_TEST(contains(text.out, "8.5     9.5\n"), text.out);  // error and margin
}

BOOST_AUTO_TEST_CASE(AFileThatClblastsTunersDidNotWriteIsNamedWithTheField) {
  const Directory directory;
  const auto refused = [](const std::string& file, const std::string& cause) {
    check_refused(clbake({"bench", "gemm", "missing.clbake", "--peer", "clblast", "--clblast-parameters", file}), 1,
                  {"clbake bench gemm: --clblast-parameters: " + file + ": ", cause});
  };
  const auto tuned = [&](const char* name, const std::string& text) { return directory.write(name, "{" + text + "}"); };
  const std::string gemm = R"("kernel_family": "xgemm_1", "precision": "32")";
  refused(directory.path("missing.json"), "No such file or directory");
  refused(directory.path(""), "Is a directory");
  refused(directory.write("empty.json", std::string()), "not a JSON object");
  refused(directory.write("cut.json", std::string("{\"kernel_family\": ")), "not a JSON object");
  refused(tuned("other.json", "\"winner\": 1"), "no field 'kernel_family': not the result of a tuner");
  refused(tuned("none.json", gemm), "no field 'best_parameters'");
  refused(tuned("number.json", R"("kernel_family": "xgemm_1", "precision": 32)"), "'precision' is not text");
  refused(tuned("copy.json", R"("kernel_family": "copy", "precision": "32", "best_parameters": "A=1")"),
          "'kernel_family': 'copy'");
  refused(tuned("half.json", R"("kernel_family": "xgemm_1", "precision": "16", "best_parameters": "A=1")"),
          "'precision': '16'");
  refused(tuned("words.json", gemm + R"(, "best_parameters": "KWG=32 MWG=x")"), "'MWG=x' is not NAME=NUMBER");
  refused(tuned("blank.json", gemm + R"(, "best_parameters": "")"), "'best_parameters' is empty");
}

BOOST_AUTO_TEST_CASE(ParametersOfClblastNeedClblast) {
  check_refused(clbake({"bench", "gemm", "missing.clbake", "--clblast-parameters", "a.json"}), 2,
                {"--clblast-parameters needs --peer clblast"});
}

}  // namespace clbake::tool::test
