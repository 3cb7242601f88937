#include "program/trial.hpp"

#include <clbake/os/paths.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

namespace clbake::builder::program {
using namespace process;
namespace {

constexpr std::size_t kMaxArguments = 1024;
constexpr std::uint64_t kMaxBufferBytes = std::uint64_t{1} << 32;
constexpr std::uint64_t kMaxValueBytes = 65536;
constexpr std::uint64_t kMaxLocalBytes = std::uint64_t{1} << 24;
constexpr std::uint64_t kMaxImageExtent = 1U << 28;

// Contents of trials go into the bundle unread, so they must come from the manifest's folder; sources at least have to
// compile, and may lie beside it.
bool leads_outside(const std::string& name) {
  const std::filesystem::path path = os::native(name).lexically_normal();
  return path.has_root_path() || (!path.empty() && *path.begin() == "..");
}

// Reads one argument of a trial.
class ArgumentReader {
 public:
  ArgumentReader(JsonReader& reader, TrialFiles& files, const std::vector<TrialArgument>& earlier,
                 TrialArgument& argument)
      : reader_(reader), files_(files), earlier_(earlier), argument_(argument) {}

  bool read(const JsonValue& at) {
    if (!at.json.is_object()) return reader_.fail(at, "is not an object");
    if (at.json.contains("buffer")) return at.json["buffer"].is_null() ? read_null(at) : read_buffer(at);
    if (at.json.contains("same")) return read_same(at);
    if (at.json.contains("image")) return read_image(at);
    if (at.json.contains("sampler")) return read_sampler(at);
    if (at.json.contains("scalar")) return read_scalar(at);
    if (at.json.contains("bytes")) return read_bytes(at);
    if (at.json.contains("local")) return read_local(at);
    return reader_.fail(at,
                        "is no argument: it has none of \"buffer\", \"same\", \"image\", \"sampler\", \"scalar\", "
                        "\"bytes\" and \"local\"");
  }

 private:
  using Kind = TrialArgument::Kind;

  // ---- Fields

  auto extent_field(const char* key, std::uint64_t& value) {
    return json_field(key, [this, &value](const JsonValue& v) {
      return reader_.read(v, value) &&
             ((value > 0 && value <= kMaxImageExtent) || reader_.fail(v, "is not between 1 and 268435456"));
    });
  }

  // A mode of a sampler.
  auto mode_field(const char* key, bool (*set)(const std::string&, Sampler&), const char* modes) {
    return json_field(key, [this, set, modes](const JsonValue& v) {
      std::string name;
      return reader_.read(v, name) &&
             (set(name, argument_.sampler) || reader_.fail(v, std::string("is none of ") + modes));
    });
  }

  auto file_field() {
    return json_field("file", [this](const JsonValue& v) {
      std::string name;
      if (!reader_.read(v, name)) return false;
      if (leads_outside(name)) return reader_.fail(v, "leads outside of the manifest's folder");
      argument_.bytes = files_.find(name);
      return true;
    });
  }

  // The fields of a buffer or an image, those of `fields` before the others.
  template <typename... Reads>
  bool with_content(const JsonValue& at, const JsonField<Reads>&... fields) {
    bool truncated = false;
    const auto fill = json_field("fill", [&](const JsonValue& v) { return read_fill(v); });
    const auto hex = json_field("hex", [&](const JsonValue& v) { return read_hex(v); });
    const auto expected = json_field(
        "expected", [&](const JsonValue& v) { return read_numbers(v, argument_.numbers(), argument_.expected); });
    const auto tolerance = json_field("tolerance", [&](const JsonValue& v) { return read_tolerance(v); });
    return reader_.object(at, fields..., optional(reader_.field("truncated", truncated)), optional(fill), optional(hex),
                          optional(file_field()), optional(expected), optional(tolerance)) &&
           check_content(at, truncated);
  }

  // ---- Arguments

  bool read_null(const JsonValue& at) {
    argument_.kind = Kind::null;
    return reader_.object(at, json_field("buffer", [](const JsonValue&) { return true; }));
  }

  bool read_same(const JsonValue& at) {
    argument_.kind = Kind::same;
    if (!reader_.object(at, reader_.field("same", argument_.count))) return false;
    const std::uint64_t number = argument_.count;
    return (number < earlier_.size() - 1 && earlier_[number].is_memory()) ||  // the last one is this
           reader_.fail(at, "same", "is no earlier argument that is a buffer or an image");
  }

  bool read_buffer(const JsonValue& at) {
    argument_.kind = Kind::buffer;
    const auto type = json_field("buffer", [&](const JsonValue& v) { return read_type(v, true); });
    const auto count = json_field("count", [&](const JsonValue& v) {
      if (!reader_.read(v, argument_.count)) return false;
      return (argument_.count > 0 && argument_.count <= kMaxBufferBytes / argument_.element.bytes()) ||
             reader_.fail(v, argument_.count == 0 ? "is 0; {\"buffer\": null} is a buffer that is NULL"
                                                  : "the buffer has more than 4 GiB");
    });
    const auto offset = json_field("offset", [&](const JsonValue& v) {
      return reader_.read(v, argument_.offset) &&
             (argument_.offset <= kMaxBufferBytes || reader_.fail(v, "is more than 4 GiB"));
    });
    const auto order = json_field("order", [&](const JsonValue& v) { return read_order(v); });
    return with_content(at, type, count, optional(offset), optional(order));
  }

  bool read_image(const JsonValue& at) {
    argument_.kind = Kind::image;
    Image& image = argument_.image;
    std::string order, type;
    const auto shape = json_field("image", [&](const JsonValue& v) {
      std::string name;
      if (!reader_.read(v, name)) return false;
      image.shape = image_shape(name);
      return image.shape || reader_.fail(v, std::string("is none of ") + kImageShapes);
    });
    const auto channels = json_field("type", [&](const JsonValue& v) {
      if (!reader_.read(v, type)) return false;
      if (!set_format(order, type, image)) {
        return reader_.fail(v, "\"" + order + "\" and \"" + type +
                                   "\" are no channel order and type of OpenCL, such as \"RGBA\" and \"UNORM_INT8\"");
      }
      argument_.type = order + " " + type;
      set_element(image.pixel);
      return true;
    });
    const auto width = extent_field("width", image.width);
    const auto last = json_field("width", [&](const JsonValue& v) { return width.read(v) && has_extents(at, image); });
    return with_content(at, shape, reader_.field("order", order), channels,
                        optional(extent_field("height", image.height)), optional(extent_field("depth", image.depth)),
                        optional(extent_field("array_size", image.array_size)), last);
  }

  // Those that the shape needs are there, and no others; then the number of elements is known.
  bool has_extents(const JsonValue& at, const Image& image) {
    const bool wanted[] = {image.shape->dimensions > 1, image.shape->dimensions > 2, image.shape->is_array};
    const char* const names[] = {"height", "depth", "array_size"};
    for (std::size_t i = 0; i < 3; ++i) {
      if (at.json.contains(names[i]) == wanted[i]) continue;
      return reader_.fail(at, names[i], wanted[i] ? "is missing" : "is no extent of such an image");
    }
    argument_.count = 1;
    for (const std::uint64_t extent : {image.width, image.height, image.depth, image.array_size}) {
      argument_.count *= extent;  // of at most 32 and 20 bits
      if (argument_.size() > kMaxBufferBytes) return reader_.fail(at, "the image has more than 4 GiB");
    }
    return true;
  }

  bool read_sampler(const JsonValue& at) {
    argument_.kind = Kind::sampler;
    return reader_.object(at, json_field("sampler", [&](const JsonValue& v) {
                            return reader_.object(v, reader_.field("normalized", argument_.sampler.normalized),
                                                  mode_field("addressing", set_addressing,
                                                             "NONE, CLAMP_TO_EDGE, CLAMP, REPEAT and MIRRORED_REPEAT"),
                                                  mode_field("filter", set_filter, "NEAREST and LINEAR"));
                          }));
  }

  bool read_scalar(const JsonValue& at) {
    argument_.kind = Kind::value;
    argument_.count = 1;
    return reader_.object(at, json_field("scalar", [&](const JsonValue& v) { return read_type(v, false); }),
                          json_field("value", [&](const JsonValue& v) {
                            return argument_.element.width == 1
                                       ? read_number(v, argument_.values.emplace_back())
                                       : read_numbers(v, argument_.element.width, argument_.values);
                          }));
  }

  // A struct, by value.
  bool read_bytes(const JsonValue& at) {
    argument_.kind = Kind::value;
    argument_.type = "bytes";
    argument_.element = element_type("uchar");
    const auto read = [&](const JsonValue& v) {
      const bool is_file = v.json.is_object();
      if (is_file ? !reader_.object(v, file_field()) : !read_hex(v)) return false;
      if (!argument_.bytes) return true;  // a failure of the files
      argument_.count = argument_.bytes->size;
      return (argument_.count > 0 && argument_.count <= kMaxValueBytes) ||
             reader_.fail(v, "has " + std::to_string(argument_.count) + " bytes, not 1 to 65536");
    };
    return reader_.object(at, json_field("bytes", read));
  }

  bool read_local(const JsonValue& at) {
    argument_.kind = Kind::local;
    return reader_.object(at, reader_.field("local", argument_.count)) &&
           ((argument_.count > 0 && argument_.count <= kMaxLocalBytes) ||
            reader_.fail(at, "local", "is not between 1 and 16777216 bytes"));
  }

  // ---- Parts

  bool read_type(const JsonValue& at, bool bytes) {
    if (!reader_.read(at, argument_.type)) return false;
    const ElementType type = element_type(bytes && argument_.type == "bytes" ? "uchar" : argument_.type);
    if (!type.number) {
      return reader_.fail(at, std::string("is none of ") + (bytes ? "bytes, " : "") + kNumberTypes +
                                  ", nor such a vector of 2, 3, 4, 8 or 16");
    }
    set_element(type);
    return true;
  }

  // Without "fill": small enough for indices that stay in bounds after a glance, and for sums that do not overflow.
  void set_element(const ElementType& type) {
    argument_.element = type;
    argument_.low = type.number->is_float() ? -1 : 0;
    argument_.high = type.number->is_float() ? 1 : 100;
    argument_.tolerance = type.number->tolerance;
  }

  // Unlike JsonReader::read, with negative ones.
  bool read_number(const JsonValue& at, Number& value) {
    const NumberType& type = *argument_.element.number;
    if (!at.json.is_number()) return reader_.fail(at, "is not a number");
    value = at.json.get<Number>();
    return type.holds(value) || reader_.fail(at, std::string("is no ") + type.name);
  }

  bool read_numbers(const JsonValue& at, std::uint64_t count, std::vector<Number>& values) {
    const auto read = [&](const JsonValue& item) { return read_number(item, values.emplace_back()); };
    return reader_.list(at, read) &&
           (values.size() == count ||
            reader_.fail(at, "has " + std::to_string(values.size()) + " numbers, not " + std::to_string(count)));
  }

  // A number, a list of them, or {"random": [LOW, HIGH]}.
  bool read_fill(const JsonValue& at) {
    if (at.json.is_array()) return read_numbers(at, argument_.numbers(), argument_.values);
    if (at.json.is_number()) return read_number(at, argument_.values.emplace_back());
    if (!at.json.is_object()) {
      return reader_.fail(at, "is neither a number, a list of them nor {\"random\": [LOW, HIGH]}");
    }
    return reader_.object(at, json_field("random", [&](const JsonValue& range) {
                            std::vector<Number> bounds;
                            if (!read_numbers(range, 2, bounds)) return false;
                            argument_.low = static_cast<double>(bounds[0]);
                            argument_.high = static_cast<double>(bounds[1]);
                            return bounds[0] <= bounds[1] || reader_.fail(range, "ends before it begins");
                          }));
  }

  bool read_hex(const JsonValue& at) {
    std::string digits;
    if (!reader_.read(at, digits)) return false;
    argument_.bytes = bytes_of_hex(digits);
    return argument_.bytes || reader_.fail(at, "is no even number of hexadecimal digits");
  }

  // A larger one would take a buffer of zeros for any result.
  bool read_tolerance(const JsonValue& at) {
    return reader_.read(at, argument_.tolerance) &&
           (argument_.tolerance < 1 || reader_.fail(at, "is 1 or more: any result would be right"));
  }

  bool read_order(const JsonValue& at) {
    std::string order;
    argument_.any_order = true;
    return reader_.read(at, order) && (order == "any" || reader_.fail(at, "is not \"any\""));
  }

  bool check_content(const JsonValue& at, bool truncated) {
    const int contents = static_cast<int>(at.json.count("fill") + at.json.count("hex") + at.json.count("file"));
    if (contents > 1) return reader_.fail(at, "has more than one of \"fill\", \"hex\" and \"file\"");
    if (!argument_.bytes) return true;
    const std::uint64_t has = argument_.bytes->size, needs = argument_.size();
    if (has == needs || (truncated && has < needs)) return true;
    return reader_.fail(at, at.json.count("hex") ? "hex" : "file",
                        "has " + std::to_string(has) + " bytes, and the argument has " + std::to_string(needs));
  }

  JsonReader& reader_;
  TrialFiles& files_;
  const std::vector<TrialArgument>& earlier_;
  TrialArgument& argument_;
};

}  // namespace

bool read_arguments(JsonReader& reader, const JsonValue& at, TrialFiles& files, std::vector<TrialArgument>& arguments) {
  arguments.reserve(std::min(at.json.size(), kMaxArguments));  // none of them moves while it is read
  return read_list(reader, at, 0, kMaxArguments, arguments, [&](JsonReader&, const JsonValue& v, TrialArgument& last) {
    return ArgumentReader(reader, files, arguments, last).read(v);
  });
}

cache::Bytes content_of(const TrialArgument& argument, std::size_t number) {
  cache::Bytes content(argument.size());
  if (argument.bytes) {
    const cache::Bytes& begin = argument.bytes->begin;
    std::copy_n(begin.begin(), std::min(content.size(), begin.size()), content.begin());
    return content;
  }
  const NumberType& type = *argument.element.number;
  std::mt19937_64 random(number);
  for (std::uint64_t i = 0; i < argument.numbers(); ++i) {
    Number value = 0;
    if (argument.values.empty()) {
      const double part = static_cast<double>(random() >> 32U) / 4294967296.0;
      const double width = argument.high - argument.low;
      value = argument.low + (type.is_float() ? part * width : std::floor(part * (width + 1)));
    } else {
      value = argument.values[argument.values.size() == 1 ? 0 : i];
    }
    type.store(value, &content[argument.place(i)]);
  }
  return content;
}

}  // namespace clbake::builder::program
