#include "select/eligible_entries.hpp"

#include <clbake/compute_capability.hpp>
#include <clbake/platform.hpp>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace clbake {
namespace {

// The number at the start of `text`, which loses it and one separator; 0 when there is none.
unsigned long next_number(std::string_view& text) {
  unsigned long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.empty()) text.remove_prefix(1);
  return error == std::errc() ? value : 0;
}

// Compares "580.65.06" and "580.159.04" number by number.
bool older(std::string_view a, std::string_view b) {
  while (!a.empty() || !b.empty()) {
    const unsigned long x = next_number(a);
    const unsigned long y = next_number(b);
    if (x != y) return x < y;
  }
  return false;
}

bool same_maker(const Target& a, const Target& b) {
  return a.platform_name == b.platform_name && a.vendor == b.vendor && a.address_bits == b.address_bits;
}

void add(std::vector<cache::EntryInfo>& found, Result<cache::EntryInfo> entry, Status& none) {
  if (entry) {
    found.push_back(std::move(*entry));
  } else if (none.ok() || none.code() == Code::no_entry) {
    none = entry.status();
  }
}

// True when the tier may hand the device code that was made for another target.
bool serves(Tier tier, const Target& made_for, const Target& device) {
  if (tier == Tier::portable) return portable_serves(made_for, device);
  if (!newer_driver_serves(made_for, device)) return false;
  if (tier == Tier::newer_driver) return true;
  if (!platform_of(device).loads_older_code) return false;
  // One driver makes the same machine code for all devices of an architecture. An offline compiler is no driver.
  const bool same_driver = !made_for.device_name.empty() && made_for.driver_version == device.driver_version;
  return tier == Tier::stand_in || same_driver;
}

// Entries of the other targets that serve the device: those of the newest driver first, of one driver the proven ones.
void add_relatives(std::vector<cache::EntryInfo>& found, const DeviceBundle& bundle, const Target& device,
                   std::uint32_t variant, Tier tier) {
  const cache::Form form = form_of(tier);
  struct Rank {
    std::string version;
    bool proven = false;
  };
  std::vector<Rank> ranks;  // of the entries from `first` on
  const std::size_t first = found.size();
  for (std::uint32_t i = 0; i < bundle.bundle.target_count(); ++i) {
    if (bundle.target && i == *bundle.target) continue;
    const Result<Target> target = bundle.bundle.target(i);
    if (!target || !serves(tier, *target, device)) continue;
    Result<cache::EntryInfo> entry = bundle.bundle.find_entry(i, variant, form);
    if (!entry || (tier == Tier::newer_driver && !entry->newer_driver)) continue;
    const Rank rank = {target->driver_version, entry->proof.proven};
    const auto next = std::find_if(ranks.begin(), ranks.end(), [&](const Rank& other) {
      return older(other.version, rank.version) ||
             (!older(rank.version, other.version) && rank.proven && !other.proven);
    });
    const auto position = next - ranks.begin();
    ranks.insert(next, rank);
    found.insert(found.begin() + static_cast<std::ptrdiff_t>(first) + position, std::move(*entry));
  }
}

}  // namespace

bool newer_driver_serves(const Target& made_for, const Target& device) {
  return same_maker(made_for, device) && !device.architecture.empty() && made_for.architecture == device.architecture &&
         !older(device.driver_version, made_for.driver_version);
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
  if (bundle.target && (tier == Tier::exact || tier == Tier::portable))
    add(found, bundle.bundle.find_entry(*bundle.target, variant, form_of(tier)), none);
  if (tier != Tier::exact) add_relatives(found, bundle, device, variant, tier);
  if (found.empty() && none.ok()) none = Status(Code::no_entry, "no program of another target serves this device");
  return found;
}

}  // namespace clbake
