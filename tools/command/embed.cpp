#include "cli/cli.hpp"
#include "command/verbs.hpp"

#include <clbake/os/files.hpp>
#include <clbake/os/paths.hpp>

#include <cctype>

namespace clbake::tool {

namespace bundle_templates {
extern const char bundle_s_in[];       // runtime/cmake/bundle.s.in
extern const char bundle_coff_s_in[];  // for Windows
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
  std::string name = os::file_name_of(file);
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

// For use between quotes in assembler.
std::string escaped(const std::string& text) {
  return replaced(replaced(replaced(text, "\\", "\\\\"), "\"", "\\\""), "\n", "\\n");
}

std::string extension_of(const std::string& output) { return os::utf8(os::native(output).extension()); }

bool is_header(const std::string& output) { return extension_of(output) == ".h"; }

// `file`: the absolute path of the bundle; `name`: of the array.
std::string content(const std::string& output, const std::string& file, const std::string& name) {
  if (is_header(output)) return replaced(bundle_templates::bundle_h_in, "@NAME@", name);
  const std::string elf = bundle_templates::bundle_s_in, coff = bundle_templates::bundle_coff_s_in;
  const std::string text = "#ifdef _WIN32\n" + coff + "#else\n" + elf + "#endif\n";
  return replaced(replaced(text, "@NAME@", name), "@FILE@", escaped(file));
}

}  // namespace

int embed(const std::vector<std::string>& arguments) {
  Cli cli("embed FILE -o LIST [OPTIONS]",
          "Makes a bundle part of a program, which reads it in place: const unsigned char NAME[], aligned to 64\n"
          "bytes, and const size_t NAME_size. In CMake use clbake_add_bundle instead. The extension of an output\n"
          "decides its content:\n"
          "  .h   the declarations, for C and C++\n"
          "  .S   assembler for GCC and Clang; it includes the bundle by its absolute path, so assemble it again\n"
          "       when the bundle changes");
  cli.add_list("output,o", "LIST", "files to write, separated by commas, such as gemm.S,gemm.h (required)");
  cli.add_value("name", "NAME", "name of the array; default: the file's name, gemm_clbake for gemm.clbake");
  if (const auto status = cli.parse(arguments)) return *status;
  if (!cli.has("output")) throw UsageError("the option '--output' is required but missing");
  const std::vector<std::string> outputs = cli.list("output");
  for (const std::string& output : outputs) {
    if (is_header(output) || extension_of(output) == ".S") continue;
    throw UsageError("--output: '" + output + "' does not end in .S or .h");
  }
  const std::string name = cli.has("name") ? cli.text("name") : identifier_of(cli.file());
  if (!is_identifier(name)) throw UsageError("--name: '" + name + "' is not an identifier of C");

  open_verified(cli.file());
  for (const std::string& output : outputs) {
    check_replaceable(output, "written by clbake embed", [&] {
      const Result<os::Mapping> text = os::map_file(output);
      return text &&
             std::string_view(reinterpret_cast<const char*>(text->data), text->size).find("Written by clbake") !=
                 std::string_view::npos;
    });
  }
  const std::string file = os::normal(os::absolute_path(cli.file()));
  for (const std::string& output : outputs) write_text(behind_links(output), content(output, file, name));
  return kSuccess;
}

}  // namespace clbake::tool
