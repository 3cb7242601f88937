// How an application's kernels are tried: what their arguments hold, how many work-items there are, what must come out.
// Written in the manifest (builder/BAKING.md, "Your own kernels"), kept in a variant's `trial` as the JSON of its list
// "kernels".
#pragma once

#include <clbake/cache/model.hpp>

#include "process/json_reader.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace clbake::builder::program {

// A number's type in OpenCL C.
struct NumberType {
  const char* name;
  std::uint32_t bytes;
  double tolerance;                            // of a result, if the trial states none; 0: a whole number
  void (*store)(double value, std::uint8_t*);  // rounded to the type
  double (*load)(const std::uint8_t*);
  bool is_float() const { return tolerance > 0; }
};

// Null for any other name.
const NumberType* number_type(const std::string& name);

struct TrialArgument {
  enum class Kind { buffer, scalar, local };
  Kind kind = Kind::buffer;
  const NumberType* type = nullptr;  // null for local memory
  std::uint32_t width = 1;           // of a scalar: components of a vector
  std::uint64_t count = 0;           // of a buffer: numbers; of local memory: bytes
  // The first content of a buffer: these numbers, or one number everywhere, or none: random ones in [low, high]. The
  // value of a scalar.
  std::vector<double> values;
  double low = 0;
  double high = 0;
  std::vector<double> expected;  // what a buffer must hold in the end; none: what a build from source makes of it
  double tolerance = 0;          // of each number: |found - expected| <= tolerance * max(1, |expected|)

  std::uint64_t bytes() const { return kind == Kind::local ? count : count * type->bytes; }
};

using Extents3 = std::array<std::uint32_t, 3>;

struct Trial {
  Extents3 global = {1, 1, 1};
  std::optional<Extents3> local;  // one of the kernel's work-group sizes; none: each of them
  std::vector<TrialArgument> arguments;
};

struct TriedKernel {
  std::string name;
  std::vector<Extents3> work_group_sizes;
  std::vector<Trial> trials;
};

// "64x1x1".
std::string size_text(const Extents3& size);

// A trial at one work-group size. Points into the kernels.
struct TrialCase {
  const TriedKernel& kernel;
  const Trial& trial;
  Extents3 size;

  std::string name() const;  // "kernel rows, work-group size 64x1x1"
};
std::vector<TrialCase> cases_of(const std::vector<TriedKernel>& kernels);

// Reads the list "kernels".
bool read_kernels(process::JsonReader& reader, const process::JsonValue& at, std::vector<TriedKernel>& kernels);

// The kernels of a variant's `trial`. Fails with malformed.
Result<std::vector<TriedKernel>> parse_trial(const std::string& trial);

}  // namespace clbake::builder::program
