#include <clbake/overlay_directory.hpp>

#include <clbake/cache/writer.hpp>
#include <clbake/cache/xxh64.hpp>
#include <clbake/exceptions_to_status.hpp>
#include <clbake/joined.hpp>
#include <clbake/os/directories.hpp>
#include <clbake/os/files.hpp>
#include <clbake/os/private_directory.hpp>

#include <utility>

namespace clbake {
namespace {

constexpr std::int64_t kTouchSeconds = 3600;

// 16 digits, lower case.
std::string hexadecimal(std::uint64_t number) {
  std::string digits(16, '0');
  for (std::size_t i = digits.size(); number != 0; number >>= 4U) digits[--i] = "0123456789abcdef"[number & 0xfU];
  return digits;
}

// Every field of the target, as a text after its length: no two targets give the same.
std::string text_of(const cache::Target& t) {
  std::string text = joined({"clbake overlay 4 ", t.address_bits});  // another number when the files' content changes
  for (const auto& [name, field] : cache::kTargetTexts) text += joined({" ", (t.*field).size(), " ", t.*field});
  return text;
}

std::string entry_name(const OverlayKey& key) { return key.hash + ".clbake"; }

std::string mark_name(const OverlayKey& key, std::uint64_t program_checksum) {
  return key.hash + "-" + hexadecimal(program_checksum) + ".rejected";
}

std::string part_name(const OverlayKey& key) { return key.hash + "-part"; }

// Equal for the same program.
cache::Bytes program_of(const cache::Variant& variant, const cache::Source& source) {
  const cache::ContentDigest& content = variant.content;
  if (content == cache::no_content) return identifying_bytes(variant, source);
  return {content.begin(), content.end()};
}

// Two keys may have one hash, and files can be renamed.
Status check_content(const Bundle& bundle, const OverlayKey& key) {
  const bool one = bundle.target_count() == 1 && bundle.source_count() == 1 && bundle.variant_count() == 1;
  if (!one || bundle.entry_count() == 0) return {Code::malformed, "is not the bundle of one variant"};
  const Result<cache::Target> target = bundle.target(0);
  if (!target) return target.status();
  const Result<cache::Variant> variant = bundle.variant(0);
  if (!variant) return variant.status();
  const Result<cache::Source> source = bundle.source(0);
  if (!source) return source.status();
  const bool same = *target == key.target && program_of(*variant, *source) == program_of(key.variant, key.source);
  return same ? Status() : Status(Code::malformed, "holds something else than its name says");
}

// True when no process can use the file. Lack of memory or permissions may be this process's own; files of a newer
// clbake serve that one.
bool is_useless(Code code) {
  return code == Code::not_a_bundle || code == Code::truncated || code == Code::checksum || code == Code::malformed;
}

}  // namespace

OverlayKey overlay_key(cache::Target target, cache::Source source, cache::Variant variant, const std::string& scope) {
  const cache::Bytes program = program_of(variant, source);
  std::string all = joined({text_of(target), " ", program.size(), " "});
  all.append(program.begin(), program.end());
  all += scope;
  const auto digits = [&](std::uint64_t seed) {
    return hexadecimal(cache::xxh64(reinterpret_cast<const std::uint8_t*>(all.data()), all.size(), seed));
  };
  std::string hash = digits(0) + digits(1);
  return {std::move(target), std::move(source), std::move(variant), scope, std::move(hash)};
}

OverlayKey overlay_key(cache::Target target, const cache::ContentDigest& content, const std::string& scope) {
  cache::Variant variant;
  variant.content = content;
  return overlay_key(std::move(target), {}, std::move(variant), scope);
}

Result<Overlay> Overlay::open(const OverlayOptions& options) {
  return exceptions_to_status([&]() -> Result<Overlay> {
    const bool is_off = options.mode == OverlayMode::off;
    if (is_off && options.shared.empty()) return {Argument::options, options.directory + ": the overlay is off"};
    if (!is_off && options.directory.empty()) return {Argument::directory, "the overlay's directory is not named"};
    Overlay overlay;
    overlay.writable_ = options.mode == OverlayMode::read_write;
    overlay.max_bytes_ = options.max_bytes;
    if (!is_off) {
      Result<os::PrivateDirectory> own = os::PrivateDirectory::open(options.directory, overlay.writable_);
      if (!own) return own.status();
      overlay.own_ = std::move(*own);
    }
    if (options.shared.empty()) return overlay;
    Result<os::PrivateDirectory> shared = os::PrivateDirectory::open_shared(options.shared, options.shared_owner);
    if (shared) overlay.shared_ = std::move(*shared);
    if (!shared && shared.status().code() != Code::not_found) return shared.status();
    return overlay;
  });
}

Result<Bundle> Overlay::find(const OverlayKey& key) const {
  return exceptions_to_status([&]() -> Result<Bundle> {
    Result<Bundle> bundle = Status(Code::no_entry, "not in the overlay");
    if (own_) bundle = read(*own_, key);
    if (writable_ && is_useless(bundle.status().code())) own_->remove(entry_name(key));
    if (bundle || !shared_) return bundle;
    Result<Bundle> shared = read(*shared_, key);
    return shared || bundle.status().code() == Code::no_entry ? std::move(shared) : std::move(bundle);
  });
}

// Messages begin with the path of the file.
Result<Bundle> Overlay::read(const os::PrivateDirectory& directory, const OverlayKey& key) const {
  const std::string name = entry_name(key), prefix = directory.path() + "/";
  const std::optional<os::PrivateDirectory::File> file = directory.find(name);
  if (!file) return {Code::no_entry, prefix + name + ": not in the overlay"};
  Result<os::Mapping> mapping = directory.map(name);
  if (mapping.status().code() == Code::not_found) return {Code::no_entry, prefix + name + ": removed meanwhile"};
  if (!mapping) return mapping.status().with_message(prefix + mapping.status().message());
  Result<Bundle> bundle = Bundle::from_memory({mapping->data, mapping->size}, std::move(mapping->owner));
  Status status = bundle ? bundle->verify() : bundle.status();
  if (status) status = check_content(*bundle, key);
  if (!status) return status.within(prefix + name);
  if (&directory == &*own_) touch_if_stale(name, file->unused_seconds);
  return bundle;
}

void Overlay::touch_if_stale(const std::string& name, std::int64_t unused_seconds) const {
  if (writable_ && unused_seconds >= kTouchSeconds) own_->touch(name);
}

Status Overlay::store(const OverlayKey& key, std::vector<cache::Entry> entries) const {
  return exceptions_to_status([&]() -> Status {
    if (!writable_) return {};
    if (entries.empty()) return {Code::invalid_argument, "no entry to store in the overlay"};
    cache::Contents contents;
    contents.targets = {key.target};
    contents.sources = {key.source};
    contents.variants = {key.variant};
    contents.variants[0].source = contents.variants[0].trial = 0;
    for (cache::Entry& entry : entries) entry.target = entry.variant = 0;
    contents.entries = std::move(entries);
    const Result<cache::Bytes> bytes = cache::encode(contents);
    if (!bytes) return bytes.status();
    for (const cache::ContentDigest& part : key.variant.parts) {
      const Status marked = put(part_name(overlay_key(key.target, part, key.scope)), {});
      if (!marked) return marked;
    }
    return put_and_evict(entry_name(key), {bytes->data(), bytes->size()});
  });
}

Status Overlay::put(const std::string& name, cache::ByteView bytes) const {
  if (bytes.size > max_bytes_) {
    return {Code::invalid_argument,
            joined({own_->path(), ": ", bytes.size, " bytes are more than the overlay may take, ", max_bytes_})};
  }
  const Status written = own_->write(name, {reinterpret_cast<const char*>(bytes.data), bytes.size});
  return written ? Status() : written.with_message(own_->path() + "/" + written.message());
}

Status Overlay::put_and_evict(const std::string& name, cache::ByteView bytes) const {
  const Status written = put(name, bytes);
  return written ? evict(*own_, max_bytes_, name) : written;
}

Status Overlay::mark_rejected(const OverlayKey& key, std::uint64_t program_checksum) const {
  return exceptions_to_status(
      [&] { return writable_ ? put_and_evict(mark_name(key, program_checksum), {}) : Status(); });
}

bool Overlay::is_rejected(const OverlayKey& key, std::uint64_t program_checksum) const {
  return exceptions_to_status([&] { return has_mark(mark_name(key, program_checksum)); }).ok();
}

bool Overlay::is_part(const OverlayKey& key) const {
  return exceptions_to_status([&] { return has_mark(part_name(key)); }).ok();
}

Status Overlay::has_mark(const std::string& name) const {
  if (shared_ && shared_->find(name)) return {};
  const std::optional<os::PrivateDirectory::File> file = own_ ? own_->find(name) : std::nullopt;
  if (!file) return {Code::no_entry, {}};
  touch_if_stale(name, file->unused_seconds);
  return {};
}

Result<std::string> user_cache_directory(const std::string& application) {
  return exceptions_to_status([&]() -> Result<std::string> {
    if (!os::is_plain_name(application)) {
      return {Argument::other, "application: \"" + application + "\" cannot name a directory"};
    }
    const Result<std::string> caches = os::user_cache_directory();
    if (!caches) return caches;
    return *caches + "/" + application + "/clbake";
  });
}

}  // namespace clbake
