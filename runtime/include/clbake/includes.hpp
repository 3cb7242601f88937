// The files that a text of OpenCL C may include: what `self_contained` (program_text.hpp) reads and the builder puts in
// the place of directives. Conditions are not evaluated. Not installed.
#pragma once

#include <clbake/status.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace clbake::includes {

// Blanks inside of a line.
inline constexpr const char* kBlanks = " \t\r\v\f";

// Without blanks at its ends.
std::string_view trimmed(std::string_view text);

// The path of a file without "." and "x/..", so that one file in a folder has one name.
std::string plain_name(const std::string& path);

// The text with a blank in the place of each character of a comment, but for line ends. Texts in quotes stay. Blanks go
// from the ends of lines: compilers take a backslash in front of them as the last character.
std::string without_comments(std::string_view text);

struct Directive {
  std::string word;  // "include"; empty: the line is no directive
  std::string rest;  // without blanks at its ends
};

// REQUIRES: a line without comments.
Directive directive_of(std::string_view line);

// The options of clBuildProgram or clCompileProgram, as far as they decide what is included.
struct Options {
  std::vector<std::string> folders;      // of -I, in their order
  std::vector<std::string> definitions;  // of -D: "NAME", "NAME=BODY" or "NAME(PARAMETERS)=BODY"
  std::string others;                    // the options but -I as they are, one blank between two
  std::string rest;                      // these without -D
};

// Takes the next option off the beginning of `left`: as it is, and without quotes and backslashes. False at the end.
bool next_option(std::string_view& left, std::string& raw, std::string& plain);

// Blanks separate options unless they are in quotes or behind a backslash. Fails with invalid_argument for options that
// include files in other ways: -include, -isystem, @file.
Result<Options> read_options(std::string_view options);

// A file that an `#include` names.
struct Name {
  std::string name;
  bool quoted = false;  // else in angle brackets

  bool operator==(const Name& other) const { return name == other.name && quoted == other.quoted; }
};

// Macros that make names of files. Any number of definitions of one name: as conditions are not evaluated, each counts.
class Macros {
 public:
  void define(std::string_view rest);           // of #define
  void define_option(const std::string& text);  // of -D

  std::size_t size() const { return size_; }  // definitions

  // The names that an `#include` may mean, given what stands behind this word: at most one, but for macros of several
  // definitions; none where a compiler finds none either. Fails with invalid_argument when there are more than 64.
  Result<std::vector<Name>> names(std::string_view rest) const;

 private:
  struct Definition {
    bool is_function = false;
    std::vector<std::string> parameters;
    std::string body;

    bool operator==(const Definition& other) const {
      return is_function == other.is_function && parameters == other.parameters && body == other.body;
    }
  };
  friend class Expansion;
  void add(const std::string& name, Definition definition);

  std::map<std::string, std::vector<Definition>, std::less<>> definitions_;
  std::size_t size_ = 0;
};

// Texts by their names. A name is that in the directive; of a file that was found beside the including one, behind the
// folder of that one's name.
using Files = std::map<std::string, std::string>;

// Adds the files that the text can include to `files`, which may hold some already: those of clCompileProgram. Fails as
// `self_contained` says.
Status add_included(std::string_view text, const Options& options, Files& files);

}  // namespace clbake::includes
