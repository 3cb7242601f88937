#include "bench/choice/choice_timing.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/device_lookup.hpp>

#include <algorithm>
#include <chrono>
#include <set>

namespace clbake::tool {
namespace {

constexpr double kTurnUs = 1000;  // least length of a turn
constexpr double kSlow = 3;       // variants so many times slower than the fastest drop out after the first round
constexpr double kTooSlow = 10;   // a first call that is so many times slower than the fastest variant ...
constexpr double kTooLongUs =
    1e6;                         // ... and takes so long, which compiling alone does not, is the variant's whole turn
constexpr double kLongUs = 2e5;  // calls that take so long vary little: kFewRounds suffice
constexpr std::size_t kFewRounds = 2;
constexpr std::size_t kFinalists = 3;

struct Candidate {
  const Library* library = nullptr;
  std::string variant;
  std::vector<double> us;  // one figure for each turn: the median of its calls
};

bool faster(const Candidate& a, const Candidate& b) { return builder::median(a.us) < builder::median(b.us); }

// The median of a's times over b's in the same rounds.
double median_ratio(const Candidate& a, const Candidate& b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < a.us.size(); ++i) ratios.push_back(a.us[i] / b.us[i]);
  return builder::median(ratios);
}

// Times the variants that can serve one problem, taking turns.
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
      const Status timed = take_turn(*gemm, candidate);
      if (!timed) return timed.within(variant);
      fastest_us_ = all.empty() ? candidate.us[0] : std::min(fastest_us_, candidate.us[0]);
      all.push_back(std::move(candidate));
    }
    return {};
  }

  Status time(std::size_t rounds) {
    for (std::size_t round = 0; round < rounds; ++round) {
      for (Candidate& candidate : all) {
        // Prepared again for each turn: the workspaces of all candidates may not fit the device at once.
        Result<Gemm> gemm = candidate.library->prepare(problem_, candidate.variant);
        if (!gemm) return gemm.status();
        const Status timed = take_turn(*gemm, candidate);
        if (!timed) return timed.within(candidate.variant);
      }
    }
    return {};
  }

  template <typename Stays>
  void keep(const Stays& stays) {
    all.erase(std::remove_if(all.begin(), all.end(), [&](const Candidate& c) { return !stays(c); }), all.end());
  }

  double fastest_us() const { return fastest_us_; }

  std::vector<Candidate> all;

 private:
  // The first call warms up and is not counted.
  Status take_turn(Gemm& gemm, Candidate& candidate) {
    const Result<double> first = gemm_run_.run(gemm);
    if (!first) return first.status();
    if (*first > kTooLongUs && !all.empty() && *first > kTooSlow * fastest_us_) {
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
  double fastest_us_ = 0;
};

// Leaves the fastest few and the choice, with no times yet.
void keep_finalists(Candidates& candidates, const std::string& choice) {
  std::sort(candidates.all.begin(), candidates.all.end(), faster);
  std::set<std::string> finalists = {choice};
  for (std::size_t i = 0; i < std::min(kFinalists, candidates.all.size()); ++i) {
    finalists.insert(candidates.all[i].variant);
  }
  candidates.keep([&](const Candidate& c) { return finalists.count(c.variant) > 0; });
  for (Candidate& candidate : candidates.all) candidate.us.clear();
}

const Candidate& chosen_of(const std::vector<Candidate>& finalists, const ChoiceTiming& result) {
  return *std::find_if(finalists.begin(), finalists.end(),
                       [&](const Candidate& c) { return c.variant == result.choice; });
}

// Adds the finalists' turns to the earlier ones of all, as if the device were still as fast as then: a hot one is
// slower. The choice tells how much, as it is no finalist for having been lucky.
void note_finalists(const std::vector<Candidate>& finalists, ChoiceTiming& result) {
  const double change =
      builder::median(result.timed.at(result.choice)) / builder::median(chosen_of(finalists, result).us);
  for (const Candidate& candidate : finalists) {
    for (const double us : candidate.us) result.timed[candidate.variant].push_back(us * change);
  }
}

// Fills in the figures of the choice and of the fastest finalist.
void find_best(const std::vector<Candidate>& finalists, ChoiceTiming& result) {
  const Candidate& choice = chosen_of(finalists, result);
  result.choice_us = result.best_us = builder::median(choice.us);
  result.best = result.choice;
  for (const Candidate& candidate : finalists) {
    const double ratio = median_ratio(candidate, choice);
    if (ratio >= result.ratio) continue;
    result.ratio = ratio;
    result.best = candidate.variant;
    result.best_us = builder::median(candidate.us);
  }
}

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
  Status status;
  for (const Contenders& more : contenders) {
    status = candidates.add(more);
    if (!status) return status;
  }
  if (candidates.fastest_us() > kLongUs) rounds = std::min(rounds, kFewRounds);

  const auto is_choice = [&](const Candidate& c) { return c.variant == result.choice; };
  const auto note = [&](const Candidate& c) {
    std::vector<double>& turns = result.timed[c.variant];
    turns.insert(turns.end(), c.us.begin(), c.us.end());
  };
  candidates.keep([&](const Candidate& c) {
    const bool stays = is_choice(c) || c.us[0] <= kSlow * candidates.fastest_us();
    if (!stays) note(c);
    return stays;
  });
  status = candidates.time(rounds - 1);
  if (!status) return status;
  for (const Candidate& candidate : candidates.all) note(candidate);
  keep_finalists(candidates, result.choice);
  status = candidates.time(2 * rounds);
  if (!status) return status;
  note_finalists(candidates.all, result);
  find_best(candidates.all, result);
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
