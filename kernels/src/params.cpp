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
constexpr std::uint32_t register_tile = bit(Family::register_tile);
constexpr std::uint32_t local_tile = bit(Family::local_tile);
constexpr std::uint32_t warp_tile = bit(Family::warp_tile);
constexpr std::uint32_t warpgroup_tile = bit(Family::warpgroup_tile);
constexpr std::uint32_t stripe = bit(Family::stripe);
constexpr std::uint32_t weight_tile = bit(Family::weight_tile);

using Words = std::vector<std::string_view>;

// The largest blocking factor, in elements.
constexpr std::uint32_t max_factor = 32768;

struct Range {
  std::uint32_t least = 1, most = max_factor;
};

template <auto member>
Parameter described(std::string_view name, std::uint32_t families, std::string_view meaning, Range range,
                    std::string_view tag, const Words& words) {
  using Field = std::decay_t<decltype(Params().*member)>;
  std::string macro(name);
  for (char& c : macro) c = 'a' <= c && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return {name,
          macro,
          tag,
          meaning,
          words,
          range.least,
          range.most,
          std::is_same_v<Field, bool>,
          families,
          [](const Params& p) { return static_cast<std::uint32_t>(p.*member); },
          [](Params& p, std::uint32_t value) { p.*member = static_cast<Field>(value); }};
}

template <auto member>
Parameter count(std::string_view name, std::uint32_t families, std::string_view meaning, Range range = {},
                std::string_view tag = "") {
  return described<member>(name, families, meaning, range, tag, {});
}

template <auto member>
Parameter choice(std::string_view name, std::uint32_t families, std::string_view meaning, const Words& words,
                 std::string_view tag = "") {
  return described<member>(name, families, meaning, {0, static_cast<std::uint32_t>(words.size()) - 1}, tag, words);
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

// By the number of an Element; none of complex ones.
constexpr std::string_view element_letters = " sdhb  iuwefqv";

// One letter, or for a mixed product those of A, B and C.
std::string letters(Precision p) {
  const auto letter = [](Element element) { return element_letters[static_cast<std::size_t>(element)]; };
  if (!is_mixed(p)) return {letter(element_a(p))};
  return {letter(element_a(p)), letter(element_b(p)), letter(element_c(p))};
}

bool read_precision(std::string_view text, Params& p) {
  const auto find = [&](const auto& precisions) {
    for (const Precision each : precisions) {
      if (letters(each) == text) return p.precision = each, true;
    }
    return false;
  };
  return find(all_precisions) || find(mixed_precisions);
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
  static const Words layouts = {"row_major", "pad", "cbl", "rbl", "image", "kmajor"};
  static const std::uint32_t tiles = local_tile | warp_tile | warpgroup_tile;
  static const std::vector<Parameter> all = [] {
    std::vector<Parameter> list = {
        count<&Params::ml>("ml", every, "rows of C per work-group"),
        count<&Params::nl>("nl", every, "columns of C per work-group"),
        count<&Params::kl>("kl", every,
                           "depth of a block of k; direct, weight_tile, thin_tile: work-items, warps that share it"),
        count<&Params::ms>("ms", every, "rows of C per work-item"),
        count<&Params::ns>("ns", every, "columns of C per work-item"),
        count<&Params::ks>("ks", every,
                           "unrolling of the loop over k; weight_tile: steps of A that are copied at a time"),
        count<&Params::vector_width>("vector_width", every, "elements of a vector"),
        choice<&Params::layout_a>("layout_a", tiles | stripe, "layout that A is read from", layouts, "a"),
        choice<&Params::layout_b>("layout_b", tiles | stripe, "layout that B is read from", layouts, "b"),
        count<&Params::split_k>("split_k", every, "slices of k", {0, 64}, "split"),
        choice<&Params::local_a>("local_a", stripe, "memory that work-items read A from", {"global", "local"}, "a"),
        choice<&Params::local_b>("local_b", stripe, "memory that work-items read B from", {"global", "local"}, "b"),
        count<&Params::buffers>("buffers", tiles, "tiles of an operand in local memory", {1, 8}, "buffers"),
        choice<&Params::prefetch>("prefetch", local_tile, "load the next tiles early", {"noprefetch", "prefetch"}),
        count<&Params::load_width>("load_width", local_tile, "elements per global load", {1, 16}, "load"),
        count<&Params::padding>("padding", local_tile, "elements behind a row of a tile", {0, max_factor}, "padding"),
        choice<&Params::map>("map", local_tile | warp_tile | weight_tile, "which elements a work-item computes",
                             {"blocked", "cyclic", "zigzag", "mma", "mma8"}, "map"),
        count<&Params::fragments>("fragments", local_tile | warp_tile, "register sets for a step's operands", {1, 2},
                                  "fragments"),
        choice<&Params::exchange>("exchange", local_tile, "neighbours read A once and exchange it",
                                  {"noexchange", "exchange"}),
        choice<&Params::dots>("dots", register_tile, "AVX512-VNNI multiplies bytes, AVX512-BF16 bfloat16",
                              {"nodots", "dots"}),
        choice<&Params::lines>("lines", register_tile, "loops for few rows or columns", {"nolines", "lines"}),
        choice<&Params::tensor_copies>("tensor_copies", warpgroup_tile, "one work-item copies aligned operands",
                                       {"notensor", "tensor"}),
        count<&Params::shares>("shares", tiles, "groups that share the steps of a tile", {1, 16}, "shares"),
        choice<&Params::group>("group", bit(Family::direct) | bit(Family::register_tile) | local_tile,
                               "products of different sizes in one launch", {"nogroup", "group"}),
        choice<&Params::front_end>("front_end", every, "NVIDIA: who compiles the source", {"driver", "clang"})};
    for (Parameter& parameter : list) {  // the kernels do not depend on the one, and no search sets the other
      if (parameter.name == "front_end" || parameter.name == "group") parameter.macro.clear();
    }
    return list;
  }();
  return all;
}

bool Params::operator==(const Params& other) const {
  const auto same = [&](const Parameter& parameter) { return parameter.get(*this) == parameter.get(other); };
  return family == other.family && precision == other.precision && trans_a == other.trans_a &&
         trans_b == other.trans_b && std::all_of(parameters().begin(), parameters().end(), same);
}

std::string_view name(Family family) {
  constexpr std::string_view names[] = {"direct",    "register_tile",  "local_tile", "thin_tile",
                                        "warp_tile", "warpgroup_tile", "stripe",     "weight_tile"};
  static_assert(std::size(names) == std::size(all_families), "a name for each family, in their order");
  return names[static_cast<std::size_t>(family)];
}

std::string name(const Params& params) {
  const auto block = [](std::uint32_t m, std::uint32_t n, std::uint32_t k) {
    return to_string(m) + "x" + to_string(n) + "x" + to_string(k);
  };
  std::string text(name(params.family));
  text.append("-").append(letters(params.precision)).append("-");
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
  if (!read_precision(parts[1], p))
    return refuse(parts[1], "is no precision: h, b, s, d, or three letters of i, u, w, e, f, q, v, h, b and s");
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
  // A warp of those by matrix units has 8 * ns columns.
  const std::uint32_t lanes = params.map == Map::mma ? 4 : 1;
  if (params.family == Family::weight_tile) return {lanes * (params.nl / params.ns) * params.kl, 1};
  // Those that multiply, and for warpgroup_tile the 128 that load; all that share a part of C.
  const bool warpgroups = params.family == Family::warpgroup_tile;
  // wgmma multiplies 64 at least; of packed weights, columns of C.
  const std::uint32_t rows = !warpgroups             ? params.ml
                             : reads_weights(params) ? params.nl * params.shares
                                                     : std::max(params.ml, 64U);
  const std::uint32_t sharing = shares_k(params.family) ? params.kl : 1;
  return {params.nl / params.ns * sharing, warpgroups ? rows / params.ms + 32 : rows / params.ms * params.shares};
}

}  // namespace clbake::kernels
