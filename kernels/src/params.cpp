#include <clbake/kernels/params.hpp>

namespace clbake::kernels {

namespace {

using std::to_string;

// Limits that no device reports; KERNELS.md explains each.
constexpr std::uint32_t max_factor = 32768;                   // elements
constexpr std::uint64_t max_private_bytes = 1048576;          // of register_tile's block and panel
constexpr std::uint64_t max_vector_accumulator_bytes = 2048;  // register_tile: 32 registers of 64 bytes
constexpr std::uint64_t max_item_accumulator_bytes = 512;     // other families: half of 255 registers of 4 bytes

std::uint64_t vectors_with_padding(std::uint32_t elements, std::uint32_t width) { return elements / width + 1; }

std::uint64_t local_memory_bytes(const Params& p) {
  if (p.family != Family::local_tile) {
    return 0;
  }
  const std::uint64_t row = vectors_with_padding(p.ml, p.vector_width) + vectors_with_padding(p.nl, p.vector_width);
  return p.kl * row * p.vector_width * element_bytes(p.precision);
}

// Collects the violations of one Params; each method is one group of constraints.
class Checker {
 public:
  Checker(const Params& params, const DeviceLimits& device) : p_(params), device_(device) {}

  // The remaining constraints divide by the factors, so they wait until all factors are in range.
  std::vector<Violation> run() {
    range();
    if (violations_.empty()) {
      precision();
      vector_width();
      divisibility();
      family();
      registers();
      private_memory();
    }
    if (violations_.empty()) {
      work_group();
      local_memory();
    }
    return violations_;
  }

 private:
  void require(bool holds, std::string_view constraint, std::string reason) {
    if (!holds) {
      violations_.push_back({constraint, std::move(reason)});
    }
  }

  void in_range(const char* factor, std::uint32_t value) {
    require(value >= 1 && value <= max_factor, "range",
            std::string(factor) + " is " + to_string(value) + ", outside 1 to " + to_string(max_factor));
  }

  void range() {
    in_range("ml", p_.ml);
    in_range("nl", p_.nl);
    in_range("kl", p_.kl);
    in_range("ms", p_.ms);
    in_range("ns", p_.ns);
    in_range("ks", p_.ks);
    in_range("vector_width", p_.vector_width);
  }

  void precision() {
    require(p_.precision != Precision::double_precision || device_.fp64, "precision",
            "double precision needs cl_khr_fp64, which the device lacks");
  }

  void vector_width() {
    const std::uint32_t w = p_.vector_width;
    require(w == 1 || w == 2 || w == 4 || w == 8 || w == 16, "vector-width",
            "vector_width is " + to_string(w) + ", OpenCL C has vectors of 1, 2, 4, 8 and 16 elements");
  }

  void multiple(const char* whole_name, std::uint64_t whole, const char* part_name, std::uint64_t part) {
    require(whole % part == 0, "divisibility",
            std::string(whole_name) + " is " + to_string(whole) + ", not a multiple of " + part_name + " = " +
                to_string(part));
  }

  void divisibility() {
    multiple("ml", p_.ml, "ms", p_.ms);
    multiple("nl", p_.nl, "ns", p_.ns);
    multiple("kl", p_.kl, "ks", p_.family == Family::direct ? 1 : p_.ks);
    multiple("ns", p_.ns, "vector_width", p_.vector_width);
    if (p_.family == Family::local_tile) {
      multiple("ms", p_.ms, "vector_width", p_.vector_width);
    }
  }

  void family() {
    if (p_.family == Family::direct) {
      require(p_.kl == 1, "family-direct", "kl is " + to_string(p_.kl) + ", but direct has no k block: 1");
      require(p_.ns == p_.vector_width, "family-direct",
              "ns is " + to_string(p_.ns) + ", but a work-item of direct has one vector of " +
                  to_string(p_.vector_width) + " columns");
    }
  }

  void registers() {
    const std::uint64_t bytes = std::uint64_t{p_.ms} * p_.ns * element_bytes(p_.precision);
    const std::uint64_t limit =
        p_.family == Family::register_tile ? max_vector_accumulator_bytes : max_item_accumulator_bytes;
    require(bytes <= limit, "registers",
            "ms * ns = " + to_string(p_.ms) + " * " + to_string(p_.ns) + " accumulators take " + to_string(bytes) +
                " bytes of registers, limit " + to_string(limit));
  }

  void private_memory() {
    if (p_.family != Family::register_tile) {
      return;
    }
    const std::uint64_t elements = std::uint64_t{p_.kl} * (p_.ml + p_.ns);
    const std::uint64_t bytes = elements * element_bytes(p_.precision);
    require(bytes <= max_private_bytes, "private-memory",
            "block and panel of kl * (ml + ns) = " + to_string(p_.kl) + " * (" + to_string(p_.ml) + " + " +
                to_string(p_.ns) + ") elements take " + to_string(bytes) + " bytes, limit " +
                to_string(max_private_bytes));
  }

  void work_group() {
    const WorkGroup group = work_group_size(p_);
    const std::uint64_t items = std::uint64_t{group.x} * group.y;
    require(items <= device_.max_work_group_size, "work-group-size",
            to_string(group.x) + " * " + to_string(group.y) + " = " + to_string(items) + " work-items, limit " +
                to_string(device_.max_work_group_size));
    const std::uint64_t sizes[2] = {group.x, group.y};
    for (std::size_t i = 0; i < 2; ++i) {
      require(sizes[i] <= device_.max_work_item_sizes[i], "work-item-sizes",
              to_string(sizes[i]) + " work-items in dimension " + to_string(i) + ", limit " +
                  to_string(device_.max_work_item_sizes[i]));
    }
    if (p_.family == Family::local_tile) {
      multiple("ml * kl", std::uint64_t{p_.ml} * p_.kl, "the work-group size", items);
      multiple("nl * kl", std::uint64_t{p_.nl} * p_.kl, "the work-group size", items);
    }
  }

  void local_memory() {
    const std::uint64_t bytes = local_memory_bytes(p_);
    require(bytes <= device_.local_memory_bytes, "local-memory",
            "the tiles of A and B take " + to_string(bytes) + " bytes of local memory, limit " +
                to_string(device_.local_memory_bytes));
  }

  const Params& p_;
  const DeviceLimits& device_;
  std::vector<Violation> violations_;
};

Params direct(DeviceKind kind, Precision precision) {
  Params p;
  p.family = Family::direct;
  p.precision = precision;
  if (kind == DeviceKind::cpu) {
    // One vector register wide; six rows hide the latency of the multiply-add. Not unrolled: the compiler warns that it
    // cannot.
    p.vector_width = precision == Precision::single_precision ? 16 : 8;
    p.ml = p.ms = 6;
    p.nl = p.ns = p.vector_width;
  } else {
    p.ml = p.nl = 16;
    p.ks = 4;
  }
  return p;
}

Params register_tile(DeviceKind kind, Precision precision) {
  const bool single = precision == Precision::single_precision;
  Params p;
  p.family = Family::register_tile;
  p.precision = precision;
  if (kind == DeviceKind::cpu) {
    p.vector_width = single ? 16 : 8;
    p.ms = single ? 6 : 14;
    p.ns = single ? 64 : 16;
    p.ml = single ? 60 : 56;
    p.nl = 128;
    p.kl = 512;
  } else {
    p.vector_width = 4;
    p.ms = p.ns = p.ml = p.nl = 4;
    p.kl = 16;
  }
  return p;
}

Params local_tile(Precision precision) {
  const bool single = precision == Precision::single_precision;
  Params p;
  p.family = Family::local_tile;
  p.precision = precision;
  p.vector_width = single ? 4 : 2;
  p.ml = p.nl = 64;
  p.kl = 16;
  p.ms = p.ns = 4;
  p.ks = 16;
  return p;
}

}  // namespace

std::string_view name(Family family) {
  switch (family) {
    case Family::direct: return "direct";
    case Family::register_tile: return "register_tile";
    case Family::local_tile: return "local_tile";
  }
  return "unknown";
}

std::string name(const Params& params) {
  const auto block = [](std::uint32_t m, std::uint32_t n, std::uint32_t k) {
    return to_string(m) + "x" + to_string(n) + "x" + to_string(k);
  };
  std::string text(name(params.family));
  text += params.precision == Precision::single_precision ? "-s-" : "-d-";
  text += params.trans_a ? 't' : 'n';
  text += params.trans_b ? 't' : 'n';
  text += "-" + block(params.ml, params.nl, params.kl) + "-" + block(params.ms, params.ns, params.ks);
  text += "-v" + to_string(params.vector_width);
  return text;
}

WorkGroup work_group_size(const Params& params) {
  if (params.family == Family::register_tile) {
    return {1, 1};
  }
  return {params.nl / params.ns, params.ml / params.ms};
}

std::vector<Violation> check(const Params& params, const DeviceLimits& device) { return Checker(params, device).run(); }

std::vector<Params> default_variants(DeviceKind kind, Precision precision) {
  std::vector<Params> variants;
  for (Params p : {direct(kind, precision), register_tile(kind, precision), local_tile(precision)}) {
    for (const bool trans_a : {false, true}) {
      for (const bool trans_b : {false, true}) {
        p.trans_a = trans_a;
        p.trans_b = trans_b;
        variants.push_back(p);
      }
    }
  }
  return variants;
}

}  // namespace clbake::kernels
