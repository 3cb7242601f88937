// The commands of builder/LIFECYCLE.md, in the order of the page, on a bundle that was baked for another driver.
#include "command.hpp"

#include <sstream>

namespace clbake::tool::test {
namespace {

// A line of the page that is indented by four blanks: "clbake VERB ...    # exit status 3: why".
struct Command {
  std::string line;
  int status = 0;
};

std::vector<Command> commands_of_the_page() {
  std::istringstream page(read_file(CLBAKE_LIFECYCLE_PAGE));
  std::vector<Command> commands;
  const std::string remark = "# exit status ";
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("    clbake ", 0) != 0) continue;
    const std::size_t at = line.find(remark);
    commands.push_back({line, at == std::string::npos ? 0 : std::stoi(line.substr(at + remark.size()))});
  }
  return commands;
}

// The baked bundle as it was before the driver's update. Only machine code: what a driver compiles serves any.
cache::Contents before_the_update() {
  cache::Contents contents = baked_contents();
  for (cache::Target& target : contents.targets) {
    if (!target.driver_version.empty()) target.driver_version = "the driver before";
  }
  std::vector<cache::Entry> native;
  for (cache::Entry& entry : contents.entries) {
    if (entry.form == cache::Form::native) native.push_back(std::move(entry));
  }
  contents.entries = std::move(native);
  return contents;
}

}  // namespace

BOOST_AUTO_TEST_CASE(EachCommandOfThePageDoesWhatItSays, *OnPosix()) {
  if (baked_origin() != "native") skip("the driver gives no machine code, which the page's commands ask for");
  const Directory directory;
  directory.write("gemm.clbake", encoded(before_the_update()));
  // A part of each command's output.
  const std::vector<std::string> wanted = {"compiled from source",  // run: the driver is another one
                                           "from the overlay",      // run: the next process
                                           "2 bundles joined",      // merge
                                           "",                      // prove
                                           "1 problem, 20 calls",   // capture
                                           "0 of 1 are served",     // check of the old release
                                           "1 of 1 are served",     // check of the healed one
                                           "are served",            // ... on all targets
                                           "",                      // diff
                                           "removed",               // prune
                                           "next.clbake: every byte is intact",
                                           "are served",
                                           "release.html",
                                           "machine code from the bundle"};
  const std::vector<Command> commands = commands_of_the_page();
  BOOST_REQUIRE(commands.size() == wanted.size());
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const Outcome outcome =
        shell("clbake() { \"$CLBAKE\" \"$@\"; }; cd '" + directory.path("") + "' && " + commands[i].line);
    BOOST_TEST_CONTEXT(commands[i].line << "\n" << outcome.out << outcome.err) {
      BOOST_REQUIRE(outcome.status == commands[i].status);
      BOOST_TEST(contains(outcome.out, wanted[i]));
      if (i == 0) BOOST_TEST(contains(outcome.out, "miss: other driver"));
    }
  }
}

}  // namespace clbake::tool::test
