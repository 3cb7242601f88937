// The bundle that was baked for this machine's devices, changed for a test; included by one source file of each test.
#pragma once

#include <clbake/builder/gemm_run.hpp>
#include <clbake/cache/writer.hpp>

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

// The direct family's variant with entries for the rule's kind of problem; the number of variants when there is none.
inline std::uint32_t direct_variant(const cache::Contents& contents, const cache::Rule& rule) {
  std::uint32_t v = 0;
  for (; v < contents.variants.size(); ++v) {
    const cache::Variant& variant = contents.variants[v];
    const bool baked = std::any_of(contents.entries.begin(), contents.entries.end(),
                                   [&](const cache::Entry& entry) { return entry.variant == v; });
    if (baked && variant.family == "direct" && variant.precision == rule.precision && variant.trans_a == rule.trans_a &&
        variant.trans_b == rule.trans_b) {
      break;
    }
  }
  return v;
}

// All rules choose the direct family (it compiles fastest), then `change`.
inline cache::Bytes changed_bundle(const std::function<void(cache::Contents&)>& change) {
  const Result<Bundle> bundle = Bundle::open(std::getenv("CLBAKE_TEST_BUNDLE"));
  BOOST_REQUIRE_MESSAGE(bundle.ok(), bundle.status().message());
  Result<cache::Contents> contents = bundle->decode();
  BOOST_REQUIRE_MESSAGE(contents.ok(), contents.status().message());
  for (cache::Profile& profile : contents->profiles) {
    for (cache::Rule& rule : profile.rules) {
      const std::uint32_t direct = direct_variant(*contents, rule);
      if (direct < contents->variants.size()) rule.variant = direct;
    }
  }
  change(*contents);
  Result<cache::Bytes> bytes = cache::encode(*contents);
  BOOST_REQUIRE_MESSAGE(bytes.ok(), bytes.status().message());
  return std::move(*bytes);
}

}  // namespace clbake::tests
