#include <clbake/builder/platforms.hpp>
#include <clbake/builder/release/served.hpp>

#include <clbake/builder/programs.hpp>
#include <clbake/choice.hpp>
#include <clbake/compute_capability.hpp>
#include "process/need.hpp"
#include "profile/untuned_profile.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace clbake::builder::release {
namespace {

bool names_no_device(const Target& target) { return target.device_name.empty() && !target.platform_name.empty(); }

// Targets do not say what type their device has. It matters only where the default for all devices of a type serves.
bool probably_cpu(const Target& target) {
  if (compute_capability(target.architecture) != 0) return false;
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  return target == cache::any_device(true) || process::builder_platform_of(target).is_cpu ||
         has(target.device_name, "llvmpipe");
}

}  // namespace

const char* name(ChosenBy by) {
  switch (by) {
    case ChosenBy::exception: return "exception";
    case ChosenBy::model: return "model";
    case ChosenBy::default_rule: return "default";
    case ChosenBy::device_type: break;
  }
  return "device type";
}

std::string target_name(const Target& target) {
  if (!names_no_device(target)) {
    return target.driver_version.empty() ? target.device_name
                                         : target.device_name + ", driver " + target.driver_version;
  }
  std::string name;  // as in `clbake targets`: the vendor's first word
  for (const char c : target.vendor) {
    if (std::isalpha(static_cast<unsigned char>(c)) == 0) break;
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name + ":" + target.architecture;
}

namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool is_index(const std::string& spec) { return spec.find_first_not_of("0123456789") == std::string::npos; }

enum class Match { none, part, whole };

Match match(const Target& target, const std::string& wanted) {
  Match best = Match::none;
  std::vector<std::string> texts = {target_name(target), process::builder_platform_of(target).alias};
  for (const auto& [name, text] : cache::kTargetTexts) texts.push_back(target.*text);
  for (const std::string& text : texts) {
    const std::string field = lower(text);
    if (field == wanted) return Match::whole;
    if (field.find(wanted) != std::string::npos && !profile::is_default_target(target)) best = Match::part;
  }
  return best;
}

}  // namespace

Result<std::vector<std::uint32_t>> targets_named(const Bundle& bundle, const std::string& spec) {
  if (spec.empty()) return std::vector<std::uint32_t>();
  std::vector<std::uint32_t> whole, part;
  if (is_index(spec)) {
    const unsigned long index = spec.size() > 9 ? UINT32_MAX : std::stoul(spec);
    if (index < bundle.target_count()) whole.push_back(static_cast<std::uint32_t>(index));
    return whole;
  }
  const std::string wanted = lower(spec);
  for (std::uint32_t i = 0; i < bundle.target_count(); ++i) {
    const Result<Target> target = bundle.target(i);
    if (!target) return target.status();
    const Match found = match(*target, wanted);
    if (found == Match::whole) whole.push_back(i);
    if (found != Match::none) part.push_back(i);
  }
  return whole.empty() ? part : whole;
}

Result<std::vector<std::uint32_t>> targets_with_entries(const Bundle& bundle) {
  std::set<std::uint32_t> targets;
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) {
    const Result<cache::EntryInfo> entry = bundle.entry(i);
    if (!entry) return entry.status();
    targets.insert(entry->target);
  }
  return std::vector<std::uint32_t>(targets.begin(), targets.end());
}

bool awaits_proof(const Target& target) { return names_no_device(target) && !platform_of(target).loads_older_code; }

ServedDevice served_device(const Device& device) {
  return {target_name(device.target), device.target, device.type == kernels::DeviceType::cpu, device.compute_units};
}

ServedDevice served_device(const Target& target) {
  ServedDevice device{target_name(target), target, probably_cpu(target), 0};
  if (names_no_device(target)) device.target.device_name = device.name;
  return device;
}

Result<std::vector<std::string>> untried_kernels(const Bundle& bundle, const cache::Variant& variant) {
  if (!variant.is_program()) return std::vector<std::string>();
  if (variant.trial == 0) return program::untried_kernels(variant, {});
  const Result<cache::Source> trial = bundle.source(variant.trial - 1);
  if (!trial) return trial.status();
  return program::untried_kernels(variant, trial->text);
}

Result<Serving> Serving::create(const std::vector<Bundle>& bundles, const ServedDevice& device, bool newer_driver) {
  Result<DeviceLookup> lookup = DeviceLookup::create(bundles, device.target, device.is_cpu, device.units);
  if (!lookup) return lookup.status();
  return Serving(bundles, std::move(*lookup), newer_driver);
}

Result<Served> Serving::find(const Problem& problem) {
  return served(lookup_.choose(problem), is_complex(problem.precision) ? problem.precision : no_precision);
}

Result<Served> Serving::find_program(const std::string& name) {
  return served(lookup_.choose_program(name), no_precision);
}

Result<Served> Serving::served(const Result<std::vector<Choice>>& choices, Precision complex) {
  Served served;
  const Result<const ServedProgram*> found = choices ? program(*choices, complex) : choices.status();
  if (found.status().code() == Code::out_of_memory) return found.status();
  served.failure = found.status();
  if (!found) return served;
  served.program = *found;
  for (const Choice& choice : *choices) {
    if (choice.bundle != served.program->bundle) continue;
    served.by = choice.by;
    served.expected_us = choice.expected_us;
  }
  return served;
}

Result<const ServedProgram*> Serving::program(std::uint32_t variant) {
  return program({{0, variant, ChosenBy::model, std::nullopt}});
}

Result<const ServedProgram*> Serving::program(const std::vector<Choice>& choices, Precision complex) {
  Key key{{}, complex};
  for (const Choice& choice : choices) key.first.emplace_back(choice.bundle, choice.variant);
  auto known = programs_.find(key);
  if (known == programs_.end()) {
    Result<ServedProgram> loaded = complex == no_precision ? load(choices) : load_complex(choices, complex);
    if (loaded.status().code() == Code::out_of_memory) return loaded.status();
    known = programs_.emplace(std::move(key), std::move(loaded)).first;
  }
  if (!known->second) return known->second.status();
  return &*known->second;
}

Result<ServedProgram> Serving::load(const std::vector<Choice>& choices) const try {
  BakedProgram baked = need(lookup_.program(choices, newer_driver_));
  const Choice& choice = choices[baked.choice];
  const cache::Variant variant = need(bundles_[choice.bundle].variant(choice.variant));
  need(check_launchable(variant));
  ServedProgram program;
  program.bundle = choice.bundle;
  program.variant = choice.variant;
  program.name = variant.name;
  program.miss = std::move(baked.miss);
  program.untried = need(untried_kernels(bundles_[choice.bundle], variant));
  if (baked.entry) {
    program.origin = baked.entry->form == cache::Form::native ? Origin::native : Origin::portable;
    program.proven = baked.entry->proof.proven;
    program.jit_free = baked.entry->proof.jit_free;
    const std::string uncompared = program::part_of(baked.entry->proof.note, program::kUncompared);
    if (!uncompared.empty()) program.untried.push_back(uncompared);
    program.entry = std::move(baked.entry);
  }
  if (newer_driver_ || program.origin == Origin::native) return program;
  const BakedProgram newer = need(lookup_.program(choices, true));
  if (!newer.entry || newer.entry->form != cache::Form::native) return program;
  Result<Target> made_for = bundles_[choices[newer.choice].bundle].target(newer.entry->target);
  if (made_for) program.newer_driver_serves = std::move(*made_for);
  return program;
} catch (const Failure& failure) {
  return failure.status;
}

Result<ServedProgram> Serving::load_complex(const std::vector<Choice>& choices, Precision precision) const try {
  const ServedProgram kernels = need(load(need(lookup_.choose_complex_kernels(precision))));
  ServedProgram program = need(load(choices));
  program.origin = std::max(program.origin, kernels.origin);
  if (program.miss.ok()) program.miss = kernels.miss;
  program.proven = program.proven && kernels.proven;
  program.jit_free = program.jit_free && kernels.jit_free;
  if (!program.newer_driver_serves) program.newer_driver_serves = kernels.newer_driver_serves;
  return program;
} catch (const Failure& failure) {
  return failure.status;
}

}  // namespace clbake::builder::release
