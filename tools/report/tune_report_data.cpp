// The figures of the page:
//
//   head        device, driver, command and what the search counted
//   families    names, in the order of the rows of `distributions`
//   variants    names, referred to by index
//   kinds[]     one for each precision and pair of transposes, with:
//     curves[]         best so far: shape, points of [seconds, variants tried, variant, GFLOP/s]
//     cells[]          the winner's figures for each shape that has one; `lead`: the second best's time over its own
//     distributions[]  for each probe: bins of equal width from 0 to `top` GFLOP/s, counted for each family
//     losses           for each winner: its time on each class of shapes, relative to the best
//   failures[]  causes that differ in numbers only, with examples
#include "report/tune_report.hpp"

#include <clbake/kernels/defaults.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace clbake::tool {
namespace {

using builder::Measurement;
using builder::Milestone;
using builder::Shape;
using builder::Tuning;
using builder::Winner;
using Json = nlohmann::ordered_json;

constexpr std::size_t kBins = 48;
constexpr std::size_t kMaxExamples = 20;     // of a cause
constexpr std::size_t kMaxCauses = 60;       // the rest is counted together
constexpr std::size_t kMaxCauseText = 2000;  // bytes

// Variants of the page, in the order in which they were first needed.
class Names {
 public:
  explicit Names(const Tuning& tuning) : tuning_(tuning) {}
  std::size_t index(std::uint32_t variant) {
    const auto [place, fresh] = index_.try_emplace(variant, names_.size());
    if (fresh) names_.push_back(tuning_.variants[variant]);
    return place->second;
  }
  const Json& json() const { return names_; }

 private:
  const Tuning& tuning_;
  std::map<std::uint32_t, std::size_t> index_;
  Json names_ = Json::array();
};

using KindKey = std::tuple<Precision, bool, bool>;

// The tuning by shape. Holds pointers into it.
struct View {
  const Tuning& tuning;
  std::map<KindKey, std::vector<std::uint32_t>> kinds;            // the shapes of each
  std::vector<std::vector<const Measurement*>> measurements;      // of each shape
  std::vector<const Winner*> winners;                             // of each shape; null: none
  std::map<std::uint32_t, std::vector<const Milestone*>> curves;  // of each shape that has one
};

bool positive(double value) { return std::isfinite(value) && value > 0; }

double gflops(const Tuning& tuning, const Measurement& m) {
  return builder::operations(tuning.shapes[m.shape]) / m.median_us / 1e3;
}

bool points_somewhere(const Tuning& t, std::uint32_t variant, std::uint32_t shape) {
  return variant < t.variants.size() && shape < t.shapes.size();
}

Status check(const Tuning& t) {
  bool good = true;
  for (const Measurement& m : t.measurements) good = good && points_somewhere(t, m.variant, m.shape);
  for (const Winner& w : t.winners) good = good && points_somewhere(t, w.figures.variant, w.figures.shape);
  for (const Milestone& m : t.curve) good = good && points_somewhere(t, m.variant, m.shape);
  return good ? Status() : Status(Code::malformed, "the tuning names a variant or a shape that it does not list");
}

View view_of(const Tuning& tuning) {
  View view{tuning, {}, {}, {}, {}};
  view.measurements.resize(tuning.shapes.size());
  view.winners.resize(tuning.shapes.size());
  for (std::uint32_t s = 0; s < tuning.shapes.size(); ++s) {
    const Shape& shape = tuning.shapes[s];
    view.kinds[{shape.precision, shape.trans_a, shape.trans_b}].push_back(s);
  }
  for (const Measurement& m : tuning.measurements) {
    if (positive(m.median_us)) view.measurements[m.shape].push_back(&m);
  }
  for (const Winner& w : tuning.winners) {
    if (positive(w.figures.median_us)) view.winners[w.figures.shape] = &w;
  }
  for (const Milestone& m : tuning.curve) {
    if (std::isfinite(m.seconds) && positive(m.gflops)) view.curves[m.shape].push_back(&m);
  }
  return view;
}

std::string size_text(const Shape& s) {
  std::string text = std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k);
  return s.batch > 1 ? text + " batch " + std::to_string(s.batch) : text;
}

Json head_json(const Tuning& t) {
  return {{"device", t.target.device_name},
          {"vendor", t.target.vendor},
          {"platform", t.target.platform_name},
          {"platform_version", t.target.platform_version},
          {"driver", t.target.driver_version},
          {"architecture", t.target.architecture},
          {"compute_units", t.compute_units},
          {"tool", t.tool},
          {"command", t.command},
          {"date", t.date},
          {"strategy", t.strategy},
          {"seed", std::to_string(t.seed)},  // JavaScript's integers are exact up to 2^53 only
          {"shard", t.shard},
          {"shards", t.shards},
          {"budget_s", t.budget_s},
          {"elapsed_s", t.elapsed_s},
          {"complete", t.complete},
          {"tried", t.tried},
          {"noise", t.noise},
          {"timed", t.variants.size()},
          {"failed", t.failures.size()},
          {"shapes", t.shapes.size()},
          {"measurements", t.measurements.size()},
          {"models", t.models.size()},
          {"exceptions", t.exceptions.size()},
          {"chosen", builder::wanted_variants(t).size()}};
}

// The fastest rival that ran to its end, as the winner had to; null when there was none.
const Measurement* second(const View& view, const Winner& winner) {
  const Measurement* best = nullptr;
  for (const Measurement* m : view.measurements[winner.figures.shape]) {
    const bool rival = m->runs > 1 && m->variant != winner.figures.variant;
    if (rival && (!best || m->median_us < best->median_us)) best = m;
  }
  return best;
}

// Its time over the winner's; 1, a tie, when the difference may be noise.
Json lead_json(const View& view, const Winner& winner) {
  const Measurement* rival = second(view, winner);
  if (!rival) return {};
  const double lead = rival->median_us / winner.figures.median_us;
  return std::log(lead) > builder::tie(view.tuning, *rival, winner.figures) ? Json(lead) : Json(1);
}

Json cell_json(const View& view, const Winner& winner, Names& names) {
  const Measurement& m = winner.figures;
  const Shape& shape = view.tuning.shapes[m.shape];
  return {{"m", shape.m},
          {"n", shape.n},
          {"k", shape.k},
          {"batch", shape.batch},
          {"class", winner.shape_class},
          {"variant", names.index(m.variant)},
          {"median_us", m.median_us},
          {"spread", m.spread},
          {"runs", m.runs},
          {"final", m.final},
          {"gflops", gflops(view.tuning, m)},
          {"timed", view.measurements[m.shape].size()},
          {"lead", lead_json(view, winner)}};
}

Json cells_json(const View& view, const std::vector<std::uint32_t>& shapes, Names& names) {
  Json cells = Json::array();
  for (const std::uint32_t s : shapes) {
    if (view.winners[s]) cells.push_back(cell_json(view, *view.winners[s], names));
  }
  return cells;
}

Json curve_json(const View& view, std::uint32_t shape, Names& names) {
  std::vector<const Milestone*> steps = view.curves.at(shape);
  std::stable_sort(steps.begin(), steps.end(), [](auto* a, auto* b) { return a->seconds < b->seconds; });
  Json points = Json::array();
  for (const Milestone* m : steps) points.push_back({m->seconds, m->tried, names.index(m->variant), m->gflops});
  const Winner* winner = view.winners[shape];
  return {{"shape", size_text(view.tuning.shapes[shape])},
          {"points", points},
          {"winner", winner ? Json(gflops(view.tuning, winner->figures)) : Json()}};
}

// The shapes that tell most about variants: those that the search's first stage used, else the two that most were timed
// on.
std::vector<std::uint32_t> probes(const View& view, const std::vector<std::uint32_t>& shapes) {
  std::vector<std::uint32_t> found;
  for (const std::uint32_t s : shapes) {
    if (view.curves.count(s)) found.push_back(s);
  }
  if (!found.empty()) return found;
  found = shapes;
  std::stable_sort(found.begin(), found.end(), [&](std::uint32_t a, std::uint32_t b) {
    return view.measurements[a].size() > view.measurements[b].size();
  });
  found.resize(std::min<std::size_t>(found.size(), 2));
  return found;
}

constexpr std::size_t kFamilies = std::size(kernels::all_families) + 1;  // and "other": of a later version

std::size_t family_of(const std::string& variant) {
  const std::string head = variant.substr(0, variant.find('-'));
  const auto* known = std::find_if(std::begin(kernels::all_families), std::end(kernels::all_families),
                                   [&](kernels::Family family) { return kernels::name(family) == head; });
  return static_cast<std::size_t>(known - std::begin(kernels::all_families));
}

Json families_json() {
  Json names = Json::array();
  for (const kernels::Family family : kernels::all_families) names.push_back(kernels::name(family));
  names.push_back("other");
  return names;
}

// What is baked without a profile, for whatever device.
std::set<std::string> default_names() {
  std::set<std::string> names;
  for (const kernels::DeviceType type : kernels::all_device_types) {
    for (const Precision precision : all_precisions) {
      for (const std::uint32_t vector_bytes : {32U, 64U}) {
        for (const kernels::Params& p : kernels::default_variants(type, precision, vector_bytes)) {
          names.insert(kernels::name(p));
        }
      }
    }
  }
  return names;
}

Json mark_json(const Tuning& tuning, const Measurement* m, Names& names) {
  return m ? Json{{"variant", names.index(m->variant)}, {"gflops", gflops(tuning, *m)}} : Json();
}

const Measurement* faster(const Measurement* best, const Measurement* m) {
  return best && best->median_us <= m->median_us ? best : m;
}

Json distribution_json(const View& view, std::uint32_t shape, const std::set<std::string>& defaults, Names& names) {
  const Tuning& tuning = view.tuning;
  struct Row {
    std::array<std::size_t, kBins> bins{};
    std::size_t count = 0;
    const Measurement* best = nullptr;
  };
  std::array<Row, kFamilies> rows{};
  double top = 0;
  std::size_t stopped = 0;
  const Measurement* best_default = nullptr;
  for (const Measurement* m : view.measurements[shape]) top = std::max(top, gflops(tuning, *m));
  for (const Measurement* m : view.measurements[shape]) {
    const std::string& name = tuning.variants[m->variant];
    Row& row = rows[family_of(name)];
    const auto bin = static_cast<std::size_t>(gflops(tuning, *m) / top * kBins);
    ++row.bins[std::min(bin, kBins - 1)];
    ++row.count;
    row.best = faster(row.best, m);
    stopped += m->runs == 1 ? 1 : 0;
    if (defaults.count(name)) best_default = faster(best_default, m);
  }
  Json json{{"shape", size_text(tuning.shapes[shape])},
            {"top", top},
            {"count", view.measurements[shape].size()},
            {"stopped", stopped},
            {"winner", mark_json(tuning, view.winners[shape] ? &view.winners[shape]->figures : nullptr, names)},
            {"default", mark_json(tuning, best_default, names)},
            {"rows", Json::array()}};
  for (const Row& row : rows) {
    json["rows"].push_back({{"count", row.count},
                            {"best", mark_json(tuning, row.best, names)},
                            {"bins", row.count ? Json(row.bins) : Json::array()}});
  }
  return json;
}

// Times of a variant relative to the best: their geometric mean.
struct Loss {
  double logs = 0;
  std::size_t measured = 0;
  std::size_t served = 0;  // shapes that it wins
  double worst = 0;
  void add(double ratio, bool serves) {
    logs += std::log(ratio);
    ++measured;
    served += serves ? 1 : 0;
    worst = std::max(worst, ratio);
  }
  Json json() const {
    if (measured == 0) return {};
    return {{"ratio", std::exp(logs / static_cast<double>(measured))},
            {"measured", measured},
            {"served", served},
            {"worst", worst}};
  }
};

// What each winner would cost if it also served other shapes. The row with the most shapes served comes first.
Json losses_json(const View& view, const std::vector<std::uint32_t>& shapes, Names& names) {
  std::map<std::string, std::size_t> classes;                             // shapes of each
  std::map<std::uint32_t, Loss> all;                                      // of each winner
  std::map<std::pair<std::uint32_t, std::string>, Loss> losses_of_class;  // of each winner in each class
  for (const std::uint32_t s : shapes) {
    if (!view.winners[s]) continue;
    ++classes[view.winners[s]->shape_class];
    all.try_emplace(view.winners[s]->figures.variant);
  }
  for (const std::uint32_t s : shapes) {
    if (!view.winners[s]) continue;
    const Measurement& best = view.winners[s]->figures;
    for (const Measurement* m : view.measurements[s]) {
      const auto row = all.find(m->variant);
      if (row == all.end()) continue;
      const double ratio = m->median_us / best.median_us;
      row->second.add(ratio, m->variant == best.variant);
      losses_of_class[{m->variant, view.winners[s]->shape_class}].add(ratio, m->variant == best.variant);
    }
  }
  std::vector<std::pair<std::uint32_t, Loss>> rows(all.begin(), all.end());
  std::stable_sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.second.served > b.second.served; });
  Json json{{"classes", Json::array()}, {"rows", Json::array()}};
  for (const auto& [name, count] : classes) json["classes"].push_back({{"name", name}, {"shapes", count}});
  for (const auto& [variant, loss] : rows) {
    Json cells = Json::array();
    for (const auto& entry : classes) cells.push_back(losses_of_class[{variant, entry.first}].json());
    json["rows"].push_back({{"variant", names.index(variant)}, {"all", loss.json()}, {"cells", cells}});
  }
  return json;
}

Json kind_json(const View& view, const KindKey& key, const std::vector<std::uint32_t>& shapes, Names& names) {
  const auto& [precision, trans_a, trans_b] = key;
  Json json{{"precision", clbake::name(precision)},
            {"transposes", std::string(trans_a ? "t" : "n") + (trans_b ? "t" : "n")},
            {"shapes", shapes.size()},
            {"losses", losses_json(view, shapes, names)},
            {"cells", cells_json(view, shapes, names)},
            {"curves", Json::array()},
            {"distributions", Json::array()}};
  static const std::set<std::string> defaults = default_names();
  for (const std::uint32_t s : probes(view, shapes)) {
    if (view.curves.count(s)) json["curves"].push_back(curve_json(view, s, names));
    if (!view.measurements[s].empty()) json["distributions"].push_back(distribution_json(view, s, defaults, names));
  }
  return json;
}

// A cause without the variant's own name and without numbers: equal ones are shown as one.
std::string alike(const builder::Failure& failure) {
  std::string text = failure.cause;
  for (std::size_t at = 0; !failure.variant.empty() && (at = text.find(failure.variant, at)) != std::string::npos;) {
    text.erase(at, failure.variant.size());
  }
  std::string key;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) {
      key += c;
    } else if (key.empty() || key.back() != '#') {
      key += '#';
    }
  }
  return key;
}

// Never cuts through a UTF-8 character: the serializer would replace the half.
std::string shortened(const std::string& text) {
  if (text.size() <= kMaxCauseText) return text;
  std::size_t end = kMaxCauseText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + " ...";
}

Json failures_json(const Tuning& tuning) {
  std::map<std::string, std::vector<const builder::Failure*>> groups;
  for (const builder::Failure& failure : tuning.failures) groups[alike(failure)].push_back(&failure);
  std::vector<std::vector<const builder::Failure*>> sorted;
  for (auto& group : groups) sorted.push_back(std::move(group.second));
  std::stable_sort(sorted.begin(), sorted.end(), [](auto& a, auto& b) { return a.size() > b.size(); });
  Json json = Json::array();
  std::size_t rest = 0;
  for (const auto& group : sorted) {
    if (json.size() == kMaxCauses) {
      rest += group.size();
      continue;
    }
    Json examples = Json::array();
    for (std::size_t i = 0; i < std::min(group.size(), kMaxExamples); ++i) examples.push_back(group[i]->variant);
    json.push_back({{"cause", shortened(group.front()->cause)}, {"count", group.size()}, {"examples", examples}});
  }
  if (rest > 0) json.push_back({{"cause", "other causes"}, {"count", rest}, {"examples", Json::array()}});
  return json;
}

}  // namespace

Result<Json> report_data(const Tuning& tuning) {
  const Status checked = check(tuning);
  if (!checked) return checked;
  const View view = view_of(tuning);
  Names names(tuning);
  Json kinds = Json::array();
  for (const auto& [key, shapes] : view.kinds) kinds.push_back(kind_json(view, key, shapes, names));
  return Json{{"head", head_json(tuning)},
              {"families", families_json()},
              {"variants", names.json()},
              {"kinds", kinds},
              {"failures", failures_json(tuning)}};
}

}  // namespace clbake::tool
