// Made-up entries for the tests of the overlay. Their bytes identify the key and the writer.
#pragma once

#include <clbake/overlay_directory.hpp>

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace clbake::test {

inline OverlayKey sample_key(std::uint64_t number) {
  cache::Target target;
  target.platform_name = "Made Up";
  target.device_name = "device";
  target.driver_version = "1.0";
  target.address_bits = 64;
  cache::Variant variant;
  variant.name = "variant-" + std::to_string(number);
  variant.family = "direct";
  variant.contract = 4;
  variant.source = 7;  // of some other bundle
  variant.launches = {{cache::Role::gemm, "gemm", {8, 8, 1}, 8, 8}};
  return overlay_key(target, {"gemm.cl", std::string(3000, ' ') + "__kernel void gemm() {}"}, variant);
}

// The key's number, the writer's, and what follows from both: half of it can be compressed.
inline cache::Bytes sample_program(std::uint64_t number, std::uint64_t writer, std::size_t words = 500) {
  std::mt19937_64 random(number * 1000003 + writer);
  std::vector<std::uint64_t> all = {number, writer};
  while (all.size() < words) all.insert(all.end(), {random(), number});
  cache::Bytes bytes(all.size() * sizeof all[0]);
  std::memcpy(bytes.data(), all.data(), bytes.size());
  return bytes;
}

inline std::vector<cache::Entry> sample_entries(std::uint64_t number, std::uint64_t writer, std::size_t words = 500) {
  cache::Entry entry;
  entry.target = 3;  // store() takes those of the key
  entry.variant = 4;
  entry.program = sample_program(number, writer, words);
  return {entry};
}

// True when some writer made the program for this key, to the last byte.
inline bool is_sample(const cache::Bytes& program, std::uint64_t number) {
  std::uint64_t head[2] = {};
  if (program.size() < sizeof head || program.size() % sizeof head[0] != 0) return false;
  std::memcpy(head, program.data(), sizeof head);
  return head[0] == number && program == sample_program(number, head[1], program.size() / sizeof head[0]);
}

}  // namespace clbake::test
