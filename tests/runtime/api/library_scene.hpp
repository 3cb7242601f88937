// This machine's first device, the bundle that was baked for it, as it is or changed for a test, and libraries that
// compute a small product.
#pragma once

#include <clbake/builder/gemm_run.hpp>
#include <clbake/cache/writer.hpp>

#include "files.hpp"
#include "selected_devices.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <functional>
#include <mutex>

namespace clbake::tests {

struct Here {
  builder::Device device;
  builder::Session session;
};

// The first device; a test's main skips without one. Not released: Oclgrind's queues need data of the thread, which
// ends before what is static.
inline Here& here() {
  static Here* const opened = [] {
    const builder::Device first = required(builder::list_devices()).front();
    return new Here{first, required(builder::Session::open(first))};
  }();
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
  cache::Contents contents = required(required(Bundle::open(std::getenv("CLBAKE_TEST_BUNDLE"))).decode());
  for (cache::Entry& entry : contents.entries) {
    if (!gives_machine_code(here().device)) entry.form = cache::Form::native;
  }
  return contents;
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
  return required(cache::encode(contents));
}

inline Problem small_problem() { return builder::tight_problem(Precision::single_precision, 37, 41, 43); }

inline Library library_of(const Bundle& bundle, const Options& options = {}) {
  return required(Library::create(here().session.context(), here().device.id, {bundle}, options));
}

inline Bundle baked() {
  if (gives_machine_code(here().device)) return required(Bundle::open(std::getenv("CLBAKE_TEST_BUNDLE")));
  const cache::Bytes bytes = required(cache::encode(baked_contents()));
  return required(Bundle::copy_of({bytes.data(), bytes.size()}));
}

// One product by `multiply`(A, B, C): empty when it is right.
template <typename Multiply>
std::string failure_of(const Problem& problem, const Multiply& multiply) {
  const builder::GemmRun run = required(builder::GemmRun::create(here().session, here().device, problem));
  const auto [a, b, c] = run.buffers();
  const Status called = multiply(Matrix{a}, Matrix{b}, Matrix{c});
  if (!called) return called.message();
  const builder::Check check = required(run.check());
  return check.ok() ? "" : "wrong by " + std::to_string(check.max_error);
}
inline std::string failure_of(Gemm& gemm, const Problem& problem) {
  return failure_of(problem, [&](const Matrix& a, const Matrix& b, const Matrix& c) {
    return gemm.enqueue(here().session.queue(), 1.0, a, b, 0.0, c);
  });
}
inline std::string failure_of(const Library& library, const Problem& problem) {
  return failure_of(problem, [&](const Matrix& a, const Matrix& b, const Matrix& c) {
    return library.gemm(here().session.queue(), problem, 1.0, a, b, 0.0, c);
  });
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Lines {
  std::mutex mutex;
  std::vector<std::string> all;
};

inline void keep_line(LogLevel /*level*/, const char* message, void* data) {
  auto& lines = *static_cast<Lines*>(data);
  const std::lock_guard<std::mutex> lock(lines.mutex);
  lines.all.emplace_back(message);
}

// The profiles choose variants that were not baked; the direct ones are baked.
inline Bundle bundle_with_a_miss(std::string& wanted) {
  const cache::Bytes bytes = changed_bundle([&](cache::Contents& c) {
    const std::uint32_t direct = direct_variant(c, GemmKind());
    cache::Variant copy = c.variants.at(direct);
    copy.name = wanted = copy.name + "-not-baked";
    c.variants.push_back(copy);
    for (cache::Profile& profile : c.profiles) {
      for_each_choice(profile, [&](auto& choice) {
        if (choice.variant == direct) choice.variant = static_cast<std::uint32_t>(c.variants.size() - 1);
      });
    }
  });
  return required(Bundle::copy_of({bytes.data(), bytes.size()}));
}

}  // namespace clbake::tests
