// From measurements to the choice of the runtime: few variants, and rules that name one for every shape.
//
// What. The winners of all shapes would be too many programs, and would say nothing about the shapes between. So for
// each precision and pair of transposes:
//   - Few variants cover the shapes (coverage.hpp): the default ones first, then again and again the one that gains
//     most, as long as it gains 1 % on average or 25 % on one shape.
//   - The sizes m, n and k are cut into cells at powers of two. In each cell a variant is good enough when its expected
//     time is within 2 % of the best (Shepard's interpolation between the shapes that were timed), unless it was over
//     10 % slower than another one on a shape of that very cell.
//   - The variant that is good enough in most cells becomes the last rule, for all that no other rule names. The other
//     cells are covered with boxes, each the largest found in all of whose cells one variant is good enough.
// Batches have rules of their own, which come first.
//
// Why so. Weights fall with the sixth power of the distance, so that near shapes decide and far ones break ties. A set
// of variants that are good enough, rather than the best one, makes boxes large and rules few, and differences within
// the noise do not become rules.
//
// What was tried and was worse: cells without regard to what was measured in them chose, outvoted by the shapes around,
// variants that were slow on a shape of the cell; timing only powers of two said nothing about sizes that leave an
// edge. builder/TUNING.md has how good the choice is for shapes that were never timed.
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/tuning.hpp>
#include <clbake/kernels/defaults.hpp>

#include "profile/coverage.hpp"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace clbake::builder {
namespace {

constexpr std::size_t kMaxVariants = 8;  // for single products, and as many more for batches
// What a further variant has to gain: on the average of all shapes, or on one of them.
constexpr double kMeanGain = 0.01;
constexpr double kSingleGain = 0.25;
// Logarithms of time against the best up to which a variant is good enough in a cell: expected, and measured there.
constexpr double kGoodExpected = 0.02;
constexpr double kGoodMeasured = 0.1;
// Below this distance (in powers of two) shapes count as the same.
constexpr double kNear = 1;

// The largest sizes for which a rule may hold: powers of two, as the edges of tiles are.
std::vector<std::uint32_t> bounds() {
  std::vector<std::uint32_t> list;
  for (double exponent = 1; exponent < 13.5; ++exponent) {
    list.push_back(static_cast<std::uint32_t>(std::exp2(exponent)));
  }
  list.push_back(UINT32_MAX);
  return list;
}

// The logarithm (base 2) of the size that stands for the cell (bounds[i - 1], bounds[i]]. Three quarters of the way up:
// near the bound, which is the most common size, and not far from most others.
double representative(const std::vector<std::uint32_t>& bounds, std::size_t i) {
  const double low = i == 0 ? 0.0 : std::log2(static_cast<double>(bounds[i - 1]) + 1);
  const double high = i + 1 == bounds.size() ? low + 1 : std::log2(static_cast<double>(bounds[i]));
  return low + 0.75 * (high - low);
}

// A shape by the logarithms (base 2) of its sizes.
struct Point {
  double m = 0, n = 0, k = 0;
};

// The measurements that rules are made from: of one precision and pair of transposes, of single products or of batches.
struct Table {
  std::vector<std::uint32_t> shapes;          // indices into Tuning::shapes
  std::vector<std::uint32_t> variants;        // the chosen ones
  std::vector<Point> points;                  // of the shapes
  std::vector<std::vector<double>> slowdown;  // [variant][shape]: logarithm of time against the best variant
};

double squared_distance(const Point& a, const Point& b) {
  const double m = a.m - b.m;
  const double n = a.n - b.n;
  const double k = a.k - b.k;
  return m * m + n * n + k * k;
}

// Expected slowdown of the variants at a point: the mean over the timed shapes, with weights that fall with the sixth
// power of their distance (Shepard's interpolation).
std::vector<double> expected_at(const Table& table, const Point& point) {
  std::vector<double> expected(table.variants.size(), 0);
  double weights = 0;
  for (std::size_t s = 0; s < table.shapes.size(); ++s) {
    const double d = squared_distance(point, table.points[s]) + kNear * kNear;
    const double weight = 1 / (d * d * d);
    weights += weight;
    for (std::size_t v = 0; v < expected.size(); ++v) expected[v] += table.slowdown[v][s] * weight;
  }
  for (double& loss : expected) loss /= weights;
  return expected;
}

// The cells, each with the set of variants that are good enough there, and how boxes of cells become rules.
class Grid {
 public:
  Grid(std::vector<std::uint32_t> bounds, const Table& table)
      : bounds_(std::move(bounds)), side_(bounds_.size()), variants_(table.variants) {
    std::vector<std::vector<std::size_t>> timed(side_ * side_ * side_);  // in each cell
    for (std::size_t s = 0; s < table.shapes.size(); ++s) {
      const Point& point = table.points[s];
      timed[index(cell_of(point.m), cell_of(point.n), cell_of(point.k))].push_back(s);
    }
    for (std::size_t m = 0; m < side_; ++m) {
      for (std::size_t n = 0; n < side_; ++n) {
        for (std::size_t k = 0; k < side_; ++k) {
          const Point point{representative(bounds_, m), representative(bounds_, n), representative(bounds_, k)};
          good_.push_back(good_enough(table, point, timed[index(m, n, k)]));
        }
      }
    }
    done_.assign(good_.size(), false);
  }

  // Boxes for the cells where the most common variant is not good enough, and that variant for all the rest.
  std::vector<cache::Rule> rules(const cache::Rule& kind) {
    const std::size_t common = commonest();
    std::vector<cache::Rule> list;
    for (std::size_t at = 0; at < good_.size(); ++at) {
      if (done_[at] || good_[at][common]) continue;
      std::size_t best = 0;
      Box box{};
      std::size_t most = 0;  // cells that need a rule
      for (std::size_t v = 0; v < variants_.size(); ++v) {
        if (!good_[at][v]) continue;
        const Box grown = grow(at, v);
        std::size_t need = 0;
        for_each(grown, [&](std::size_t cell) { need += done_[cell] || good_[cell][common] ? 0U : 1U; });
        if (need <= most) continue;
        most = need;
        best = v;
        box = grown;
      }
      for_each(box, [&](std::size_t cell) { done_[cell] = true; });
      list.push_back(rule_of(box, kind, variants_[best]));
    }
    cache::Rule rest = kind;
    rest.variant = variants_[common];
    list.push_back(rest);
    return list;
  }

 private:
  using Set = std::bitset<2 * kMaxVariants>;
  struct Box {
    std::size_t low[3];
    std::size_t high[3];  // inclusive
  };

  static Set good_enough(const Table& table, const Point& point, const std::vector<std::size_t>& timed) {
    Set able;  // not measured to be slow in this cell; all, if all were
    for (std::size_t v = 0; v < table.variants.size(); ++v) {
      able[v] = std::all_of(timed.begin(), timed.end(),
                            [&](std::size_t s) { return table.slowdown[v][s] <= least(table, s) + kGoodMeasured; });
    }
    if (able.none()) able.set();
    const std::vector<double> expected = expected_at(table, point);
    double best = HUGE_VAL;
    for (std::size_t v = 0; v < expected.size(); ++v) best = able[v] ? std::min(best, expected[v]) : best;
    Set set;
    for (std::size_t v = 0; v < expected.size(); ++v) set[v] = able[v] && expected[v] <= best + kGoodExpected;
    return set;
  }

  // Of the table's variants on a shape.
  static double least(const Table& table, std::size_t s) {
    double least = HUGE_VAL;
    for (const std::vector<double>& row : table.slowdown) least = std::min(least, row[s]);
    return least;
  }

  std::size_t index(std::size_t m, std::size_t n, std::size_t k) const { return (m * side_ + n) * side_ + k; }

  // Of a size, as a power of two.
  std::size_t cell_of(double exponent) const {
    const auto size = static_cast<std::uint32_t>(std::lround(std::exp2(exponent)));
    return static_cast<std::size_t>(std::lower_bound(bounds_.begin(), bounds_.end(), size) - bounds_.begin());
  }

  template <typename Use>
  void for_each(const Box& box, const Use& use) const {
    for (std::size_t m = box.low[0]; m <= box.high[0]; ++m) {
      for (std::size_t n = box.low[1]; n <= box.high[1]; ++n) {
        for (std::size_t k = box.low[2]; k <= box.high[2]; ++k) use(index(m, n, k));
      }
    }
  }

  std::size_t commonest() const {
    std::vector<std::size_t> counts(variants_.size(), 0);
    for (const Set& set : good_) {
      for (std::size_t v = 0; v < counts.size(); ++v) counts[v] += set[v] ? 1U : 0U;
    }
    return static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
  }

  // Cells of earlier rules may lie in the box, as the first rule that fits decides.
  bool fits(const Box& box, std::size_t variant) const {
    bool all = true;
    for_each(box, [&](std::size_t at) { all = all && (done_[at] || good_[at][variant]); });
    return all;
  }

  Box grow(std::size_t at, std::size_t variant) const {
    Box box{{at / side_ / side_, at / side_ % side_, at % side_}, {at / side_ / side_, at / side_ % side_, at % side_}};
    for (bool grown = true; grown;) {
      grown = false;
      for (const int axis : {2, 1, 0}) {
        Box layer = box;
        layer.low[axis] = layer.high[axis] = box.high[axis] + 1;
        if (layer.high[axis] >= side_ || !fits(layer, variant)) continue;
        box.high[axis] = layer.high[axis];
        grown = true;
      }
    }
    return box;
  }

  cache::Rule rule_of(const Box& box, const cache::Rule& kind, std::uint32_t variant) const {
    cache::Rule rule = kind;
    const auto range = [&](int axis, std::uint32_t& least, std::uint32_t& most) {
      least = box.low[axis] == 0 ? 0 : bounds_[box.low[axis] - 1] + 1;
      most = bounds_[box.high[axis]];
    };
    range(0, rule.m_min, rule.m_max);
    range(1, rule.n_min, rule.n_max);
    range(2, rule.k_min, rule.k_max);
    rule.variant = variant;
    return rule;
  }

  std::vector<std::uint32_t> bounds_;
  std::size_t side_;
  std::vector<std::uint32_t> variants_;
  std::vector<Set> good_;
  std::vector<bool> done_;
};

// Names of the default variants of any device: those of the tuned one are the ones that were timed.
const std::set<std::string>& default_names() {
  static const std::set<std::string> names = [] {
    std::set<std::string> all;
    for (const kernels::DeviceType type : kernels::all_device_types) {
      for (const Precision precision : all_precisions) {
        for (const std::uint32_t vector_bytes : {32U, 64U}) {
          for (const auto& p : kernels::default_variants(type, precision, vector_bytes)) {
            all.insert(kernels::name(p));
          }
        }
      }
    }
    return all;
  }();
  return names;
}

std::vector<std::uint32_t> default_variants(const Tuning& tuning) {
  std::vector<std::uint32_t> list;
  for (std::uint32_t v = 0; v < tuning.variants.size(); ++v) {
    if (default_names().count(tuning.variants[v]) > 0) list.push_back(v);
  }
  return list;
}

Table make_table(const Tuning& tuning, const Times& times, const std::vector<std::uint32_t>& shapes,
                 const std::vector<std::uint32_t>& variants) {
  Table table{shapes, variants, {}, {}};
  for (const std::uint32_t s : shapes) {
    const Shape& shape = tuning.shapes[s];
    table.points.push_back({std::log2(static_cast<double>(shape.m)), std::log2(static_cast<double>(shape.n)),
                            std::log2(static_cast<double>(shape.k))});
  }
  for (const std::uint32_t v : variants) {
    std::vector<double>& row = table.slowdown.emplace_back();
    for (const std::uint32_t s : shapes) row.push_back(times.slowdown(v, s));
  }
  return table;
}

// Of single products and of batches; either may have none.
using Shapes = std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>;

// For both: what is in the bundle for one of them may serve the other. The default variants first: they are what a new
// search has to beat, and most of them are in every bundle anyway.
std::vector<std::uint32_t> choose_variants(const Tuning& tuning, const Times& times, const Shapes& shapes) {
  const auto& [single, batched] = shapes;
  const std::vector<std::uint32_t> defaults = default_variants(tuning);
  std::vector<std::uint32_t> chosen = times.cover(single, kMaxVariants, kMeanGain, kSingleGain, defaults);
  const std::vector<std::uint32_t> more = times.cover(batched, kMaxVariants, kMeanGain, kSingleGain, defaults, chosen);
  chosen.insert(chosen.end(), more.begin(), more.end());
  return chosen;
}

void add_rules(Tuning& tuning, const Table& table, const cache::Rule& kind) {
  if (table.shapes.empty()) return;  // else there is a variant: `cover` has at least one
  for (const cache::Rule& rule : Grid(bounds(), table).rules(kind)) tuning.rules.push_back(rule);
}

}  // namespace

void fit(Tuning& tuning) {
  tuning.winners.clear();
  tuning.rules.clear();
  const Times times(tuning);
  for (std::uint32_t s = 0; s < tuning.shapes.size(); ++s) {
    const Measurement* winner = times.winner(s);
    if (winner) tuning.winners.push_back({shape_class(tuning.shapes[s]), *winner});
  }
  std::map<GemmKind, Shapes> kinds;
  for (std::uint32_t s = 0; s < tuning.shapes.size(); ++s) {
    if (times.best(s) <= 0) continue;
    auto& [single, batched] = kinds[tuning.shapes[s].kind()];
    (tuning.shapes[s].batch > 1 ? batched : single).push_back(s);
  }
  for (const auto& [kind, shapes] : kinds) {
    const std::vector<std::uint32_t> variants = choose_variants(tuning, times, shapes);
    cache::Rule rule;
    rule.kind() = kind;
    const auto& [single, batched] = shapes;
    cache::Rule of_batches = rule;
    of_batches.batch_min = 2;
    add_rules(tuning, make_table(tuning, times, batched, variants), of_batches);
    add_rules(tuning, make_table(tuning, times, single.empty() ? batched : single, variants), rule);
  }
}

}  // namespace clbake::builder
