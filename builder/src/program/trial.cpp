#include "program/trial.hpp"

#include <clbake/builder/sixteen_bits.hpp>
#include "process/text_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace clbake::builder {
namespace {

constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kMaxKernels = 64;
constexpr std::size_t kMaxSizes = 16;
constexpr std::size_t kMaxTrials = 64;
constexpr std::size_t kMaxArguments = 256;
constexpr std::uint64_t kMaxBufferBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMaxLocalBytes = std::uint64_t{1} << 24;
constexpr std::uint32_t kMaxExtent = 1U << 30;
constexpr double kMaxItems = 4294967296.0;

constexpr NumberType kTypes[] = {{"char", 1, false, 0},    {"uchar", 1, false, 0},    {"short", 2, false, 0},
                                 {"ushort", 2, false, 0},  {"int", 4, false, 0},      {"uint", 4, false, 0},
                                 {"long", 8, false, 0},    {"ulong", 8, false, 0},    {"half", 2, true, 1e-2},
                                 {"float", 4, true, 1e-5}, {"double", 8, true, 1e-12}};
constexpr const char* kTypeNames = "char, uchar, short, ushort, int, uint, long, ulong, half, float or double";

// The numbers of a buffer that the manifest gives none: small enough to be indices that stay in bounds after a glance,
// and for sums that do not overflow.
constexpr double kRandomFloat[2] = {-1, 1};
constexpr double kRandomInteger[2] = {0, 100};

template <typename T>
void store_as(double value, std::uint8_t* to) {
  const T number(static_cast<T>(value));
  std::memcpy(to, &number, sizeof number);
}

template <typename T>
double load_as(const std::uint8_t* from) {
  T number;
  std::memcpy(&number, from, sizeof number);
  return static_cast<double>(number);
}

constexpr int kExactBits = 53;  // whole numbers of which a double holds each

// The numbers that a type can hold, as far as a double can tell them from their neighbours.
bool holds(const NumberType& type, double value) {
  if (type.is_float) return true;
  if (value != std::floor(value)) return false;
  const int bits = std::min(static_cast<int>(8 * type.bytes), kExactBits);
  const bool is_signed = type.name[0] != 'u';
  const double limit = std::ldexp(1, is_signed && bits < kExactBits ? bits - 1 : bits);
  return value < limit && value >= (is_signed ? -limit : 0);
}

// Unlike JsonReader::read, with negative ones.
bool read_number(JsonReader& reader, const JsonValue& at, double& value) {
  if (!at.json.is_number()) return reader.fail(at, "is not a number");
  value = at.json.get<double>();
  return std::isfinite(value) || reader.fail(at, "is too large");
}

bool read_numbers(JsonReader& reader, const JsonValue& at, const NumberType& type, std::vector<double>& values) {
  return reader.list(at, [&](const JsonValue& item) {
    double value = 0;
    if (!read_number(reader, item, value)) return false;
    values.push_back(value);
    return holds(type, value) || reader.fail(item, std::string("is no ") + type.name);
  });
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
  const char* const widths[] = {"2", "3", "4", "8", "16"};
  const bool known =
      width.empty() || (vectors && std::find(std::begin(widths), std::end(widths), width) != std::end(widths));
  if (!argument.type || !known) return reader.fail(at, std::string("is none of ") + kTypeNames);
  if (!width.empty()) argument.width = static_cast<std::uint32_t>(std::stoul(width));
  return true;
}

// "random", {"random": [LOW, HIGH]}, a number, or a list of them.
bool read_fill(JsonReader& reader, const JsonValue& at, TrialArgument& argument) {
  const NumberType& type = *argument.type;
  if (at.json.is_array()) {
    return read_numbers(reader, at, type, argument.values) &&
           (argument.values.size() == argument.count ||
            reader.fail(at, "has " + std::to_string(argument.values.size()) + " numbers, and count is " +
                                std::to_string(argument.count)));
  }
  if (at.json.is_number()) {
    argument.values.resize(1);
    return read_number(reader, at, argument.values[0]) &&
           (holds(type, argument.values[0]) || reader.fail(at, std::string("is no ") + type.name));
  }
  if (at.json.is_string() && at.json.get<std::string>() == "random") return true;
  if (!at.json.is_object()) return reader.fail(at, "is neither \"random\", a number, a list of numbers nor a file");
  return reader.object(at, json_field("random", [&](const JsonValue& range) {
                         std::vector<double> bounds;
                         if (!read_numbers(reader, range, type, bounds)) return false;
                         if (bounds.size() != 2 || bounds[0] > bounds[1])
                           return reader.fail(range, "is not a list of a low and a high one");
                         argument.low = bounds[0];
                         argument.high = bounds[1];
                         return true;
                       }));
}

// Checks that an object has only fields of `known`.
bool only_fields(JsonReader& reader, const JsonValue& at, std::initializer_list<const char*> known) {
  for (const auto& [key, value] : at.json.items()) {
    const std::string& name = key;
    const bool is_known = std::any_of(known.begin(), known.end(), [&](const char* field) { return name == field; });
    if (!is_known) return reader.fail({value, &at, name.c_str()}, "is no field of this format");
  }
  return true;
}

bool read_buffer(JsonReader& reader, const JsonValue& at, TrialArgument& argument) {
  if (!only_fields(reader, at, {"buffer", "count", "fill", "expected", "tolerance"})) return false;
  const auto type = json_field("buffer", [&](const JsonValue& v) { return read_type(reader, v, false, argument); });
  if (!reader.member(at, type) || !reader.member(at, reader.field("count", argument.count))) return false;
  if (argument.count == 0 || argument.count > kMaxBufferBytes / argument.type->bytes) {
    return reader.fail(at, "count", "is 0, or the buffer has more than 1 GiB");
  }
  const double* const range = argument.type->is_float ? kRandomFloat : kRandomInteger;
  argument.low = range[0];
  argument.high = range[1];
  argument.tolerance = argument.type->tolerance;
  const auto fill = json_field("fill", [&](const JsonValue& v) { return read_fill(reader, v, argument); });
  const auto expected = json_field("expected", [&](const JsonValue& v) {
    return read_numbers(reader, v, *argument.type, argument.expected) &&
           (argument.expected.size() == argument.count ||
            reader.fail(v, "has " + std::to_string(argument.expected.size()) + " numbers, and count is " +
                               std::to_string(argument.count)));
  });
  return reader.optional_member(at, fill) && reader.optional_member(at, expected) &&
         reader.optional_member(at, reader.field("tolerance", argument.tolerance));
}

bool read_scalar(JsonReader& reader, const JsonValue& at, TrialArgument& argument) {
  argument.kind = TrialArgument::Kind::scalar;
  argument.count = 1;
  return reader.object(at,
                       json_field("scalar", [&](const JsonValue& v) { return read_type(reader, v, true, argument); }),
                       json_field("value", [&](const JsonValue& v) {
                         if (argument.width == 1 && v.json.is_number()) {
                           argument.values.resize(1);
                           return read_number(reader, v, argument.values[0]) &&
                                  (holds(*argument.type, argument.values[0]) ||
                                   reader.fail(v, std::string("is no ") + argument.type->name));
                         }
                         if (argument.width == 1) return reader.fail(v, "is not a number");
                         return read_numbers(reader, v, *argument.type, argument.values) &&
                                (argument.values.size() == argument.width ||
                                 reader.fail(v, "is not a list of " + std::to_string(argument.width) + " numbers"));
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

// A list of 1 to `most` items.
template <typename T, typename Read>
bool read_list(JsonReader& reader, const JsonValue& at, std::size_t most, std::vector<T>& items, const Read& read) {
  if (at.json.is_array() && (at.json.empty() || at.json.size() > most)) {
    return reader.fail(at, "has " + std::to_string(at.json.size()) + " items, not 1 to " + std::to_string(most));
  }
  return reader.list(at, [&](const JsonValue& item) { return read(reader, item, items.emplace_back()); });
}

bool read_trial(JsonReader& reader, const JsonValue& at, Trial& trial) {
  if (!at.json.is_object()) return reader.fail(at, "is not an object");
  if (!only_fields(reader, at, {"global", "local", "arguments"})) return false;
  const auto local =
      json_field("local", [&](const JsonValue& v) { return read_extents(reader, v, trial.local.emplace()); });
  const auto arguments = json_field("arguments", [&](const JsonValue& v) {
    if (v.json.is_array() && v.json.empty()) return true;
    return read_list(reader, v, kMaxArguments, trial.arguments, read_argument);
  });
  const auto global = json_field("global", [&](const JsonValue& v) { return read_extents(reader, v, trial.global); });
  return reader.member(at, global) && reader.optional_member(at, local) && reader.member(at, arguments);
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

bool is_identifier(const std::string& name) {
  const auto fits = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  return !name.empty() && name.size() <= 256 && (name[0] < '0' || name[0] > '9') &&
         std::all_of(name.begin(), name.end(), fits);
}

bool read_kernel(JsonReader& reader, const JsonValue& at, TriedKernel& kernel) {
  return reader.object(at,
                       json_field("name",
                                  [&](const JsonValue& v) {
                                    return reader.read(v, kernel.name) &&
                                           (is_identifier(kernel.name) || reader.fail(v, "is no name of a kernel"));
                                  }),
                       json_field("work_group_sizes",
                                  [&](const JsonValue& v) {
                                    return read_list(reader, v, kMaxSizes, kernel.work_group_sizes, read_extents);
                                  }),
                       json_field("trials", [&](const JsonValue& v) {
                         if (!read_list(reader, v, kMaxTrials, kernel.trials, read_trial)) return false;
                         std::size_t i = 0;
                         return reader.list(v, [&](const JsonValue& item) {
                           return check_global(reader, item, kernel, kernel.trials[i++]);
                         });
                       }));
}

// The numbers of a file as JSON.
Result<Json> numbers_in(const std::string& path, const NumberType& type) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 20;
  const Result<std::string> bytes = read_text_file(path, kMostBytes);
  if (!bytes) return bytes.status();
  if (bytes->size() % type.bytes != 0)
    return {Code::malformed, path + ": its size is no multiple of that of " + type.name};
  Json numbers = Json::array();
  for (std::size_t at = 0; at < bytes->size(); at += type.bytes) {
    const double number = load_number(type, reinterpret_cast<const std::uint8_t*>(bytes->data()) + at);
    if (!std::isfinite(number)) return {Code::malformed, path + ": has numbers that are not finite"};
    if (type.is_float)
      numbers.push_back(number);
    else
      numbers.push_back(static_cast<std::int64_t>(number));
  }
  return numbers;
}

// The items of a list; none of what is no list, of which read_kernels tells.
Json& items_of(Json& list) {
  static Json none;
  return list.is_array() ? list : none = Json::array();
}
Json& items_of(Json& object, const char* field) {
  static Json none;
  return object.is_object() && object.contains(field) ? items_of(object[field]) : none = Json::array();
}

Status resolve_file(Json& argument, const char* field, const std::string& directory, std::vector<std::string>& files) {
  const bool is_buffer = argument.is_object() && argument.contains("buffer") && argument["buffer"].is_string();
  const NumberType* const type = is_buffer ? number_type(argument["buffer"].get<std::string>()) : nullptr;
  if (!type || !argument.contains(field) || !argument[field].is_object()) return {};
  const Json& named = argument[field];
  if (named.size() != 1 || !named.contains("file") || !named["file"].is_string()) return {};
  const std::string file = named["file"].get<std::string>();
  const std::string path = file[0] == '/' ? file : directory + "/" + file;
  Result<Json> numbers = numbers_in(path, *type);
  if (!numbers) return numbers.status();
  files.push_back(path);
  argument[field] = std::move(*numbers);
  return {};
}

}  // namespace

const NumberType* number_type(const std::string& name) {
  const auto* const found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const NumberType& type) { return name == type.name; });
  return found == std::end(kTypes) ? nullptr : found;
}

void store_number(const NumberType& type, double value, std::uint8_t* to) {
  const bool is_signed = type.name[0] != 'u';
  if (type.is_float) {
    if (type.bytes == 2) return store_as<Half>(value, to);
    return type.bytes == 4 ? store_as<float>(value, to) : store_as<double>(value, to);
  }
  switch (type.bytes) {
    case 1: return is_signed ? store_as<std::int8_t>(value, to) : store_as<std::uint8_t>(value, to);
    case 2: return is_signed ? store_as<std::int16_t>(value, to) : store_as<std::uint16_t>(value, to);
    case 4: return is_signed ? store_as<std::int32_t>(value, to) : store_as<std::uint32_t>(value, to);
    default: return is_signed ? store_as<std::int64_t>(value, to) : store_as<std::uint64_t>(value, to);
  }
}

double load_number(const NumberType& type, const std::uint8_t* from) {
  const bool is_signed = type.name[0] != 'u';
  if (type.is_float) {
    if (type.bytes == 2) return load_as<Half>(from);
    return type.bytes == 4 ? load_as<float>(from) : load_as<double>(from);
  }
  switch (type.bytes) {
    case 1: return is_signed ? load_as<std::int8_t>(from) : load_as<std::uint8_t>(from);
    case 2: return is_signed ? load_as<std::int16_t>(from) : load_as<std::uint16_t>(from);
    case 4: return is_signed ? load_as<std::int32_t>(from) : load_as<std::uint32_t>(from);
    default: return is_signed ? load_as<std::int64_t>(from) : load_as<std::uint64_t>(from);
  }
}

std::string size_text(const Extents3& size) {
  return std::to_string(size[0]) + "x" + std::to_string(size[1]) + "x" + std::to_string(size[2]);
}

std::vector<Extents3> sizes_of(const TriedKernel& kernel, const Trial& trial) {
  return trial.local ? std::vector<Extents3>{*trial.local} : kernel.work_group_sizes;
}

bool TrialCase::is_listed() const {
  const std::vector<Extents3>& sizes = kernel.work_group_sizes;
  return std::find(sizes.begin(), sizes.end(), size) != sizes.end();
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
  return read_list(reader, at, kMaxKernels, kernels, read_kernel);
}

Status resolve_files(Json& kernels, const std::string& directory, std::vector<std::string>& files) {
  Status status;
  for (Json& kernel : items_of(kernels)) {
    for (Json& trial : items_of(kernel, "trials")) {
      for (Json& argument : items_of(trial, "arguments")) {
        if (status) status = resolve_file(argument, "fill", directory, files);
        if (status) status = resolve_file(argument, "expected", directory, files);
      }
    }
  }
  return status;
}

Result<std::vector<TriedKernel>> parse_trial(const std::string& trial) {
  const Result<Json> json = parse_json(trial, kMaxDepth);
  if (!json) return json.status().within("the program's trial");
  JsonReader reader;
  std::vector<TriedKernel> kernels;
  if (!read_kernels(reader, {*json}, kernels)) return {Code::malformed, "the program's trial: " + reader.failure()};
  return kernels;
}

}  // namespace clbake::builder
