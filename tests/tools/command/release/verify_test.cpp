// `clbake verify`, and the summary of `clbake inspect`.
#include "command/release/release_files.hpp"

namespace clbake::tool::test {

BOOST_AUTO_TEST_CASE(IntactBundles) {
  const ReleaseFiles files;
  const Outcome text = clbake({"verify", files.bundle, files.bundle}, no_platform());
  BOOST_TEST(text.status == 0);
  BOOST_TEST(contains(text.out, files.bundle + ": every byte is intact; "), text.out);
  const nlohmann::json json = json_of(clbake({"verify", files.bundle, "--json"}));
  BOOST_TEST(json["files"][0]["intact"] == true);
  BOOST_TEST(json["files"][0]["bytes"] == read_file(files.bundle).size());
  BOOST_TEST(json["files"][0]["entries"] == files.contents.entries.size());
}

BOOST_AUTO_TEST_CASE(TheFirstFailureOfEachFileIsNamed) {
  const ReleaseFiles files;
  cache::Bytes bytes = encoded(files.contents);
  bytes[bytes.size() - 70] ^= 1;
  const std::string damaged = files.directory.write("damaged.clbake", bytes);
  bytes.resize(bytes.size() / 2);
  const std::string torn = files.directory.write("torn.clbake", bytes);
  const Outcome text = clbake({"verify", damaged, files.bundle, torn});
  BOOST_TEST(text.status == 1);
  BOOST_TEST(contains(text.err, "clbake verify: " + damaged + ": "), text.err);
  BOOST_TEST(contains(text.err, "clbake verify: " + torn + ": "), text.err);
  BOOST_TEST(contains(text.out, files.bundle + ": every byte is intact"), text.out);
  const Outcome outcome = clbake({"verify", torn, "--json"});
  BOOST_TEST(outcome.status == 1);
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  BOOST_TEST(json["files"][0]["intact"] == false);
  BOOST_TEST(json["files"][0]["code"] == "truncated");
  check_refused(clbake({"verify"}), 2, {"clbake verify", "FILE"});
}

BOOST_AUTO_TEST_CASE(TheSummaryCountsWhatThereIs) {
  const ReleaseFiles files;
  const nlohmann::json json = json_of(clbake({"inspect", files.bundle, "--json"}));
  BOOST_TEST(json["file_bytes"] == read_file(files.bundle).size());
  std::size_t entries = 0, proven = 0, bytes = 0;
  for (const nlohmann::json& target : json["summary"]) {
    entries += target["native"].get<std::size_t>() + target["portable"].get<std::size_t>();
    proven += target["proven"].get<std::size_t>();
    bytes += target["bytes"].get<std::size_t>();
  }
  std::size_t expected_proven = 0;
  for (const cache::Entry& entry : files.contents.entries) expected_proven += entry.proof.proven ? 1 : 0;
  BOOST_TEST(entries == files.contents.entries.size());
  BOOST_TEST(proven == expected_proven);
  BOOST_TEST(bytes == files.contents.entries.size() * files.settings.program_bytes);
  BOOST_TEST(contains(clbake({"inspect", files.bundle}).out, "  NVIDIA GPU 0, driver 580.0  single nn nt tn tt  "));
}

}  // namespace clbake::tool::test
