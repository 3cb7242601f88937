// A bundle as a part of a program: what `clbake embed` writes is compiled, linked and run.
#include "command.hpp"

#include "samples.hpp"

#include <filesystem>

namespace clbake::tool::test {
namespace {

using cache::test::small_bundle;

// Writes the array to stdout; fails where it is not aligned.
constexpr const char* kMain = R"(
#include <NAME.h>
#include <stdio.h>
int main(void) {
  if ((size_t)NAME % 64 != 0) return 3;
  return fwrite(NAME, 1, NAME_size, stdout) == NAME_size ? 0 : 4;
}
)";

// Embeds `file` as `name`, and gives what a program finds there.
Outcome found_by_a_program(const Directory& directory, const std::string& file, const std::string& name,
                           const std::string& compiler, const std::string& main) {
  const std::string here = directory.path("");
  const std::string part = name + "_part.S";
  return shell("cd '" + here + "' && \"$CLBAKE\" embed '" + file + "' -o " + part + "," + name + ".h --name " + name +
               " && sed 's/NAME/" + name + "/g' main.txt > " + main + " && " + compiler +
               " -Wall -Wextra -Werror -I. " + main + " " + part + " -o program && ./program");
}

}  // namespace

BOOST_AUTO_TEST_CASE(EveryFormHoldsTheBytesAligned, *OnPosix()) {
  const Directory directory;
  directory.write("main.txt", std::string(kMain));
  const std::string file = directory.write("no \"easy\" path\\.clbake", small_bundle());
  const std::string expected(small_bundle().begin(), small_bundle().end());
  for (const auto& [compiler, main] : {std::pair("cc -pedantic", "main.c"), {"c++ -pedantic", "main.cpp"}}) {
    const Outcome outcome = found_by_a_program(directory, file, "bundle", compiler, main);
    BOOST_TEST(outcome.status == 0, main << ": " << outcome.err);
    BOOST_TEST((outcome.out == expected), main);
  }
}

BOOST_AUTO_TEST_CASE(TheNameIsTheFilesUnlessGiven) {
  const Directory directory;
  for (const auto& [file, name] : {std::pair("gemm.clbake", "gemm_clbake"), std::pair("2 b.clbake", "_2_b_clbake")}) {
    directory.write(file, small_bundle());
    BOOST_TEST(clbake({"embed", directory.path(file), "-o", directory.path("made.h")}).status == 0);
    const std::string header = read_file(directory.path("made.h"));
    BOOST_TEST(contains(header, "unsigned char " + std::string(name) + "[]"), header);
  }
}

BOOST_AUTO_TEST_CASE(WhatCannotBeEmbeddedIsNamedAndNothingIsWritten) {
  const Directory directory;
  const std::string good = directory.write("good.clbake", small_bundle());
  const std::string letter = directory.write("letter.clbake", std::string(1000, 'x'));
  const std::string missing = directory.path("missing.clbake");
  const std::string output = directory.path("made.S");
  const std::size_t before = directory.files().size();
  check_refused(clbake({"embed", missing, "-o", output}), 1, {"clbake embed", missing, no_such_file()});
  check_refused(clbake({"embed", letter, "-o", output}), 1, {"clbake embed", letter, "not a bundle"});
  check_refused(clbake({"embed", good, "-o", directory.path("no/made.S")}), 1, {"clbake embed", "no/made.S"});
  check_refused(clbake({"embed", good, "-o", directory.path("made.s")}), 2, {"--output", "made.s"});
  check_refused(clbake({"embed", good, "-o", output, "--name", "3d"}), 2, {"--name", "'3d'"});
  check_refused(clbake({"embed", good, "-o", output, "--name", ""}), 2, {"--name"});
  check_refused(clbake({"embed", good}), 2, {"--output"});
  BOOST_TEST(directory.files().size() == before);
}

BOOST_AUTO_TEST_CASE(FilesThatEmbedDidNotWriteAreNotReplaced) {
  const Directory directory;
  const std::string bundle = directory.write("good.clbake", small_bundle());
  const std::string letter = directory.write("letter.S", std::string(".text\n"));
  const std::string header = directory.path("made.h");
  check_refused(clbake({"embed", bundle, "-o", header + "," + letter}), 1, {letter, "not written by clbake embed"});
  BOOST_TEST(read_file(letter) == ".text\n");
  BOOST_TEST(!std::filesystem::exists(header));
  for (const char* name : {"made.h", "made.S", "made.h", "made.S"}) {
    const Outcome outcome = clbake({"embed", bundle, "-o", directory.path(name)});  // its own output is replaced
    BOOST_TEST(outcome.status == 0, name << ": " << outcome.err);
  }
}

}  // namespace clbake::tool::test
