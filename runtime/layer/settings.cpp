#include "settings.hpp"

#include <clbake/os/directories.hpp>
#include <clbake/os/environment.hpp>
#include <clbake/os/guest.hpp>
#include <clbake/os/libraries.hpp>
#include <clbake/os/paths.hpp>
#include <clbake/os/program.hpp>
#include <clbake/overlay.hpp>

#include "log.hpp"

#include <algorithm>
#include <map>
#include <sstream>

namespace clbake::layer {
namespace {

Settings& the_settings() {
  static auto& settings = *new Settings;
  return settings;
}

constexpr const char* kNames[] = {
    "CLBAKE_BUNDLE", "CLBAKE_OVERLAY",      "CLBAKE_LEARN",           "CLBAKE_LOG",
    "CLBAKE_RECORD", "CLBAKE_RECORD_BYTES", "CLBAKE_RECORD_BINARIES", "CLBAKE_LEARNER",
    "CLBAKE_TRUST",  "CLBAKE_POCL_MEMORY",  "CLBAKE_SHARED_OVERLAY",  "CLBAKE_SHARED_OVERLAY_OWNER"};

constexpr std::uint64_t kRecordBytes = std::uint64_t{256} << 20;

constexpr std::uintmax_t kMostSettings = 1U << 20U;  // bytes of clbake.conf

// With a "/" behind it; empty for a name alone.
std::string folder_of(const std::string& file) {
  const std::string folder = os::utf8(os::native(file).parent_path());
  return folder.empty() || folder.back() == '/' ? folder : folder + "/";
}

std::string working_folder() {
  const std::string path = os::working_directory();
  return path.empty() ? path : path + "/";
}

// The folder of the file that this code is in.
std::string layer_folder() {
  static const char here = 0;
  return folder_of(os::path_of_module(&here));
}

std::string program_folder() { return folder_of(os::path_of_program()); }

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(os::native(path), ignored);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string trimmed(const std::string& text) {
  const char* blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  return begin == std::string::npos ? std::string() : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

// The value that was given for a setting, and the folder that its relative paths begin at.
struct Given {
  std::string value;
  std::string folder;
};

class Reader {
 public:
  // The lines "name = value" of a file; '#' begins a comment line.
  void read_file(const std::string& path) {
    // The file names programs to run and code to load.
    const Result<std::string> text = os::read_trusted_file(path, kMostSettings);
    if (text.status().code() == Code::not_trusted) {
      return complain(path + ": not used, as users other than its owner can write to it, or it is another user's");
    }
    if (!text) return complain(path + ": cannot be read");
    std::istringstream lines(*text);
    std::string line;
    for (unsigned number = 1; std::getline(lines, line); ++number) {
      line = trimmed(line);
      if (line.empty() || line[0] == '#') continue;
      const std::size_t equals = line.find('=');
      const std::string name = trimmed(line.substr(0, equals));
      if (equals == std::string::npos || !is_name(name)) {
        complain(path + ", line " + std::to_string(number) + ": '" + name + "' is not a setting");
      } else {
        given_[name] = {trimmed(line.substr(equals + 1)), os::path_in(working_folder(), folder_of(path))};
      }
    }
  }

  void read_environment() {
    for (const char* name : kNames) {
      if (const auto value = os::trusted_variable(name)) given_[name] = {*value, working_folder()};
    }
  }

  std::string text(const char* name, const char* otherwise = "") const {
    const auto found = given_.find(name);
    return found == given_.end() || found->second.value.empty() ? otherwise : found->second.value;
  }

  std::string path(const char* name) const {
    const auto found = given_.find(name);
    return found == given_.end() ? std::string() : os::path_in(found->second.folder, found->second.value);
  }

  std::vector<std::string> paths(const char* name) const {
    const auto found = given_.find(name);
    if (found == given_.end()) return {};
    std::vector<std::string> all = split(found->second.value, os::kListSeparator);
    for (std::string& one : all) one = os::path_in(found->second.folder, one);
    return all;
  }

  // The index of the value among the words, of which the last is "off"; 0 if it was not given. Another word counts as
  // off: whoever writes "0" or "no" wants nothing.
  std::size_t choice(const char* name, std::initializer_list<const char*> words) {
    const std::string value = text(name, *words.begin());
    std::size_t index = 0;
    std::string all;
    for (const char* word : words) {
      if (value == word) return index;
      ++index;
      all += std::string(all.empty() ? "" : ", ") + word;
    }
    complain(std::string(name) + ": '" + value + "' is none of " + all + ", and counts as off");
    return words.size() - 1;
  }

  std::uint64_t number(const char* name, std::uint64_t otherwise) {
    const std::string value = text(name);
    if (value.empty()) return otherwise;
    if (value.size() <= 18 && value.find_first_not_of("0123456789") == std::string::npos) return std::stoull(value);
    complain(std::string(name) + ": '" + value + "' is no number of bytes");
    return otherwise;
  }

  void complain(std::string message) { complaints_.push_back(std::move(message)); }
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  static bool is_name(const std::string& name) {
    for (const char* known : kNames) {
      if (name == known) return true;
    }
    return false;
  }

  std::map<std::string, Given> given_;
  std::vector<std::string> complaints_;  // kept until the log is open
};

void find_file(Reader& reader) {
  if (const auto named = os::trusted_variable("CLBAKE_CONFIG")) return reader.read_file(*named);
  for (const auto find_folder : {program_folder, layer_folder}) {
    const std::string folder = find_folder();
    if (!folder.empty() && is_file(folder + "clbake.conf")) return reader.read_file(folder + "clbake.conf");
  }
}

std::string overlay_of(Reader& reader) {
  if (reader.text("CLBAKE_OVERLAY") == "off") return {};
  const std::string named = reader.path("CLBAKE_OVERLAY");
  if (!named.empty()) return named;
  const Result<std::string> cache = user_cache_directory("clbake-layer");
  if (!cache) reader.complain("no overlay: " + cache.status().message());
  return cache ? *cache : std::string();
}

std::string learner_of(const Reader& reader) {
  const std::string named = reader.path("CLBAKE_LEARNER");
  if (!named.empty()) return named;
  const std::string folder = layer_folder();
  // Installed with the layer, or built with it.
  for (const char* beside : {"clbake", "../bin/clbake", "../../bin/clbake", "../../tools/clbake"}) {
    const std::string path = folder + beside + os::kProgramEnding;
    if (is_file(path)) return path;
  }
  return {};
}

}  // namespace

const Settings& settings() { return the_settings(); }

void read_settings() {
  Reader reader;
  find_file(reader);
  reader.read_environment();
  Settings& s = the_settings();
  s.bundles = reader.paths("CLBAKE_BUNDLE");
  s.learn = static_cast<Learn>(reader.choice("CLBAKE_LEARN", {"on", "read-only", "off"}));
  if (s.learn != Learn::off) s.overlay = overlay_of(reader);
  if (s.learn != Learn::off) s.shared_overlay = reader.path("CLBAKE_SHARED_OVERLAY");
  s.shared_overlay_owner = reader.text("CLBAKE_SHARED_OVERLAY_OWNER");
  s.record = reader.path("CLBAKE_RECORD");
  s.record_bytes = reader.number("CLBAKE_RECORD_BYTES", kRecordBytes);
  s.record_binaries = reader.choice("CLBAKE_RECORD_BINARIES", {"on", "off"}) == 0;
  if (s.learn == Learn::on) s.learner = learner_of(reader);
  s.trust = split(reader.text("CLBAKE_TRUST"), ':');
  s.pocl_memory = reader.choice("CLBAKE_POCL_MEMORY", {"on", "off"}) == 0;
  const bool to_stderr = reader.text("CLBAKE_LOG") == "stderr";
  s.log = to_stderr ? "stderr" : reader.path("CLBAKE_LOG");
  open_log(s.log);
  for (const std::string& complaint : reader.complaints()) log(complaint);
}

}  // namespace clbake::layer
