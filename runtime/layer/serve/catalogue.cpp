#include "serve/catalogue.hpp"

#include <clbake/exceptions_to_status.hpp>
#include <clbake/overlay_directory.hpp>

#include "down.hpp"
#include "log.hpp"
#include "select/tiers.hpp"
#include "serve/trusted.hpp"
#include "settings.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace clbake::layer::serve {
namespace {

// A file of the settings, or why nothing of it may be used.
struct File {
  Bundle bundle;
  Status refused;
};

// The files of the settings that are bundles; logs the others.
std::vector<File> open_bundles() {
  std::vector<File> files;
  for (const std::string& path : settings().bundles) {
    const Result<Bundle> bundle = Bundle::open(path);
    const Result<Bundle> usable = bundle ? trusted(*bundle) : bundle;
    if (!usable) log(bundle ? usable.status().within(path).message() : usable.status().message());
    if (usable) files.push_back({*usable, {}});
    const Result<Bundle> nothing = Bundle::nothing();
    if (!usable && nothing) files.push_back({*nothing, usable.status()});
  }
  return files;
}

std::optional<Overlay> open_overlay_of_settings() {
  OverlayOptions options;
  options.directory = settings().overlay;
  options.mode = settings().learn == Learn::on ? OverlayMode::read_write : OverlayMode::read_only;
  if (options.directory.empty()) return std::nullopt;
  Result<Overlay> overlay = Overlay::open(options);
  // Without learning, an overlay that does not exist is an empty one.
  if (!overlay && overlay.status().code() != Code::not_found) log("no overlay: " + overlay.status().message());
  if (!overlay) return std::nullopt;
  return std::move(*overlay);
}

// A device and what the bundles have for it.
struct Device {
  Target target;
  std::vector<DeviceBundle> bundles;
};

class Catalogue {
 public:
  Catalogue() : files_(open_bundles()), overlay_(open_overlay_of_settings()) {}

  Result<std::shared_ptr<const Device>> device(cl_device_id id);
  Result<Binary> find(const ContentDigest& digest, const Device& device) const;
  void reject(const ContentDigest& digest, const Device& device, const Binary& binary);

 private:
  using Rejected = std::pair<ContentDigest, std::uint64_t>;

  Result<Binary> find(const ContentDigest& digest, const Device& device, Tier tier) const;
  Result<Binary> find_in_overlay(const ContentDigest& digest, const Device& device) const;
  Result<Binary> read(const Bundle& bundle, const cache::EntryInfo& entry, const ContentDigest& digest,
                      const Device& device) const;
  bool is_rejected(const ContentDigest& digest, const Device& device, std::uint64_t checksum) const;

  const std::vector<File> files_;
  const std::optional<Overlay> overlay_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<cl_device_id, std::shared_ptr<const Device>> devices_;
  std::set<Rejected> rejected_;
};

// Handles of sub-devices come and go.
cl_device_id root_of(cl_device_id id) {
  cl_device_id parent = nullptr;
  while (down().clGetDeviceInfo(id, CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, nullptr) == CL_SUCCESS && parent) {
    id = parent;
  }
  return id;
}

Result<std::shared_ptr<const Device>> Catalogue::device(cl_device_id id) {
  const cl_device_id root = root_of(id);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = devices_.find(root);
    if (found != devices_.end()) return found->second;
  }
  Result<Target> target = identify(root);
  if (!target) return target.status();
  auto made = std::make_shared<Device>();
  made->target = std::move(*target);
  for (const File& file : files_) {
    made->bundles.push_back(bundle_for(file.bundle, made->target, false, 0));
    made->bundles.back().refused = file.refused;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  return devices_.emplace(root, std::move(made)).first->second;
}

bool Catalogue::is_rejected(const ContentDigest& digest, const Device& device, std::uint64_t checksum) const {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (rejected_.count({digest, checksum}) > 0) return true;
  }
  return overlay_ && overlay_->is_rejected(overlay_key(device.target, digest), checksum);
}

Result<Binary> Catalogue::read(const Bundle& bundle, const cache::EntryInfo& entry, const ContentDigest& digest,
                               const Device& device) const {
  const std::uint64_t checksum = entry.program.raw_checksum;
  if (is_rejected(digest, device, checksum)) return {Code::driver_rejected, "the driver rejected it before"};
  Result<cache::Bytes> bytes = bundle.program(entry);
  if (!bytes) return bytes.status();
  return Binary{std::move(*bytes), entry.proof.log, checksum, false};
}

Result<Binary> Catalogue::find(const ContentDigest& digest, const Device& device, Tier tier) const {
  Status miss(Code::no_program, "no bundle has it");
  const auto note = [&](const Status& why) {
    if (miss.code() == Code::no_program && why.code() != Code::no_program) miss = why;
  };
  for (const DeviceBundle& bundle : device.bundles) {
    if (!bundle.refused) note(bundle.refused);
    const Result<std::vector<std::uint32_t>> variants = bundle.bundle.find_content(digest);
    if (!variants) note(variants.status());
    for (std::size_t i = 0; variants && i < variants->size(); ++i) {
      Status none;
      for (const cache::EntryInfo& entry : eligible_entries(bundle, device.target, (*variants)[i], tier, none)) {
        Result<Binary> binary = read(bundle.bundle, entry, digest, device);
        if (binary) return binary;
        none = binary.status();
      }
      note(none);
    }
  }
  return miss;
}

Result<Binary> Catalogue::find_in_overlay(const ContentDigest& digest, const Device& device) const {
  if (!overlay_) return {Code::no_entry, "there is no overlay"};
  const Result<Bundle> bundle = overlay_->find(overlay_key(device.target, digest));
  if (!bundle) return bundle.status();
  Status miss(Code::no_entry, "the overlay has no program");
  for (const cache::Form form : {cache::Form::native, cache::Form::portable}) {
    const Result<cache::EntryInfo> entry = bundle->find_entry(0, 0, form);
    Result<Binary> binary = entry ? read(*bundle, *entry, digest, device) : entry.status();
    if (binary) binary->from_overlay = true;
    if (binary) return binary;
    miss = binary.status();
  }
  return miss;
}

Result<Binary> Catalogue::find(const ContentDigest& digest, const Device& device) const {
  Status miss;
  return first_that_serves({Tier::exact, Tier::same_driver, Tier::overlay, Tier::portable, Tier::source}, miss,
                           [&](Tier tier) -> Result<Binary> {
                             if (tier == Tier::source) return miss;
                             if (tier == Tier::overlay) return find_in_overlay(digest, device);
                             return find(digest, device, tier);
                           });
}

void Catalogue::reject(const ContentDigest& digest, const Device& device, const Binary& binary) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    rejected_.emplace(digest, binary.checksum);
  }
  const Status marked =
      overlay_ ? overlay_->mark_rejected(overlay_key(device.target, digest), binary.checksum) : Status();
  if (!marked) log("the overlay could not mark a program that the driver rejects: " + marked.message());
}

Catalogue& catalogue() {
  static auto& all = *new Catalogue;
  return all;
}

}  // namespace

Result<Binary> find_binary(const ContentDigest& digest, cl_device_id id) {
  return exceptions_to_status([&]() -> Result<Binary> {
    const Result<std::shared_ptr<const Device>> device = catalogue().device(id);
    return device ? catalogue().find(digest, **device) : device.status();
  });
}

void reject_binary(const ContentDigest& digest, cl_device_id id, const Binary& binary) noexcept {
  static_cast<void>(exceptions_to_status([&] {
    const Result<std::shared_ptr<const Device>> device = catalogue().device(id);
    if (device) catalogue().reject(digest, **device, binary);
    return Status();
  }));
}

bool is_baked_part(const ContentDigest& /*digest*/, cl_device_id /*id*/) { return false; }

Result<Target> target_of(cl_device_id id) {
  const Result<std::shared_ptr<const Device>> device = catalogue().device(id);
  if (!device) return device.status();
  return (*device)->target;
}

}  // namespace clbake::layer::serve
