#include "cli/cli.hpp"
#include "command/elf_object.hpp"
#include "command/verbs.hpp"

#include <clbake/cache/writer.hpp>

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

struct Embedding {
  std::string file;  // absolute path of the bundle
  std::string name;  // of the array
  cache::Bytes bytes;
};

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

std::string assembler(const Embedding& embedding) {
  const std::string text = replaced(bundle_templates::bundle_s_in, "@NAME@", embedding.name);
  return replaced(text, "@FILE@", escaped(embedding.file));
}

// The assembler as a C or C++ file.
std::string in_c(const std::string& assembler_lines) {
  std::string text = "/* Written by clbake embed. */\n__asm__(\n";
  std::istringstream lines(assembler_lines);
  std::string line;
  while (std::getline(lines, line)) text += "\"" + escaped(line) + "\\n\"\n";
  return text + ");\n";
}

Result<cache::Bytes> content(const Embedding& embedding, const std::string& extension) {
  const auto bytes = [](const std::string& text) { return cache::Bytes(text.begin(), text.end()); };
  if (extension == ".o") return elf_object(embedding.name, {embedding.bytes.data(), embedding.bytes.size()});
  if (extension == ".h") return bytes(replaced(bundle_templates::bundle_h_in, "@NAME@", embedding.name));
  const std::string lines = assembler(embedding);
  return bytes(extension == ".s" || extension == ".S" ? lines : in_c(lines));
}

void check_extension(const std::string& output) {
  const std::string extension = std::filesystem::path(output).extension().string();
  for (const char* known : {".S", ".s", ".c", ".cpp", ".o", ".h"}) {
    if (extension == known) return;
  }
  throw UsageError("--output: '" + output + "' does not end in .S, .c, .cpp, .o or .h");
}

// Never overwrites a file that clbake embed did not write. Objects are recognised by the array's name.
Status check_replaceable(const std::string& output, const std::string& name) {
  if (!std::filesystem::exists(output)) return {};
  std::ifstream stream(output, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  const bool object = std::filesystem::path(output).extension() == ".o";
  const std::string mark = object ? name + "_size" : "Written by clbake";
  if (text.find(mark) != std::string::npos || (stream && text.empty())) return {};
  return {Code::invalid_argument, output + ": exists, and was not written by clbake embed" +
                                      (object ? " for " + name : std::string()) + "; not replaced"};
}

}  // namespace

int embed(const std::vector<std::string>& arguments) {
  Cli cli("embed FILE -o LIST [OPTIONS]",
          "Makes a bundle part of a program, which reads it in place: const unsigned char NAME[], aligned to 64 bytes, "
          "and\n"
          "const size_t NAME_size. In CMake use clbake_add_bundle instead. The extension of an output decides its "
          "content:\n"
          "  .h        the declarations, for C and C++\n"
          "  .o        an object file for this machine, with the bundle's bytes; no compiler is needed\n"
          "  .S        assembler for GCC and Clang; it includes the bundle by its absolute path, so assemble it again\n"
          "            when the bundle changes\n"
          "  .c .cpp   the same assembler inside C or C++; compile it without link-time optimisation");
  cli.add_list("output,o", "LIST", "files to write, separated by commas, such as gemm.o,gemm.h (required)");
  cli.add_value("name", "NAME", "name of the array; default: the file's name, gemm_clbake for gemm.clbake");
  if (const auto status = cli.parse(arguments)) return *status;
  if (!cli.has("output")) throw UsageError("the option '--output' is required but missing");
  const std::vector<std::string> outputs = cli.list("output");
  for (const std::string& output : outputs) check_extension(output);
  const std::string name = cli.has("name") ? cli.text("name") : identifier_of(cli.file());
  if (!is_identifier(name)) throw UsageError("--name: '" + name + "' is not an identifier of C");

  Result<cache::Bytes> bytes = read_verified(cli.file());
  if (!bytes) return fail("embed", bytes.status());
  for (const std::string& output : outputs) {
    const Status replaceable = check_replaceable(output, name);
    if (!replaceable) return fail("embed", replaceable);
  }
  const Embedding embedding{std::filesystem::absolute(cli.file()).lexically_normal(), name, std::move(*bytes)};
  for (const std::string& output : outputs) {
    const Result<cache::Bytes> made = content(embedding, std::filesystem::path(output).extension().string());
    if (!made) return fail("embed", made.status());
    const Status written = cache::write_file(behind_links(output), {made->data(), made->size()});
    if (!written) return fail("embed", written);
  }
  return kSuccess;
}

}  // namespace clbake::tool
