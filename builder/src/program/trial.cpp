#include "program/trial.hpp"

#include <clbake/builder/sixteen_bits.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace clbake::builder::program {
using namespace process;
namespace {

constexpr std::size_t kMaxKernels = 64;
constexpr std::size_t kMaxSizes = 16;
constexpr std::size_t kMaxTrials = 64;
constexpr std::size_t kMaxArguments = 256;
constexpr std::uint64_t kMaxBufferBytes = std::uint64_t{1} << 28;
constexpr std::uint64_t kMaxLocalBytes = std::uint64_t{1} << 24;
constexpr std::uint32_t kMaxExtent = 1U << 30;
constexpr double kMaxItems = 4294967296.0;

template <typename T>
void store(double value, std::uint8_t* to) {
  const T number(static_cast<T>(value));
  std::memcpy(to, &number, sizeof number);
}

template <typename T>
double load(const std::uint8_t* from) {
  T number;
  std::memcpy(&number, from, sizeof number);
  return static_cast<double>(number);
}

template <typename T>
constexpr NumberType type_of(const char* name, double tolerance = 0) {
  return {name, sizeof(T), tolerance, store<T>, load<T>};
}

constexpr NumberType kTypes[] = {
    type_of<std::int8_t>("char"),     type_of<std::uint8_t>("uchar"),  type_of<std::int16_t>("short"),
    type_of<std::uint16_t>("ushort"), type_of<std::int32_t>("int"),    type_of<std::uint32_t>("uint"),
    type_of<std::int64_t>("long"),    type_of<std::uint64_t>("ulong"), type_of<Half>("half", 1e-2),
    type_of<float>("float", 1e-5),    type_of<double>("double", 1e-12)};
constexpr const char* kTypeNames = "char, uchar, short, ushort, int, uint, long, ulong, half, float or double";

constexpr int kExactBits = 53;  // whole numbers of which a double holds each

// The numbers that a type can hold, as far as a double can tell them from their neighbours.
bool holds(const NumberType& type, double value) {
  if (type.is_float()) return true;
  if (value != std::floor(value)) return false;
  const int bits = std::min(static_cast<int>(8 * type.bytes), kExactBits);
  const bool is_signed = type.name[0] != 'u';
  const double limit = std::ldexp(1, is_signed && bits < kExactBits ? bits - 1 : bits);
  return value < limit && value >= (is_signed ? -limit : 0);
}

// Unlike JsonReader::read, with negative ones.
bool read_number(JsonReader& reader, const JsonValue& at, const NumberType& type, double& value) {
  if (!at.json.is_number()) return reader.fail(at, "is not a number");
  value = at.json.get<double>();
  return holds(type, value) || reader.fail(at, std::string("is no ") + type.name);
}

bool read_numbers(JsonReader& reader, const JsonValue& at, const NumberType& type, std::size_t count,
                  std::vector<double>& values) {
  const auto read = [&](const JsonValue& item) { return read_number(reader, item, type, values.emplace_back()); };
  return reader.list(at, read) &&
         (values.size() == count ||
          reader.fail(at, "has " + std::to_string(values.size()) + " numbers, not " + std::to_string(count)));
}

bool read_extents(JsonReader& reader, const JsonValue& at, Extents3& extents) {
  if (!at.json.is_array() || at.json.empty() || at.json.size() > 3) {
    return reader.fail(at, "is not a list of one to three sizes");
  }
  extents = {1, 1, 1};
  std::size_t dimension = 0;
  return reader.list(at, [&](const JsonValue& item) {
    std::uint32_t extent = 0;
    if (!reader.read(item, extent)) return false;
    extents[dimension++] = extent;
    return (extent > 0 && extent <= kMaxExtent) || reader.fail(item, "is not between 1 and 2^30");
  });
}

// "float", and "float4" where vectors are allowed.
bool read_type(JsonReader& reader, const JsonValue& at, bool vectors, TrialArgument& argument) {
  std::string name;
  if (!reader.read(at, name)) return false;
  const std::size_t digits = name.find_first_of("0123456789");
  const std::string width = digits == std::string::npos ? "" : name.substr(digits);
  argument.type = number_type(name.substr(0, digits));
  const std::string widths = " 2 3 4 8 16 ";
  const bool known = width.empty() || (vectors && widths.find(" " + width + " ") != std::string::npos);
  if (!argument.type || !known) return reader.fail(at, std::string("is none of ") + kTypeNames);
  if (!width.empty()) argument.width = static_cast<std::uint32_t>(std::stoul(width));
  return true;
}

// A number, a list of them, or {"random": [LOW, HIGH]}.
bool read_fill(JsonReader& reader, const JsonValue& at, TrialArgument& argument) {
  const NumberType& type = *argument.type;
  if (at.json.is_array()) return read_numbers(reader, at, type, argument.count, argument.values);
  if (at.json.is_number()) return read_number(reader, at, type, argument.values.emplace_back());
  if (!at.json.is_object()) return reader.fail(at, "is neither a number, a list of them nor {\"random\": [LOW, HIGH]}");
  return reader.object(at, json_field("random", [&](const JsonValue& range) {
                         std::vector<double> bounds;
                         if (!read_numbers(reader, range, type, 2, bounds)) return false;
                         argument.low = bounds[0];
                         argument.high = bounds[1];
                         return bounds[0] <= bounds[1] || reader.fail(range, "ends before it begins");
                       }));
}

bool read_buffer(JsonReader& reader, const JsonValue& at, TrialArgument& argument) {
  const auto type = json_field("buffer", [&](const JsonValue& v) {
    if (!read_type(reader, v, false, argument)) return false;
    // Without "fill": small enough for indices that stay in bounds after a glance, and for sums that do not overflow.
    argument.low = argument.type->is_float() ? -1 : 0;
    argument.high = argument.type->is_float() ? 1 : 100;
    argument.tolerance = argument.type->tolerance;
    return true;
  });
  const auto count = json_field("count", [&](const JsonValue& v) {
    if (!reader.read(v, argument.count)) return false;
    return (argument.count > 0 && argument.count <= kMaxBufferBytes / argument.type->bytes) ||
           reader.fail(v, "is 0, or the buffer has more than 256 MiB");
  });
  const auto fill = json_field("fill", [&](const JsonValue& v) { return read_fill(reader, v, argument); });
  const auto expected = json_field("expected", [&](const JsonValue& v) {
    return read_numbers(reader, v, *argument.type, argument.count, argument.expected);
  });
  return reader.object(at, type, count, optional(fill), optional(expected),
                       optional(reader.field("tolerance", argument.tolerance)));
}

bool read_scalar(JsonReader& reader, const JsonValue& at, TrialArgument& argument) {
  argument.kind = TrialArgument::Kind::scalar;
  argument.count = 1;
  return reader.object(
      at, json_field("scalar", [&](const JsonValue& v) { return read_type(reader, v, true, argument); }),
      json_field("value", [&](const JsonValue& v) {
        return argument.width == 1 ? read_number(reader, v, *argument.type, argument.values.emplace_back())
                                   : read_numbers(reader, v, *argument.type, argument.width, argument.values);
      }));
}

bool read_local(JsonReader& reader, const JsonValue& at, TrialArgument& argument) {
  argument.kind = TrialArgument::Kind::local;
  return reader.object(at, reader.field("local", argument.count)) &&
         ((argument.count > 0 && argument.count <= kMaxLocalBytes) ||
          reader.fail(at, "local", "is not between 1 and 16777216 bytes"));
}

bool read_argument(JsonReader& reader, const JsonValue& at, TrialArgument& argument) {
  if (!at.json.is_object()) return reader.fail(at, "is not an object");
  if (at.json.contains("buffer")) return read_buffer(reader, at, argument);
  if (at.json.contains("scalar")) return read_scalar(reader, at, argument);
  if (at.json.contains("local")) return read_local(reader, at, argument);
  return reader.fail(at, "is neither a buffer, a scalar nor local memory");
}

// A list of `least` to `most` items.
template <typename T, typename Read>
bool read_list(JsonReader& reader, const JsonValue& at, std::size_t least, std::size_t most, std::vector<T>& items,
               const Read& read) {
  const std::size_t size = at.json.size();
  if (at.json.is_array() && (size < least || size > most)) {
    return reader.fail(
        at, "has " + std::to_string(size) + " items, not " + std::to_string(least) + " to " + std::to_string(most));
  }
  return reader.list(at, [&](const JsonValue& item) { return read(reader, item, items.emplace_back()); });
}

// The sizes at which the trial runs.
std::vector<Extents3> sizes_of(const TriedKernel& kernel, const Trial& trial) {
  return trial.local ? std::vector<Extents3>{*trial.local} : kernel.work_group_sizes;
}

// OpenCL 1.2 has whole work-groups only.
bool check_global(JsonReader& reader, const JsonValue& at, const TriedKernel& kernel, const Trial& trial) {
  const auto items = static_cast<double>(trial.global[0]) * trial.global[1] * trial.global[2];
  if (items > kMaxItems) return reader.fail(at, "global", size_text(trial.global) + " has more than 2^32 work-items");
  for (const Extents3& size : sizes_of(kernel, trial)) {
    for (std::size_t d = 0; d < 3; ++d) {
      if (trial.global[d] % size[d] == 0) continue;
      return reader.fail(at, "global",
                         size_text(trial.global) + " is no multiple of the work-group size " + size_text(size));
    }
  }
  return true;
}

bool read_kernel(JsonReader& reader, const JsonValue& at, TriedKernel& kernel) {
  const auto name = json_field("name", [&](const JsonValue& v) {
    if (!reader.read(v, kernel.name)) return false;
    const std::string fits = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return (!kernel.name.empty() && kernel.name.size() <= 256 &&
            kernel.name.find_first_not_of(fits) == std::string::npos) ||
           reader.fail(v, "is no name of a kernel");
  });
  const auto sizes = json_field("work_group_sizes", [&](const JsonValue& v) {
    return read_list(reader, v, 1, kMaxSizes, kernel.work_group_sizes, read_extents);
  });
  const auto read_trial = [&](JsonReader&, const JsonValue& v, Trial& trial) {
    const auto global = json_field("global", [&](const JsonValue& e) { return read_extents(reader, e, trial.global); });
    const auto local = json_field("local", [&](const JsonValue& e) {
      if (!read_extents(reader, e, trial.local.emplace())) return false;
      const std::vector<Extents3>& all = kernel.work_group_sizes;
      return std::find(all.begin(), all.end(), *trial.local) != all.end() ||
             reader.fail(e, size_text(*trial.local) + " is none of \"work_group_sizes\"");
    });
    const auto arguments = json_field("arguments", [&](const JsonValue& list) {
      return read_list(reader, list, 0, kMaxArguments, trial.arguments, read_argument);
    });
    return reader.object(v, global, optional(local), arguments) && check_global(reader, v, kernel, trial);
  };
  const auto trials = json_field(
      "trials", [&](const JsonValue& v) { return read_list(reader, v, 1, kMaxTrials, kernel.trials, read_trial); });
  return reader.object(at, name, sizes, trials);
}

}  // namespace

const NumberType* number_type(const std::string& name) {
  const auto* const found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const NumberType& type) { return name == type.name; });
  return found == std::end(kTypes) ? nullptr : found;
}

std::string size_text(const Extents3& size) {
  return std::to_string(size[0]) + "x" + std::to_string(size[1]) + "x" + std::to_string(size[2]);
}

std::string TrialCase::name() const { return "kernel " + kernel.name + ", work-group size " + size_text(size); }

std::vector<TrialCase> cases_of(const std::vector<TriedKernel>& kernels) {
  std::vector<TrialCase> cases;
  for (const TriedKernel& kernel : kernels) {
    for (const Trial& trial : kernel.trials) {
      for (const Extents3& size : sizes_of(kernel, trial)) cases.push_back({kernel, trial, size});
    }
  }
  return cases;
}

bool read_kernels(JsonReader& reader, const JsonValue& at, std::vector<TriedKernel>& kernels) {
  return read_list(reader, at, 1, kMaxKernels, kernels, read_kernel);
}

Result<std::vector<TriedKernel>> parse_trial(const std::string& trial) {
  const Result<Json> json = parse_json(trial);
  if (!json) return json.status().within("the program's trial");
  JsonReader reader;
  std::vector<TriedKernel> kernels;
  if (!read_kernels(reader, {*json}, kernels)) return {Code::malformed, "the program's trial: " + reader.failure()};
  return kernels;
}

}  // namespace clbake::builder::program
