#include "finalize/poclbin.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace clbake {
namespace {

// Header: magic, u64 device, u32 version, u32 kernels, u64 flags, u32 root entries, the program's place: "AB/CD...", 0;
// then in version 11 u64 bytes of variables in program scope.
constexpr std::string_view kMagic("poclbin\0", 8);
constexpr std::uint32_t kOldVersion = 9;   // of PoCL 3.1
constexpr std::uint32_t kNewVersion = 11;  // of PoCL 4.0 to 7.1
constexpr std::uint64_t kExecutable = 4;   // CL_PROGRAM_BINARY_TYPE_EXECUTABLE
constexpr std::size_t kVariablesBytes = 8;
constexpr std::uint32_t kHasWorkGroups = 2, kHasSubGroups = 4;  // of a kernel's flags: 5 and 2 numbers follow
constexpr std::uint32_t kLocalAddress = 0x119C;                 // CL_KERNEL_ARG_ADDRESS_LOCAL
constexpr std::size_t kSizesBytes = 8 + 8 + 4;  // at the beginning of a kernel: of the record, its files, its arguments
constexpr char kOwnLetter = 'Z';                // begins the place of a slim program; none of PoCL's own has it
constexpr std::string_view kBitcode = "/program.bc";
constexpr std::string_view kNoBitcode = "/clbake";  // in its stead: PoCL asserts that there is one file
constexpr std::string_view kAnyShape = "0-0-0";

// Reads little-endian numbers and counted strings; the first that does not fit makes this and all that follow fail.
class Cursor {
 public:
  explicit Cursor(cache::ByteView bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return rest_.size == 0; }

  cache::ByteView take(std::uint64_t bytes) {
    if (!ok_ || bytes > rest_.size) {
      ok_ = false;
      return {};
    }
    const auto size = static_cast<std::size_t>(bytes);
    const cache::ByteView taken = {rest_.data, size};
    rest_ = {rest_.data + size, rest_.size - size};
    return taken;
  }

  std::uint64_t number(std::size_t bytes) {
    const cache::ByteView taken = take(bytes);
    std::uint64_t value = 0;
    for (std::size_t i = taken.size; i-- > 0;) value = value << 8 | taken.data[i];
    return value;
  }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t u64() { return number(8); }
  cache::ByteView counted() { return take(u32()); }
  std::string text() {
    const cache::ByteView taken = counted();
    return {reinterpret_cast<const char*>(taken.data), taken.size};
  }

 private:
  cache::ByteView rest_;
  bool ok_ = true;
};

Status malformed(const std::string& what) { return {Code::malformed, "PoCL's binary: " + what}; }

bool begins_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

bool has_magic(cache::ByteView bytes) {
  return bytes.size >= kMagic.size() && std::memcmp(bytes.data, kMagic.data(), kMagic.size()) == 0;
}

bool is_letter(std::uint8_t c) { return c >= 'A' && c <= 'P'; }

// Two letters, a slash, the other letters, a zero.
bool is_place(cache::ByteView place) {
  const std::uint8_t* end = place.data + place.size - 1;
  return (is_letter(place.data[0]) || place.data[0] == kOwnLetter) && is_letter(place.data[1]) &&
         place.data[2] == '/' && std::all_of(place.data + 3, end, is_letter) && *end == 0;
}

Status parse_root(cache::ByteView files, PoclBinary& binary) {
  Cursor cursor(files);
  while (cursor.ok() && !cursor.at_end()) {
    const std::string path = cursor.text();
    const cache::ByteView content = cursor.counted();
    const bool bitcode = path == kBitcode;
    const bool none = path == kNoBitcode && content.size == 0;
    if (cursor.ok() && !bitcode && !none) return malformed("holds the unknown file " + path);
    binary.holds_bitcode = binary.holds_bitcode || bitcode;
  }
  return cursor.ok() ? Status() : malformed("a file is longer than its directory");
}

// The kernel's files: "/<kernel>/<shape>/<kernel>.so" is machine code; others are the compiler's leftovers.
Status parse_files(cache::ByteView files, PoclKernel& kernel) {
  const std::string directory = "/" + kernel.name + "/";
  const std::string leaf = "/" + kernel.name + ".so";
  Cursor cursor(files);
  while (cursor.ok() && !cursor.at_end()) {
    const std::string path = cursor.text();
    const cache::ByteView content = cursor.counted();
    if (!cursor.ok()) break;
    const std::size_t slash = path.find('/', directory.size());
    if (!begins_with(path, directory) || slash == std::string::npos || path.find("..") != std::string::npos) {
      return malformed("kernel " + kernel.name + " has the file " + path);
    }
    if (path.substr(slash) != leaf) continue;
    if (content.size == 0) return malformed(path + " is empty");
    kernel.functions.push_back({path.substr(directory.size(), slash - directory.size()), content});
  }
  return cursor.ok() ? Status() : malformed("a file is longer than its directory");
}

// Reads the whole description: in a record of another layout the sizes do not add up.
Status parse_description(cache::ByteView description, std::uint32_t argument_bytes, PoclKernel& kernel) {
  Cursor cursor(description);
  cursor.take(kSizesBytes);
  kernel.name = cursor.text();
  const std::uint32_t arguments = cursor.u32();
  const std::uint32_t locals = cursor.u32();
  for (std::uint64_t& size : kernel.required_local) size = cursor.u64();
  cursor.take(std::uint64_t{locals} * 8);
  cursor.counted();  // attributes
  cursor.u32();      // what is known of the arguments
  const std::uint32_t flags = cursor.u32();
  if ((flags & ~(kHasWorkGroups | kHasSubGroups)) != 0) return malformed("a kernel's record has unknown flags");
  if (flags & kHasSubGroups) cursor.take(8);
  if (flags & kHasWorkGroups) cursor.take(20);
  kernel.has_local_memory = locals > 0;
  Cursor list(cursor.take(argument_bytes));
  for (std::uint32_t i = 0; list.ok() && i < arguments; ++i) {
    list.take(4);  // qualifier of access
    kernel.has_local_memory = list.u32() == kLocalAddress || kernel.has_local_memory;
    list.take(8 + 4 + 4);  // qualifier of the type; type; its size
    list.counted();        // name
    list.counted();        // the type's name
  }
  if (!cursor.ok() || !cursor.at_end() || !list.ok() || !list.at_end())
    return malformed("a kernel's record is damaged");
  const bool plain_name =
      !kernel.name.empty() && kernel.name.find_first_of(std::string("/.\0", 3)) == std::string::npos;
  return plain_name ? Status() : malformed("a kernel's name is empty or not plain");
}

Status parse_kernel(Cursor& cursor, PoclBinary& binary) {
  Cursor sizes = cursor;
  const std::uint64_t record_bytes = sizes.u64();
  const std::uint64_t files_bytes = sizes.u64();
  const std::uint32_t argument_bytes = sizes.u32();
  const cache::ByteView record = cursor.take(record_bytes);
  if (!sizes.ok() || !cursor.ok() || files_bytes > record.size || record.size - files_bytes < kSizesBytes) {
    return malformed("a kernel's record is longer than the file");
  }
  PoclKernel kernel;
  kernel.description = {record.data, record.size - static_cast<std::size_t>(files_bytes)};
  Status status = parse_description(kernel.description, argument_bytes, kernel);
  if (status) {
    status = parse_files({record.data + kernel.description.size, static_cast<std::size_t>(files_bytes)}, kernel);
  }
  binary.kernels.push_back(std::move(kernel));
  return status;
}

void append(cache::Bytes& into, cache::ByteView bytes) { into.insert(into.end(), bytes.data, bytes.data + bytes.size); }

void append_number(cache::Bytes& into, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) into.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

void append_file(cache::Bytes& into, std::string_view path, cache::ByteView content) {
  append_number(into, path.size(), 4);
  into.insert(into.end(), path.begin(), path.end());
  append_number(into, content.size, 4);
  append(into, content);
}

// True when a launch of the program has the function's local size, with which the function's shape begins
// ("64-1-1-goffs0"), or one that the driver chose.
bool is_launched(const cache::Variant& program, const PoclKernel& kernel, const PoclFunction& function) {
  return std::any_of(program.launches.begin(), program.launches.end(), [&](const cache::Launch& launch) {
    std::string size;
    for (const std::uint32_t extent : launch.local) size += std::to_string(extent) + "-";
    const bool has_size = launch.local[0] == 0 || begins_with(function.shape + "-", size);
    return launch.kernel_name == kernel.name && has_size;
  });
}

bool is_needed(const PoclKernel& kernel, const PoclFunction& function, const cache::Variant* program) {
  const std::array<std::uint64_t, 3> one_item = {1, 1, 1};
  if (function.shape == kAnyShape) return true;
  if (kernel.required_local == one_item) return false;
  return !program || (kernel.has_local_memory && is_launched(*program, kernel, function));
}

void append_kernel(cache::Bytes& into, const PoclKernel& kernel, const cache::Variant* program) {
  cache::Bytes files;
  for (const PoclFunction& function : kernel.functions) {
    if (!is_needed(kernel, function, program)) continue;
    append_file(files, "/" + kernel.name + "/" + function.shape + "/" + kernel.name + ".so", function.code);
  }
  append_number(into, kernel.description.size + files.size(), 8);
  append_number(into, files.size(), 8);
  append(into, {kernel.description.data + 16, kernel.description.size - 16});
  append(into, {files.data(), files.size()});
}

}  // namespace

Result<PoclBinary> parse_poclbin(cache::ByteView bytes) {
  if (!has_magic(bytes)) return malformed("does not begin like one");
  Cursor header(bytes);
  header.take(kMagic.size() + 8);
  const std::uint32_t version = header.u32();
  const std::uint32_t kernels = header.u32();
  const std::uint64_t flags = header.u64();
  const std::uint32_t root_entries = header.u32();
  const cache::ByteView place = header.take(kPoclPlaceBytes);
  if (!header.ok()) return malformed("ends inside its header");
  if (version != kOldVersion && version != kNewVersion) {
    return {Code::unsupported_version, "PoCL's binary has version " + std::to_string(version) +
                                           "; this clbake knows the versions " + std::to_string(kOldVersion) + " and " +
                                           std::to_string(kNewVersion)};
  }
  if (flags >> 32 != kExecutable || root_entries != 1 || !is_place(place)) return malformed("has an unknown header");
  if (version == kNewVersion && header.u64() != 0) return malformed("has variables in program scope");

  Cursor cursor(bytes);
  PoclBinary binary;
  binary.header = cursor.take(kPoclPlaceAt + kPoclPlaceBytes + (version == kNewVersion ? kVariablesBytes : 0));
  const cache::ByteView root = cursor.take(cursor.u64());
  if (!cursor.ok()) return malformed("ends inside its first directory");
  Status status = parse_root(root, binary);
  for (std::uint32_t i = 0; status && i < kernels; ++i) status = parse_kernel(cursor, binary);
  if (status && (kernels == 0 || !cursor.at_end())) status = malformed("has no kernel, or bytes after the last one");
  if (!status) return status;
  return binary;
}

Result<cache::Bytes> slim_poclbin(cache::ByteView bytes, const cache::Variant* program) {
  const Result<PoclBinary> binary = parse_poclbin(bytes);
  if (!binary) return binary.status();
  for (const PoclKernel& kernel : binary->kernels) {
    const bool serves_all = std::any_of(kernel.functions.begin(), kernel.functions.end(),
                                        [](const PoclFunction& function) { return function.shape == kAnyShape; });
    if (!serves_all) return malformed("kernel " + kernel.name + " has no function for every launch");
  }
  cache::Bytes slim;
  append(slim, binary->header);
  slim[kPoclPlaceAt] = kOwnLetter;
  cache::Bytes root;
  append_file(root, kNoBitcode, {});  // empty: PoCL creates such a file without a sync
  append_number(slim, root.size(), 8);
  append(slim, {root.data(), root.size()});
  for (const PoclKernel& kernel : binary->kernels) append_kernel(slim, kernel, program);
  return slim;
}

bool is_slim_poclbin(cache::ByteView bytes) noexcept {
  return bytes.size >= kPoclPlaceAt + kPoclPlaceBytes && has_magic(bytes) && bytes.data[kPoclPlaceAt] == kOwnLetter &&
         is_letter(bytes.data[kPoclPlaceAt + 1]);
}

}  // namespace clbake
