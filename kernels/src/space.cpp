#include <clbake/kernels/space.hpp>

#include <algorithm>
#include <iterator>

namespace clbake::kernels {

namespace {

using Values = std::vector<std::uint32_t>;

// ---- The values ----

template <typename Choice>
Values values(std::initializer_list<Choice> choices) {
  Values all;
  for (const Choice choice : choices) all.push_back(static_cast<std::uint32_t>(choice));
  return all;
}

const Values kVectorWidths = {1, 2, 4, 8, 16};
const Values kUnrolling = {1, 2, 4, 8, 16, 32};
const Values kSplits = {1, 2, 3, 4, 6, 8, 16, 32};
const Values kSplitsAndTail = {0, 1, 2, 3, 4, 6, 8, 16, 32};
const Values kSwitch = {0, 1};
const Values kAllLayouts =
    values({Layout::row_major, Layout::padded, Layout::column_block, Layout::row_block, Layout::image});
const Values kBufferLayouts = values({Layout::row_major, Layout::padded, Layout::column_block, Layout::row_block});
const Values kMaps = values({Map::blocked, Map::cyclic, Map::zigzag, Map::mma});
const Values kBlocks = {4, 8, 12, 16, 24, 32, 48, 56, 60, 64, 96, 120, 128, 192, 256};  // of a GPU's work-group
const Values kItems = {1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16};  // rows or columns of a work-item
const Values kDepths = {1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256};

// A multiple of every product of two parameters that is asked to divide, at the upper end of what is in range.
constexpr std::uint32_t divisible_depth = 26880;  // 2^8 * 3 * 5 * 7

template <bool GemmKind::*member>
Parameter transpose(std::string_view name, std::string_view macro, std::string_view meaning) {
  return {name,
          macro,
          {},
          meaning,
          {"n", "t"},
          true,
          ~0U,
          [](const Params& p) -> std::uint32_t { return p.*member ? 1 : 0; },
          [](Params& p, std::uint32_t value) { p.*member = value != 0; }};
}

const Parameter& parameter(std::string_view name) {
  const auto& all = parameters();
  return *std::find_if(all.begin(), all.end(), [&](const Parameter& p) { return p.name == name; });
}

// In an order in which each axis can be eased with those before it.
class Builder {
 public:
  explicit Builder(Family family) : space_{family, {}} {
    space_.axes.push_back({transpose<&Params::trans_a>("trans_a", "TRANS_A", "op(A) is the transpose of A"), kSwitch,
                           [](Params& p) { p.trans_a = false; }});
    space_.axes.push_back({transpose<&Params::trans_b>("trans_b", "TRANS_B", "op(B) is the transpose of B"), kSwitch,
                           [](Params& p) { p.trans_b = false; }});
    add("split_k", cuts_tail(family) ? kSplitsAndTail : kSplits, [](Params& p) { p.split_k = 1; });
    add("vector_width", kVectorWidths, [](Params& p) { p.vector_width = 1; });
  }

  Builder& columns(const Values& work_item, const Values& work_group) {
    add("ns", work_item, [](Params& p) { p.ns = p.vector_width; });
    return add("nl", work_group, [](Params& p) { p.nl = p.ns; });
  }
  Builder& rows(const Values& work_item, const Values& work_group) {
    add("ms", work_item, [](Params& p) { p.ms = p.vector_width; });
    return add("ml", work_group, [](Params& p) { p.ml = p.ms; });
  }
  Builder& depth(const Values& block, const Values& unrolling) {
    add("kl", block, [](Params& p) { p.kl = divisible_depth; });
    return add("ks", unrolling, [](Params& p) { p.ks = 1; });
  }
  Builder& layouts(const Values& values) {
    add("layout_a", values, [](Params& p) { p.layout_a = Layout::row_major; });
    return add("layout_b", values, [](Params& p) { p.layout_b = Layout::row_major; });
  }
  Builder& add(std::string_view name, const Values& values, void (*ease)(Params&)) {
    space_.axes.push_back({parameter(name), values, ease});
    return *this;
  }
  Space space() const { return space_; }

 private:
  Space space_;
};

Space direct() {
  const Values blocks = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 24, 32, 48, 56, 60, 64, 96, 120, 128, 256};
  return Builder(Family::direct)
      .columns(kVectorWidths, blocks)
      .rows({1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16}, blocks)
      .add("kl", {1, 2, 4, 8, 16, 32, 64}, [](Params& p) { p.kl = 1; })
      .add("ks", kUnrolling, [](Params& p) { p.ks = 1; })
      .space();
}

Space register_tile() {
  return Builder(Family::register_tile)
      .columns({1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128}, {4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 512})
      .rows({1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 15, 16},
            {1, 2, 4, 6, 8, 12, 14, 16, 24, 28, 30, 32, 48, 56, 60, 64, 84, 96, 120, 128, 256})
      .depth({16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024}, kUnrolling)
      .space();
}

Space local_tile() {
  return Builder(Family::local_tile)
      .columns(kItems, kBlocks)
      .rows(kItems, kBlocks)
      .depth({4, 8, 12, 16, 24, 32, 48, 64}, kUnrolling)
      .layouts(kBufferLayouts)
      .add("load_width", {1, 2, 4, 8}, [](Params& p) { p.load_width = 1; })
      .add("map", kMaps, [](Params& p) { p.map = Map::cyclic; })
      .add("buffers", {1, 2}, [](Params& p) { p.buffers = 1; })
      .add("padding", {0, 1, 2, 4, 8}, [](Params& p) { p.padding = 0; })
      .add("prefetch", kSwitch, [](Params& p) { p.prefetch = true; })
      .add("fragments", {1, 2}, [](Params& p) { p.fragments = 1; })
      .add("shares", {1, 2, 4}, [](Params& p) { p.shares = 1; })
      .add("exchange", kSwitch, [](Params& p) { p.exchange = false; })
      .space();
}

Space thin_tile() {
  return Builder(Family::thin_tile)
      .columns({2, 4, 8}, {8, 16, 32, 64})
      .rows({2, 4, 8}, {8, 16, 32, 64})
      .add("kl", {1, 2, 4, 8, 16}, [](Params& p) { p.kl = 1; })
      .add("ks", {1, 2, 4, 8}, [](Params& p) { p.ks = 1; })
      .space();
}

Space warp_tile() {
  return Builder(Family::warp_tile)
      .columns({4, 8, 16}, {16, 32, 64, 128, 256})
      .rows({2, 4, 8, 16}, {16, 32, 64, 128, 256})
      .add("kl", {16, 32}, [](Params& p) { p.kl = divisible_depth; })
      .add("ks", {4, 8}, [](Params& p) { p.ks = 4; })
      .layouts(values({Layout::row_major, Layout::padded}))
      .add("map", values({Map::mma, Map::mma8}), [](Params& p) { p.map = Map::mma8; })
      .add("buffers", {2, 3, 4, 5, 6}, [](Params& p) { p.buffers = 2; })
      .add("fragments", {1, 2}, [](Params& p) { p.fragments = 1; })
      .add("shares", {1, 2, 4}, [](Params& p) { p.shares = 1; })
      .space();
}

Space warpgroup_tile() {
  return Builder(Family::warpgroup_tile)
      .columns({8, 16, 32, 48, 64}, {32, 64, 128, 192, 256})
      .rows({2}, {32, 64, 128, 192, 256})
      .depth({64, 128}, {1})
      .layouts(values({Layout::row_major, Layout::padded}))
      .add("buffers", {3, 4, 5, 6, 8}, [](Params& p) { p.buffers = 3; })
      .add("tensor_copies", kSwitch, [](Params& p) { p.tensor_copies = false; })
      .space();
}

Space stripe() {
  return Builder(Family::stripe)
      .columns(kItems, kBlocks)
      .rows(kItems, kBlocks)
      .depth(kDepths, kUnrolling)
      .layouts(kAllLayouts)
      .add("local_a", kSwitch, [](Params& p) { p.local_a = false; })
      .add("local_b", kSwitch, [](Params& p) { p.local_b = false; })
      .space();
}

}  // namespace

const Space& space(Family family) {
  static const Space all[] = {direct(),    register_tile(),  local_tile(), thin_tile(),
                              warp_tile(), warpgroup_tile(), stripe()};
  static_assert(std::size(all) == std::size(all_families), "a space for each family, in their order");
  return all[static_cast<std::size_t>(family)];
}

bool contains(const Space& space, const Params& params) {
  Params rest = params;  // with the axes' parameters at their standard: what remains must be the standard, too
  const Params standard;
  for (const Axis& axis : space.axes) {
    const std::uint32_t value = axis.parameter.get(params);
    if (std::find(axis.values.begin(), axis.values.end(), value) == axis.values.end()) return false;
    axis.parameter.set(rest, axis.parameter.get(standard));
  }
  Params origin;
  origin.family = space.family;
  origin.precision = params.precision;
  return rest == origin;
}

}  // namespace clbake::kernels
