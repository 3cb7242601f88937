#include "bench/choice/choice_timing.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/device_lookup.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace clbake::tool {
namespace {

constexpr double kTurnUs = 1000;  // least length of a turn
constexpr double kSlow = 3;       // variants so many times slower than the fastest drop out after the first round
constexpr double kLongUs = 1e6;   // a first call so long, which compiling alone is not, and slow is the whole turn
// Products of so few multiplications are compared with the reference, which takes it some milliseconds.
constexpr std::uint64_t kChecked = std::uint64_t{1} << 20;

struct Candidate {
  const Library* library = nullptr;
  std::string variant;
  std::vector<double> us;  // one figure for each turn: the median of its calls
};

// The variants that can serve one problem, taking turns.
class Candidates {
 public:
  Candidates(const Problem& problem, builder::GemmRun& gemm_run) : problem_(problem), gemm_run_(gemm_run) {}

  // One turn for each variant that can be loaded.
  Status add(const Contenders& contenders) {
    for (const std::uint32_t i : capable_variants(contenders.bundle, problem_)) {
      const std::string variant = contenders.bundle.variant(i)->name;
      const bool known = std::any_of(all.begin(), all.end(), [&](const Candidate& c) { return c.variant == variant; });
      if (known) continue;
      Result<Gemm> gemm = contenders.library.prepare(problem_, variant);
      if (!gemm) continue;  // not baked for this device, or its workspace is too large
      Candidate candidate{&contenders.library, variant, {}};
      const Status right = check(*gemm);
      if (right.code() == Code::wrong_result) continue;  // what is wrong cannot win
      const Status status = right ? take_turn(*gemm, candidate) : right;
      if (!status) return status.within(variant);
      if (!fastest_us_ || candidate.us[0] < *fastest_us_) fastest_us_ = candidate.us[0];
      all.push_back(std::move(candidate));
    }
    return {};
  }

  // A turn for each that is not too slow.
  Status take_turns() {
    for (Candidate& candidate : all) {
      if (candidate.us[0] > kSlow * *fastest_us_) continue;
      // Prepared again for each turn: the workspaces of all candidates may not fit the device at once.
      Result<Gemm> gemm = candidate.library->prepare(problem_, candidate.variant);
      if (!gemm) return gemm.status();
      const Status timed = take_turn(*gemm, candidate);
      if (!timed) return timed.within(candidate.variant);
    }
    return {};
  }

  std::vector<Candidate> all;

 private:
  Status check(Gemm& gemm) {
    if (problem_.m * problem_.n * problem_.k * problem_.batch > kChecked) return {};
    Status status = gemm_run_.reset();
    if (status) status = gemm_run_.run(gemm).status();
    if (!status) return status;
    const Result<builder::Check> check = gemm_run_.check();
    if (!check) return check.status();
    return check->ok() ? Status() : Status(Code::wrong_result, "wrong result");
  }

  // The first call warms up and is not counted.
  Status take_turn(Gemm& gemm, Candidate& candidate) {
    const Result<double> first = gemm_run_.run(gemm);
    if (!first) return first.status();
    if (*first > kLongUs && fastest_us_ && *first > kSlow * *fastest_us_) {
      candidate.us.push_back(*first);
      return {};
    }
    std::vector<double> calls;
    for (double total = 0; total < kTurnUs; total += calls.back()) {
      const Result<double> us = gemm_run_.time(gemm);
      if (!us) return us.status();
      calls.push_back(*us);
    }
    candidate.us.push_back(builder::median(calls));
    return {};
  }

  const Problem& problem_;
  builder::GemmRun& gemm_run_;
  std::optional<double> fastest_us_;
};

}  // namespace

Result<ChoiceTiming> time_choice(const BenchDevice& on, const std::vector<Contenders>& contenders,
                                 const Problem& problem, std::size_t rounds) {
  ChoiceTiming result;
  result.problem = problem;
  {
    const Result<Gemm> chosen = contenders.front().library.prepare(problem);
    if (!chosen) return chosen.status();
    result.choice = chosen->explanation().variant;
  }
  Result<builder::GemmRun> gemm_run = builder::GemmRun::create(on.session, on.device, problem, {});
  if (!gemm_run) return gemm_run.status();
  Candidates candidates(problem, *gemm_run);
  for (const Contenders& more : contenders) {
    const Status added = candidates.add(more);
    if (!added) return added;
  }
  for (std::size_t round = 1; round < rounds; ++round) {
    const Status timed = candidates.take_turns();
    if (!timed) return timed;
  }
  for (const Candidate& candidate : candidates.all) result.us[candidate.variant] = builder::median(candidate.us);
  result.choice_us = result.us.at(result.choice);
  const auto best = std::min_element(result.us.begin(), result.us.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  result.best = best->second < result.choice_us ? best->first : result.choice;
  result.best_us = best->second;
  result.ratio = result.best_us / result.choice_us;
  return result;
}

Result<ChoosingCost> time_choosing(const Bundle& bundle, const Target& device, const std::vector<Problem>& problems) {
  constexpr std::size_t kPasses = 9;
  constexpr std::size_t kChoices = 100000;  // of a pass, roughly
  const Result<DeviceLookup> lookup = DeviceLookup::create({bundle}, device, true);
  if (!lookup) return lookup.status();
  const std::optional<std::uint32_t> target = lookup->profile_target();
  const Result<cache::Profile> profile =
      target ? bundle.find_profile(*target) : Status(Code::no_variant, "the bundle has no profile for the device");
  if (!profile) return profile.status();
  std::vector<double> passes;
  const std::size_t repeats = kChoices / problems.size() + 1;
  for (std::size_t pass = 0; pass < kPasses; ++pass) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < repeats; ++i) {
      for (const Problem& problem : problems) {
        const Result<std::vector<Choice>> chosen = lookup->choose(problem);
        if (!chosen) return chosen.status();
      }
    }
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    passes.push_back(spent.count() / static_cast<double>(repeats * problems.size()));
  }
  return ChoosingCost{builder::median(passes),
                      profile->exceptions.size() + profile->models.size() + profile->defaults.size()};
}

}  // namespace clbake::tool
