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
      {directory.path("missing.clbake"), no_such_file().c_str()},
      {directory.path("no/such/directory.clbake"), ""},
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
  const std::pair<const char*, const char*> fields[] = {
      {"/entries/0/target", "0"},
      {"/entries/0/variant", "\"direct-4\""},
      {"/entries/0/precision", "\"single\""},
      {"/entries/0/jit_free", "true"},
      {"/entries/0/first_us", "12.25"},
      {"/entries/0/steady_us", "10.0"},
      {"/entries/0/bytes", "70"},
      {"/entries/0/tools/0", R"({"name":"compiler","version":"1.0"})"},
      {"/entries/0/device", "\"Device P\""},
      {"/entries/0/driver", "\"535.1\""},
      {"/entries/1/jit_free", "false"},
      {"/profiles/0/units", "24"},
      {"/profiles/0/exceptions/0/variant", "\"tile-16\""},
      {"/profiles/0/exceptions/0/trans", "\"nn\""},
      {"/profiles/0/exceptions/0/m", "null"},
      {"/profiles/0/exceptions/0/k", "[0,128]"},
      {"/profiles/0/exceptions/0/batch", "[2,4096]"},
      {"/profiles/0/defaults/0/precision", "\"double\""},
      {"/profiles/0/models/0/variant", "\"tile-16\""},
      {"/profiles/0/models/0/trans", "\"nt\""},
      {"/profiles/0/models/0/tile_n", "32"},
      {"/profiles/0/models/0/slices", "4"},
      {"/profiles/0/models/0/resident", "3"},
      {"/profiles/1/models", "[]"},
  };
  for (const auto& [field, value] : fields)
    BOOST_TEST(json.at(nlohmann::json::json_pointer(field)).dump() == value, field);
  double number = 0.5;
  for (const auto& [name, unused] : cache::kCostModelNumbers) {
    BOOST_TEST(json.at("profiles").at(0).at("models").at(0).at(name).get<double>() == number++, name);
  }

  const Outcome text = clbake({"inspect", file, "--entries", "--profile"});
  for (const char* part :
       {"direct-4", "NO", "profile of target 0: 1 cost model, 1 exception, 1 default",
        "any  any  0 to 128  2 to 4096\n", "9.5    10.5\n" /* error and margin */, ": driver 550.2, OpenCL 3.0\n"}) {
    BOOST_TEST(contains(text.out, part), part);
  }
}

}  // namespace clbake::tool::test
