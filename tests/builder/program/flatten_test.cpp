// Included files become part of the source, and messages name the user's files.
#include "program/flatten.hpp"

#include "build_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <filesystem>

namespace clbake::builder::test {
namespace {

// A folder with files.
class Folder {
 public:
  void add(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = std::filesystem::path(directory_.path()) / name;
    std::filesystem::create_directories(path.parent_path());
    write_file(path.string(), text);
  }
  Result<std::string> flat(const std::string& file, const std::vector<std::string>& folders = {},
                           const std::vector<std::string>& definitions = {}) const {
    program::IncludePlaces places{directory_.path(), folders, definitions, {{"memory/in.h", "in memory\n"}}};
    Result<program::FlatSource> source = program::flatten(file, read_file(directory_.path() + "/" + file), places);
    if (!source) return source.status();
    return std::move(source->text);
  }
  std::string failure(const std::string& file) const { return flat(file).status().message(); }

 private:
  process::ScratchDirectory directory_ = required(process::ScratchDirectory::create());
};

}  // namespace

BOOST_AUTO_TEST_CASE(AFileWithoutIncludesKeepsItsLines) {
  const Folder folder;
  folder.add("a.cl", "kernel void a() {}\n// end");
  BOOST_TEST(required(folder.flat("a.cl")) == "#line 1 \"a.cl\"\nkernel void a() {}\n\n");
}

BOOST_AUTO_TEST_CASE(IncludedTextStandsInItsPlace) {
  const Folder folder;
  folder.add("kernels/a.cl", "one\n  # include \"parts/b.h\" // why\nthree\n");
  folder.add("kernels/parts/b.h", "#include \"c.h\"\nb\n");
  folder.add("kernels/parts/c.h", "c\n");
  BOOST_TEST(required(folder.flat("kernels/a.cl")) ==
             "#line 1 \"kernels/a.cl\"\none\n"
             "#line 1 \"kernels/parts/b.h\"\n#line 1 \"kernels/parts/c.h\"\nc\n#line 2 \"kernels/parts/b.h\"\nb\n"
             "#line 3 \"kernels/a.cl\"\nthree\n");
}

BOOST_AUTO_TEST_CASE(FoldersAreSearchedAfterTheFilesOwn) {
  const Folder folder;
  folder.add("a.cl", "#include \"x.h\"\n#include <x.h>\n#include <y.h>\n");
  folder.add("x.h", "own\n");
  folder.add("lib/x.h", "library\n");
  folder.add("more/y.h", "y\n");
  const std::string text = required(folder.flat("a.cl", {"lib", "more"}));
  BOOST_TEST(text ==
             "#line 1 \"a.cl\"\n#line 1 \"x.h\"\nown\n#line 2 \"a.cl\"\n"
             "#line 1 \"lib/x.h\"\nlibrary\n#line 3 \"a.cl\"\n#line 1 \"more/y.h\"\ny\n#line 4 \"a.cl\"\n");
}

BOOST_AUTO_TEST_CASE(CommentsAndTextsAreNoIncludes) {
  const Folder folder;
  folder.add("a.cl",
             "// #include \"no.h\"\n/* \n#include \"no.h\"\n*/ int a; /* one line */\n#define X \\\n#include \"no.h\"\n"
             "// a \\\n#include \"no.h\"\nconstant char* t = \"/* // \\\"\"; \n#pragma \n");
  BOOST_TEST(required(folder.flat("a.cl")) ==
             "#line 1 \"a.cl\"\n\n\n\n   int a;\n#define X \\\n#include \"no.h\"\n     \\\n\n"
             "constant char* t = \"/* // \\\"\";\n#pragma\n");
  folder.add("b.cl", "char q = '\"'; /* a comment\n */ #include \"no.h\"\n");
  BOOST_TEST(folder.failure("b.cl") == "b.cl:2: there is no file 'no.h' to include");
  folder.add("c.cl", "#define TILE 16 // \\todo\n/// \\brief x\n#include \"c.h\"\n// x \\\r\n#include \"no.h\"\r\n");
  folder.add("c.h", "c\n");
  BOOST_TEST(required(folder.flat("c.cl")) ==
             "#line 1 \"c.cl\"\n#define TILE 16\n\n#line 1 \"c.h\"\nc\n#line 4 \"c.cl\"\n     \\\n\n");
}

// A compiler would look for it where the program runs, and find something else there.
BOOST_AUTO_TEST_CASE(WhatIsMissingInAConditionIsAnErrorThere) {
  const Folder folder;
  folder.add("a.cl", "#ifndef __OPENCL_VERSION__\n#include <stdint.h>\n#include \"b.h\"\n#endif\n");
  folder.add("b.h", "#include <stddef.h>\n");
  BOOST_TEST(required(folder.flat("a.cl")) ==
             "#line 1 \"a.cl\"\n#ifndef __OPENCL_VERSION__\n#error there is no file 'stdint.h' to include\n"
             "#line 1 \"b.h\"\n#error there is no file 'stddef.h' to include\n#line 4 \"a.cl\"\n#endif\n");
  folder.add("c.cl", "#ifdef X\n#endif\n#include <stdint.h>\n");
  BOOST_TEST(folder.failure("c.cl") == "c.cl:3: there is no file 'stdint.h' to include");
  folder.add("d.cl", "#include MACRO\n");
  BOOST_TEST(folder.failure("d.cl") == "d.cl:1: #include needs the name of a file in quotes or angle brackets");
  folder.add("e.cl", "#import \"b.h\"\n");
  BOOST_TEST(folder.failure("e.cl") == "e.cl:1: #import is not supported, only #include");
}

BOOST_AUTO_TEST_CASE(PragmaOnceBecomesAGuard) {
  const Folder folder;
  folder.add("a.cl", "#include \"b.h\"\n#include \"b.h\"\n");
  folder.add("b.h", "#pragma once\nb\n");
  const std::string text = required(folder.flat("a.cl"));
  BOOST_TEST(!contains(text, "pragma"));
  const std::size_t guard = text.find("#ifndef CLBAKE_ONCE_");
  BOOST_REQUIRE(guard != std::string::npos);
  const std::string name = text.substr(guard + 8, text.find('\n', guard) - guard - 8);
  BOOST_TEST(contains(text, "#define " + name + "\n#line 1 \"b.h\"\n\nb\n#endif\n"), text);
  BOOST_TEST(text.find("#ifndef " + name, guard + 1) != std::string::npos);  // the second time, which it excludes
}

BOOST_AUTO_TEST_CASE(FilesThatIncludeThemselvesOrAreMissingAreNamed) {
  const Folder folder;
  folder.add("a.cl", "\n#include \"b.h\"\n");
  folder.add("b.h", "#include \"a.cl\"\n");
  BOOST_TEST(folder.failure("a.cl") == "b.h:1: a.cl includes itself");
  folder.add("guarded.h", "#ifndef G\n#define G\n#include \"guarded.h\"\n#endif\n");
  BOOST_TEST(required(folder.flat("guarded.h")) == "#line 1 \"guarded.h\"\n#ifndef G\n#define G\n\n#endif\n");
  folder.add("open.cl", "#include \"b.h\n");
  BOOST_TEST(folder.failure("open.cl") == "open.cl:1: #include needs the name of a file in quotes or angle brackets");
  for (int i = 0; i < 200; ++i) {
    folder.add("deep" + std::to_string(i) + ".cl", "#include \"deep" + std::to_string(i + 1) + ".cl\"\n");
  }
  folder.add("deep200.cl", "");
  BOOST_TEST(contains(folder.failure("deep0.cl"), "deep200.cl: files include each other more than 200 deep"));
  BOOST_TEST(contains(required(folder.flat("deep1.cl")), "deep200.cl"));
  folder.add("tail.cl", "a \\");
  folder.add("head.cl", "#include \"tail.cl\"\nb\n");
  BOOST_TEST(contains(required(folder.flat("head.cl")), "a \\\n\n#line 2 \"head.cl\"\n"));
  folder.add("zero.cl", std::string("a\0b", 3));
  BOOST_TEST(folder.failure("zero.cl") == "zero.cl: is no text");
  folder.add("counted.cl", std::string("a\n\0", 3));
  BOOST_TEST(contains(required(folder.flat("counted.cl")), "a\n"));
}

// Ten levels of two includes each would be a thousand copies of the last one.
BOOST_AUTO_TEST_CASE(TheWholeHasALimit) {
  const Folder folder;
  for (int i = 0; i < 10; ++i) {
    const std::string line = "#include \"" + std::to_string(i + 1) + ".h\"\n";
    folder.add(std::to_string(i) + ".h", line + line);
  }
  folder.add("10.h", std::string(50000, 'x') + "\n");
  BOOST_TEST(contains(folder.failure("0.h"), "more than 16 MiB"));
}

BOOST_AUTO_TEST_CASE(MacrosMakeNames) {
  const Folder folder;
  folder.add("inc/helper.h", "help\n");
  folder.add("a.cl", "#define STR(x) #x\n#define \\\n QUOTE(x) STR(x)\n#include QUOTE(FOLDER/helper.h)\n");
  const std::string text = required(folder.flat("a.cl", {}, {"FOLDER=inc"}));
  BOOST_TEST(contains(text, "#line 1 \"inc/helper.h\"\nhelp\n#line 5 \"a.cl\"\n"), text);
  folder.add("other/helper.h", "help\n");
  folder.add("b.cl", "#define H \"inc/helper.h\"\n#define H \"other/helper.h\"\n#include H\n");
  BOOST_TEST(folder.failure("b.cl") == "b.cl:3: the macro may mean 'inc/helper.h' or 'other/helper.h'");
}

BOOST_AUTO_TEST_CASE(HeadersInMemoryArePreferredToFiles) {
  const Folder folder;
  folder.add("memory/in.h", "in a file\n");
  folder.add("a.cl", "#include \"memory/in.h\"\n");
  BOOST_TEST(contains(required(folder.flat("a.cl")), "in memory\n"));
}

BOOST_AUTO_TEST_CASE(AByteOrderMarkGoes) {
  const Folder folder;
  folder.add("a.cl", "\xEF\xBB\xBFint a;\n#include \"b.h\"\n");
  folder.add("b.h", "\xEF\xBB\xBFint b;\n");
  BOOST_TEST(!contains(required(folder.flat("a.cl")), "\xEF\xBB\xBF"));
}

}  // namespace clbake::builder::test
