#include <clbake/kernels/params.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <type_traits>

namespace clbake::kernels {

namespace {

using std::to_string;

constexpr std::uint32_t bit(Family family) { return 1U << static_cast<unsigned>(family); }
constexpr std::uint32_t every = ~0U;
constexpr std::uint32_t local_tile = bit(Family::local_tile);
constexpr std::uint32_t warp_tile = bit(Family::warp_tile);
constexpr std::uint32_t warpgroup_tile = bit(Family::warpgroup_tile);
constexpr std::uint32_t stripe = bit(Family::stripe);

using Words = std::vector<std::string_view>;

template <auto member>
Parameter parameter(std::string_view name, std::string_view macro, std::string_view tag, std::uint32_t families,
                    std::string_view meaning, const Words& words = {}) {
  using Field = std::decay_t<decltype(Params().*member)>;
  return {name,
          macro,
          tag,
          meaning,
          words,
          std::is_same_v<Field, bool>,
          families,
          [](const Params& p) { return static_cast<std::uint32_t>(p.*member); },
          [](Params& p, std::uint32_t value) { p.*member = static_cast<Field>(value); }};
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(at, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

bool read_number(std::string_view text, std::uint32_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_block(std::string_view text, std::uint32_t& m, std::uint32_t& n, std::uint32_t& k) {
  const std::vector<std::string_view> parts = split(text, 'x');
  return parts.size() == 3 && read_number(parts[0], m) && read_number(parts[1], n) && read_number(parts[2], k);
}

bool read_transposes(std::string_view text, Params& p) {
  p.trans_a = text[0] == 't';
  p.trans_b = text[1] == 't';
  return text.size() == 2 && text.find_first_not_of("nt") == std::string_view::npos;
}

bool read_family(std::string_view text, Params& p) {
  for (const Family family : all_families) {
    if (name(family) != text) continue;
    p.family = family;
    return true;
  }
  return false;
}

// One for each of all_precisions, in their order.
constexpr std::string_view precision_letters = "hbsd";

char letter(Precision precision) {
  const auto* at = std::find(std::begin(all_precisions), std::end(all_precisions), precision);
  return precision_letters[static_cast<std::size_t>(at - std::begin(all_precisions))];
}

bool read_precision(std::string_view text, Params& p) {
  if (text.size() != 1 || precision_letters.find(text[0]) == std::string_view::npos) return false;
  p.precision = all_precisions[precision_letters.find(text[0])];
  return true;
}

// One of the optional parts, "split4" or "acbl".
bool read_option(std::string_view text, Params& p) {
  for (const Parameter& parameter : parameters()) {
    if (!parameter.optional() || text.substr(0, parameter.tag.size()) != parameter.tag) continue;
    const std::string_view rest = text.substr(parameter.tag.size());
    const auto word = std::find(parameter.words.begin(), parameter.words.end(), rest);
    std::uint32_t value = static_cast<std::uint32_t>(word - parameter.words.begin());
    const bool readable = parameter.words.empty() ? read_number(rest, value) : word != parameter.words.end();
    if (!readable) continue;
    parameter.set(p, value);
    return true;
  }
  return false;
}

}  // namespace

const std::vector<Parameter>& parameters() {
  static const Words layouts = {"row_major", "pad", "cbl", "rbl", "image"};
  static const std::vector<Parameter> all = {
      parameter<&Params::ml>("ml", "ML", "", every, "rows of C per work-group"),
      parameter<&Params::nl>("nl", "NL", "", every, "columns of C per work-group"),
      parameter<&Params::kl>("kl", "KL", "", every,
                             "depth of a block of k; direct, thin_tile: work-items, warps that share it"),
      parameter<&Params::ms>("ms", "MS", "", every, "rows of C per work-item"),
      parameter<&Params::ns>("ns", "NS", "", every, "columns of C per work-item"),
      parameter<&Params::ks>("ks", "KS", "", every, "unrolling of the loop over k"),
      parameter<&Params::vector_width>("vector_width", "VECTOR_WIDTH", "", every, "elements of a vector"),
      parameter<&Params::layout_a>("layout_a", "LAYOUT_A", "a", local_tile | warp_tile | warpgroup_tile | stripe,
                                   "layout that A is read from", layouts),
      parameter<&Params::layout_b>("layout_b", "LAYOUT_B", "b", local_tile | warp_tile | warpgroup_tile | stripe,
                                   "layout that B is read from", layouts),
      parameter<&Params::split_k>("split_k", "SPLIT_K", "split", every, "slices of k"),
      parameter<&Params::local_a>("local_a", "LOCAL_A", "a", stripe, "memory that work-items read A from",
                                  {"global", "local"}),
      parameter<&Params::local_b>("local_b", "LOCAL_B", "b", stripe, "memory that work-items read B from",
                                  {"global", "local"}),
      parameter<&Params::buffers>("buffers", "BUFFERS", "buffers", local_tile | warp_tile | warpgroup_tile,
                                  "tiles of an operand in local memory"),
      parameter<&Params::prefetch>("prefetch", "PREFETCH", "", local_tile, "load the next tiles early",
                                   {"noprefetch", "prefetch"}),
      parameter<&Params::load_width>("load_width", "LOAD_WIDTH", "load", local_tile, "elements per global load"),
      parameter<&Params::padding>("padding", "PADDING", "padding", local_tile, "elements behind a row of a tile"),
      parameter<&Params::map>("map", "MAP", "map", local_tile | warp_tile, "which elements a work-item computes",
                              {"blocked", "cyclic", "zigzag", "mma", "mma8"}),
      parameter<&Params::fragments>("fragments", "FRAGMENTS", "fragments", local_tile | warp_tile,
                                    "register sets for a step's operands"),
      parameter<&Params::exchange>("exchange", "EXCHANGE", "", local_tile, "neighbours read A once and exchange it",
                                   {"noexchange", "exchange"}),
      parameter<&Params::tensor_copies>("tensor_copies", "TENSOR_COPIES", "", warpgroup_tile,
                                        "one work-item copies aligned operands", {"notensor", "tensor"}),
      parameter<&Params::shares>("shares", "SHARES", "shares", local_tile | warp_tile,
                                 "groups that share the steps of a tile"),
      parameter<&Params::front_end>("front_end", "", "", every, "NVIDIA: who compiles the source", {"driver", "clang"}),
  };
  return all;
}

bool Params::operator==(const Params& other) const {
  const auto same = [&](const Parameter& parameter) { return parameter.get(*this) == parameter.get(other); };
  return family == other.family && precision == other.precision && trans_a == other.trans_a &&
         trans_b == other.trans_b && std::all_of(parameters().begin(), parameters().end(), same);
}

std::string_view name(Family family) {
  switch (family) {
    case Family::direct: return "direct";
    case Family::register_tile: return "register_tile";
    case Family::local_tile: return "local_tile";
    case Family::thin_tile: return "thin_tile";
    case Family::warp_tile: return "warp_tile";
    case Family::warpgroup_tile: return "warpgroup_tile";
    case Family::stripe: return "stripe";
  }
  return "unknown";
}

std::string name(const Params& params) {
  const auto block = [](std::uint32_t m, std::uint32_t n, std::uint32_t k) {
    return to_string(m) + "x" + to_string(n) + "x" + to_string(k);
  };
  std::string text(name(params.family));
  text.append("-").append(1, letter(params.precision)).append("-");
  text += params.trans_a ? 't' : 'n';
  text += params.trans_b ? 't' : 'n';
  text += "-" + block(params.ml, params.nl, params.kl) + "-" + block(params.ms, params.ns, params.ks);
  text += "-v" + to_string(params.vector_width);
  const Params standard;
  for (const Parameter& parameter : parameters()) {
    const std::uint32_t value = parameter.get(params);
    if (!parameter.optional() || value == parameter.get(standard)) continue;
    text.append("-").append(parameter.tag);
    text += value < parameter.words.size() ? std::string(parameter.words[value]) : to_string(value);
  }
  return text;
}

std::variant<Params, std::string> parse(std::string_view name) {
  Params p;
  const std::vector<std::string_view> parts = split(name, '-');
  const auto refuse = [&](std::string_view part, std::string_view why) {
    return std::string(name) + ": '" + std::string(part) + "' " + std::string(why);
  };
  if (parts.size() < 6) return refuse(name, "is not family-precision-transposes-MLxNLxKL-MSxNSxKS-vWIDTH");
  if (!read_family(parts[0], p)) return refuse(parts[0], "is no family");
  if (!read_precision(parts[1], p)) return refuse(parts[1], "is no precision: h, b, s or d");
  if (parts[2].size() != 2 || !read_transposes(parts[2], p)) return refuse(parts[2], "is none of nn, nt, tn, tt");
  if (!read_block(parts[3], p.ml, p.nl, p.kl)) return refuse(parts[3], "is not MLxNLxKL");
  if (!read_block(parts[4], p.ms, p.ns, p.ks)) return refuse(parts[4], "is not MSxNSxKS");
  if (parts[5].substr(0, 1) != "v" || !read_number(parts[5].substr(1), p.vector_width)) {
    return refuse(parts[5], "is not vWIDTH");
  }
  for (std::size_t i = 6; i < parts.size(); ++i) {
    if (!read_option(parts[i], p)) return refuse(parts[i], "is no parameter with a value");
  }
  if (kernels::name(p) != name) return refuse(name, "is written " + kernels::name(p));  // one name for each point
  return p;
}

WorkGroup work_group_size(const Params& params) {
  if (params.family == Family::register_tile) return {1, 1};
  // Those that multiply, and for warpgroup_tile the 128 that load; all that share a part of C.
  const bool warpgroups = params.family == Family::warpgroup_tile;
  const std::uint32_t rows = warpgroups ? std::max(params.ml, 64U) : params.ml;  // wgmma multiplies 64 at least
  const std::uint32_t sharing = shares_k(params.family) ? params.kl : 1;
  return {params.nl / params.ns * sharing, rows / params.ms * params.shares + (warpgroups ? 32 : 0)};
}

}  // namespace clbake::kernels
