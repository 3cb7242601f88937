// The journal of a tuning: every result, one line of JSON each, so that the same command goes on where it was stopped.
#pragma once

#include <clbake/builder/tuning.hpp>

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clbake::builder {

enum class Stage { explore, range, refine, final_race };

// A stage for one precision and pair of transposes.
struct StageId {
  Stage stage = Stage::explore;
  GemmKind kind;
};

// For people: "explore single nn".
std::string progress_name(const StageId& stage);

// Keys of the journal: "explore single nn 17"; of the final race, with the number of its pass, "finals 1 single nn
// 64x64x64" for a shape and "out 1 direct-s-nn-..." for a variant that failed.
std::string request_key(const StageId& stage, std::size_t number);
std::string race_key(std::size_t pass, const Shape& shape);
std::string race_failure_key(std::size_t pass, const std::string& variant);

// The result of a request, or of a final race on one shape.
struct JournalRecord {
  std::string key;                      // as above
  std::string variants;                 // names, separated by spaces
  std::string failure;                  // of a request
  double at_s = 0;                      // seconds of all runs so far
  std::vector<std::vector<double>> us;  // microseconds of the calls; a request: by shape; a race: by variant
  std::vector<std::size_t> late = {};   // of a request: see TimingResult
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
  Status add(JournalRecord record);

  double last_s() const { return last_s_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  Status read(const std::string& text, const std::string& settings);
  Status start_writing(std::size_t known_bytes, const std::string& settings);

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::map<std::string, JournalRecord> records_;
  double last_s_ = 0;
};

}  // namespace clbake::builder
