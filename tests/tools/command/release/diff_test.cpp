// `clbake diff`, with the exit status of diff(1).
#include "command/release/release_files.hpp"

#include <clbake/builder/release/served.hpp>

#include <algorithm>
#include <functional>
#include <set>

namespace clbake::tool::test {
namespace {

struct TwoBundles : ReleaseFiles {
  // The second bundle after a change.
  template <typename Change>
  std::string other(const Change& change) {
    cache::Contents changed = contents;
    change(changed);
    return directory.write("b.clbake", encoded(changed));
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(EqualBundles) {
  TwoBundles files;
  const std::string same = files.other([](cache::Contents& c) { std::reverse(c.entries.begin(), c.entries.end()); });
  const Outcome outcome = clbake({"diff", files.bundle, same}, no_platform());
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(contains(outcome.out, "nothing differs\n"), outcome.out);
  BOOST_TEST(json_of(clbake({"diff", files.bundle, same, "--json"}))["equal"] == true);
}

BOOST_AUTO_TEST_CASE(ProgramsThatAreGone) {
  TwoBundles files;
  const std::string fewer = files.other([](cache::Contents& c) {
    c.entries.erase(c.entries.begin(), c.entries.begin() + 10);  // of the CPU
  });
  const Outcome text = clbake({"diff", files.bundle, fewer});
  BOOST_TEST(text.status == 1);
  BOOST_TEST(contains(text.out, "programs that differ: 10\n"), text.out);
  const Outcome outcome = clbake({"diff", files.bundle, fewer, "--json"});
  BOOST_TEST(outcome.status == 1);
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  BOOST_TEST(json["differences"].size() == 10U);
  BOOST_TEST(json["differences"][0]["record"] == "program");
  BOOST_TEST(json["differences"][0]["after"].is_null());
}

// A bundle could otherwise command the terminal.
BOOST_AUTO_TEST_CASE(NamesOfVariantsHaveNoControlCharacters) {
  TwoBundles files;
  const std::string renamed = files.other([](cache::Contents& c) {
    for (cache::Variant& variant : c.variants) variant.name += "\x1b[2J";
  });
  const Outcome outcome = clbake({"diff", renamed, files.bundle});
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(contains(outcome.out, "?[2J"), outcome.out);
  BOOST_TEST(!contains(outcome.out, "\x1b"), outcome.out);
}

BOOST_AUTO_TEST_CASE(MeasuredTimesCountUnlessTheyAreIgnored) {
  TwoBundles files;
  const std::string later = files.other([](cache::Contents& c) { c.entries[0].proof.first_us += 1; });
  BOOST_TEST(clbake({"diff", files.bundle, later}).status == 1);
  const Outcome ignored = clbake({"diff", files.bundle, later, "--ignore-measured"});
  BOOST_TEST(ignored.status == 0);
  BOOST_TEST(contains(ignored.out, "nothing differs but these times"), ignored.out);
}

// "RECORD NAME" of each difference from the first bundle, with a minus for what is gone and a plus for what is new.
std::set<std::string> differences(TwoBundles& files, const std::function<void(cache::Contents&)>& change) {
  const nlohmann::json json = nlohmann::json::parse(clbake({"diff", files.bundle, files.other(change), "--json"}).out);
  std::set<std::string> all;
  for (const nlohmann::json& d : json["differences"]) {
    const char* sign = d["before"].is_null() ? "+" : d["after"].is_null() ? "-" : "";
    all.insert(sign + d["record"].get<std::string>() + " " + d["name"].get<std::string>());
  }
  return all;
}

BOOST_AUTO_TEST_CASE(EachRecordThatDiffersIsNamed) {
  TwoBundles files;
  const cache::Contents& c = files.contents;
  const std::string variant = c.variants[3].name;
  const cache::Entry& entry = c.entries[5];
  const std::string device = builder::release::target_name(c.targets[entry.target]);
  const std::string entry_name = device + ": " + c.variants[entry.variant].name;
  const std::string profile = "profile " + builder::release::target_name(c.targets[c.profiles[1].target]);
  using Names = std::set<std::string>;
  using Change = std::function<void(cache::Contents&)>;
  const std::pair<Change, Names> cases[] = {
      {[](cache::Contents& o) { o.targets[0].platform_version = "later"; }, {}},
      {[](cache::Contents& o) { o.variants[3].build_options = "-DX"; }, {"variant " + variant}},
      {[](cache::Contents& o) { o.variants[3].launches[0].tile_n = 2; }, {"variant " + variant}},
      {[](cache::Contents& o) { o.entries[5].program.push_back(1); }, {"program " + entry_name}},
      {[](cache::Contents& o) {
         o.entries[5].proof.tools.push_back({"clang", "15"});
       },
       {"proof " + entry_name}},
      {[](cache::Contents& o) { o.entries[5].proof.jit_free = !o.entries[5].proof.jit_free; }, {"proof " + entry_name}},
      {[](cache::Contents& o) { o.profiles[1].models.front().step_us *= 2; }, {profile}},
      {[](cache::Contents& o) { o.profiles[1].models.front().tile_m *= 2; }, {profile}},
      {[](cache::Contents& o) { o.profiles[1].defaults.front().k_max = 7; }, {profile}},
      {[](cache::Contents& o) { o.profiles[1].defaults.pop_back(); }, {profile}},
      {[](cache::Contents& o) { ++o.profiles[1].units; }, {profile}},
  };
  for (const auto& [change, expected] : cases) {
    const Names found = differences(files, change);
    if (!expected.empty()) BOOST_TEST(found == expected, boost::test_tools::per_element());
    BOOST_TEST(!found.empty());
  }
  const Names moved = differences(files, cases[0].first);  // the first target, with all that is its
  const std::string first = builder::release::target_name(c.targets[0]);
  for (const char* sign : {"+", "-"}) {
    BOOST_TEST(moved.count(sign + ("target " + first)) == 1U);
    BOOST_TEST(moved.count(sign + ("profile " + first)) == 1U);
  }
  const Names source = differences(files, [](cache::Contents& o) { o.sources[0].text += " "; });
  BOOST_TEST(source.size() == c.variants.size());
}

BOOST_AUTO_TEST_CASE(AFailureIsNotADifference, *OnPosix()) {
  TwoBundles files;
  const std::string letter = files.directory.write("letter.txt", std::string("Dear all,"));
  check_refused(clbake({"diff", files.bundle, letter}), 2, {"clbake diff: " + letter, "not a bundle"});
  check_refused(clbake({"diff", files.bundle, files.directory.path("none")}), 2, {"none"});
  cache::Bytes bytes = encoded(files.contents);
  bytes[required(required(Bundle::open(files.bundle)).entry(0)).program.offset] ^= 1;
  const std::string damaged = files.directory.write("damaged.clbake", bytes);
  check_refused(clbake({"diff", files.bundle, damaged}), 2, {"clbake diff: " + damaged, "checksum"});
  check_refused(clbake({"diff", files.bundle}), 2, {"clbake diff", "two bundles"});
  for (const char* json : {"", " --json"}) {
    check_refused(shell("\"$CLBAKE\" diff " + files.bundle + " " + files.bundle + json + " > /dev/full"), 2,
                  {"clbake", "cannot be written to stdout"});
  }
}

}  // namespace clbake::tool::test
