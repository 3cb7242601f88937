// From measurements to winners and rules. TUNING.md says why it is done this way and how good the rules are for shapes
// that were never timed.
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

constexpr std::size_t kMostVariants = 8;  // of a kind, and as many more for its batches
// A variant has to gain so much over those that are chosen already: on the average of all shapes, or on one of them.
constexpr double kMeanGain = 0.01;
constexpr double kSingleGain = 0.25;
// An expected difference of speed that is not worth a rule, and a measured one.
constexpr double kNearly = 0.02;
constexpr double kNearlyMeasured = 0.1;
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

// The size that stands for (before, bound]; powers of two. Three quarters of the way: the bound itself, a size that
// many have, is near, and so are most of those that are not much smaller.
double typical(const std::vector<std::uint32_t>& bounds, std::size_t i) {
  const double low = i == 0 ? 0.0 : std::log2(static_cast<double>(bounds[i - 1]) + 1);
  const double high = i + 1 == bounds.size() ? low + 1 : std::log2(static_cast<double>(bounds[i]));
  return low + 0.75 * (high - low);
}

struct Place {
  double m = 0, n = 0, k = 0;  // powers of two
};

// Measurements of one kind, of single products or of batches, as a table.
struct Table {
  std::vector<std::uint32_t> shapes;          // indices into Tuning::shapes
  std::vector<std::uint32_t> variants;        // those that were chosen
  std::vector<Place> places;                  // of the shapes
  std::vector<std::vector<double>> slowdown;  // [variant][shape]: logarithm of time against the best variant
};

double squared_distance(const Place& a, const Place& b) {
  const double m = a.m - b.m;
  const double n = a.n - b.n;
  const double k = a.k - b.k;
  return m * m + n * n + k * k;
}

// What the variants are expected to lose at a place: the shapes around it vote with weights that fall with the sixth
// power of their distance (Shepard's interpolation).
std::vector<double> expected_at(const Table& table, const Place& place) {
  std::vector<double> expected(table.variants.size(), 0);
  double weights = 0;
  for (std::size_t s = 0; s < table.shapes.size(); ++s) {
    const double d = squared_distance(place, table.places[s]) + kNear * kNear;
    const double weight = 1 / (d * d * d);
    weights += weight;
    for (std::size_t v = 0; v < expected.size(); ++v) expected[v] += table.slowdown[v][s] * weight;
  }
  for (double& loss : expected) loss /= weights;
  return expected;
}

// ---- Cells to boxes ----

// For each cell a set of variants, any of which will do there. Those that were much slower than another one on a shape
// of the cell will not, unless that is true of all; of the rest those that are expected to be nearly the fastest.
class Grid {
 public:
  Grid(std::vector<std::uint32_t> bounds, const Table& table)
      : bounds_(std::move(bounds)), side_(bounds_.size()), variants_(table.variants) {
    std::vector<std::vector<std::size_t>> timed(side_ * side_ * side_);  // in each cell
    for (std::size_t s = 0; s < table.shapes.size(); ++s) {
      const Place& place = table.places[s];
      timed[index(cell_of(place.m), cell_of(place.n), cell_of(place.k))].push_back(s);
    }
    for (std::size_t m = 0; m < side_; ++m) {
      for (std::size_t n = 0; n < side_; ++n) {
        for (std::size_t k = 0; k < side_; ++k) {
          const Place place{typical(bounds_, m), typical(bounds_, n), typical(bounds_, k)};
          fit_.push_back(fitting(table, place, timed[index(m, n, k)]));
        }
      }
    }
    done_.assign(fit_.size(), false);
  }

  // The variant that will do in most cells is the rule for all that no other rule names. For the other cells boxes of a
  // variant that will do in all of the box, each the largest found.
  std::vector<cache::Rule> rules(const cache::Rule& kind) {
    const std::size_t common = commonest();
    std::vector<cache::Rule> list;
    for (std::size_t at = 0; at < fit_.size(); ++at) {
      if (done_[at] || fit_[at][common]) continue;
      std::size_t best = 0;
      Box box{};
      std::size_t most = 0;  // cells that need a rule
      for (std::size_t v = 0; v < variants_.size(); ++v) {
        if (!fit_[at][v]) continue;
        const Box grown = grow(at, v);
        std::size_t need = 0;
        for_each(grown, [&](std::size_t cell) { need += done_[cell] || fit_[cell][common] ? 0U : 1U; });
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
  using Set = std::bitset<2 * kMostVariants>;
  struct Box {
    std::size_t low[3];
    std::size_t high[3];  // inclusive
  };

  static Set fitting(const Table& table, const Place& place, const std::vector<std::size_t>& timed) {
    Set able;
    for (std::size_t v = 0; v < table.variants.size(); ++v) {
      able[v] = std::all_of(timed.begin(), timed.end(),
                            [&](std::size_t s) { return table.slowdown[v][s] <= least(table, s) + kNearlyMeasured; });
    }
    if (able.none()) able.set();
    const std::vector<double> expected = expected_at(table, place);
    double best = HUGE_VAL;
    for (std::size_t v = 0; v < expected.size(); ++v) best = able[v] ? std::min(best, expected[v]) : best;
    Set set;
    for (std::size_t v = 0; v < expected.size(); ++v) set[v] = able[v] && expected[v] <= best + kNearly;
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
    for (const Set& set : fit_) {
      for (std::size_t v = 0; v < counts.size(); ++v) counts[v] += set[v] ? 1U : 0U;
    }
    return static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
  }

  // Cells of rules before it may lie in the box: the first rule that fits wins.
  bool fits(const Box& box, std::size_t variant) const {
    bool all = true;
    for_each(box, [&](std::size_t at) { all = all && (done_[at] || fit_[at][variant]); });
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
  std::vector<Set> fit_;
  std::vector<bool> done_;
};

// Names of the default variants of any device: those of the tuned one are the ones that were timed.
const std::set<std::string>& default_names() {
  static const std::set<std::string> names = [] {
    std::set<std::string> all;
    for (const kernels::DeviceType kind : {kernels::DeviceType::cpu, kernels::DeviceType::gpu}) {
      for (const Precision precision :
           {Precision::half_precision, Precision::single_precision, Precision::double_precision}) {
        for (const std::uint32_t vector_bytes : {32U, 64U}) {
          for (const auto& p : kernels::default_variants(kind, precision, vector_bytes)) {
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
    table.places.push_back({std::log2(static_cast<double>(shape.m)), std::log2(static_cast<double>(shape.n)),
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
  std::vector<std::uint32_t> chosen = times.cover(single, kMostVariants, kMeanGain, kSingleGain, defaults);
  const std::vector<std::uint32_t> more = times.cover(batched, kMostVariants, kMeanGain, kSingleGain, defaults, chosen);
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
