// The journal of a tuning: what was measured, line by line, so that the same command goes on where it was stopped.
#pragma once

#include <clbake/status.hpp>

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clbake::builder {

// What is written down: the visit, or the race on a shape, that has this key.
struct JournalRecord {
  std::string key;                      // "explore single nn 17"
  std::string variants;                 // names, separated by spaces; others than those asked for: another search's
  std::string failure;                  // of a visit
  double at_s = 0;                      // seconds of all runs so far
  std::vector<std::vector<double>> us;  // a visit: of each shape; a race: of each variant
  std::vector<std::size_t> late = {};   // of a visit: see TimingResult
};

// One thread. Every record is in the file before `add` returns.
class Journal {
 public:
  // Opens or makes the file. `settings`: whatever must be equal for the records to be of use. A last line that was not
  // written to its end is dropped. Fails with invalid_argument (other settings), malformed, or io.
  static Result<Journal> open(const std::string& path, const std::string& settings);

  // What is known of the key; null when nothing is, or when it is about other variants.
  const JournalRecord* find(const std::string& key, const std::string& variants) const;

  // Fails with io.
  Status add(JournalRecord record);

  double last_s() const { return last_s_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::map<std::string, JournalRecord> records_;
  double last_s_ = 0;
};

}  // namespace clbake::builder
