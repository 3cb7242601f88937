#include "overlay/overlay.hpp"

#include <clbake/cache/writer.hpp>
#include <clbake/exceptions_to_status.hpp>

#include <utility>

namespace clbake {
namespace {

constexpr std::int64_t kTouchSeconds = 3600;

std::string entry_name(const OverlayKey& key) { return key.hash + ".clbake"; }

std::string mark_name(const OverlayKey& key, std::uint64_t program_checksum) {
  return key.hash + "-" + hexadecimal(program_checksum) + ".rejected";
}

Status malformed(const char* cause) { return {Code::malformed, cause}; }

// Two keys may have one hash, and files can be renamed.
Status check_content(const Bundle& bundle, const OverlayKey& key) {
  const bool one = bundle.target_count() == 1 && bundle.source_count() == 1 && bundle.variant_count() == 1;
  if (!one || bundle.entry_count() == 0) return malformed("is not the bundle of one variant");
  const Result<cache::Target> target = bundle.target(0);
  if (!target) return target.status();
  const Result<cache::Variant> variant = bundle.variant(0);
  if (!variant) return variant.status();
  const Result<cache::Source> source = bundle.source(0);
  if (!source) return source.status();
  const bool same = *target == key.target && *source == key.source && same_but_source(*variant, key.variant);
  return same ? Status() : malformed("holds something else than its name says");
}

// True when no process can use the file. Lack of memory or permissions may be this process's own; files of a newer
// clbake serve that one.
bool is_useless(Code code) {
  return code == Code::not_a_bundle || code == Code::truncated || code == Code::checksum || code == Code::malformed;
}

}  // namespace

Result<Overlay> Overlay::open(const OverlayOptions& options) {
  return exceptions_to_status([&]() -> Result<Overlay> {
    if (options.mode == OverlayMode::off) return {Argument::options, options.directory + ": the overlay is off"};
    Result<PrivateDirectory> directory =
        PrivateDirectory::open(options.directory, options.mode == OverlayMode::read_write);
    if (!directory) return directory.status();
    return Overlay(std::move(*directory), options);
  });
}

Result<Bundle> Overlay::find(const OverlayKey& key) const {
  return exceptions_to_status([&]() -> Result<Bundle> {
    Result<Bundle> bundle = read(key);
    if (bundle) return bundle;
    if (writable_ && is_useless(bundle.status().code())) directory_.remove(entry_name(key));
    return within_directory(bundle.status());
  });
}

// The failure of a file, whose name the message begins with.
Status Overlay::within_directory(const Status& status) const {
  return status ? Status() : status.with_message(directory_.path() + "/" + status.message());
}

Result<Bundle> Overlay::read(const OverlayKey& key) const {
  const std::string name = entry_name(key);
  std::int64_t unused = 0;
  if (!directory_.holds(name, &unused)) return {Code::no_entry, name + ": not in the overlay"};
  Result<Bundle> bundle = Bundle::open_at(directory_.descriptor(), name);
  if (bundle.status().code() == Code::not_found) return {Code::no_entry, name + ": removed meanwhile"};
  if (!bundle) return bundle;
  Status status = bundle->verify();
  if (status) status = check_content(*bundle, key);
  if (!status) return status.within(name);
  touch_if_stale(name, unused);
  return bundle;
}

void Overlay::touch_if_stale(const std::string& name, std::int64_t unused_seconds) const {
  if (writable_ && unused_seconds >= kTouchSeconds) directory_.touch(name);
}

Status Overlay::store(const OverlayKey& key, std::vector<cache::Entry> entries) const {
  return exceptions_to_status([&]() -> Status {
    if (!writable_) return {};
    if (entries.empty()) return {Code::invalid_argument, "no entry to store in the overlay"};
    cache::Contents contents;
    contents.targets = {key.target};
    contents.sources = {key.source};
    contents.variants = {key.variant};
    contents.variants[0].source = 0;
    for (cache::Entry& entry : entries) entry.target = entry.variant = 0;
    contents.entries = std::move(entries);
    const Result<cache::Bytes> bytes = cache::encode(contents);
    if (!bytes) return bytes.status();
    return write(entry_name(key), {bytes->data(), bytes->size()});
  });
}

Status Overlay::write(const std::string& name, cache::ByteView bytes) const {
  if (bytes.size > max_bytes_) {
    return {Code::invalid_argument, directory_.path() + ": " + std::to_string(bytes.size) +
                                        " bytes are more than the overlay may take, " + std::to_string(max_bytes_)};
  }
  const Status written = cache::write_private_file(directory_.descriptor(), name, bytes);
  if (!written) return within_directory(written);
  return evict(directory_, max_bytes_, name);
}

Status Overlay::mark_rejected(const OverlayKey& key, std::uint64_t program_checksum) const {
  return exceptions_to_status([&] { return writable_ ? write(mark_name(key, program_checksum), {}) : Status(); });
}

bool Overlay::is_rejected(const OverlayKey& key, std::uint64_t program_checksum) const {
  const Status found = exceptions_to_status([&]() -> Status {
    const std::string name = mark_name(key, program_checksum);
    std::int64_t unused = 0;
    if (!directory_.holds(name, &unused)) return {Code::no_entry, {}};
    touch_if_stale(name, unused);
    return {};
  });
  return found.ok();
}

}  // namespace clbake
