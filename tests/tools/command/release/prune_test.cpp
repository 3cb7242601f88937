// `clbake prune` as users meet it; what it keeps is tested in tests/builder/release.
#include "command/release/release_files.hpp"

namespace clbake::tool::test {

BOOST_AUTO_TEST_CASE(WhatWentAndHowMuchSmallerItIs) {
  const ReleaseFiles files;
  const std::string output = files.directory.path("small.clbake");
  const Outcome outcome = clbake({"prune", files.bundle, "-o", output, "--precision", "single", "--trans", "nn",
                                  "--target", "NVIDIA GPU 0", "--json"},
                                 no_platform());
  const nlohmann::json json = json_of(outcome);
  BOOST_TEST(json["before"]["entries"] == files.contents.entries.size());
  const cache::Contents kept = contents_of(output);
  BOOST_TEST(json["after"]["entries"] == kept.entries.size());
  BOOST_TEST(json["after"]["bytes"] == read_file(output).size());
  BOOST_TEST(kept.targets.size() == 1U);
  BOOST_TEST(json["removed_targets"].size() == 2U);
  BOOST_TEST(!kept.entries.empty());
  for (const cache::Variant& variant : kept.variants) BOOST_TEST((variant.kind() == GemmKind()));
  const Outcome text = clbake({"prune", files.bundle, "-o", output, "--target", "NVIDIA GPU 0"});
  BOOST_TEST(text.status == 0);
  BOOST_TEST(contains(text.out, "% smaller\n"), text.out);
  BOOST_TEST(contains(text.out, "removed: nvidia:sm_52\n"), text.out);
}

BOOST_AUTO_TEST_CASE(ShapesAreServedAsBefore) {
  const ReleaseFiles files;
  const std::string output = files.directory.path("small.clbake"), ten = files.write_shapes("ten.txt", 10);
  const Outcome outcome = clbake({"prune", files.bundle, "-o", output, "--shapes", ten});
  BOOST_TEST(outcome.status == 0);
  const auto rows = [&](const std::string& bundle) {
    return nlohmann::json::parse(clbake({"check", bundle, "--shapes", ten, "--all", "--json"}).out)["rows"];
  };
  BOOST_TEST(rows(output).size() == 30U);
  BOOST_TEST(rows(output) == rows(files.bundle));
  BOOST_TEST(clbake({"diff", files.bundle, output}).status == 1);
}

BOOST_AUTO_TEST_CASE(UnknownTargetsAndBadFilesAreNamed) {
  const ReleaseFiles files;
  const std::string output = files.directory.path("small.clbake");
  const Outcome some = clbake({"prune", files.bundle, "-o", output, "--target", "pocl,gfx90a"});
  BOOST_TEST(some.status == 3);
  BOOST_TEST(contains(some.err, "clbake prune: --target: " + files.bundle + " has no target 'gfx90a'; it has 0: "));
  BOOST_TEST(contents_of(output).targets.size() == 1U);
  const std::string once = read_file(output);
  BOOST_TEST(clbake({"prune", files.bundle, "-o", output, "--target", "gfx90a"}).status == 1);
  BOOST_TEST(read_file(output) == once);
  const std::string letter = files.directory.write("letter.txt", std::string("Dear all,"));
  check_refused(clbake({"prune", files.bundle, "-o", letter}), 1, {letter, "not a bundle"});
  check_refused(clbake({"prune", letter, "-o", output}), 1, {letter, "not a bundle"});
  BOOST_TEST(clbake({"prune", files.bundle, "-o", files.bundle, "--target", "pocl"}).status == 0);  // in its place
  BOOST_TEST(contents_of(files.bundle).targets.size() == 1U);
}

}  // namespace clbake::tool::test
