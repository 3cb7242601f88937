#include <clbake/builder/programs.hpp>
#include <clbake/builder/release/check.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace clbake::builder::release {

Result<std::vector<Subject>> subjects_of(const std::vector<Shape>& shapes, const std::vector<Bundle>& bundles) {
  std::vector<Subject> subjects;
  for (const Shape& shape : shapes) subjects.push_back({name(shape), kind_name(shape.kind()), shape.weight, shape});
  std::set<std::string> programs;
  for (const Bundle& bundle : bundles) {
    for (std::uint32_t v = 0; v < bundle.variant_count(); ++v) {
      const Result<cache::Variant> variant = bundle.variant(v);
      if (!variant) return variant.status();
      if (variant->is_program()) programs.insert(variant->name);
    }
  }
  for (const std::string& program : programs) subjects.push_back({program, "program", 1, std::nullopt});
  return subjects;
}

Result<std::vector<ServedDevice>> devices_of(const std::vector<Bundle>& bundles) {
  std::vector<ServedDevice> devices;
  std::vector<Target> seen;
  for (const Bundle& bundle : bundles) {
    const Result<std::vector<std::uint32_t>> targets = targets_with_entries(bundle);
    if (!targets) return targets.status();
    for (const std::uint32_t index : *targets) {
      const Result<Target> target = bundle.target(index);
      if (!target) return target.status();
      if (std::find(seen.begin(), seen.end(), *target) != seen.end()) continue;
      seen.push_back(*target);
      devices.push_back(served_device(*target));
    }
  }
  return devices;
}

const char* name(Lack lack) {
  switch (lack) {
    case Lack::none: break;
    case Lack::any_variant: return "nothing serves";
    case Lack::program: return "compiled from source";
    case Lack::native_code: return "not native";
    case Lack::proof: return "not proven";
    case Lack::jit_freedom: return "not JIT-free";
    case Lack::trial: return "not tried";
    case Lack::listing: return "not listed";
  }
  return "";
}

Lack lack_of(const Served& served, const Requirements& requirements) {
  if (!served.program) return Lack::any_variant;
  const ServedProgram& program = *served.program;
  const bool any_program = requirements.native || requirements.proven || requirements.jit_free || requirements.baked;
  if (any_program && program.origin == Origin::source) return Lack::program;
  if (requirements.native && program.origin != Origin::native) return Lack::native_code;
  if (requirements.proven && !program.proven) return Lack::proof;
  if (requirements.jit_free && !program.jit_free) return Lack::jit_freedom;
  if (requirements.tried && !program.untried.empty()) return Lack::trial;
  const bool has_others = program.entry && !program::part_of(program.entry->proof.note, program::kUnlisted).empty();
  return requirements.listed && has_others ? Lack::listing : Lack::none;
}

namespace {

// Why it is no machine code.
std::string why_not_native(const ServedProgram& program, const char* not_baked) {
  if (const std::optional<Target>& made_for = program.newer_driver_serves) {
    const std::string made = made_for->device_name.empty() ? "without the device" : "for " + target_name(*made_for);
    return ": its machine code was made " + made + " and is used only with newer_driver";
  }
  return program.miss.code() == Code::no_entry ? not_baked : ": " + program.miss.message();  // that one has indices
}

}  // namespace

Code code_of(const Served& served) { return served.program ? served.program->miss.code() : served.failure.code(); }

std::string why(const Served& served, Lack lack) {
  if (lack == Lack::none) return {};
  if (!served.program) return served.failure.message();
  const ServedProgram& program = *served.program;
  const std::string shown = program::shown_name(program.name);
  const std::string& note = program.entry ? program.entry->proof.note : std::string();
  switch (lack) {
    case Lack::trial: return shown + ": no trial launches " + program::kernels_text(program.untried);
    case Lack::listing:
      return shown + ": the manifest does not list " + program::part_of(program.entry->proof.note, program::kUnlisted);
    case Lack::native_code:
      return shown + " is portable there" + why_not_native(program, ": no machine code was baked");
    case Lack::program: return shown + why_not_native(program, " was not baked for this target");
    case Lack::jit_freedom:
      return shown + (program.origin == Origin::portable ? " is portable: the driver compiles it at every load"
                      : note.empty()                     ? ": no proof launched it. Was it learnt? Record and build it"
                                                         : ": " + note);
    default: {
      const std::string cause = program::part_of(note, program::kOnlyLoaded);
      return shown + (cause.empty() ? " was never proven on a device" : " is not proven: " + cause);
    }
  }
}

Result<std::vector<CheckedDevice>> check(const std::vector<Bundle>& bundles, const std::vector<ServedDevice>& devices,
                                         const std::vector<Subject>& subjects, bool newer_driver) {
  std::vector<CheckedDevice> checked;
  checked.reserve(devices.size());
  for (const ServedDevice& device : devices) {
    Result<Serving> serving = Serving::create(bundles, device, newer_driver);
    if (!serving) return serving.status();
    CheckedDevice& added = checked.emplace_back(CheckedDevice{device, std::move(*serving), {}});
    for (const Subject& subject : subjects) {
      Result<Served> served =
          subject.shape ? added.serving.find(*subject.shape) : added.serving.find_program(subject.name);
      if (!served) return served.status();
      added.served.push_back(std::move(*served));
    }
  }
  return checked;
}

std::vector<MissingGroup> group_missing(const std::vector<CheckedDevice>& devices, const std::vector<Subject>& subjects,
                                        const Requirements& requirements) {
  std::map<std::pair<Lack, Code>, MissingGroup> groups;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    for (std::size_t s = 0; s < subjects.size(); ++s) {
      const Served& served = devices[d].served[s];
      const Lack lack = lack_of(served, requirements);
      if (lack == Lack::none) continue;
      MissingGroup& group = groups[{lack, code_of(served)}];
      if (group.count == 0) group = {lack, code_of(served), release::why(served, lack), 0, {}, {}, {}};
      ++group.count;
      group.kinds.insert(subjects[s].kind);
      if (group.devices.empty() || group.devices.back() != d) group.devices.push_back(d);
      group.subjects.push_back(s);
    }
  }
  std::vector<MissingGroup> sorted;
  for (auto& [key, group] : groups) {
    std::set<std::size_t> once(group.subjects.begin(), group.subjects.end());
    group.subjects.assign(once.begin(), once.end());
    std::stable_sort(group.subjects.begin(), group.subjects.end(),
                     [&](std::size_t a, std::size_t b) { return subjects[a].weight > subjects[b].weight; });
    sorted.push_back(std::move(group));
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  return sorted;
}

}  // namespace clbake::builder::release
