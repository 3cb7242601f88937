// How an application's kernels are tried: what their arguments hold, how many work-items there are, what must come out.
// Written in the manifest (builder/BAKING.md, "Your own kernels"), kept in a bundle as JSON.
#pragma once

#include <clbake/cache/model.hpp>

#include "process/json_reader.hpp"
#include "program/types.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace clbake::builder::program {

// The files that trials take contents from: beside a manifest, later inside the text of the trials.

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

struct TrialArgument {
  // null: a buffer that is NULL. same: the buffer or image of an earlier argument. value: a scalar, a vector, a struct.
  enum class Kind { buffer, null, same, image, sampler, value, local };
  Kind kind = Kind::buffer;
  std::string type;          // of a buffer's elements, and of a value, as it was written: "float4", "bytes"
  ElementType element;       // of a buffer, an image or a value; of bytes: uchar
  std::uint64_t count = 0;   // elements; of local memory: bytes; of `same`: the earlier argument
  std::uint64_t offset = 0;  // of a buffer: bytes before it in the memory object that it is a part of
  Image image;
  Sampler sampler;

  // The first content. Bytes, behind which there are zeros; or numbers, one by one; or one number everywhere; or random
  // ones in [low, high].
  SharedContent bytes;
  std::vector<Number> values;
  double low = 0;
  double high = 0;

  std::vector<Number> expected;  // the numbers that it must hold in the end; none: those that a build from source makes
  double tolerance = 0;          // of each number: |found - expected| <= tolerance * max(1, |expected|)
  bool any_order = false;        // the elements may come out in any order

  bool is_memory() const { return kind == Kind::buffer || kind == Kind::image; }
  std::uint64_t numbers() const { return count * element.width; }
  // Bytes before a number; numbers() gives the size.
  std::uint64_t place(std::uint64_t number) const {
    return (number / element.width * element.stored + number % element.width) * element.number->bytes;
  }
  std::uint64_t size() const { return kind == Kind::local ? count : count * element.bytes(); }
};

using Extents3 = std::array<std::uint32_t, 3>;

// In the place of a work-group size: the driver chooses one (NULL).
inline constexpr Extents3 kDriversChoice = {0, 0, 0};

struct Trial {
  Extents3 global = {1, 1, 1};
  Extents3 offset = {0, 0, 0};
  std::vector<Extents3> sizes;  // the work-group sizes that it runs with, one after the other
  std::vector<TrialArgument> arguments;
};

struct TriedKernel {
  std::string name;
  std::vector<Extents3> work_group_sizes;  // those that the manifest lists, then further ones of its trials
  std::vector<Trial> trials;
};

// "64x1x1"; "NULL".
std::string size_text(const Extents3& size);

// A trial at one work-group size. Points into the kernels.
struct TrialCase {
  const TriedKernel& kernel;
  const Trial& trial;
  Extents3 size;

  std::string name() const;  // "kernel rows, work-group size 64x1x1"
};
std::vector<TrialCase> cases_of(const std::vector<TriedKernel>& kernels);

// The first content of an argument's buffer or image, or its value: equal for each call. `number`: of the argument.
cache::Bytes content_of(const TrialArgument& argument, std::size_t number);

// Reads the list "arguments" of a trial.
bool read_arguments(process::JsonReader& reader, const process::JsonValue& at, TrialFiles& files,
                    std::vector<TrialArgument>& arguments);

// Reads the list "kernels". A file that cannot be read is a failure of `files`, not of the reader.
bool read_kernels(process::JsonReader& reader, const process::JsonValue& at, TrialFiles& files,
                  std::vector<TriedKernel>& kernels);

// The text that a bundle keeps: the list "kernels" with the files that were read for it. Cuts the contents of large
// files where it would have more than `most_bytes`, which `remark` then says; zeros take the place of the rest.
std::string trial_text(const process::Json& kernels, const TrialFiles& files, std::size_t most_bytes,
                       std::string& remark);

// Such a text without those trials of the kernels of which a recording kept only the beginning of some content;
// nullopt: they have none.
std::optional<std::string> without_cut_trials(const std::string& trial, const std::set<std::string>& kernels);

// The kernels of which `trial` has more trials than `rest`. Empty when one of the texts cannot be read, too.
std::set<std::string> kernels_with_fewer_trials(const std::string& rest, const std::string& trial);

// The kernels of such a text. Fails with malformed.
Result<std::vector<TriedKernel>> parse_trial(const std::string& trial);

// Reads a list of `least` to `most` items by read(reader, item, T&).
template <typename T, typename Read>
bool read_list(process::JsonReader& reader, const process::JsonValue& at, std::size_t least, std::size_t most,
               std::vector<T>& items, const Read& read) {
  const std::size_t size = at.json.size();
  if (at.json.is_array() && (size < least || size > most)) {
    return reader.fail(
        at, "has " + std::to_string(size) + " items, not " + std::to_string(least) + " to " + std::to_string(most));
  }
  return reader.list(at, [&](const process::JsonValue& item) { return read(reader, item, items.emplace_back()); });
}

}  // namespace clbake::builder::program
