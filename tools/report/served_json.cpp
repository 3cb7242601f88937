#include "report/served_json.hpp"

#include <algorithm>

namespace clbake::tool {
namespace {

using Json = nlohmann::ordered_json;
using namespace builder::release;

constexpr std::size_t kMostExamples = 3;

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
  json["chosen_by"] = program ? Json(name(served.by)) : Json();
  json["proven"] = program ? Json(program->proven) : Json();
  json["jit_free"] = program ? Json(program->jit_free) : Json();
  return json;
}

Json groups_json(const std::vector<CheckedDevice>& devices, const std::vector<Subject>& subjects,
                 const Requirements& requirements) {
  Json groups = Json::array();
  for (const MissingGroup& group : group_missing(devices, subjects, requirements)) {
    Json targets = Json::array(), examples = Json::array();
    for (const std::size_t d : group.devices) targets.push_back(devices[d].device.name);
    const std::size_t shown = std::min(group.subjects.size(), kMostExamples);
    for (std::size_t i = 0; i < shown; ++i) examples.push_back(subjects[group.subjects[i]].name);
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

}  // namespace clbake::tool
