#include <clbake/kernels/space.hpp>

#include <algorithm>
#include <iterator>
#include <map>

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
                           Coupling::device, [](Params& p) { p.trans_a = false; }});
    space_.axes.push_back({transpose<&Params::trans_b>("trans_b", "TRANS_B", "op(B) is the transpose of B"), kSwitch,
                           Coupling::device, [](Params& p) { p.trans_b = false; }});
    add("split_k", cuts_tail(family) ? kSplitsAndTail : kSplits, Coupling::device, [](Params& p) { p.split_k = 1; });
    add("vector_width", kVectorWidths, Coupling::full, [](Params& p) { p.vector_width = 1; });
  }

  Builder& columns(const Values& work_item, const Values& work_group) {
    add("ns", work_item, Coupling::full, [](Params& p) { p.ns = p.vector_width; });
    return add("nl", work_group, Coupling::full, [](Params& p) { p.nl = p.ns; });
  }
  Builder& rows(const Values& work_item, const Values& work_group) {
    add("ms", work_item, Coupling::full, [](Params& p) { p.ms = p.vector_width; });
    return add("ml", work_group, Coupling::full, [](Params& p) { p.ml = p.ms; });
  }
  Builder& depth(const Values& block, const Values& unrolling) {
    add("kl", block, Coupling::full, [](Params& p) { p.kl = divisible_depth; });
    return add("ks", unrolling, Coupling::divisor, [](Params& p) { p.ks = 1; });
  }
  Builder& layouts(const Values& values) {
    add("layout_a", values, Coupling::device, [](Params& p) { p.layout_a = Layout::row_major; });
    return add("layout_b", values, Coupling::device, [](Params& p) { p.layout_b = Layout::row_major; });
  }
  Builder& add(std::string_view name, const Values& values, Coupling coupling, void (*ease)(Params&)) {
    space_.axes.push_back({parameter(name), values, coupling, ease});
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
      .add("kl", {1, 2, 4, 8, 16, 32, 64}, Coupling::full, [](Params& p) { p.kl = 1; })
      .add("ks", kUnrolling, Coupling::divisor, [](Params& p) { p.ks = 1; })
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
      .add("load_width", {1, 2, 4, 8}, Coupling::full, [](Params& p) { p.load_width = 1; })
      .add("map", kMaps, Coupling::full, [](Params& p) { p.map = Map::cyclic; })
      .add("buffers", {1, 2}, Coupling::full, [](Params& p) { p.buffers = 1; })
      .add("padding", {0, 1, 2, 4, 8}, Coupling::full, [](Params& p) { p.padding = 0; })
      .add("prefetch", kSwitch, Coupling::device, [](Params& p) { p.prefetch = true; })
      .add("fragments", {1, 2}, Coupling::device, [](Params& p) { p.fragments = 1; })
      .add("shares", {1, 2, 4}, Coupling::full, [](Params& p) { p.shares = 1; })
      .add("exchange", kSwitch, Coupling::full, [](Params& p) { p.exchange = false; })
      .space();
}

Space thin_tile() {
  return Builder(Family::thin_tile)
      .columns({2, 4, 8}, {8, 16, 32, 64})
      .rows({2, 4, 8}, {8, 16, 32, 64})
      .add("kl", {1, 2, 4, 8, 16}, Coupling::full, [](Params& p) { p.kl = 1; })
      .add("ks", {1, 2, 4, 8}, Coupling::full, [](Params& p) { p.ks = 1; })
      .space();
}

Space warp_tile() {
  return Builder(Family::warp_tile)
      .columns({4, 8, 16}, {16, 32, 64, 128, 256})
      .rows({2, 4, 8, 16}, {16, 32, 64, 128, 256})
      .add("kl", {16, 32}, Coupling::full, [](Params& p) { p.kl = divisible_depth; })
      .add("ks", {4, 8}, Coupling::full, [](Params& p) { p.ks = 4; })
      .layouts(values({Layout::row_major, Layout::padded}))
      .add("map", values({Map::mma, Map::mma8}), Coupling::full, [](Params& p) { p.map = Map::mma8; })
      .add("buffers", {2, 3, 4, 5, 6}, Coupling::full, [](Params& p) { p.buffers = 2; })
      .add("fragments", {1, 2}, Coupling::full, [](Params& p) { p.fragments = 1; })
      .add("shares", {1, 2, 4}, Coupling::full, [](Params& p) { p.shares = 1; })
      .space();
}

Space warpgroup_tile() {
  Space space = Builder(Family::warpgroup_tile)
                    .columns({8, 16, 32, 48, 64}, {32, 64, 128, 192, 256})
                    .rows({2}, {32, 64, 128, 192, 256})
                    .depth({64, 128}, {1})
                    .layouts(values({Layout::row_major, Layout::padded}))
                    .add("buffers", {3, 4, 5, 6, 8}, Coupling::full, [](Params& p) { p.buffers = 3; })
                    .add("tensor_copies", kSwitch, Coupling::full, [](Params& p) { p.tensor_copies = false; })
                    .space();
  // Transposes and layouts count: what a tile of 32 rows or columns takes of local memory depends on them.
  for (Axis& axis : space.axes) {
    if (axis.parameter.name != "split_k" && axis.parameter.name != "ks") axis.coupling = Coupling::full;
  }
  return space;
}

Space stripe() {
  return Builder(Family::stripe)
      .columns(kItems, kBlocks)
      .rows(kItems, kBlocks)
      .depth(kDepths, kUnrolling)
      .layouts(kAllLayouts)
      .add("local_a", kSwitch, Coupling::full, [](Params& p) { p.local_a = false; })
      .add("local_b", kSwitch, Coupling::full, [](Params& p) { p.local_b = false; })
      .space();
}

Params origin(const Space& space, Precision precision) {
  Params p;
  p.family = space.family;
  p.precision = precision;
  return p;
}

// ---- Counting ----

// Goes through the axes like nested loops, with four short cuts; that they do not change the result is what
// space_test.cpp proves, by asking `check` about every point of thinned spaces.
//
//   - When the axes so far, with the later ones eased, break the first of all rules, divisibility (or precision, which
//     no axis changes), then all points behind them do, and it is their first violation. Most of the space ends here.
//   - Values that are alike are visited once and counted as many times as there are.
//   - The axes behind `ks` are options. Where the eased options break a rule, and no option on its own breaks an
//     earlier one, all their combinations fall by that rule.
//   - The sentences of `check` are made only for points that `admits` refuses.
class Counter {
 public:
  Counter(const Space& space, Precision precision, const DeviceLimits& device)
      : axes_(space.axes), device_(device), params_(origin(space, precision)), below_(axes_.size() + 1, 1) {
    for (std::size_t i = axes_.size(); i-- > 0;) below_[i] = below_[i + 1] * axes_[i].values.size();
    for (const Axis& axis : axes_) groups_.push_back(groups_of(axis));
    const auto unrolling = [](const Axis& axis) { return axis.parameter.name == "ks"; };
    options_ = static_cast<std::size_t>(std::find_if(axes_.begin(), axes_.end(), unrolling) - axes_.begin()) + 1;
  }

  Census run() {
    visit(0, 1);
    Census census;
    census.points = below_[0];
    census.admitted = admitted_;
    census.fallen.assign(fallen_.begin(), fallen_.end());
    std::stable_sort(census.fallen.begin(), census.fallen.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return census;
  }

 private:
  struct Group {
    std::uint32_t value = 0;   // one of those that are alike
    std::uint64_t weight = 0;  // how many they are
  };

  // Empty when there is none.
  std::string_view first_violation(const Params& p) const {
    if (admits(device_, p)) return {};
    return check(p, device_).front().constraint;
  }

  Params eased_from(std::size_t axis) const {
    Params p = params_;
    for (std::size_t i = axis; i < axes_.size(); ++i) axes_[i].ease(p);
    return p;
  }

  std::vector<Group> groups_of(const Axis& axis) const {
    std::vector<Group> groups;
    std::map<std::string_view, std::size_t> known;
    for (const std::uint32_t value : axis.values) {
      Params p = eased_from(0);
      axis.parameter.set(p, value);
      const bool alone = axis.coupling != Coupling::device;
      const auto [at, first] = known.emplace(first_violation(p), groups.size());
      if (alone || first) groups.push_back({value, 0});
      ++groups[alone ? groups.size() - 1 : at->second].weight;
    }
    return groups;
  }

  // Whether all points with the present values on the axes before `axis` fall by the first of all rules.
  bool cut(std::size_t axis, std::uint64_t weight) {
    const std::string_view violation = first_violation(eased_from(axis));
    if (violation != "divisibility" && violation != "precision") return false;
    fallen_[violation] += weight * below_[axis];
    return true;
  }

  // Whether the rule that the eased options break is the first violation whatever the options are.
  bool cut_options(std::uint64_t weight) {
    const Params eased = eased_from(options_);
    const std::string_view violation = first_violation(eased);
    if (violation.empty()) return false;
    for (std::size_t i = options_; i < axes_.size(); ++i) {
      for (const Group& group : groups_[i]) {
        Params p = eased;
        axes_[i].parameter.set(p, group.value);
        if (axes_[i].parameter.get(eased) != group.value && first_violation(p) != violation) return false;
      }
    }
    fallen_[violation] += weight * below_[options_];
    return true;
  }

  void visit(std::size_t level, std::uint64_t weight) {
    if (level == axes_.size()) return leaf(weight);
    if (level == options_ && cut_options(weight)) return;
    const Axis& axis = axes_[level];
    Group alike;
    for (const Group& group : groups_[level]) {
      axis.parameter.set(params_, group.value);
      if (axis.coupling != Coupling::device && level < options_ && cut(level + 1, weight * group.weight)) continue;
      if (axis.coupling == Coupling::divisor) {
        alike = {group.value, alike.weight + group.weight};
      } else {
        visit(level + 1, weight * group.weight);
      }
    }
    if (alike.weight == 0) return;
    axis.parameter.set(params_, alike.value);
    visit(level + 1, weight * alike.weight);
  }

  void leaf(std::uint64_t weight) {
    const std::string_view violation = first_violation(params_);
    (violation.empty() ? admitted_ : fallen_[violation]) += weight;
  }

  const std::vector<Axis>& axes_;
  const DeviceLimits& device_;
  Params params_;
  std::vector<std::uint64_t> below_;  // points behind one value of the axis before
  std::vector<std::vector<Group>> groups_;
  std::size_t options_ = 0;  // number of the first axis that is an option
  std::uint64_t admitted_ = 0;
  std::map<std::string_view, std::uint64_t> fallen_;
};

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
  return rest == origin(space, params.precision);
}

Census count(const Space& space, Precision precision, const DeviceLimits& device) {
  return Counter(space, precision, device).run();
}

std::optional<Params> draw(const Space& space, Precision precision, std::mt19937& random, const DeviceLimits& device) {
  constexpr int tries = 1000000;
  Params p = origin(space, precision);
  for (int i = 0; i < tries; ++i) {
    // Not the standard's distributions: they differ from library to library.
    for (const Axis& axis : space.axes) axis.parameter.set(p, axis.values[random() % axis.values.size()]);
    if (admits(device, p)) return p;
  }
  return std::nullopt;
}

}  // namespace clbake::kernels
