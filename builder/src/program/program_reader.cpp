#include "program/program_reader.hpp"

#include <clbake/includes.hpp>
#include <clbake/os/paths.hpp>
#include <clbake/program_text.hpp>
#include "process/need.hpp"
#include "process/text_file.hpp"
#include "program/flatten.hpp"
#include "program/trial.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace clbake::builder::program {
using namespace process;
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostTextBytes = std::uintmax_t{15} << 20;
constexpr std::size_t kDeepestParts = 8;
constexpr std::size_t kMostTrialBytes = std::size_t{15} << 20;  // a source of a bundle has at most 16 MiB

// A program, or a part of one, as the manifest states it.
struct Stated {
  ProgramText text;  // as the application gives it
  std::string file;  // the first source's, for messages
  std::vector<Stated> parts;
};

// An option with each of its bytes, whatever they are.
std::string escaped(const std::string& text) {
  std::string all;
  for (const char c : text) {
    if (std::string(" \t\"'\\").find(c) != std::string::npos) all += '\\';
    all += c;
  }
  return all;
}

// Lines that define what -D does, where one of its definitions has characters that not every driver reads in options:
// PoCL knows no quotes. Empty where they are all plain.
std::string definitions_as_text(const std::vector<std::string>& definitions) {
  std::string lines;
  bool is_plain = true;
  for (const std::string& definition : definitions) {
    is_plain = is_plain && definition.find_first_of(" \t\"'\\") == std::string::npos;
    const std::size_t equals = std::min(definition.find('='), definition.size());
    const std::string body = equals < definition.size() ? definition.substr(equals + 1) : "1";
    lines += "#define " + definition.substr(0, equals) + " " + body + "\n";
  }
  return is_plain ? std::string() : lines;
}

class ProgramReader {
 public:
  ProgramReader(JsonReader& reader, const ManifestFolders& folders, Program& program)
      : reader_(reader), folders_(folders), program_(program) {}

  bool read(const JsonValue& at) {
    Stated stated;
    std::string log;  // for people
    const auto kernels = json_field("kernels", [&](const JsonValue& v) { return read_kernels_of(v); });
    const auto name = optional(reader_.field("name", program_.name));
    if (!read_text(at, stated, 0, name, optional(reader_.field("log", log)), kernels)) return false;
    if (program_.failure.empty()) complete(stated);
    return true;
  }

 private:
  std::string path_of(const std::string& name) const { return os::joined_path(folders_.directory, name); }

  // ---- Fields

  template <typename... Reads>
  bool read_text(const JsonValue& at, Stated& stated, std::size_t deep, const JsonField<Reads>&... more) {
    const auto parts = json_field("parts", [&](const JsonValue& list) {
      if (deep == kDeepestParts) return reader_.fail(list, "is too deep: parts of parts of parts");
      return reader_.list(list,
                          [&](const JsonValue& v) { return read_text(v, stated.parts.emplace_back(), deep + 1); });
    });
    const auto source = json_field("source", [&](const JsonValue& v) { return read_source(v, stated); });
    const auto sources = json_field("sources", [&](const JsonValue& list) {
      return reader_.list(list, [&](const JsonValue& v) { return read_source(v, stated); });
    });
    const auto il = json_field("il", [&](const JsonValue& v) { return read_file(v, stated.text.il, stated.file); });
    const auto headers = json_field("headers", [&](const JsonValue& list) {
      return reader_.list(list, [&](const JsonValue& v) {
        ProgramText::Header& header = stated.text.headers.emplace_back();
        std::string file;
        return reader_.object(v, reader_.field("name", header.name), json_field("source", [&](const JsonValue& f) {
                                return read_file(f, header.text, file);
                              }));
      });
    });
    const auto options = reader_.field("options", stated.text.options);
    const bool read = reader_.object(at, more..., optional(source), optional(sources), optional(il), optional(parts),
                                     optional(options), optional(headers));
    if (!read) return false;
    std::size_t kinds = 0;
    for (const char* const kind : {"source", "sources", "il", "parts"}) kinds += at.json.count(kind);
    return kinds == 1 || reader_.fail(at, "has none of \"source\", \"sources\", \"il\" and \"parts\", or several");
  }

  // A file, or {"text": ...}.
  bool read_source(const JsonValue& at, Stated& stated) {
    std::string& text = stated.text.sources.emplace_back();
    if (at.json.is_object()) return reader_.object(at, reader_.field("text", text));
    std::string file;
    if (!read_file(at, text, file)) return false;
    if (stated.file.empty()) stated.file = os::normal(file);
    return true;
  }

  bool read_file(const JsonValue& at, std::string& content, std::string& file) {
    if (!reader_.read(at, file)) return false;
    const std::string path = path_of(file);
    Result<std::string> text = read_text_file(path, kMostTextBytes);
    if (text) content = std::move(*text);
    text ? program_.files.push_back(path) : fail(text.status());
    return true;
  }

  bool read_kernels_of(const JsonValue& at) {
    std::vector<TriedKernel> kernels;
    TrialFiles files(folders_.directory);
    if (!read_kernels(reader_, at, files, kernels)) return false;
    if (!files.failure().empty()) program_.failure = files.failure();
    if (!program_.failure.empty()) return true;
    for (const TriedKernel& kernel : kernels) {
      for (const Extents3& size : kernel.work_group_sizes) {
        program_.launches.push_back({cache::Role::kernel, kernel.name, {size[0], size[1], size[2]}, 1, 1});
      }
    }
    for (const std::string& name : files.names()) program_.files.push_back(path_of(name));
    program_.trial = trial_text(at.json, files, kMostTrialBytes, program_.remark);
    return program_.trial.size() <= kMostTrialBytes ||
           reader_.fail(at, "the trials take " + std::to_string(program_.trial.size()) +
                                " bytes in the bundle, and 15 MiB is the limit: contents of files can be cut");
  }

  // ---- After the fields

  void fail(const Status& status) {
    if (program_.failure.empty()) program_.failure = status.message();
  }

  // The content, and the texts that the bundle carries.
  void complete(const Stated& stated) try {
    const ProgramText given = located(stated);
    program_.content = need(content_digest(given));
    program_.parts = need(part_digests(given));
    const std::string name = program_.name.empty() ? content_name(program_.content) : program_.name;
    program_.source.name = stated.file.empty() ? name + ".cl" : stated.file;
    ProgramText carried = flat(stated);
    program_.options = std::exchange(carried.options, {});
    program_.source.text = encode(carried);
  } catch (const Failure& failure) {
    fail(failure.status);
  }

  // Folders for #include, relative to the manifest's.
  std::vector<std::string> places_of(const Stated& stated, const includes::Options& options) const {
    std::vector<std::string> places = options.folders;
    places.insert(places.end(), folders_.include.begin(), folders_.include.end());
    places.push_back(os::parent_of(stated.file));
    if (!places.back().empty()) places.emplace_back();
    return places;
  }

  // As the application gives it, with the folders where the manifest's author has their files.
  ProgramText located(const Stated& stated) const {
    ProgramText text = stated.text;
    const includes::Options options = need(includes::read_options(text.options));
    text.options = options.others;
    const std::string directory = os::absolute_path(folders_.directory);
    for (const std::string& place : places_of(stated, options)) {
      const std::string folder = os::joined_path(directory, place);
      text.options += (text.options.empty() ? "-I " : " -I ") + escaped(folder);
    }
    for (const Stated& part : stated.parts) {
      text.parts.push_back(located(part));
    }
    return text;
  }

  // With nothing left to include.
  ProgramText flat(const Stated& stated) {
    ProgramText text;
    const includes::Options options = need(includes::read_options(stated.text.options));
    text.options = options.others;
    text.il = stated.text.il;
    for (const Stated& part : stated.parts) {
      text.parts.push_back(flat(part));
    }
    if (!text.il.empty() || !text.parts.empty()) return text;
    IncludePlaces places{folders_.directory, places_of(stated, options), options.definitions, {}};
    for (const ProgramText::Header& header : stated.text.headers) {
      places.headers[includes::plain_name(header.name)] = header.text;
    }
    const std::string& name = stated.file.empty() ? program_.source.name : stated.file;
    FlatSource made = need(flatten(name, joined_sources(stated.text), places));
    const std::string definitions = definitions_as_text(options.definitions);
    if (!definitions.empty()) text.options = options.rest;
    text.sources = {definitions + made.text};
    for (const std::string& file : made.files) program_.files.push_back(path_of(file));
    return text;
  }

  JsonReader& reader_;
  const ManifestFolders& folders_;
  Program& program_;
};

}  // namespace

bool read_program(JsonReader& reader, const JsonValue& at, const ManifestFolders& folders, Program& program) {
  return ProgramReader(reader, folders, program).read(at);
}

}  // namespace clbake::builder::program
