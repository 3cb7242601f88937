// The journal of a tuning: every step of its races, one line of JSON each, so that the same command goes on where it
// was stopped.
#pragma once

#include <clbake/os/appended_file.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace clbake::builder::tune {

// A step of a race: one turn, or several, of each racer.
struct JournalRecord {
  std::string key;                              // "explore single nn 3 0": the race and its step
  std::string variants;                         // of the racers, separated by spaces
  double at_s = 0;                              // seconds of all runs so far
  std::vector<std::vector<double>> us;          // by racer: microseconds of its calls; none where it took no turn
  std::map<std::size_t, std::string> failures;  // by racer: the cause
  std::vector<std::size_t> late;                // racers that timed out
};

// One thread. Every record is in the file before `add` returns.
class Journal {
 public:
  // Opens or creates the file. `settings`: a JSON object on one line, of all that must be equal for the records to be
  // of use. An incomplete last line is dropped. Fails with invalid_argument (other settings: the message says which
  // differ), malformed, or io.
  static Result<Journal> open(const std::string& path, const std::string& settings);

  // The record of this key; null when there is none, or when it is about other variants.
  const JournalRecord* find(const std::string& key, const std::string& variants) const;

  // Fails with io.
  Status add(const JournalRecord& record);

  double last_s() const { return last_s_; }

 private:
  Status read(const std::string& text, const std::string& settings);
  Status start_writing(std::size_t known_bytes, const std::string& settings);
  Status write(const std::string& line);

  std::string path_;
  std::optional<os::AppendedFile> file_;
  std::map<std::string, JournalRecord> records_;
  double last_s_ = 0;
};

}  // namespace clbake::builder::tune
