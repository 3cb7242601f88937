// The JSON of a release:
//
//   bundles, against   [{file, bytes, targets, entries}]
//   shapes             the file's name, or null
//   newer_driver       true or false
//   columns            [{name, count}]: the problems of a precision, or the application's own programs
//   targets            [{device, offline, driver, platform, platform_version, architecture, status, cells}], a device
//                      with a driver each; offline: of an offline compiler, for any device of the architecture; status
//                      is "kept", "added" or "lost" (null without `against`)
//   ... cells          one for each of `columns`: {figures}, speedup: the geometric mean of old times over new ones, or
//                      null
//   total              {figures} of all cells, without those of lost targets
//   missing            groups of what is no machine code, not proven, not JIT-free or not tried (groups_json)
//   worse, better      how many problems and programs on how many targets are served by something worse, or better
//   changes            these, in groups of one kind on one target: [{target, kind, count, examples, before, after,
//                      why}]; more_changes: groups that are left out
//
// Figures are {count, native, portable, source, none, proven, jit_free, native_share, expected, gflops}: numbers of
// problems or programs by what serves them, the part of their weights that machine code for this device and driver
// serves, how many have an expected time (none that is compiled from source), and the geometric mean of the speeds that
// follow.
#include "report/release/release_report.hpp"

#include <clbake/builder/programs.hpp>

#include "cli/cli.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

namespace clbake::tool {
namespace {

using Json = nlohmann::ordered_json;
using builder::Shape;
using namespace builder::release;

constexpr std::size_t kMostChanges = 100;
constexpr std::size_t kMostExamples = 3;

// The kind of program that serves: worse ones later.
enum class Source { native, portable, source, none };
constexpr const char* kSourceNames[] = {"native", "portable", "source", "none"};
const char* name(Source source) { return kSourceNames[static_cast<std::size_t>(source)]; }

Source source_of(const Served& served) {
  if (!served.program) return Source::none;
  if (served.program->origin == Origin::native) return Source::native;
  return served.program->origin == Origin::portable ? Source::portable : Source::source;
}

const Status& miss_of(const Served& served) { return served.program ? served.program->miss : served.failure; }

// Nothing where the driver compiles the source: the models were fitted to baked programs.
std::optional<double> expected_us(const Served& served) {
  const bool baked = source_of(served) < Source::source;
  return baked && served.expected_us && *served.expected_us > 0 ? served.expected_us : std::nullopt;
}

// The geometric mean of values with weights.
struct Mean {
  double logs = 0, weights = 0;
  void add(double value, double weight) {
    logs += weight * std::log(value);
    weights += weight;
  }
  void add(const Mean& other) {
    logs += other.logs;
    weights += other.weights;
  }
  Json json() const { return weights > 0 ? Json(std::exp(logs / weights)) : Json(); }
};

struct Figures {
  std::size_t count = 0, proven = 0, jit_free = 0, expected = 0;
  std::size_t by_source[std::size(kSourceNames)] = {};
  double weight = 0, native_weight = 0;
  Mean gflops;

  void add(const Served& served, const Subject& subject) {
    ++count;
    ++by_source[static_cast<std::size_t>(source_of(served))];
    proven += served.program && served.program->proven ? 1 : 0;
    jit_free += served.program && served.program->jit_free ? 1 : 0;
    weight += subject.weight;
    if (miss_of(served).ok()) native_weight += subject.weight;
    const std::optional<double> us = expected_us(served);
    if (!us || !subject.shape) return;
    ++expected;
    gflops.add(builder::gflops(*subject.shape, *us), subject.weight);
  }

  void add(const Figures& other) {
    count += other.count;
    proven += other.proven;
    jit_free += other.jit_free;
    expected += other.expected;
    for (std::size_t i = 0; i < std::size(by_source); ++i) by_source[i] += other.by_source[i];
    weight += other.weight;
    native_weight += other.native_weight;
    gflops.add(other.gflops);
  }

  Json json() const {
    Json json{{"count", count}};
    for (std::size_t i = 0; i < std::size(by_source); ++i) json[kSourceNames[i]] = by_source[i];
    json.update({{"proven", proven},
                 {"jit_free", jit_free},
                 {"native_share", weight > 0 ? native_weight / weight : 0},
                 {"expected", expected},
                 {"gflops", gflops.json()}});
    return json;
  }
};

// The subjects of a precision, or the application's own programs.
struct Column {
  std::string name;
  std::vector<std::size_t> subjects;
};

std::vector<Column> columns_of(const std::vector<Subject>& subjects) {
  std::vector<Column> columns;
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    const std::string name = subjects[s].shape ? clbake::name(subjects[s].shape->precision) : "programs";
    auto column = std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.name == name; });
    if (column == columns.end()) column = columns.insert(column, {name, {}});
    column->subjects.push_back(s);
  }
  return columns;
}

// Subjects of one kind on one target that something else serves than before.
struct Change {
  std::string target, kind;
  Source before, after;
  std::string why;  // the first of them is no better
  std::size_t count = 0;
  std::vector<std::string> examples;
  double weight = 0;
  bool is_worse() const { return after > before; }
};

class Changes {
 public:
  void add(const ServedDevice& device, const Subject& subject, Source before, const Served& served) {
    const Source after = source_of(served);
    if (before == after) return;
    // Those of this target are the last ones.
    auto group = std::find_if(all_.rbegin(), all_.rend(), [&](const Change& c) {
      return c.target == device.name && c.kind == subject.kind && c.before == before && c.after == after;
    });
    if (group == all_.rend()) {
      all_.push_back({device.name, subject.kind, before, after, miss_of(served).message(), 0, {}, 0});
      group = all_.rbegin();
    }
    if (group->examples.size() < kMostExamples) group->examples.push_back(builder::program::shown_name(subject.name));
    ++group->count;
    group->weight += subject.weight;
  }

  // Those for the worse first, of these the heaviest first.
  void add_to(Json& json) {
    std::stable_sort(all_.begin(), all_.end(), [](const Change& a, const Change& b) {
      return std::make_pair(!a.is_worse(), -a.weight) < std::make_pair(!b.is_worse(), -b.weight);
    });
    std::size_t worse = 0, better = 0;
    Json list = Json::array();
    for (const Change& c : all_) {
      (c.is_worse() ? worse : better) += c.count;
      if (list.size() >= kMostChanges) continue;
      list.push_back({{"target", c.target},
                      {"kind", c.kind},
                      {"count", c.count},
                      {"examples", c.examples},
                      {"before", name(c.before)},
                      {"after", name(c.after)},
                      {"why", c.is_worse() ? Json(c.why) : Json()}});
    }
    json.update({{"worse", worse}, {"better", better}, {"more_changes", all_.size() - list.size()}});
    json["changes"] = std::move(list);
  }

 private:
  std::vector<Change> all_;
};

std::vector<Bundle> bundles_of(const std::vector<ReleaseBundle>& named) {
  std::vector<Bundle> bundles;
  for (const ReleaseBundle& bundle : named) bundles.push_back(bundle.bundle);
  return bundles;
}

Json bundles_json(const std::vector<ReleaseBundle>& bundles) {
  Json all = Json::array();
  for (const ReleaseBundle& named : bundles) {
    all.push_back({{"file", named.file},
                   {"bytes", named.bundle.size_bytes()},
                   {"targets", need(devices_of({named.bundle}), named.file).size()},
                   {"entries", named.bundle.entry_count()}});
  }
  return all;
}

Json target_json(const ServedDevice& device, const Json& status) {
  const Target& t = device.target;
  const bool offline = t.device_name == device.name;  // its targets name no device
  return {{"device", t.device_name},
          {"offline", offline},
          {"driver", t.driver_version},
          {"platform", t.platform_name},
          {"platform_version", t.platform_version},
          {"architecture", t.architecture},
          {"status", status},
          {"cells", Json::array()}};
}

bool has(const std::vector<ServedDevice>& devices, const ServedDevice& device) {
  return std::any_of(devices.begin(), devices.end(), [&](const ServedDevice& d) { return d.target == device.target; });
}

}  // namespace

Json to_json(const Subject& subject) {
  if (!subject.shape) return {{"program", subject.name}};
  return {{"problem", subject.name}, {"weight", subject.weight}};
}

Json to_json(const Served& served, Lack lack) {
  const bool missing = lack != Lack::none;
  Json json{{"missing", missing ? Json(name(lack)) : Json()},
            {"code", clbake::name(code_of(served))},
            {"why", missing ? Json(why(served, lack)) : Json()},
            {"expected_us", served.expected_us ? Json(*served.expected_us) : Json()}};
  const ServedProgram* program = served.program;
  json["variant"] = program ? Json(program->name) : Json();
  json["origin"] = program ? Json(clbake::name(program->origin)) : Json();
  json["chosen_by"] = program ? Json(builder::release::name(served.by)) : Json();
  json["proven"] = program ? Json(program->proven) : Json();
  json["jit_free"] = program ? Json(program->jit_free) : Json();
  if (program && !program->untried.empty()) json["untried"] = program->untried;
  return json;
}

Json groups_json(const std::vector<CheckedDevice>& devices, const std::vector<Subject>& subjects,
                 const Requirements& requirements) {
  Json groups = Json::array();
  for (const MissingGroup& group : group_missing(devices, subjects, requirements)) {
    Json targets = Json::array(), examples = Json::array();
    for (const std::size_t d : group.devices) targets.push_back(devices[d].device.name);
    const std::size_t shown = std::min(group.subjects.size(), kMostExamples);
    for (std::size_t i = 0; i < shown; ++i) {
      examples.push_back(builder::program::shown_name(subjects[group.subjects[i]].name));
    }
    groups.push_back({{"missing", name(group.lack)},
                      {"code", group.code == Code::ok ? Json() : Json(clbake::name(group.code))},
                      {"count", group.count},
                      {"kinds", group.kinds},
                      {"targets", std::move(targets)},
                      {"subjects", group.subjects.size()},
                      {"examples", std::move(examples)},
                      {"why", group.why}});
  }
  return groups;
}

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

Json release_data(const Release& release) {
  const bool compares = !release.against.empty();
  const std::vector<Bundle> bundles = bundles_of(release.bundles), old_bundles = bundles_of(release.against);
  std::vector<Bundle> all = bundles;
  all.insert(all.end(), old_bundles.begin(), old_bundles.end());
  const Json files = bundles_json(release.bundles), old_files = bundles_json(release.against);
  const std::vector<Subject> subjects = need(subjects_of(release.shapes, all));
  std::vector<ServedDevice> devices = need(devices_of(all));  // first those of this release
  const std::vector<ServedDevice> old = need(devices_of(old_bundles));
  const std::size_t own = need(devices_of(bundles)).size();
  const auto by_name = [](const ServedDevice& a, const ServedDevice& b) { return a.name < b.name; };
  const auto lost = devices.begin() + static_cast<std::ptrdiff_t>(own);
  std::stable_sort(devices.begin(), lost, by_name);
  std::stable_sort(lost, devices.end(), by_name);
  const auto served_by = [&](const std::vector<Bundle>& by) {
    return need(builder::release::check(by, devices, subjects, release.newer_driver));
  };
  std::vector<CheckedDevice> now = served_by(bundles), last;
  if (compares) last = served_by(old_bundles);

  const std::vector<Column> columns = columns_of(subjects);
  Json targets = Json::array(), column_list = Json::array();
  for (const Column& column : columns)
    column_list.push_back({{"name", column.name}, {"count", column.subjects.size()}});
  Figures total;
  Changes changes;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const ServedDevice& device = devices[d];
    const bool is_lost = d >= own;
    const char* const status = is_lost ? "lost" : has(old, device) ? "kept" : "added";
    Json target = target_json(device, compares ? Json(status) : Json());
    for (const Column& column : columns) {
      Figures figures;
      Mean speedup;
      for (const std::size_t s : column.subjects) {
        const Subject& subject = subjects[s];
        const Served& served = now[d].served[s];
        figures.add(served, subject);
        if (!compares) continue;
        const Served& old_one = last[d].served[s];
        changes.add(device, subject, source_of(old_one), served);
        const std::optional<double> us = expected_us(served), old_us = expected_us(old_one);
        if (us && old_us) speedup.add(*old_us / *us, subject.weight);
      }
      if (!is_lost) total.add(figures);
      Json cell = figures.json();
      cell["speedup"] = speedup.json();
      target["cells"].push_back(std::move(cell));
    }
    targets.push_back(std::move(target));
  }
  now.erase(now.begin() + static_cast<std::ptrdiff_t>(own), now.end());
  Json json{{"bundles", files},
            {"against", old_files},
            {"shapes", release.shapes_file.empty() ? Json() : Json(release.shapes_file)},
            {"newer_driver", release.newer_driver},
            {"columns", std::move(column_list)},
            {"targets", std::move(targets)},
            {"total", total.json()},
            {"missing", groups_json(now, subjects, {true, true, true, true, true, false, release.newer_driver})}};
  changes.add_to(json);
  return json;
}

}  // namespace clbake::tool
