#include <clbake/launch_kind.hpp>
#include <clbake/learn_request.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace clbake::learn {
namespace {

// A message: kMagic, kVersion, then the fields of a request in their order. Numbers are little-endian, texts and lists
// begin with their length.
constexpr std::uint32_t kMagic = 0x424c4c43;  // "CLLB"
constexpr std::uint32_t kVersion = 2;

template <typename Target, typename Visit>
void visit_texts(Target& target, Visit&& visit) {
  for (const auto& [name, text] : cache::kTargetTexts) visit(target.*text);
}

class Writer {
 public:
  void number(std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) message_.push_back(static_cast<char>(value >> 8 * i));
  }
  void text(const std::string& text) { text_of(text, text.size()); }
  void text_of(const std::string& text, std::size_t size) {
    number(size, 4);
    message_.append(text, 0, size);
  }
  void bytes(const std::uint8_t* data, std::size_t size) { message_.append(data, data + size); }

  std::string& message() { return message_; }

 private:
  std::string message_;
};

// The first field that does not fit makes this and all that follow fail.
class Reader {
 public:
  explicit Reader(const std::string& message) : message_(message) {}

  bool ok() const { return ok_; }
  bool at_end() const { return at_ == message_.size(); }

  std::uint64_t number(std::size_t bytes) {
    const char* const from = take(bytes);
    std::uint64_t value = 0;
    for (std::size_t i = from ? bytes : 0; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(from[i]);
    return value;
  }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::string text() {
    const std::size_t size = u32();
    const char* const from = take(size);
    return from ? std::string(from, size) : std::string();
  }
  void bytes(std::uint8_t* to, std::size_t size) {
    if (const char* const from = take(size)) std::copy(from, from + size, to);
  }

 private:
  const char* take(std::size_t size) {
    ok_ = ok_ && size <= message_.size() - at_;
    return ok_ ? message_.data() + std::exchange(at_, at_ + size) : nullptr;
  }

  const std::string& message_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

// Bytes of the message, roughly from above.
std::size_t size_of(const Request& request) {
  std::size_t size =
      4096 + request.program.size() + request.directory.size() + std::min(request.log.size(), kMaxLogBytes);
  visit_texts(request.target, [&](const std::string& text) { size += text.size(); });
  for (const SeenLaunch& launch : request.launches) size += 64 + launch.kernel.size();
  return size;
}

}  // namespace

SeenLaunch seen_launch(std::string kernel, std::uint32_t dimensions, const std::size_t* offset,
                       const std::size_t* global, const std::size_t* local) {
  constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
  SeenLaunch seen;
  seen.kernel = std::move(kernel);
  seen.small_grid = !global || !is_large_grid(global, dimensions);
  for (std::uint32_t i = 0; i < std::min(dimensions, 3U); ++i) {
    if (offset && offset[i] != 0) seen.zero_offset = false;
    if (local) seen.local[i] = static_cast<std::uint32_t>(std::min(local[i], most));
  }
  for (std::uint32_t i = dimensions; local && i < 3; ++i) seen.local[i] = 1;
  return seen;
}

Result<std::string> encode(const Request& request) {
  if (request.launches.size() > kMaxLaunches || size_of(request) > kMaxMessage) {
    return {Code::invalid_argument, "a program, or what is known of its launches, is too large to be learned"};
  }
  Writer to;
  to.number(kMagic, 4);
  to.number(kVersion, 4);
  visit_texts(request.target, [&](const std::string& text) { to.text(text); });
  to.number(request.target.address_bits, 4);
  to.bytes(request.digest.data(), request.digest.size());
  to.text(request.program);
  to.text(request.directory);
  to.text_of(request.log, std::min(request.log.size(), kMaxLogBytes));
  to.number(request.launches.size(), 4);
  for (const SeenLaunch& launch : request.launches) {
    to.text(launch.kernel);
    for (const std::uint32_t extent : launch.local) to.number(extent, 4);
    to.number((launch.zero_offset ? 1U : 0U) | (launch.small_grid ? 2U : 0U), 4);
  }
  return std::move(to.message());
}

Result<Request> decode(const std::string& message) {
  Reader from(message);
  const bool known = from.u32() == kMagic;
  const std::uint32_t version = from.u32();
  if (!from.ok() || !known) return {Code::malformed, "not a message of clbake's layer"};
  if (version != kVersion) return {Code::unsupported_version, "the layer is of another version of clbake"};
  Request request;
  visit_texts(request.target, [&](std::string& text) { text = from.text(); });
  request.target.address_bits = from.u32();
  from.bytes(request.digest.data(), request.digest.size());
  request.program = from.text();
  request.directory = from.text();
  request.log = from.text();
  const std::uint32_t launches = from.u32();
  const bool bounded = request.log.size() <= kMaxLogBytes && launches <= kMaxLaunches;
  for (std::uint32_t i = 0; bounded && from.ok() && i < launches; ++i) {
    SeenLaunch launch;
    launch.kernel = from.text();
    for (std::uint32_t& extent : launch.local) extent = from.u32();
    const std::uint32_t flags = from.u32();
    launch.zero_offset = (flags & 1U) != 0;
    launch.small_grid = (flags & 2U) != 0;
    request.launches.push_back(std::move(launch));
  }
  if (!bounded || !from.ok() || !from.at_end()) return {Code::malformed, "the layer's message is damaged"};
  return request;
}

}  // namespace clbake::learn
