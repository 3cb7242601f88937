// The JSON of a release:
//
//   bundles, against   [{file, bytes, program_bytes, stored_bytes, targets, entries}]; program_bytes before compression
//   shapes             the file's name, or null
//   newer_driver       true or false
//   precisions         [{precision, problems, shown: [name]}]: shown are the heaviest problems
//   targets            [{device, offline, driver, platform, architecture, status, entries, program_bytes, cells}], a
//                      device with a driver each; offline: of an offline compiler, for any device of the architecture;
//                      status is "kept", "added" or "lost" (null without `against`)
//   ... cells          one for each of `precisions`: {figures}, before: {figures} or null, speedup, and
//                      shown: [{origin, variant, proven, jit_free, expected_us, gflops}]
//   ... own            one for each of `programs`: {origin, proven, jit_free, bytes, why, before}: bytes before
//                      compression, why: what it lacks, before: origin in the last release, each of them or null
//   programs           names of the application's own programs, of either release
//   total              {figures} of all cells, without those of lost targets
//   own                {programs, native, portable, source, none, proven, jit_free}: the same of the `own` of all
//   targets worse, better      how many problems and programs on how many targets are served by something worse, or
//   better, than
//                      before
//   changes            these, in groups of one kind ("program" for programs) on one target: [{target, kind, problems,
//                      examples, before, after, why}]; more_changes: groups that are left out
//
// Figures are {problems, native, portable, source, none, proven, jit_free, native_share, expected, gflops, misses}:
// numbers of problems by what serves them, the part of their weights that machine code for this device and
// driver serves, how many have an expected time (none that is compiled from source), the geometric mean of the speeds
// that follow, and why other problems have no such machine code.
#include "report/release/release_report.hpp"

#include "report/release/release_programs.hpp"

#include <clbake/builder/release/bundle_summary.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

namespace clbake::tool {
namespace {

using Json = nlohmann::ordered_json;
using builder::Shape;
using builder::release::Served;
using builder::release::Serving;

constexpr std::size_t kMostShown = 6;
constexpr std::size_t kMostChanges = 100;
constexpr std::size_t kMostExamples = 3;

// Nothing where the driver compiles the source: the models were fitted to baked programs.
std::optional<double> expected_us(const Served& served) {
  const bool baked = source_of(served) < Source::source;
  return baked && served.expected_us && *served.expected_us > 0 ? served.expected_us : std::nullopt;
}

struct Figures {
  std::size_t problems = 0, proven = 0, jit_free = 0, expected = 0;
  std::size_t by_source[kSources] = {};
  double weight = 0, native_weight = 0;
  double expected_weight = 0, log_gflops = 0;  // of the problems with an expected time; the sum of weighted logarithms
  std::map<std::string, std::size_t> misses;

  void add(const Served& served, const Shape& shape) {
    const Source source = source_of(served);
    ++problems;
    ++by_source[static_cast<std::size_t>(source)];
    weight += shape.weight;
    if (served.program) {
      proven += served.program->proven ? 1 : 0;
      jit_free += served.program->jit_free ? 1 : 0;
    }
    const Status& why = served.program ? served.program->miss : served.failure;
    if (why.ok()) native_weight += shape.weight;
    if (!why.ok()) ++misses[std::string(clbake::name(why.code()))];
    const std::optional<double> us = expected_us(served);
    if (!us) return;
    ++expected;
    expected_weight += shape.weight;
    log_gflops += shape.weight * std::log(builder::gflops(shape, *us));
  }

  void add(const Figures& other) {
    problems += other.problems;
    proven += other.proven;
    jit_free += other.jit_free;
    expected += other.expected;
    for (std::size_t i = 0; i < kSources; ++i) by_source[i] += other.by_source[i];
    weight += other.weight;
    native_weight += other.native_weight;
    expected_weight += other.expected_weight;
    log_gflops += other.log_gflops;
    for (const auto& [why, count] : other.misses) misses[why] += count;
  }

  Json json() const {
    Json json{{"problems", problems}};
    for (std::size_t i = 0; i < kSources; ++i) json[kSourceNames[i]] = by_source[i];
    json.update({{"proven", proven},
                 {"jit_free", jit_free},
                 {"native_share", weight > 0 ? native_weight / weight : 0},
                 {"expected", expected},
                 {"gflops", expected_weight > 0 ? Json(std::exp(log_gflops / expected_weight)) : Json()},
                 {"misses", misses}});
    return json;
  }
};

// A target of either release.
struct Row {
  Target target;
  bool now = false, before = false;  // has programs in that release
  std::size_t entries = 0;           // of this release
  std::uint64_t program_bytes = 0;   // of these, before compression
};

// The order of the rows: drivers of a device one after the other.
auto row_order(const Target& t) {
  return std::tie(t.platform_name, t.vendor, t.device_name, t.architecture, t.driver_version, t.platform_version,
                  t.device_version, t.address_bits);
}

// The row of a target, made if there is none. Valid until the next call.
Row& row_of(const Target& target, std::vector<Row>& rows) {
  auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.target == target; });
  if (row == rows.end()) row = rows.insert(row, {target});
  return *row;
}

// A release's bundles with what they hold.
struct Counted {
  const ReleaseBundle* named;
  builder::release::BundleSummary counts;
};

Result<std::vector<Counted>> summaries(const std::vector<ReleaseBundle>& bundles) {
  std::vector<Counted> all;
  for (const ReleaseBundle& named : bundles) {
    Result<builder::release::BundleSummary> counts = builder::release::summarize(named.bundle);
    if (!counts) return counts.status().within(named.file);
    all.push_back({&named, std::move(*counts)});
  }
  return all;
}

Status add_rows(const std::vector<Counted>& bundles, bool now, std::vector<Row>& rows) {
  for (const Counted& bundle : bundles) {
    for (const builder::release::TargetCounts& counts : bundle.counts.targets) {
      const Result<Target> target = bundle.named->bundle.target(counts.target);
      if (!target) return target.status().within(bundle.named->file);
      Row& row = row_of(*target, rows);
      (now ? row.now : row.before) = true;
      row.entries += now ? counts.native + counts.portable : 0;
      row.program_bytes += now ? counts.bytes : 0;
    }
  }
  return {};
}

Result<std::vector<Row>> rows_of(const std::vector<Counted>& now, const std::vector<Counted>& last) {
  std::vector<Row> rows;
  Status added = add_rows(now, true, rows);
  if (added) added = add_rows(last, false, rows);
  if (!added) return added;
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return row_order(a.target) < row_order(b.target); });
  return rows;
}

// The shapes of one precision.
struct Column {
  Precision precision = Precision::single_precision;
  std::vector<const Shape*> shapes;  // the heaviest first
  std::size_t shown() const { return std::min(shapes.size(), kMostShown); }
};

std::vector<Column> columns_of(const std::vector<Shape>& shapes) {
  std::vector<Column> columns;
  for (const Precision precision : all_precisions) {
    Column column{precision, {}};
    for (const Shape& shape : shapes) {
      if (shape.precision == precision) column.shapes.push_back(&shape);
    }
    std::stable_sort(column.shapes.begin(), column.shapes.end(),
                     [](const Shape* a, const Shape* b) { return a->weight > b->weight; });
    if (!column.shapes.empty()) columns.push_back(std::move(column));
  }
  return columns;
}

Json shown_json(const Served& served, const Shape& shape) {
  Json json{{"origin", name(source_of(served))}};
  if (served.program) {
    json.update({{"variant", served.program->name},
                 {"proven", served.program->proven},
                 {"jit_free", served.program->jit_free}});
  }
  const std::optional<double> us = expected_us(served);
  json["expected_us"] = us ? Json(*us) : Json();
  json["gflops"] = us ? Json(builder::gflops(shape, *us)) : Json();
  return json;
}

// Problems of one kind, or programs, on one target that something else serves than before.
struct Change {
  std::string target;
  std::string kind;
  Source before, after;
  std::string why;  // the first of them is no better
  std::size_t count = 0;
  std::vector<std::string> examples;  // the heaviest
  double weight = 0;
  bool is_worse() const { return after > before; }
};

constexpr const char* kProgram = "program";  // the kind of a change

// Sums over all targets.
struct Totals {
  Figures now;
  std::vector<Change> changes;

  void add_change(const Row& row, const Shape& shape, Source before, const Served& served) {
    const Source after = source_of(served);
    if (before == after) return;
    const Status& why = served.program ? served.program->miss : served.failure;
    add_change(
        {builder::release::target_name(row.target),
         builder::kind_name(shape.kind()),
         before,
         after,
         why.message(),
         0,
         {},
         0},
        [&] { return builder::name(shape); }, shape.weight);
  }

  void add_change(const Row& row, const ReleasePrograms::Row& program) {
    if (!program.before || *program.before == program.now) return;
    add_change(
        {builder::release::target_name(row.target), kProgram, *program.before, program.now, program.why, 0, {}, 0},
        [&] { return program.name; }, 1);
  }

 private:
  // `name` is called for examples only.
  template <typename Name>
  void add_change(Change change, const Name& name, double weight) {
    // Those of this target are the last ones.
    auto known = std::find_if(changes.rbegin(), changes.rend(), [&](const Change& c) {
      return c.target == change.target && c.kind == change.kind && c.before == change.before && c.after == change.after;
    });
    if (known == changes.rend()) {
      changes.push_back(std::move(change));
      known = changes.rbegin();
    }
    if (known->examples.size() < kMostExamples) known->examples.push_back(name());
    ++known->count;
    known->weight += weight;
  }
};

// The geometric mean of old times over new ones, of the problems that have both.
class Speedup {
 public:
  void add(const Served& before, const Served& after, double weight) {
    const std::optional<double> old_us = expected_us(before), new_us = expected_us(after);
    if (!old_us || !new_us) return;
    logs_ += weight * std::log(*old_us / *new_us);
    weights_ += weight;
  }
  Json json() const { return weights_ > 0 ? Json(std::exp(logs_ / weights_)) : Json(); }

 private:
  double logs_ = 0, weights_ = 0;
};

Result<Json> cell_json(const Column& column, const Row& row, Serving& now, std::optional<Serving>& last,
                       Totals& totals) {
  Figures figures, before;
  Speedup speedup;
  Json shown = Json::array();
  for (const Shape* shape : column.shapes) {
    const Result<Served> served = now.find(*shape);
    if (!served) return served.status();
    figures.add(*served, *shape);
    if (shown.size() < column.shown()) shown.push_back(shown_json(*served, *shape));
    if (!last) continue;
    const Result<Served> served_before = last->find(*shape);
    if (!served_before) return served_before.status();
    before.add(*served_before, *shape);
    speedup.add(*served_before, *served, shape->weight);
    totals.add_change(row, *shape, source_of(*served_before), *served);
  }
  if (row.now) totals.now.add(figures);
  Json json{{"precision", clbake::name(column.precision)}};
  json.update(figures.json());
  json["before"] = last ? before.json() : Json();
  json["speedup"] = speedup.json();
  json["shown"] = std::move(shown);
  return json;
}

const char* status_of(const Row& row) { return row.now && row.before ? "kept" : row.now ? "added" : "lost"; }

Result<Json> own_json(const Row& row, Serving& now, std::optional<Serving>& last, ReleasePrograms& programs,
                      Totals& totals) {
  const Result<std::vector<ReleasePrograms::Row>> own = programs.rows(now, last, row.now);
  if (!own) return own.status();
  Json json = Json::array();
  for (const ReleasePrograms::Row& program : *own) {
    totals.add_change(row, program);
    json.push_back(program.json);
  }
  return json;
}

Result<Serving> serving_of(const std::vector<ReleaseBundle>& named, const Release& release, const Target& target) {
  std::vector<Bundle> bundles;
  for (const ReleaseBundle& bundle : named) bundles.push_back(bundle.bundle);
  return Serving::create(bundles, builder::release::served_device(target), release.newer_driver);
}

Result<Json> row_json(const Release& release, const Row& row, const std::vector<Column>& columns,
                      ReleasePrograms& programs, Totals& totals) {
  Result<Serving> now = serving_of(release.bundles, release, row.target);
  if (!now) return now.status();
  std::optional<Serving> last;
  if (!release.against.empty()) {
    Result<Serving> serving = serving_of(release.against, release, row.target);
    if (!serving) return serving.status();
    last = std::move(*serving);
  }
  const Target& t = row.target;
  Json json{{"device", t.device_name.empty() ? builder::release::target_name(t) : t.device_name},
            {"offline", t.device_name.empty()},
            {"driver", t.driver_version},
            {"platform", t.platform_name},
            {"platform_version", t.platform_version},
            {"architecture", t.architecture},
            {"status", last ? Json(status_of(row)) : Json()},
            {"entries", row.entries},
            {"program_bytes", row.program_bytes},
            {"cells", Json::array()}};
  for (const Column& column : columns) {
    Result<Json> cell = cell_json(column, row, *now, last, totals);
    if (!cell) return cell;
    json["cells"].push_back(std::move(*cell));
  }
  Result<Json> own = own_json(row, *now, last, programs, totals);
  if (!own) return own;
  json["own"] = std::move(*own);
  return json;
}

Json bundles_json(const std::vector<Counted>& bundles) {
  Json all = Json::array();
  for (const auto& [named, counts] : bundles) {
    all.push_back({{"file", named->file},
                   {"bytes", named->bundle.size_bytes()},
                   {"program_bytes", counts.all.bytes},
                   {"stored_bytes", counts.all.stored_bytes},
                   {"targets", counts.targets.size()},
                   {"entries", named->bundle.entry_count()}});
  }
  return all;
}

Json precisions_json(const std::vector<Column>& columns) {
  Json all = Json::array();
  for (const Column& column : columns) {
    Json shown = Json::array();
    for (std::size_t i = 0; i < column.shown(); ++i) shown.push_back(builder::name(*column.shapes[i]));
    all.push_back(
        {{"precision", clbake::name(column.precision)}, {"problems", column.shapes.size()}, {"shown", shown}});
  }
  return all;
}

Json change_json(const Change& change) {
  return {{"target", change.target},
          {"kind", change.kind},
          {"problems", change.count},
          {"examples", change.examples},
          {"before", name(change.before)},
          {"after", name(change.after)},
          {"why", change.is_worse() ? Json(change.why) : Json()}};
}

// The changes for the worse first, of these the heaviest first.
void add_changes(std::vector<Change> changes, Json& json) {
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::make_pair(!a.is_worse(), -a.weight) < std::make_pair(!b.is_worse(), -b.weight);
  });
  std::size_t worse = 0, better = 0;
  Json list = Json::array();
  for (const Change& change : changes) {
    (change.is_worse() ? worse : better) += change.count;
    if (list.size() < kMostChanges) list.push_back(change_json(change));
  }
  json["worse"] = worse;
  json["better"] = better;
  json["more_changes"] = changes.size() - list.size();
  json["changes"] = std::move(list);
}

}  // namespace

std::vector<Shape> standard_shapes(const std::vector<GemmKind>& kinds) {
  std::vector<Shape> shapes;
  for (const GemmKind& kind : kinds) {
    for (const std::size_t size : {64U, 128U, 256U, 512U, 1024U, 4096U}) {
      Shape shape;
      shape.kind() = kind;
      shape.m = shape.n = shape.k = size;
      shapes.push_back(shape);
    }
  }
  return shapes;
}

Result<Json> release_data(const Release& release) {
  const Result<std::vector<Counted>> now = summaries(release.bundles);
  const Result<std::vector<Counted>> last = summaries(release.against);
  if (!now || !last) return (now ? last : now).status();
  const Result<std::vector<Row>> rows = rows_of(*now, *last);
  if (!rows) return rows.status();
  const std::vector<Column> columns = columns_of(release.shapes);
  Result<ReleasePrograms> programs = ReleasePrograms::create(release);
  if (!programs) return programs.status();
  Totals totals;
  Json targets = Json::array();
  for (const Row& row : *rows) {
    Result<Json> json = row_json(release, row, columns, *programs, totals);
    if (!json) return json;
    targets.push_back(std::move(*json));
  }
  Json json{{"bundles", bundles_json(*now)},
            {"against", bundles_json(*last)},
            {"shapes", release.shapes_file.empty() ? Json() : Json(release.shapes_file)},
            {"newer_driver", release.newer_driver},
            {"precisions", precisions_json(columns)},
            {"targets", std::move(targets)},
            {"programs", programs->names()},
            {"total", totals.now.json()},
            {"own", programs->total()}};
  add_changes(std::move(totals.changes), json);
  return json;
}

}  // namespace clbake::tool
