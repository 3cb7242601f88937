#include "samples.hpp"

#include <clbake/cache/pack.hpp>
#include <clbake/cache/writer.hpp>
#include <clbake/cache/xxh64.hpp>

#include "coding.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>

namespace clbake::cache::test {
namespace {

Target target(const char* device, const char* driver) {
  return {"Portable Platform", "OpenCL 3.0", "Vendor", device, "1.2", driver, "arch-9", 64};
}

Variant variant(const char* name, Precision precision, std::uint32_t source) {
  Variant v;
  v.name = name;
  v.family = "direct";
  v.precision = precision;
  v.trans_b = true;
  v.contract = 1;
  v.build_options = "-DTILE=4";
  v.source = source;
  v.block_k = 8;
  v.launches = {{Role::gemm, "gemm", {8, 4, 1}, 16, 32}};
  return v;
}

Bytes program(std::uint8_t seed, std::size_t bytes) {
  Bytes p(bytes);
  for (std::size_t i = 0; i < bytes; ++i) p[i] = static_cast<std::uint8_t>(seed + i * i % 7);
  return p;
}

Proof proof(bool jit_free, const char* note) {
  return {true,
          jit_free,
          1.5F,
          20.5F,
          8.5F,
          12.25F,
          10.0F,
          0.5F,
          8.0F,
          {"16-1-1-goffs0"},
          {{"compiler", "1.0"}, {"linker", ""}},
          "Device P",
          "535.1",
          note,
          jit_free ? "" : "a warning"};
}

// The list in the order old[0], old[1] ...
template <typename T>
std::vector<T> reordered(const std::vector<T>& list, const std::vector<std::uint32_t>& old) {
  std::vector<T> result;
  result.reserve(old.size());
  for (const std::uint32_t i : old) result.push_back(list[i]);
  return result;
}

std::vector<std::uint32_t> permutation(std::size_t size, std::mt19937& random) {
  std::vector<std::uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

std::vector<std::uint32_t> inverse(const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> result(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) result[order[i]] = i;
  return result;
}

}  // namespace

Contents small_contents() {
  Contents c;
  c.targets = {target("Device A", "535.1"), target("Device A", "550.2"), target("Device B", "550.2")};
  c.sources = {{"direct.cl", "__kernel void gemm() { /* aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa */ }\n"},
               {"tile.cl", ""}};
  c.variants = {variant("direct-4", Precision::single_precision, 0),
                variant("direct-8", Precision::double_precision, 0),
                variant("tile-16", Precision::single_precision, 1)};
  c.variants[2].image_b = true;
  c.variants[2].split_k = 4;
  c.variants[2].launches.push_back({Role::reduce, "reduce", {64, 1, 1}, 1, 64});
  Rule small_k;
  small_k.k_max = 128;
  small_k.batch_min = 2;
  small_k.batch_max = 4096;
  small_k.variant = 2;
  Rule rest;
  rest.trans_a = true;
  rest.precision = Precision::double_precision;
  rest.variant = 1;
  CostModel model;
  model.variant = 2;
  model.trans_b = true;
  model.tile_m = 16;
  model.tile_n = 32;
  model.item_m = 4;
  model.item_n = 8;
  model.step_k = 2;
  model.slices = 4;
  model.resident = 3;
  model.regime = 2;
  model.few_m = 8;
  model.few_n = 16;
  float number = 0.5F;  // another one for each
  for (const auto& [name, field] : kCostModelNumbers) model.*field = number++;
  c.profiles = {{0, 24, {small_k}, {model}, {rest}}, {2, 132, {}, {}, {rest}}};
  c.entries = {{0, 0, Form::native, proof(true, "finalized by 1.0"), program(1, 70)},
               {0, 0, Form::portable, proof(false, "the driver compiles it"), program(9, 24)},
               {0, 2, Form::portable, Proof(), program(3, 9)},
               {1, 0, Form::native, proof(true, "finalized by 1.0"), program(1, 70)},
               {2, 1, Form::native, proof(true, ""), program(5, 1)}};
  c.entries[3].newer_driver = true;
  return c;
}

Contents program_contents() {
  Contents c;
  c.targets = {target("Device A", "535.1")};
  c.sources = {{"rows.cl", "kernel void rows() {}"}, {"trial.json", "[]"}};
  Variant named = variant("softmax", no_precision, 0);
  named.family = "program";
  named.trans_b = false;
  named.block_k = 1;
  named.launches = {{Role::kernel, "rows", {64, 1, 1}, 1, 1}, {Role::kernel, "rows", {8, 8, 1}, 1, 1}};
  named.trial = 2;
  named.content.fill(9);
  Variant linked = named;
  linked.name = "content-08";
  linked.launches.clear();
  linked.trial = 0;
  linked.content.fill(8);
  linked.parts.resize(2);
  linked.parts[1].fill(7);
  c.variants = {named, linked};
  c.entries = {{0, 0, Form::native, proof(false, "not JIT-free"), program(2, 40)}};
  return c;
}

Contents similar_contents() {
  Contents c;
  for (const char* driver : {"530.1", "535.1", "550.2", "580.3"}) c.targets.push_back(target("Device A", driver));
  c.sources = {{"direct.cl", "kernel void gemm() {}"}};
  for (const char* name : {"direct-4", "direct-8", "tile-16"}) {
    c.variants.push_back(variant(name, Precision::single_precision, 0));
  }
  for (std::uint32_t v = 0; v < 3; ++v) {
    for (std::uint32_t t = 0; t < 4; ++t) {
      std::mt19937 random(v + 1);
      Bytes program(600);
      for (std::uint8_t& byte : program) byte = static_cast<std::uint8_t>(v == 2 ? random() % 4 : random());
      for (std::uint32_t i = 0; i < t; ++i) program[100 * i + 50] ^= 0xFF;
      c.entries.push_back({t, v, Form::native, Proof(), program});
    }
  }
  return c;
}

const Bytes& packed_bundle() {
  static const Bytes bytes = pack(similar_contents()).value();
  return bytes;
}

void test_digest(ByteView bytes, std::uint8_t* digest) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) store64(digest + 8 * seed, xxh64(bytes, 1000 + seed));
}

Result<ByteView> TestGuard::admit(ByteView stored, const std::uint8_t* digest, Bytes& copy) const {
  ++shown;
  copy.assign(stored.data, stored.data + stored.size);
  std::uint8_t found[32];
  test_digest(view_of(copy), found);
  if (!std::equal(found, found + 32, digest)) return Status(Code::not_trusted, "its digest differs");
  ++admitted;
  return view_of(copy);
}

const Bytes& signed_bundle() {
  static const Bytes bytes = [] {
    PackOptions options;
    options.digest = test_digest;
    Signature first, second;
    first.public_key.fill(7);
    first.release = 3;
    first.signature.fill(9);
    second.public_key.fill(5);
    second.release = UINT64_MAX;
    return with_signatures(view_of(pack(small_contents(), options).value()), {first, second}).value();
  }();
  return bytes;
}

Bytes encoded(const Contents& contents) {
  Result<Bytes> bytes = encode(contents);
  if (!bytes) throw std::runtime_error("encode: " + bytes.status().message());
  return std::move(*bytes);
}

const Bytes& small_bundle() {
  static const Bytes bytes = encoded(small_contents());
  return bytes;
}

Result<Bundle> open_bytes(const Bytes& bytes) { return Bundle::from_memory(view_of(bytes)); }

std::string fingerprint(const Contents& contents) {
  const Bytes bytes = encoded(contents);
  return std::to_string(xxh64(view_of(bytes), 0));
}

Contents shuffled(const Contents& contents, unsigned seed) {
  std::mt19937 random(seed);
  const auto targets = permutation(contents.targets.size(), random);
  const auto sources = permutation(contents.sources.size(), random);
  const auto variants = permutation(contents.variants.size(), random);
  const auto new_target = inverse(targets), new_source = inverse(sources), new_variant = inverse(variants);
  Contents c;
  c.targets = reordered(contents.targets, targets);
  c.sources = reordered(contents.sources, sources);
  c.variants = reordered(contents.variants, variants);
  c.profiles = reordered(contents.profiles, permutation(contents.profiles.size(), random));
  c.entries = reordered(contents.entries, permutation(contents.entries.size(), random));
  for (Variant& v : c.variants) v.source = new_source[v.source];
  for (Profile& p : c.profiles) {
    p.target = new_target[p.target];
    for (Rule& r : p.exceptions) r.variant = new_variant[r.variant];
    for (CostModel& m : p.models) m.variant = new_variant[m.variant];
    for (Rule& r : p.defaults) r.variant = new_variant[r.variant];
  }
  for (Entry& e : c.entries) {
    e.target = new_target[e.target];
    e.variant = new_variant[e.variant];
  }
  return c;
}

}  // namespace clbake::cache::test
