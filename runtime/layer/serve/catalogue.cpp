#include "serve/catalogue.hpp"

#include <clbake/overlay_directory.hpp>

#include "down.hpp"
#include "log.hpp"
#include "serve/trust/trusted.hpp"
#include "settings.hpp"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace clbake::layer::serve {
namespace {

struct Catalogue {
  std::vector<ServingBundle> bundles;
  Result<BakedPrograms> programs;
};

// The bundles of the settings that may serve; logs the others.
std::vector<ServingBundle> open_bundles() {
  std::vector<ServingBundle> bundles;
  for (const std::string& path : settings().bundles) {
    const Result<Bundle> bundle = Bundle::open(path);
    const Result<Bundle> usable = bundle ? trusted(*bundle) : bundle;
    if (!usable) log(bundle ? usable.status().within(path).message() : usable.status().message());
    if (usable) bundles.push_back({path, *usable});
  }
  return bundles;
}

// The settings' overlay, without a directory that cannot be used; the log says why.
OverlayOptions usable_overlay() {
  OverlayOptions own, shared;
  own.directory = settings().overlay;
  const bool writable = settings().learn == Learn::on;
  if (!own.directory.empty()) own.mode = writable ? OverlayMode::read_write : OverlayMode::read_only;
  const Status opened = own.directory.empty() ? Status() : Overlay::open(own).status();
  if (!opened) own.mode = OverlayMode::off;
  // One that is only read need not exist.
  if (!opened && (writable || opened.code() != Code::not_found)) log("no overlay: " + opened.message());
  shared.shared = settings().shared_overlay;
  shared.shared_owner = settings().shared_overlay_owner;
  if (shared.shared.empty()) return own;
  const Status readable = Overlay::open(shared).status();
  if (!readable) log("no shared overlay: " + readable.message());
  if (readable) own.shared = shared.shared;
  own.shared_owner = shared.shared_owner;
  return own;
}

// Without trust, which decides about the bundles alone: what the overlay has was compiled for this user from what
// programs gave.
Result<BakedPrograms> open_programs(const std::vector<ServingBundle>& serving) {
  std::vector<Bundle> bundles;
  for (const ServingBundle& one : serving) bundles.push_back(one.bundle);
  return BakedPrograms::open(bundles, usable_overlay());
}

Catalogue open() {
  std::vector<ServingBundle> bundles = open_bundles();
  Result<BakedPrograms> programs = open_programs(bundles);
  return {std::move(bundles), std::move(programs)};
}

const Catalogue& catalogue() {
  static const auto& opened = *new Catalogue(open());
  return opened;
}

const Result<BakedPrograms>& programs() { return catalogue().programs; }

}  // namespace

cl_device_id root_of(cl_device_id device) {
  cl_device_id parent = nullptr;
  while (down().clGetDeviceInfo(device, CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, nullptr) == CL_SUCCESS &&
         parent) {
    device = parent;
  }
  return device;
}

Result<Target> target_of(cl_device_id device) {
  static auto& mutex = *new std::mutex;
  static auto& targets = *new std::map<cl_device_id, Target>;
  const cl_device_id root = root_of(device);
  const std::lock_guard<std::mutex> lock(mutex);
  const auto known = targets.find(root);
  if (known != targets.end()) return known->second;
  Result<Target> target = identify(root);
  if (target) targets.emplace(root, *target);
  return target;
}

Result<BakedBinary> find_binary(const ContentDigest& content, cl_device_id device) {
  const Result<Target> target = target_of(device);
  if (!target || !programs()) return target ? programs().status() : target.status();
  return programs()->find(*target, content);
}

const std::vector<ServingBundle>& serving_bundles() { return catalogue().bundles; }

std::string origin_of(const BakedBinary& binary) {
  return binary.from_overlay ? "the overlay" : catalogue().bundles[binary.bundle].file;
}

void reject_binary(const ContentDigest& content, cl_device_id device, const BakedBinary& binary) {
  const Result<Target> target = target_of(device);
  const Status kept = target ? programs()->reject(*target, content, binary) : target.status();
  if (!kept) log("that a driver rejects a program could not be kept: " + kept.message());
}

bool is_baked_part(const ContentDigest& content, cl_device_id device) {
  const Result<Target> target = target_of(device);
  return target && programs() && programs()->is_part(*target, content);
}

}  // namespace clbake::layer::serve
