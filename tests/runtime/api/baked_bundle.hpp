// The bundle that was baked for this machine's devices, changed for a test; included by one source file of each test.
#pragma once

#include <clbake/builder/gemm_run.hpp>
#include <clbake/cache/writer.hpp>

#include "selected_devices.hpp"

#define BOOST_TEST_NO_MAIN
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <functional>

namespace clbake::tests {

struct Here {
  builder::Device device;
  builder::Session session;
};

inline Result<Here> open_here() {
  const Result<std::vector<builder::Device>> devices = builder::list_devices();
  if (!devices) return devices.status();
  Result<builder::Session> session = builder::Session::open(devices->front());
  if (!session) return session.status();
  return Here{devices->front(), *session};
}

// The first device; a test's main calls open_here first, and skips without one.
inline Here& here() {
  static Result<Here> opened = open_here();
  return *opened;
}

// The direct family's variant with entries for this kind of problem; the number of variants when there is none.
inline std::uint32_t direct_variant(const cache::Contents& contents, const GemmKind& kind) {
  std::uint32_t v = 0;
  for (; v < contents.variants.size(); ++v) {
    const cache::Variant& variant = contents.variants[v];
    const bool baked = std::any_of(contents.entries.begin(), contents.entries.end(),
                                   [&](const cache::Entry& entry) { return entry.variant == v; });
    if (baked && variant.family == "direct" && variant.kind() == kind) break;
  }
  return v;
}

// Calls `change` with each rule and each cost model of the profile.
template <typename Change>
void for_each_choice(cache::Profile& profile, const Change& change) {
  for (cache::Rule& rule : profile.exceptions) change(rule);
  for (cache::CostModel& model : profile.models) change(model);
  for (cache::Rule& rule : profile.defaults) change(rule);
}

// The tests are about machine code. Where the driver gives SPIR-V, that is called so, and loaded in the same way.
inline cache::Contents baked_contents() {
  const Result<Bundle> bundle = Bundle::open(std::getenv("CLBAKE_TEST_BUNDLE"));
  BOOST_REQUIRE_MESSAGE(bundle.ok(), bundle.status().message());
  Result<cache::Contents> contents = bundle->decode();
  BOOST_REQUIRE_MESSAGE(contents.ok(), contents.status().message());
  for (cache::Entry& entry : contents->entries) {
    if (!gives_machine_code(here().device)) entry.form = cache::Form::native;
  }
  return std::move(*contents);
}

inline cache::Bytes encoded_contents(const cache::Contents& contents) {
  Result<cache::Bytes> bytes = cache::encode(contents);
  BOOST_REQUIRE_MESSAGE(bytes.ok(), bytes.status().message());
  return std::move(*bytes);
}

// All profiles choose the direct family (it compiles fastest), then `change`.
inline cache::Bytes changed_bundle(const std::function<void(cache::Contents&)>& change) {
  cache::Contents contents = baked_contents();
  for (cache::Profile& profile : contents.profiles) {
    for_each_choice(profile, [&](auto& choice) {
      const std::uint32_t direct = direct_variant(contents, choice.kind());
      if (direct < contents.variants.size()) choice.variant = direct;
    });
  }
  change(contents);
  return encoded_contents(contents);
}

}  // namespace clbake::tests
