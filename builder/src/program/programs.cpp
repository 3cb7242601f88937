#include <clbake/builder/programs.hpp>

#include "process/json_reader.hpp"
#include "process/need.hpp"
#include "process/text_file.hpp"
#include "program/flatten.hpp"
#include "program/trial.hpp"

#include <clbake/includes.hpp>
#include <clbake/kernels/presets.hpp>
#include <clbake/os/paths.hpp>
#include <clbake/program_text.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace clbake::builder::program {
using namespace process;
namespace {

// ---- One program, with the files that it names

namespace fs = std::filesystem;

// Folders of a manifest.
struct ManifestFolders {
  std::string directory;             // names in the manifest are relative to it
  std::vector<std::string> include;  // for #include, before the folder of a source and `directory`
};

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

// False when a field is wrong, as the reader says. A file that cannot be read, or that cannot become a part of the
// program, is its `failure`. Its name is empty when it has none.
bool read_program(JsonReader& reader, const JsonValue& at, const ManifestFolders& folders, Program& program) {
  return ProgramReader(reader, folders, program).read(at);
}

// ---- The manifest

constexpr std::uintmax_t kMostManifestBytes = std::uintmax_t{64} << 20;
constexpr std::uint32_t kVersion = 2;
constexpr std::size_t kMaxNameBytes = 64;

// It becomes the name of a variant, and of files.
std::string wrong_name(const std::string& name) {
  const std::string fits = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  const bool plain = !name.empty() && name.size() <= kMaxNameBytes && name[0] != '.' && name[0] != '-' &&
                     name.find_first_not_of(fits) == std::string::npos;
  if (!plain) return "is no name of 1 to 64 letters, digits, '_', '-' and '.'";
  if (name.rfind(kOwnPrefix, 0) == 0) return "begins with 'clbake-', as clbake's own do";
  if (name.rfind(kContentPrefix, 0) == 0) return "begins with 'content-', as those of programs without a name do";
  const bool is_variant = std::holds_alternative<kernels::Params>(kernels::parse(name)) || kernels::find_preset(name);
  return is_variant ? "is the name of a variant of GEMM" : "";
}

class Manifest {
 public:
  Manifest(const std::string& directory, std::vector<Program>& programs)
      : folders_{directory, {}}, programs_(programs) {}

  bool read(const JsonValue& root) {
    std::uint32_t number = 0;
    const auto version = json_field("version", [&](const JsonValue& at) {
      return reader_.read(at, number) &&
             (number == kVersion || reader_.fail(at, "is not 2, the version that this clbake knows"));
    });
    const auto include = json_field("include", [&](const JsonValue& at) {
      return reader_.list(at, [&](const JsonValue& v) { return reader_.read(v, folders_.include.emplace_back()); });
    });
    const auto programs = json_field("programs", [&](const JsonValue& at) {
      if (at.json.is_array() && at.json.empty()) return reader_.fail(at, "is empty");
      return reader_.list(at, [&](const JsonValue& item) { return read_one(item); });
    });
    return reader_.object(root, version, optional(include), programs);
  }

  const std::string& failure() const { return reader_.failure(); }

 private:
  bool read_one(const JsonValue& at) {
    Program program;
    if (!read_program(reader_, at, folders_, program) || !check_name(at, program)) return false;
    programs_.push_back(std::move(program));
    return true;
  }

  // A program without name gets one.
  bool check_name(const JsonValue& at, Program& program) {
    const bool is_named = at.json.contains("name");
    const std::string wrong = is_named ? wrong_name(program.name) : std::string();
    if (!wrong.empty()) return reader_.fail(at, "name", wrong);
    if (!is_named) {
      const bool has_content = program.content != cache::no_content;
      program.name = has_content ? content_name(program.content) : "program " + std::to_string(programs_.size());
    }
    const bool twice =
        std::any_of(programs_.begin(), programs_.end(), [&](const Program& p) { return p.name == program.name; });
    if (!twice) return true;
    return is_named ? reader_.fail(at, "name", "is the name of an earlier program, too")
                    : reader_.fail(at, "is an earlier program, too");
  }

  ManifestFolders folders_;
  std::vector<Program>& programs_;
  JsonReader reader_;
};

}  // namespace

Result<std::vector<Program>> parse_programs(const std::string& text, const std::string& name,
                                            const std::string& directory) {
  const Result<Json> json = parse_json(text);
  if (!json) return json.status().within(name);
  std::vector<Program> programs;
  Manifest manifest(directory, programs);
  if (!manifest.read({*json})) return {Code::malformed, name + ": " + manifest.failure()};
  return programs;
}

Result<std::vector<Program>> read_programs(const std::string& given) {
  std::error_code ignored;
  const std::string path =
      fs::is_directory(os::native(given), ignored) ? os::joined_path(given, "programs.json") : given;
  const Result<std::string> text = read_input(path, kMostManifestBytes);
  if (!text) return text.status();
  const std::string directory = os::parent_of(path);
  return parse_programs(*text, input_name(path), directory.empty() ? "." : directory);
}

std::string joined_sources(const ProgramText& text) {
  std::string joined;
  for (const std::string& source : text.sources) joined += source;
  return joined;
}

std::string violation(const Program& program, const kernels::DeviceLimits& limits) {
  for (const cache::Launch& launch : program.launches) {
    const Extents3 size = {launch.local[0], launch.local[1], launch.local[2]};
    const std::uint64_t items = std::uint64_t{size[0]} * size[1] * size[2];
    const std::string what = "kernel " + launch.kernel_name + ": the work-group size " + size_text(size);
    if (items > limits.max_work_group_size) {
      return what + " has " + std::to_string(items) + " work-items; the device allows " +
             std::to_string(limits.max_work_group_size);
    }
    for (std::size_t d = 0; d < 3; ++d) {
      if (size[d] <= limits.max_work_item_sizes[d]) continue;
      return what + " is too large; the device allows " + std::to_string(limits.max_work_item_sizes[d]) +
             " work-items in dimension " + std::to_string(d);
    }
  }
  return {};
}

Job make_job(const Target& target, const Program& program) {
  Job job;
  job.target = target;
  job.source = program.source;
  job.variant.name = program.name;
  job.variant.family = "program";
  job.variant.precision = no_precision;
  job.variant.contract = cache::kProgramContract;
  job.variant.build_options = program.options;
  job.variant.launches = program.launches;
  job.variant.content = program.content;
  job.variant.parts = program.parts;
  job.trial = program.trial;
  return job;
}

Result<std::vector<std::string>> untried_kernels(const cache::Variant& program, const std::string& trial) {
  const Result<std::vector<TriedKernel>> kernels = trial.empty() ? std::vector<TriedKernel>() : parse_trial(trial);
  if (!kernels) return kernels.status();
  std::map<std::string, std::set<Extents3>> tried;  // by kernel
  for (const TrialCase& each : cases_of(*kernels)) tried[each.kernel.name].insert(each.size);
  std::vector<std::string> names;
  std::set<std::string> named;
  for (const cache::Launch& launch : program.launches) {
    const Extents3 size = {launch.local[0], launch.local[1], launch.local[2]};
    const auto sizes = tried.find(launch.kernel_name);
    if (sizes != tried.end() && sizes->second.count(size) != 0) continue;
    const std::string name = launch.kernel_name + (sizes == tried.end() ? "" : " at " + size_text(size));
    if (named.insert(name).second) names.push_back(name);
  }
  return names;
}

std::string kernels_text(const std::vector<std::string>& names) {
  constexpr std::size_t kMostNames = 5;
  std::string text = names.size() == 1 ? "kernel " : "kernels ";
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMostNames) text += " and " + std::to_string(names.size() - kMostNames) + " more";
  return text;
}

std::string shown_name(const std::string& name) {
  constexpr std::size_t kDigits = 12;
  return name.rfind(kContentPrefix, 0) == 0 ? name.substr(0, std::strlen(kContentPrefix) + kDigits) : name;
}

std::string shown_name(const cache::Variant& variant) {
  constexpr std::size_t kMostNames = 3;
  std::string text = shown_name(variant.name);
  if (text == variant.name || variant.launches.empty()) return text;
  std::vector<std::string> names;
  for (const cache::Launch& launch : variant.launches) {
    if (std::find(names.begin(), names.end(), launch.kernel_name) == names.end()) names.push_back(launch.kernel_name);
  }
  text += " (";
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return text + (names.size() > kMostNames ? ", ...)" : ")");
}

std::string part_of(const std::string& note, const char* begin) {
  const std::size_t found = note.find(begin);
  if (found == std::string::npos) return {};
  const std::size_t rest = found + std::strlen(begin);
  return note.substr(rest, note.find(';', rest) - rest);
}

}  // namespace clbake::builder::program
