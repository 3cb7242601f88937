#include "record/seen.hpp"

#include "record/write/journal.hpp"
#include "record/write/json_text.hpp"

#include <clbake/cache/limits.hpp>

namespace clbake::layer::record {
namespace {

// The fields of the manifest for a program or a part of one. `complete` becomes false when a file could not be stored.
std::string entry_of(const ProgramText& text, bool& complete);

std::string stored(const char* ending, const std::string& bytes, bool& complete) {
  const std::string file = store("sources", ending, bytes);
  complete = complete && !file.empty();
  return quoted(file);
}

std::string headers_of(const std::vector<ProgramText::Header>& headers, bool& complete) {
  std::vector<std::string> items;
  for (const ProgramText::Header& header : headers) {
    items.push_back(
        Object().add("name", quoted(header.name)).add("source", stored(".h", header.text, complete)).text());
  }
  return list(items);
}

std::string entry_of(const ProgramText& text, bool& complete) {
  Object entry;
  if (!text.parts.empty()) {
    std::vector<std::string> parts;
    for (const ProgramText& part : text.parts) parts.push_back(entry_of(part, complete));
    entry.add("parts", list(parts));
  } else if (!text.il.empty()) {
    entry.add("il", stored(".spv", text.il, complete));
  } else {
    entry.add("source", stored(".cl", text.sources.empty() ? std::string() : text.sources[0], complete));
  }
  if (!text.options.empty()) entry.add("options", quoted(text.options));
  if (!text.headers.empty()) entry.add("headers", headers_of(text.headers, complete));
  return entry.text();
}

std::map<std::string, SeenProgram>& programs() {
  static auto& all = *new std::map<std::string, SeenProgram>;
  return all;
}

}  // namespace

std::mutex& seen_mutex() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}

SeenProgram* see(const ProgramText& text, const BuildAnswers& answers) {
  bool complete = true;
  const std::string entry = entry_of(text, complete);
  if (!complete) return nullptr;
  if (!is_utf8(entry)) {
    note("a program is not recorded: its build options or a header's name are not UTF-8");
    return nullptr;
  }
  const std::string id = digest_text(entry);
  const auto [at, is_new] = programs().emplace(id, SeenProgram{id, {}, 0});
  if (is_new) {
    Object line;
    line.add("program", entry).add("id", quoted(id));
    if (!answers.kernels.empty() && is_utf8(answers.kernels)) line.add("kernels", quoted(answers.kernels));
    const std::string& log = answers.log;
    if (!log.empty() && log.size() <= cache::kMaxLogBytes && is_utf8(log)) line.add("log", quoted(log));
    add_line(line.text());
  }
  return &at->second;
}

SeenKernel& see(SeenProgram& program, const std::string& kernel) {
  const auto [at, is_new] = program.kernels.emplace(kernel, SeenKernel{&program, kernel, {}, {}});
  if (is_new) add_line(Object().add("id", quoted(program.id)).add("kernel", quoted(kernel)).text());
  return at->second;
}

void add_line(const SeenKernel& kernel, const char* field, const std::string& json) {
  add_line(Object().add("id", quoted(kernel.program->id)).add("kernel", quoted(kernel.name)).add(field, json).text());
}

}  // namespace clbake::layer::record
