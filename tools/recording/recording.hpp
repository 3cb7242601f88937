// Recordings that `clbake record` and the layer make: directories with a journal for each process, a manifest for
// `clbake build --programs`, sources and contents. runtime/layer/record/write/journal.hpp describes the journals.
#pragma once

#include "cli/json.hpp"

#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace clbake::tool {

struct RecordedKernel {
  std::string name;
  std::vector<Json> sizes;        // [X, Y, Z], or null
  std::vector<Json> trials;       // from journals: one for each kind of launch
  std::set<std::string> untried;  // why launches were not tried
  bool is_refused = false;        // some of its trials are left out, as `untried` says
};

struct RecordedProgram {
  Json text;                       // the manifest's fields but for "kernels" and "log"
  Json log;                        // null: none
  std::vector<std::string> names;  // kernels that the driver found in it
  std::vector<RecordedKernel> kernels;

  RecordedKernel& kernel(const std::string& name);
};

void add_size(RecordedKernel& kernel, Json size);

// One trial of a kind stays, a whole one rather than a truncated one.
void add_trial(RecordedKernel& kernel, const Json& trial);

// The manifest; programs without kernels are not in it.
std::string manifest_text(const std::vector<RecordedProgram>& programs);

// "; A; B".
std::string joined(const std::set<std::string>& notes);

// The union of recordings: equal programs are one, with the kernels, sizes and trials of all.
class Recording {
 public:
  // Adds a directory: its programs.json, then its journals. Lines of a journal that are not as the layer writes them do
  // not count, and a note tells their number; the last one without an end, as a kill may leave it, does not count
  // either. Throws Failure, which names the file and the cause.
  void add(const std::string& directory);

  // After the last directory: of programs whose kernels were never made, those that the driver found are listed.
  void list_kernels();

  // Writes programs.json and the files that it names into the directory, which is made, but for what fit() leaves out.
  // Then removes its journals that were added, unless a process still writes to them. Throws Failure.
  void write(const std::string& directory);

  const std::vector<RecordedProgram>& programs() const { return programs_; }
  const std::set<std::string>& notes() const { return notes_; }  // what the layer could not record

 private:
  void add_manifest(const std::string& path);
  void add_journal(const std::string& path);
  void add_line(const Json& line);
  std::size_t program(const Json& text);
  void add_files(const Json& fields);
  std::set<std::string> used_files() const;
  void copy_files(const std::string& directory);

  std::vector<RecordedProgram> programs_;
  std::map<std::string, std::size_t> by_text_;
  std::set<std::string> notes_;
  std::map<std::string, std::string> files_;  // paths by the names in the manifest
  std::map<std::string, std::size_t> ids_;    // programs of the journals of directory_
  std::vector<std::string> ended_;            // journals that no process writes to
  std::string directory_;                     // that is being added
};

// The end of `record` and the part of `capture` that is about programs: makes one recording of several, and returns
// what it holds. Throws Failure, also when there is no program in them.
Json capture_programs(const std::vector<std::string>& directories, const std::string& output);

// The same for people.
void print_summary(std::FILE* to, const Json& summary);

}  // namespace clbake::tool
