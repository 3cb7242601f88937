// Profiles on the command line: `tune --merge`, `tune --fit` and the refusals of `build --profile`. Needs no OpenCL
// device: files are read before any driver is asked.
#include "command.hpp"
#include "profile/tunings.hpp"

#include <clbake/os/paths.hpp>

#include <algorithm>
#include <filesystem>

namespace clbake::tool::test {
namespace {

using builder::profile::tuning_text;
using builder::test::made_up_device;
using builder::test::made_up_tuning;
using builder::test::tuning_of;

// Every verb that takes the file refuses it with the same words.
void check_refused_by_both(const std::string& file, const std::vector<std::string>& parts) {
  const Directory directory;
  std::vector<std::string> all = parts;
  all.push_back(file + ": ");
  all.emplace_back("clbake build: ");
  check_refused(clbake({"build", "--profile", file, "-o", directory.path("x.clbake")}, no_platform()), 1, all);
  all.back() = "clbake tune: --merge: ";
  const std::string good = directory.write("good.json", tuning_text(tuning_of(builder::test::kLoser)));
  check_refused(clbake({"tune", "--merge", good, file, "-o", directory.path("x.json")}, no_platform()), 1, all);
  BOOST_TEST((directory.files() == std::vector<std::string>{"good.json"}));
}

}  // namespace

BOOST_AUTO_TEST_CASE(AProfileThatCannotBeReadIsNamedWithItsCause) {
  const Directory directory;
  const std::string good = tuning_text(made_up_tuning());
  const auto damaged = [&](const std::string& part, const std::string& by) {
    std::string text = good;
    const std::size_t at = text.find(part);
    BOOST_REQUIRE(at != std::string::npos);
    return directory.write("bad.json", text.replace(at, part.size(), by));
  };
  check_refused_by_both(directory.path("missing.json"), {no_such_file()});
  check_refused_by_both(directory.write("cut.json", good.substr(0, good.find("\"shapes\""))),
                        {"line ", "unexpected end of input"});
  check_refused_by_both(directory.write("other.json", std::string("{\"devices\": []}")), {"no clbake profile"});
  check_refused_by_both(damaged("\"version\": 5", "\"version\": 2"), {"reads version 5", "tune again"});
  check_refused_by_both(damaged("[2,3,20.5,", "[2,0,20.5,"), {"models[0].resident: ", "outside 1 to 64"});
}

BOOST_AUTO_TEST_CASE(ProfilesAreMerged) {
  const Directory directory;
  const std::string a = directory.write("a.json", tuning_text(tuning_of(builder::test::kLoser, 100)));
  const std::string b = directory.write("b.json", tuning_text(tuning_of(builder::test::kLargeWinner, 50)));
  for (const Arguments& files : {Arguments{a, b}, Arguments{a + "," + b}}) {
    const std::string output = directory.path("c" + std::to_string(files.size()) + ".json");
    Arguments all = {"tune", "--merge"};
    all.insert(all.end(), files.begin(), files.end());
    all.insert(all.end(), {"-o", output});
    const Outcome outcome = clbake(all, no_platform());
    BOOST_REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    BOOST_TEST(contains(outcome.out, "2 profiles joined, 2 variants timed on 1 shape,"), outcome.out);
    const builder::profile::Tuning merged = required(builder::profile::read_tuning(output));
    BOOST_TEST(merged.command == "clbake tune --merge " + a + "," + b + " -o " + output);
    BOOST_TEST(merged.tool.rfind("clbake ", 0) == 0U);
    BOOST_TEST(merged.strategy == "merged");
    BOOST_REQUIRE_EQUAL(builder::profile::winners(merged).size(), 1U);
    BOOST_TEST(merged.variants[builder::profile::winners(merged)[0].variant] == builder::test::kLargeWinner);
  }
}

BOOST_AUTO_TEST_CASE(ProfilesOfDifferentDevicesAreNotMerged) {
  const Directory directory;
  const std::string a = directory.write("a.json", tuning_text(tuning_of(builder::test::kLoser)));
  const std::string b =
      directory.write("b.json", tuning_text(tuning_of(builder::test::kLargeWinner, 50, made_up_device("Device B"))));
  check_refused(clbake({"tune", "--merge", a, b, "-o", directory.path("c.json")}), 1,
                {a, b, "device_name", "'Device A'", "'Device B'"});
  BOOST_TEST((directory.files() == std::vector<std::string>{"a.json", "b.json"}));
}

// A shipped profile is what the raw timings in the folder of its name give.
BOOST_AUTO_TEST_CASE(ShippedProfilesAreFittedToTheTimingsBesideThem) {
  const Directory directory;
  std::size_t profiles = 0;
  for (const auto& folder : std::filesystem::directory_iterator(CLBAKE_SHIPPED_PROFILES)) {
    if (!folder.is_directory()) continue;
    Arguments files;
    for (const auto& times : std::filesystem::directory_iterator(folder)) files.push_back(os::utf8(times.path()));
    std::sort(files.begin(), files.end());
    const std::string output = directory.path("fitted.json");
    Arguments fit = {"tune", "-o", output, "--fit"};
    fit.insert(fit.end(), files.begin(), files.end());
    const Outcome outcome = clbake(fit, no_platform());
    BOOST_REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    BOOST_TEST((read_file(output) == read_file(os::utf8(folder.path()) + ".json")), folder.path());
    ++profiles;
  }
  BOOST_TEST(profiles > 0U);
}

BOOST_AUTO_TEST_CASE(WrongUsageIsNamedWithItsOption) {
  const Directory directory;
  const std::string a = directory.write("a.json", tuning_text(tuning_of(builder::test::kLoser)));
  check_refused(clbake({"tune", "--merge", ",", "-o", directory.path("c.json")}), 2, {"clbake tune: --merge"});
  check_refused(clbake({"tune", "--fit", ",", "-o", directory.path("c.json")}), 2, {"clbake tune: --fit"});
  check_refused(clbake({"tune", "--fit", a, "-o", directory.path("c.json")}), 1, {a, "line 1", "clbake times"});
  const std::string variant = "direct-s-nn-6x16x1-6x16x2-v16";
  const auto tune_variant = [&](const Arguments& more) {
    Arguments all = {"tune", "-o", directory.path("c.json"), "--variant", variant};
    all.insert(all.end(), more.begin(), more.end());
    return clbake(all, no_platform());
  };
  check_refused(tune_variant({"--strategy", "exhaustive"}), 2, {"clbake tune: --strategy", "--variant"});
  check_refused(tune_variant({"--family", "direct"}), 2, {"clbake tune: --family", "--variant"});
  check_refused(tune_variant({"--shard", "1/2"}), 2, {"clbake tune: --shard", "--variant"});
  check_refused(tune_variant({"--variant", "frob"}), 2, {"clbake tune: --variant: 'frob'"});
  check_refused(tune_variant({"--precision", "double", "--trans", "nn"}), 2, {variant, "single nn", "not double nn"});
  for (const char* shard : {"0/2", "3/2", "1", "a/b", "1/2/3"}) {
    check_refused(clbake({"tune", "--shard", shard, "-o", directory.path("c.json")}), 2,
                  {"clbake tune: --shard", shard});
  }
  for (const char* budget : {"0", "ten", "10x", "1e99"}) {
    check_refused(clbake({"tune", "--budget", budget, "-o", directory.path("c.json")}), 2,
                  {"clbake tune: --budget", budget});
  }
  check_refused(clbake({"tune", "--strategy", "best", "-o", directory.path("c.json")}), 2, {"--strategy", "best"});
  check_refused(clbake({"tune", "--family", "fast", "-o", directory.path("c.json")}), 2, {"--family", "fast"});
  check_refused(clbake({"tune", "--merge", a, a}), 2, {"clbake tune", "--output"});
  check_refused(clbake({"build", "-o", "x", "--profile", a, "--variant", "tutorial-1"}), 2,
                {"clbake build: --profile", "--variant"});
  check_refused(clbake({"build", "-o", "x", "--profile", ","}), 2, {"clbake build: --profile"});
  check_refused(clbake({"build", "-o", "x", "--force"}), 2, {"clbake build: --force", "--profile"});
}

}  // namespace clbake::tool::test
