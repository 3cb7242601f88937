#include <clbake/builder/release/served.hpp>

#include <clbake/builder/programs.hpp>
#include <clbake/choice.hpp>
#include <clbake/compute_capability.hpp>

#include <algorithm>
#include <cctype>

namespace clbake::builder {
namespace {

bool names_no_device(const Target& target) { return target.device_name.empty() && !target.platform_name.empty(); }

// Targets do not say what type their device has. It matters only where the default for all devices of a type serves.
bool probably_cpu(const Target& target) {
  if (compute_capability(target.architecture) != 0) return false;
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  return target == cache::any_device(true) || target.platform_name == "Portable Computing Language" ||
         target.platform_name == "Intel(R) OpenCL" || target.platform_name == "Oclgrind" ||
         has(target.device_name, "llvmpipe");
}

// That which computes the complex one.
Problem real_problem(const Problem& p) {
  Problem real = make_problem({real_precision(p.precision), p.trans_a, p.trans_b}, p.m, 2 * p.n, 2 * p.k);
  real.batch = p.batch;
  real.a_stride = real.m * real.k;
  real.b_stride = real.k * real.n;
  real.c_stride = real.m * real.n;
  return real;
}

// Whether the bundle has the kernels of a complex precision; which form of them, any device runs.
bool has_complex(const Bundle& bundle, Precision precision) {
  const std::string wanted = std::string(kOwnPrefix) + name(precision) + "-";
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
    const Result<cache::Variant> variant = bundle.variant(i);
    if (variant && variant->name.rfind(wanted, 0) == 0) return true;
  }
  return false;
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

bool awaits_proof(const Target& target) { return names_no_device(target) && target.platform_name != "NVIDIA CUDA"; }

ServedDevice served_device(const Device& device) {
  return {target_name(device.target), device.target, device.type == kernels::DeviceType::cpu, device.compute_units};
}

ServedDevice served_device(const Target& target) {
  ServedDevice device{target_name(target), target, probably_cpu(target), 0};
  if (names_no_device(target)) device.target.device_name = device.name;
  return device;
}

Result<Serving> Serving::create(const Bundle& bundle, const ServedDevice& device, bool newer_driver) {
  Result<DeviceLookup> lookup = DeviceLookup::create(bundle, device.target, device.is_cpu, device.units);
  if (!lookup) return lookup.status();
  return Serving(bundle, std::move(*lookup), newer_driver);
}

// What else a complex problem needs is among the bundle's programs, which `check` looks at on their own.
Result<Served> Serving::find(const Problem& problem) {
  Served served;
  if (is_complex(problem.precision)) {
    if (has_complex(bundle_, problem.precision)) return find(real_problem(problem));
    served.failure = {Code::no_variant, std::string("the bundle has no kernels of ") + clbake::name(problem.precision)};
    return served;
  }
  std::optional<Status>& of_kind = no_variant_of_kind_[index_of(problem)];
  if (of_kind) {
    served.failure = *of_kind;
    return served;
  }
  const Result<Choice> choice = lookup_.choose(problem);
  if (choice.status().code() == Code::out_of_memory) return choice.status();
  if (!choice) {
    served.failure = choice.status();
    bool& has_variant = has_variant_of_kind_[index_of(problem)];
    has_variant = has_variant || !capable_variants(bundle_, problem).empty();
    if (has_variant) return served;
    of_kind = served.failure = choice.status().with_message("the bundle has no variant for " + kind_name(problem));
    return served;
  }
  const Result<const ServedProgram*> of_variant = program(choice->variant);
  if (of_variant.status().code() == Code::out_of_memory) return of_variant.status();
  served.failure = of_variant.status();
  if (!of_variant) return served;
  served.program = *of_variant;
  served.by = choice->by;
  served.expected_us = choice->expected_us;
  return served;
}

Result<const ServedProgram*> Serving::program(std::uint32_t index) {
  const auto known = programs_.find(index);
  if (known != programs_.end()) return &known->second;
  const Result<cache::Variant> variant = bundle_.variant(index);
  if (!variant) return variant.status();
  if (const Status status = check_launchable(*variant); !status) return status;
  Result<BakedProgram> baked = lookup_.program(index, newer_driver_);
  if (!baked) return baked.status();
  ServedProgram program;
  program.variant = index;
  program.name = variant->name;
  program.miss = std::move(baked->miss);
  if (baked->entry) {
    program.origin = baked->entry->form == cache::Form::native ? Origin::native : Origin::portable;
    program.proven = baked->entry->proof.proven;
    program.jit_free = baked->entry->proof.jit_free;
    program.entry = std::move(baked->entry);
  }
  if (!newer_driver_ && program.origin != Origin::native) {
    const Result<BakedProgram> newer = lookup_.program(index, true);
    if (newer.status().code() == Code::out_of_memory) return newer.status();
    const bool is_native = newer && newer->entry && newer->entry->form == cache::Form::native;
    Result<Target> made_for = is_native ? bundle_.target(newer->entry->target) : Status(Code::no_entry, "");
    if (made_for) program.newer_driver_serves = std::move(*made_for);
  }
  return &programs_.emplace(index, std::move(program)).first->second;
}

}  // namespace clbake::builder
