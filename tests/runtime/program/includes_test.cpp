// Which files a text can include, and what macros and options have to do with it.
#include <clbake/includes.hpp>

#include "system/temporary_directory.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <fstream>

using namespace clbake::includes;
namespace data = boost::unit_test::data;

namespace {

std::string names_of(const Macros& macros, const std::string& rest) {
  const auto names = macros.names(rest);
  if (!names) return "fails";
  std::string text;
  for (const Name& name : *names) {
    text += (text.empty() ? "" : " ") + std::string(name.quoted ? "\"" : "<") + name.name + (name.quoted ? "\"" : ">");
  }
  return text;
}

// The rest of an #include, after #defines, and the names that it means.
struct Named {
  std::vector<std::string> defines;
  std::string rest, names;
};
std::ostream& operator<<(std::ostream& out, const Named& named) { return out << named.rest; }

const Named includes[] = {
    {{}, "\"a.h\"", "\"a.h\""},
    {{}, "<dir/a.h>", "<dir/a.h>"},
    {{}, "\"a.h", ""},
    {{}, "NAME", ""},
    {{"NAME \"a.h\""}, "NAME", "\"a.h\""},
    {{"NAME <a.h>"}, "NAME", "<a.h>"},
    {{"S(x) #x"}, "S(dir/a.h)", "\"dir/a.h\""},
    {{"S(x) #x", "DIR one"}, "S(DIR/a.h)", "\"DIR/a.h\""},
    {{"S(x) X(x)", "X(x) #x", "DIR /usr/share/one"}, "S(DIR/a.h)", "\"/usr/share/one/a.h\""},
    {{"S(x, y) X(x/y)", "X(x) #x"}, "S( one , a.h )", "\"one/a.h\""},
    {{"S X", "X(x) #x"}, "S(a.h)", "\"a.h\""},
    {{"X(x) <x##.h>"}, "X(a)", "<a.h>"},
    {{"X(x) <x ## _b.h>", "a wrong"}, "X(a)", "<a_b.h>"},
    {{"NAME \"a.h\"", "NAME \"b.h\""}, "NAME", "\"a.h\" \"b.h\""},
    {{"NAME NAME"}, "NAME", ""},
    {{"A B", "B A"}, "A", ""},
    {{"A G(A)", "G(x) x"}, "A", ""},
    {{"S(x) #x"}, "S", ""},
    {{"S(x) #x"}, "S(a.h", ""},
};

// Options, the folders of -I and the definitions of -D in them, and what is left without -I.
struct Read {
  std::string options, folders, definitions, others;
};
std::ostream& operator<<(std::ostream& out, const Read& read) { return out << read.options; }

const Read options_read[] = {
    {"", "", "", ""},
    {"  -cl-mad-enable\t-w ", "", "", "-cl-mad-enable -w"},
    {"-I one -Itwo", "one|two", "", ""},
    {"-I \"with blank\" -I\"a b\" -Ic\\ d", "with blank|a b|c d", "", ""},
    {"-D A -DB=2 -I x", "x", "A|B=2", "-D A -DB=2"},
    {"-D \"S(x)=#x y\"", "", "S(x)=#x y", "-D \"S(x)=#x y\""},
    {"-D", "", "", "-D"},
};

std::string joined(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& one : all) text += (text.empty() ? "" : "|") + one;
  return text;
}

// A file with its folders.
void write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

// A text, its options (@ stands for a folder that has the files), and the names of what it includes.
struct Scanned {
  std::string text, options, names;
};
std::ostream& operator<<(std::ostream& out, const Scanned& scanned) { return out << scanned.text; }

const std::pair<const char*, const char*> on_disk[] = {
    {"a.h", "int a;"},
    {"b.h", "#include \"inc/c.h\""},
    {"inc/c.h", "#include \"d.h\"\n#include <a.h>"},
    {"inc/d.h", "#include \"../e.h\""},
    {"e.h", "#include \"e.h\""},
    {"macro.h", "#define HERE \"a.h\""},
    {"other/a.h", "long a;"},
};

const Scanned texts[] = {
    {"kernel void f() {}", "-I @", ""},
    {"#include \"a.h\"", "-I @", "a.h"},
    {"#include \"a.h\"", "-I\"@\"", "a.h"},
    {"#include <a.h>", "-I @", "a.h"},
    {"#include \"a.h\"", "", ""},
    {"#include \"absent.h\"", "-I @", ""},
    {"#include \"b.h\"", "-I @", "a.h|b.h|e.h|inc/c.h|inc/d.h"},
    {"#include \"./inc/../a.h\"", "-I @", "a.h"},
    {"  #  include \"a.h\" // why", "-I @", "a.h"},
    {"%: include \"a.h\"", "-I @", "a.h"},
    {"#inc\\\nlude \"a.h\"", "-I @", "a.h"},
    {"#include /* a */ \"a.h\"", "-I @", "a.h"},
    {"#include /* a\n */ \"a.h\"", "-I @", "a.h"},
    {"/* a */ #include \"a.h\"", "-I @", "a.h"},
    {"/* a\n*/#include \"a.h\"", "-I @", "a.h"},
    {"int x;\r\n#include \"a.h\"\r\n", "-I @", "a.h"},
    {"int x;\r#include \"a.h\"", "-I @", "a.h"},
    {"#inc\\\r\nlude \"a.h\"", "-I @", "a.h"},
    {"#inc\\ \nlude \"a.h\"", "-I @", "a.h"},
    {"\xEF\xBB\xBF#include \"a.h\"", "-I @", "a.h"},
    {"const char* s = \"/*\";\n#include \"a.h\"", "-I @", "a.h"},
    {"// don't\n#include \"a.h\"", "-I @", "a.h"},
    {"#error don't\n#include \"a.h\"", "-I @", "a.h"},
    {"int x = 5\n% 3;\n#include \"a.h\"", "-I @", "a.h"},
    {"#\n#include \"a.h\"", "-I @", "a.h"},
    {"x #include \"a.h\"", "-I @", ""},
    {"const char* s = \"\\\n#include <a.h>\\\n\";", "-I @", ""},
    {"// #include \"a.h\"", "-I @", ""},
    {"/*\n#include \"a.h\"\n*/", "-I @", ""},
    {"#if 0\n#include \"a.h\"\n#endif", "-I @", "a.h"},
    {"#import \"a.h\"", "-I @", "a.h"},
    {"#if __has_include(\"a.h\")\n#endif", "-I @", "a.h"},
    {"#if __has_include_next(<a.h>)\n#endif", "-I @", "a.h"},
    {"#define HAVE __has_include(\"a.h\")\n#if HAVE\n#endif", "-I @", "a.h"},
    {"#define HAVE(x) (__has_include(<a.h>) || __has_embed(\"e.h\"))", "-I @", "a.h|e.h"},
    {"#define __has_include(x) 0\n#if HAVE\n#endif", "-I @", ""},
    {"#if HAVE\n#endif", "-I @ '-DHAVE=__has_include(\"a.h\")'", "a.h"},
    {"#include_next <e.h>", "-I @/other -I @", "e.h"},
    {"#include HERE\n#include \"macro.h\"", "-I @", "a.h|macro.h"},
    {"#include S(DIR/a.h)", "-I @ -D DIR=inc/.. -D S(x)=X(x) -D X(x)=#x", "a.h"},
    {"#include \"a.h\"", "-I @/none -I @/other -I @", "a.h"},
};

}  // namespace

BOOST_DATA_TEST_CASE(IncludeMeansTheseFiles, data::make(includes), one) {
  Macros macros;
  for (const std::string& define : one.defines) macros.define(define);
  BOOST_TEST(names_of(macros, one.rest) == one.names);
}

BOOST_DATA_TEST_CASE(OptionsTellFoldersAndDefinitions, data::make(options_read), one) {
  const auto options = read_options(one.options);
  BOOST_TEST_REQUIRE(options.ok());
  const std::string found = joined(options->folders) + " ; " + joined(options->definitions) + " ; " + options->others;
  BOOST_TEST(found == one.folders + " ; " + one.definitions + " ; " + one.others);
}

BOOST_DATA_TEST_CASE(OptionsThatIncludeFilesOtherwiseAreRefused,
                     data::make({"-include a.h", "-isystem dir", "@file", "-w -imacros a.h"}), options) {
  BOOST_TEST(read_options(options).status().message().find("includes files") != std::string::npos);
}

BOOST_DATA_TEST_CASE(TextIncludesTheseFiles, data::make(texts), one) {
  const clbake::tests::TemporaryDirectory folder;
  for (const auto& [name, text] : on_disk) write(folder.file(name), text);
  std::string with_folder = one.options;
  for (std::size_t at = 0; (at = with_folder.find('@')) != std::string::npos;) with_folder.replace(at, 1, folder.path);
  Files files;
  BOOST_TEST_REQUIRE(add_included(one.text, *read_options(with_folder), files).ok());
  std::vector<std::string> names;
  for (const auto& [name, text] : files) names.push_back(name);
  BOOST_TEST(joined(names) == one.names);
}

BOOST_AUTO_TEST_CASE(FirstFolderThatHasTheFileCounts) {
  const clbake::tests::TemporaryDirectory folder;
  for (const auto& [name, text] : on_disk) write(folder.file(name), text);
  Files files;
  const Options options{{folder.file("other"), folder.path}, {}, {}, {}};
  BOOST_TEST_REQUIRE(add_included("#include \"a.h\"", options, files).ok());
  BOOST_TEST(files["a.h"] == "long a;");
}

BOOST_AUTO_TEST_CASE(AbsoluteNameIsThatFile) {
  const clbake::tests::TemporaryDirectory folder;
  write(folder.file("a.h"), "#include \"inc/b.h\"");
  write(folder.file("inc/b.h"), "");
  Files files;
  BOOST_TEST_REQUIRE(add_included("#include \"" + folder.file("a.h") + "\"", {}, files).ok());
  BOOST_TEST(files.count(folder.file("inc/b.h")) == 1U);
}

BOOST_AUTO_TEST_CASE(HeaderOfTheCallComesBeforeFiles) {
  Files files{{"a.h", "#include \"b.h\""}, {"b.h", "int b;"}};
  BOOST_TEST_REQUIRE(add_included("#include \"a.h\"", {}, files).ok());
  BOOST_TEST(files.size() == 2U);
}

BOOST_AUTO_TEST_CASE(OneNameForTwoFilesIsRefused) {
  const clbake::tests::TemporaryDirectory folder;
  write(folder.file("a.h"), "int a;");
  Files files{{"a.h", "long a;"}};
  const clbake::Status added = add_included("#include \"a.h\"", {{folder.path}, {}, {}, {}}, files);
  BOOST_TEST(added.message().find("'a.h' to include may be either of two different files") == 0U);
}

BOOST_AUTO_TEST_CASE(NextOfTwoFilesIsRefused) {
  const clbake::tests::TemporaryDirectory folder;
  for (const auto& [name, text] : on_disk) write(folder.file(name), text);
  write(folder.file("inc/a.h"), "#include_next <a.h>");
  for (const char* text : {"#include_next <a.h>", "#include \"inc/a.h\"", "#if __has_include_next(<a.h>)"}) {
    Files files;
    const Options options{{folder.file("other"), folder.path}, {}, {}, {}};
    const clbake::Status added = add_included(text, options, files);
    BOOST_TEST_INFO(text);
    BOOST_TEST(added.message().find("'a.h' to include may be either of two different files") == 0U);
  }
}

BOOST_AUTO_TEST_CASE(MacroThatAsksForAFileOfAnotherLineIsRefused) {
  for (const char* text :
       {"#define HAVE(x) __has_include(x)", "#define ASK __has_include", "#define HAVE __has_embed(N)"}) {
    Files files;
    BOOST_TEST_INFO(text);
    BOOST_TEST(add_included(text, {}, files).message().find("a macro asks by __has_include") == 0U);
  }
}

BOOST_AUTO_TEST_CASE(MacrosOfTooManyMeaningsAreRefused) {
  Macros macros;
  macros.define("S(x) #x");
  for (int i = 0; i < 10; ++i) macros.define("A \"" + std::to_string(i) + "\"");
  for (int i = 0; i < 10; ++i) macros.define("B " + std::to_string(i));
  BOOST_TEST(names_of(macros, "A B") == "fails");
}

BOOST_AUTO_TEST_CASE(DeepTextsAreRefusedInsteadOfOverflowingTheStack) {
  Macros macros;
  macros.define("F(x) x");
  for (int i = 0; i < 1000; ++i) macros.define("G" + std::to_string(i) + " G" + std::to_string(i + 1));
  std::string deep = "a.h";
  for (int i = 0; i < 10000; ++i) deep = "F(" + deep + ")";
  BOOST_TEST(names_of(macros, deep) == "fails");
  BOOST_TEST(names_of(macros, "G0") == "fails");
}

BOOST_AUTO_TEST_CASE(ManyDefinitionsOfOneMacroAreRefused) {
  Macros macros;
  for (int i = 0; i < 1000; ++i) macros.define("A \"" + std::to_string(i) + "\"");
  BOOST_TEST(names_of(macros, "A") == "fails");
}

BOOST_AUTO_TEST_CASE(DirectoryIsNoFile) {
  const clbake::tests::TemporaryDirectory folder;
  write(folder.file("a.h/b.h"), "");
  Files files;
  BOOST_TEST_REQUIRE(add_included("#include \"a.h\"", {{folder.path}, {}, {}, {}}, files).ok());
  BOOST_TEST(files.empty());
}
