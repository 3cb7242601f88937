#include "overlay/overlay_store.hpp"

#include <clbake/exceptions_to_status.hpp>

#include "overlay/overlay.hpp"

#include <utility>

namespace clbake {
namespace {

class DirectoryStore final : public OverlayStore {
 public:
  DirectoryStore(Overlay overlay, OverlayMode mode)
      : overlay_(std::move(overlay)), writable_(mode == OverlayMode::read_write) {}

  bool writable() const override { return writable_; }
  Result<Bundle> find(const OverlayKey& key) const override { return overlay_.find(key); }
  bool is_rejected(const OverlayKey& key, std::uint64_t program_checksum) const override {
    return overlay_.is_rejected(key, program_checksum);
  }
  Status mark_rejected(const OverlayKey& key, std::uint64_t program_checksum) const override {
    return overlay_.mark_rejected(key, program_checksum);
  }
  Status finalize_and_store(const OverlayKey& key, const Compiled& compiled) const override {
    Result<std::vector<cache::Entry>> entries = finalize(compiled);
    return entries ? overlay_.store(key, std::move(*entries)) : entries.status();
  }

 private:
  Overlay overlay_;
  bool writable_;
};

}  // namespace

Result<std::shared_ptr<OverlayStore>> open_overlay(const OverlayOptions& options) {
  return exceptions_to_status([&]() -> Result<std::shared_ptr<OverlayStore>> {
    Result<Overlay> overlay = Overlay::open(options);
    if (!overlay) return overlay.status();
    return std::shared_ptr<OverlayStore>(std::make_shared<DirectoryStore>(std::move(*overlay), options.mode));
  });
}

}  // namespace clbake
