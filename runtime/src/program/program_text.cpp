#include <clbake/cache/blake2b.hpp>
#include <clbake/exceptions_to_status.hpp>
#include <clbake/includes.hpp>
#include <clbake/program_text.hpp>

#include "program/source_digest.hpp"

#include <algorithm>
#include <utility>

namespace clbake {
namespace {

// In front of what is not a plain source. No OpenCL C begins so.
constexpr std::string_view kMark =
    "\x01"
    "clbake program ";
constexpr char kTextVersion = '1';
constexpr std::size_t kDeepest = 16;  // parts of parts

std::string joined_sources(const ProgramText& program) {
  std::string text;
  for (const std::string& source : program.sources) text += source;
  return text;
}

// Out: std::string, or Digester, which needs no copy of texts that may have megabytes.
template <typename Out>
void append(Out& out, std::uint64_t number) {
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(number >> (8 * i) & 0xff);
  out += std::string_view(bytes, sizeof bytes);
}

template <typename Out>
void append(Out& out, const std::string& text) {
  append(out, text.size());
  out += text;
}

template <typename Out>
void append_fields(Out& out, const ProgramText& program) {
  std::uint64_t source_bytes = 0;
  for (const std::string& source : program.sources) source_bytes += source.size();
  append(out, source_bytes);
  for (const std::string& source : program.sources) out += source;
  append(out, program.il);
  append(out, program.options);
  append(out, program.headers.size());
  for (const ProgramText::Header& header : program.headers) append(out, header.name), append(out, header.text);
  append(out, program.parts.size());
  for (const ProgramText& part : program.parts) append_fields(out, part);
}

// The form of encoded texts.
template <typename Out>
void append_encoded(Out& out, const ProgramText& program) {
  const bool is_more =
      !program.il.empty() || !program.options.empty() || !program.headers.empty() || !program.parts.empty();
  const bool is_one = program.sources.size() == 1;
  if (!is_more && !(is_one ? is_encoded(program.sources.front()) : is_encoded(joined_sources(program)))) {
    for (const std::string& source : program.sources) out += source;
    return;
  }
  out += kMark;
  out += std::string_view(&kTextVersion, 1);
  append_fields(out, program);
}

struct Digester {
  void operator+=(std::string_view text) {
    hash.add({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
  cache::Blake2b hash;
};

// Reads what append_fields wrote.
class TextDecoder {
 public:
  explicit TextDecoder(std::string_view bytes) : left_(bytes) {}

  bool read(ProgramText& program, std::size_t deep = 0) {
    std::string source;
    std::uint64_t headers = 0, parts = 0;
    if (deep > kDeepest || !read(source) || !read(program.il) || !read(program.options) || !read(headers)) return false;
    if (!source.empty()) program.sources = {std::move(source)};
    for (std::uint64_t i = 0; i < headers; ++i) {
      ProgramText::Header& header = program.headers.emplace_back();
      if (!read(header.name) || !read(header.text)) return false;
    }
    if (!read(parts)) return false;
    for (std::uint64_t i = 0; i < parts; ++i) {
      if (!read(program.parts.emplace_back(), deep + 1)) return false;
    }
    return true;
  }

  bool at_end() const { return left_.empty(); }

 private:
  bool read(std::uint64_t& number) {
    if (left_.size() < 8) return false;
    for (std::size_t i = 0; i < 8; ++i) number |= std::uint64_t{static_cast<unsigned char>(left_[i])} << (8 * i);
    left_.remove_prefix(8);
    return true;
  }

  bool read(std::string& text) {
    std::uint64_t size = 0;
    if (!read(size) || size > left_.size()) return false;
    text = left_.substr(0, size);
    left_.remove_prefix(size);
    return true;
  }

  std::string_view left_;
};

Result<ProgramText> contained(const ProgramText& program, std::size_t deep) {
  if (deep > kDeepest) return {Argument::other, "programs are linked of programs more than 16 deep"};
  const Result<includes::Options> options = includes::read_options(program.options);
  if (!options) return options.status();
  includes::Files files;
  for (const ProgramText::Header& header : program.headers) files[includes::plain_name(header.name)] = header.text;
  ProgramText whole;
  whole.il = program.il;
  whole.options = options->others;
  std::string text = joined_sources(program);
  const Status added = includes::add_included(text, *options, files);
  if (!added) return added;
  if (!text.empty()) whole.sources = {std::move(text)};
  for (auto& [name, content] : files) whole.headers.push_back({name, std::move(content)});
  for (const ProgramText& part : program.parts) {
    Result<ProgramText> made = contained(part, deep + 1);
    if (!made) return made;
    whole.parts.push_back(std::move(*made));
  }
  return whole;
}

// pyopencl, where it caches a program itself, ends its source with an unused constant that has another name in each
// process: pyopencl/cache.py. No bundle could know such a text.
void drop_constant_of_pyopencl(std::string& source) {
  constexpr std::string_view before = "\n\n__constant int pyopencl_defeat_cache_";
  constexpr std::string_view after = " = 0;";
  constexpr std::size_t digits = 32;
  const std::size_t size = before.size() + digits + after.size();
  if (source.size() < size) return;
  const std::string_view end = std::string_view(source).substr(source.size() - size);
  const std::string_view name = end.substr(before.size(), digits);
  if (end.substr(0, before.size()) != before || end.substr(size - after.size()) != after) return;
  if (name.find_first_not_of("0123456789abcdef") == name.npos) source.resize(source.size() - size);
}

// Without what the builder adds: #line directives, and a newline at the end.
std::string as_written(const ProgramText& program) {
  const std::string source = joined_sources(program);
  std::string all;
  for (std::string_view left = source; !left.empty();) {
    const std::string_view line = left.substr(0, std::min(left.find('\n'), left.size() - 1) + 1);
    if (line.substr(0, 6) != "#line ") all += line;
    left.remove_prefix(line.size());
  }
  all.erase(all.find_last_not_of('\n') + 1);
  drop_constant_of_pyopencl(all);
  return all;
}

void append_sources(Digester& digester, const ProgramText& program) {
  append(digester, as_written(program));
  append(digester, program.il);
  append(digester, program.parts.size());
  for (const ProgramText& part : program.parts) append_sources(digester, part);
}

}  // namespace

ContentDigest source_digest(const ProgramText& program) {
  Digester digester;
  append_sources(digester, program);
  return digester.hash.digest();
}

Result<ProgramText> self_contained(const ProgramText& program) {
  return exceptions_to_status([&] { return contained(program, 0); });
}

Result<ContentDigest> content_digest(const ProgramText& program) {
  return exceptions_to_status([&]() -> Result<ContentDigest> {
    Result<ProgramText> whole = contained(program, 0);
    if (!whole) return whole.status();
    if (!whole->sources.empty()) drop_constant_of_pyopencl(whole->sources.back());
    Digester digester;
    append_encoded(digester, *whole);
    return digester.hash.digest();
  });
}

Result<std::vector<ContentDigest>> part_digests(const ProgramText& program) {
  return exceptions_to_status([&]() -> Result<std::vector<ContentDigest>> {
    std::vector<ContentDigest> all;
    for (const ProgramText& part : program.parts) {
      const Result<ContentDigest> one = content_digest(part);
      const Result<std::vector<ContentDigest>> more = one ? part_digests(part) : one.status();
      if (!more) return more.status();
      all.push_back(*one);
      all.insert(all.end(), more->begin(), more->end());
    }
    return all;
  });
}

std::string content_name(const ContentDigest& digest) {
  std::string name = kContentPrefix;
  for (const std::uint8_t byte : digest) name += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
  return name;
}

std::string encode(const ProgramText& program) {
  std::string out;
  append_encoded(out, program);
  return out;
}

bool is_encoded(std::string_view text) { return text.substr(0, kMark.size()) == kMark; }

Result<ProgramText> decode_program_text(std::string_view encoded) {
  return exceptions_to_status([&]() -> Result<ProgramText> {
    ProgramText program;
    if (!is_encoded(encoded)) {
      if (!encoded.empty()) program.sources = {std::string(encoded)};
      return program;
    }
    encoded.remove_prefix(kMark.size());
    if (encoded.empty() || encoded[0] != kTextVersion) {
      return Status(Code::unsupported_version, "a program's text is of a newer version");
    }
    TextDecoder decoder(encoded.substr(1));
    if (decoder.read(program) && decoder.at_end()) return program;
    return Status(Code::malformed, "a program's text ends too early or too late");
  });
}

}  // namespace clbake
