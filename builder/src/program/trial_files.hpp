// The files that trials take contents from: beside a manifest, later inside the text of the trials.
#pragma once

#include <clbake/cache/model.hpp>

#include "process/json_reader.hpp"

#include <map>
#include <memory>
#include <string>

namespace clbake::builder::program {

// Zeros follow its first bytes. They take no memory, however large a bundle says that it is.
struct Content {
  cache::Bytes begin;
  std::uint64_t size = 0;
};
using SharedContent = std::shared_ptr<const Content>;

// The bytes of an even number of hexadecimal digits; null for any other text.
SharedContent bytes_of_hex(const std::string& digits);
std::string hex_of(const std::uint8_t* bytes, std::size_t size);

class TrialFiles {
 public:
  // Names are relative to `directory`.
  explicit TrialFiles(std::string directory) : directory_(std::move(directory)) {}

  // For parse_trial: the list that json() made, and no other files. False where it is malformed, which the reader says.
  static bool read(process::JsonReader& reader, const process::JsonValue& at, TrialFiles& files);

  // The file's bytes, which are read once. Null when it cannot be read: failure() then says why.
  SharedContent find(const std::string& name);

  // Why the first of the files that cannot be read was not; empty when there is none.
  const std::string& failure() const { return failure_; }

  // The files that were found, [[NAME, BYTES, HEX], ...]: at most the first `kept` bytes of each, without the zeros at
  // their ends.
  process::Json json(std::size_t kept) const;
  std::vector<std::string> names() const;
  bool empty() const { return files_.empty(); }

 private:
  std::string directory_;
  std::map<std::string, SharedContent> files_;
  std::string failure_;
};

}  // namespace clbake::builder::program
