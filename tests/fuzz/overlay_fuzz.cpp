// The overlay is a directory of files that other processes write, and that its user may damage. Whatever an entry's
// file holds, looking it up ends with a verified bundle of exactly the wanted variant or with a Status; what is damaged
// is removed, and the entry can be put there anew.
//
// As with bundles, each input is tried as it is and with its checksums made right.
#include <clbake/overlay_directory.hpp>

#include "fuzz.hpp"
#include "seal.hpp"
#include "system/temporary_directory.hpp"

namespace {

using namespace clbake;
using clbake::fuzz::expect;

OverlayKey wanted() {
  cache::Target target;
  target.platform_name = "P";
  target.device_name = "D";
  target.address_bits = 64;
  cache::Variant variant;
  variant.name = "v";
  variant.launches = {{cache::Role::gemm, "gemm", {8, 8, 1}, 8, 8}};
  return overlay_key(target, {"g.cl", "kernel void gemm() {}"}, variant);
}

void look_up(const Overlay& overlay, const OverlayKey& key) {
  const Result<Bundle> bundle = overlay.find(key);
  if (!bundle) return;
  expect(*bundle->target(0) == key.target && *bundle->source(0) == key.source, "a found entry is the wanted one");
  for (std::uint32_t i = 0; i < bundle->entry_count(); ++i) {
    expect(bundle->program(*bundle->entry(i)).ok(), "a found entry's program is verified");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const tests::TemporaryDirectory directory;
  static const OverlayKey key = wanted();
  static const Result<Overlay> overlay = Overlay::open({directory.path, OverlayMode::read_write});
  expect(overlay.ok(), "the overlay opens");
  const std::string path = directory.file(key.hash + ".clbake");
  fuzz::write_file(path, data, size);
  look_up(*overlay, key);
  cache::Bytes sealed(data, data + size);
  fuzz::seal(sealed);
  fuzz::write_file(path, sealed.data(), sealed.size());
  look_up(*overlay, key);
  return 0;
}
