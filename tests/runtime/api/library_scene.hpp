// A small product on this machine's first device, and libraries that compute it; for tests of what the library offers.
#pragma once

#include "api/baked_bundle.hpp"

#include <mutex>

namespace clbake::tests {

inline Problem small_problem() { return builder::tight_problem(Precision::single_precision, 37, 41, 43); }

inline Library library_of(const Bundle& bundle, const Options& options = {}) {
  Result<Library> library = Library::create(here().session.context(), here().device.id, {bundle}, options);
  BOOST_REQUIRE_MESSAGE(library.ok(), library.status().message());
  return std::move(*library);
}

inline Bundle baked() {
  if (!gives_machine_code(here().device)) {
    const cache::Bytes bytes = encoded_contents(baked_contents());
    return *Bundle::copy_of({bytes.data(), bytes.size()});
  }
  Result<Bundle> bundle = Bundle::open(std::getenv("CLBAKE_TEST_BUNDLE"));
  BOOST_REQUIRE_MESSAGE(bundle.ok(), bundle.status().message());
  return std::move(*bundle);
}

// One product: empty when it is right.
inline std::string failure_of(Gemm& gemm, const Problem& problem) {
  Result<builder::GemmRun> run = builder::GemmRun::create(here().session, here().device, problem);
  if (!run) return run.status().message();
  const Status ran = run->run(gemm).status();
  if (!ran) return ran.message();
  const Result<builder::Check> check = run->check();
  return check && check->ok() ? "" : "wrong by " + std::to_string(check ? check->max_error : -1);
}
inline std::string failure_of(const Library& library, const Problem& problem) {
  Result<builder::GemmRun> run = builder::GemmRun::create(here().session, here().device, problem);
  if (!run) return run.status().message();
  const auto [a, b, c] = run->buffers();
  const Status called = library.gemm(here().session.queue(), problem, 1.0, {a}, {b}, 0.0, {c});
  if (!called) return called.message();
  const Result<builder::Check> check = run->check();
  return check && check->ok() ? "" : "wrong by " + std::to_string(check ? check->max_error : -1);
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
  Result<Bundle> bundle = Bundle::copy_of({bytes.data(), bytes.size()});
  BOOST_REQUIRE_MESSAGE(bundle.ok(), bundle.status().message());
  return std::move(*bundle);
}

}  // namespace clbake::tests
