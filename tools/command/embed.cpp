#include "cli/cli.hpp"
#include "command/verbs.hpp"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace clbake::tool {

namespace bundle_templates {
extern const char bundle_s_in[];  // runtime/cmake/bundle.s.in
extern const char bundle_h_in[];
}  // namespace bundle_templates

namespace {

bool is_identifier(const std::string& name) {
  const auto fits = [](unsigned char c) { return c == '_' || (c < 128 && std::isalnum(c)); };
  for (const char c : name) {
    if (!fits(static_cast<unsigned char>(c))) return false;
  }
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
}

// "gemm.clbake" -> "gemm_clbake", as clbake_add_bundle names it.
std::string identifier_of(const std::string& file) {
  std::string name = std::filesystem::path(file).filename().string();
  for (char& c : name) {
    if (!is_identifier(std::string("_") + c)) c = '_';
  }
  return is_identifier(name) ? name : "_" + name;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// For use between quotes, in assembler and in C.
std::string escaped(const std::string& text) {
  return replaced(replaced(replaced(text, "\\", "\\\\"), "\"", "\\\""), "\n", "\\n");
}

// `file`: the absolute path of the bundle; `name`: of the array.
std::string assembler(const std::string& file, const std::string& name) {
  return replaced(replaced(bundle_templates::bundle_s_in, "@NAME@", name), "@FILE@", escaped(file));
}

// The assembler as a C or C++ file.
std::string in_c(const std::string& assembler_lines) {
  std::string text = "/* Written by clbake embed. */\n__asm__(\n";
  std::istringstream lines(assembler_lines);
  std::string line;
  while (std::getline(lines, line)) text += "\"" + escaped(line) + "\\n\"\n";
  return text + ");\n";
}

std::string content(const std::string& output, const std::string& file, const std::string& name) {
  const std::string extension = std::filesystem::path(output).extension().string();
  if (extension == ".h") return replaced(bundle_templates::bundle_h_in, "@NAME@", name);
  const std::string lines = assembler(file, name);
  return extension == ".s" || extension == ".S" ? lines : in_c(lines);
}

void check_extension(const std::string& output) {
  const std::string extension = std::filesystem::path(output).extension().string();
  for (const char* known : {".S", ".s", ".c", ".cpp", ".h"}) {
    if (extension == known) return;
  }
  throw UsageError("--output: '" + output + "' does not end in .S, .c, .cpp or .h");
}

// Never overwrites a file that clbake embed did not write.
void check_replaceable(const std::string& output) {
  if (!std::filesystem::exists(output)) return;
  std::ifstream stream(output, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (text.find("Written by clbake") != std::string::npos || (stream && text.empty())) return;
  throw Failure(output + ": exists, and was not written by clbake embed; not replaced");
}

}  // namespace

int embed(const std::vector<std::string>& arguments) {
  Cli cli("embed FILE -o LIST [OPTIONS]",
          "Makes a bundle part of a program, which reads it in place: const unsigned char NAME[], aligned to 64\n"
          "bytes, and const size_t NAME_size. In CMake use clbake_add_bundle instead. The extension of an output\n"
          "decides its content:\n"
          "  .h        the declarations, for C and C++\n"
          "  .S        assembler for GCC and Clang; it includes the bundle by its absolute path, so assemble it again\n"
          "            when the bundle changes\n"
          "  .c .cpp   the same assembler inside C or C++; compile it without link-time optimisation");
  cli.add_list("output,o", "LIST", "files to write, separated by commas, such as gemm.S,gemm.h (required)");
  cli.add_value("name", "NAME", "name of the array; default: the file's name, gemm_clbake for gemm.clbake");
  if (const auto status = cli.parse(arguments)) return *status;
  if (!cli.has("output")) throw UsageError("the option '--output' is required but missing");
  const std::vector<std::string> outputs = cli.list("output");
  for (const std::string& output : outputs) check_extension(output);
  const std::string name = cli.has("name") ? cli.text("name") : identifier_of(cli.file());
  if (!is_identifier(name)) throw UsageError("--name: '" + name + "' is not an identifier of C");

  open_verified(cli.file());
  for (const std::string& output : outputs) check_replaceable(output);
  const std::string file = std::filesystem::absolute(cli.file()).lexically_normal();
  for (const std::string& output : outputs) write_text(behind_links(output), content(output, file, name));
  return kSuccess;
}

}  // namespace clbake::tool
