#include "report/releases.hpp"

#include "files.hpp"

namespace clbake::tool::test {
namespace {

using namespace clbake::tests;

Target target(const char* device, const char* driver) {
  return {"Platform", "OpenCL 3.0", "Vendor", device, "OpenCL 3.0 of the device", driver, "arch", 64};
}

cache::Variant variant(const char* name, Precision precision) {
  cache::Variant v;
  v.name = name;
  v.precision = precision;
  v.contract = 4;
  v.launches.resize(1);
  return v;
}

cache::CostModel model(std::uint32_t variant, float call_us, float wave_us) {
  cache::CostModel m;
  m.variant = variant;
  m.tile_m = m.tile_n = m.item_m = m.item_n = 128;
  m.call_us = call_us;
  m.wave_us = wave_us;
  return m;
}

cache::Entry entry(std::uint32_t target, std::uint32_t variant, cache::Form form) {
  cache::Entry e;
  e.target = target;
  e.variant = variant;
  e.form = form;
  e.proof.proven = true;
  e.proof.jit_free = form == cache::Form::native;
  e.program = cache::Bytes(1000, static_cast<std::uint8_t>(10 * target + variant + 1));
  return e;
}

}  // namespace

cache::Contents release_contents() {
  cache::Contents all;
  all.targets = {target("Device <A>", "1"), target("Device <A>", "2"), target("Device B", "1")};
  all.sources = {{"a.cl", ""}};
  all.variants = {variant("small", Precision::single_precision), variant("large", Precision::single_precision),
                  variant("double", Precision::double_precision)};
  cache::Rule any_double;
  any_double.precision = Precision::double_precision;
  any_double.variant = 2;
  for (std::uint32_t t = 0; t < 3; ++t) {
    cache::Profile profile;
    profile.target = t;
    profile.units = 1;
    profile.models = {model(0, 0, 10), model(1, 100, 0)};
    profile.defaults = {any_double};
    all.profiles.push_back(profile);
    for (std::uint32_t v = 0; v < 3; ++v) {
      if (t == 2 && v == 1) continue;
      all.entries.push_back(entry(t, v, t == 1 ? cache::Form::portable : cache::Form::native));
    }
  }
  return all;
}

cache::Variant own_program(const std::string& name) {
  cache::Variant program;
  program.name = name;
  program.family = "program";
  program.precision = no_precision;
  program.contract = 1;
  program.launches = {{cache::Role::kernel, "mine", {64, 1, 1}, 1, 1}};
  return program;
}

ReleaseBundle named(const std::string& file, const cache::Contents& contents) {
  const cache::Bytes bytes = encoded(contents);
  return {file, required(Bundle::copy_of({bytes.data(), bytes.size()}))};
}

}  // namespace clbake::tool::test
