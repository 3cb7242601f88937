#include "select/tiers.hpp"

#include <clbake/compute_capability.hpp>
#include <clbake/platform.hpp>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace clbake {
namespace {

// The number at the start of `text`, which loses it and one separator; 0 when there is none.
std::uint64_t next_number(std::string_view& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.empty()) text.remove_prefix(1);
  return error == std::errc() ? value : 0;
}

bool same_maker(const Target& a, const Target& b) {
  return a.platform_name == b.platform_name && a.vendor == b.vendor && a.address_bits == b.address_bits;
}

// An entry of another target, made by this version of the driver.
struct Relative {
  std::string driver;
  cache::EntryInfo entry;
};

// The newest driver's first, of one driver the proven ones.
bool better(const Relative& a, const Relative& b) {
  if (older(b.driver, a.driver)) return true;
  return !older(a.driver, b.driver) && a.entry.proof.proven && !b.entry.proof.proven;
}

// Entries of the other targets that serve the device.
std::vector<Relative> relatives(const DeviceBundle& bundle, const Target& device, std::uint32_t variant, Tier tier) {
  std::vector<Relative> found;
  for (std::uint32_t i = 0; i < bundle.bundle.target_count(); ++i) {
    if (bundle.target && i == *bundle.target) continue;
    Result<Target> target = bundle.bundle.target(i);
    if (!target || !serves(tier, *target, device)) continue;
    Result<cache::EntryInfo> entry = bundle.bundle.find_entry(i, variant, form_of(tier));
    if (!entry || (tier == Tier::newer_driver && !entry->newer_driver)) continue;
    Relative one{std::move(target->driver_version), std::move(*entry)};
    found.insert(std::upper_bound(found.begin(), found.end(), one, better), std::move(one));
  }
  return found;
}

}  // namespace

bool older(std::string_view a, std::string_view b) {
  while (!a.empty() || !b.empty()) {
    const std::uint64_t x = next_number(a);
    const std::uint64_t y = next_number(b);
    if (x != y) return x < y;
  }
  return false;
}

bool serves(Tier tier, const Target& made_for, const Target& device) {
  if (tier == Tier::portable) return portable_serves(made_for, device);
  if (!newer_driver_serves(made_for, device)) return false;
  if (tier == Tier::newer_driver) return true;
  if (!platform_of(device).loads_older_code) return false;
  // One driver makes the same machine code for all devices of an architecture. An offline compiler is no driver.
  const bool same_driver = !made_for.device_name.empty() && made_for.driver_version == device.driver_version;
  return tier == Tier::stand_in || same_driver;
}

int compute_capability(std::string_view architecture, bool with_suffix) {
  constexpr std::string_view prefix = "sm_";
  if (architecture.substr(0, prefix.size()) != prefix) return 0;
  std::string_view digits = architecture.substr(prefix.size());
  const bool has_suffix = !digits.empty() && (digits.back() == 'a' || digits.back() == 'f');
  if (has_suffix && !with_suffix) return 0;
  if (has_suffix) digits.remove_suffix(1);
  if (digits.empty() || digits.size() > 3 || digits.front() == '0') return 0;
  int capability = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return 0;
    capability = 10 * capability + (digit - '0');
  }
  return capability;
}

bool newer_driver_serves(const Target& made_for, const Target& device) {
  return same_maker(made_for, device) && !device.architecture.empty() && made_for.architecture == device.architecture &&
         missing_feature(made_for, device).empty() && !older(device.driver_version, made_for.driver_version);
}

bool portable_serves(const Target& made_for, const Target& device) {
  const int from = compute_capability(made_for.architecture);
  return same_maker(made_for, device) && from != 0 && from <= compute_capability(device.architecture) &&
         !older(device.driver_version, made_for.driver_version);
}

std::vector<cache::EntryInfo> eligible_entries(const DeviceBundle& bundle, const Target& device, std::uint32_t variant,
                                               Tier tier, Status& none) {
  std::vector<cache::EntryInfo> found;
  none = bundle.target.status();
  if (bundle.target && (tier == Tier::exact || tier == Tier::portable)) {
    Result<cache::EntryInfo> own = bundle.bundle.find_entry(*bundle.target, variant, form_of(tier));
    none = own.status();
    if (own) found.push_back(std::move(*own));
  }
  if (tier != Tier::exact) {
    for (Relative& one : relatives(bundle, device, variant, tier)) found.push_back(std::move(one.entry));
  }
  if (found.empty() && none.ok()) none = Status(Code::no_entry, "no program of another target serves this device");
  return found;
}

}  // namespace clbake
