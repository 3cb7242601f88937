#include "bench/choice_trial.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/choice.hpp>

#include <algorithm>
#include <chrono>

namespace clbake::tool {
namespace {

constexpr double kTurnUs = 1000;     // a turn lasts at least so long
constexpr double kSlow = 3;          // times slower than the fastest: out after the first round
constexpr double kHopeless = 10;     // times slower in its very first call, and ...
constexpr double kHopelessUs = 1e6;  // ... that long, which no compiler explains: that call is its turn
constexpr double kLongUs = 2e5;      // calls that last so long vary little: few rounds do
constexpr std::size_t kFewRounds = 2;
constexpr std::size_t kFinalists = 3;

struct Racer {
  std::string variant;
  std::vector<double> us;  // one figure for each turn: the median of its calls
};

bool faster(const Racer& a, const Racer& b) { return builder::median(a.us) < builder::median(b.us); }

// Of the times of two who took part in the same rounds.
double median_ratio(const Racer& a, const Racer& b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < a.us.size(); ++i) ratios.push_back(a.us[i] / b.us[i]);
  return builder::median(ratios);
}

class Race {
 public:
  Race(const Library& library, const Problem& problem, builder::GemmRun& trial)
      : library_(library), problem_(problem), trial_(trial) {}

  // One turn for each variant; who cannot be loaded or is far behind does not stay.
  Status qualify(const std::vector<std::string>& variants) {
    for (const std::string& variant : variants) {
      Result<Gemm> gemm = library_.prepare(problem_, variant);
      if (!gemm) continue;  // it has no entry here, or its workspace is too large
      Racer racer{variant, {}};
      const Status ran = take_turn(*gemm, racer);
      if (!ran) return ran.within(variant);
      fastest_us_ = racers.empty() ? racer.us[0] : std::min(fastest_us_, racer.us[0]);
      racers.push_back(std::move(racer));
    }
    return {};
  }

  Status run(std::size_t rounds) {
    for (std::size_t round = 0; round < rounds; ++round) {
      for (Racer& racer : racers) {
        // Prepared for each turn anew: the workspaces of all of them at once may not fit the device.
        Result<Gemm> gemm = library_.prepare(problem_, racer.variant);
        if (!gemm) return gemm.status();
        const Status ran = take_turn(*gemm, racer);
        if (!ran) return ran.within(racer.variant);
      }
    }
    return {};
  }

  template <typename Stays>
  void keep(const Stays& stays) {
    racers.erase(std::remove_if(racers.begin(), racers.end(), [&](const Racer& r) { return !stays(r); }), racers.end());
  }

  double fastest_us() const { return fastest_us_; }

  std::vector<Racer> racers;

 private:
  // The first call warms up and is not counted.
  Status take_turn(Gemm& gemm, Racer& racer) {
    const Result<double> first = trial_.run(gemm);
    if (!first) return first.status();
    if (*first > kHopelessUs && !racers.empty() && *first > kHopeless * fastest_us_) {
      racer.us.push_back(*first);
      return {};
    }
    std::vector<double> calls;
    for (double total = 0; total < kTurnUs; total += calls.back()) {
      const Result<double> us = trial_.run(gemm);
      if (!us) return us.status();
      calls.push_back(*us);
    }
    racer.us.push_back(builder::median(calls));
    return {};
  }

  const Library& library_;
  const Problem& problem_;
  builder::GemmRun& trial_;
  double fastest_us_ = 0;
};

// Names of the variants of the bundle for this kind of problem.
std::vector<std::string> names_of(const Bundle& bundle, const Problem& problem) {
  std::vector<std::string> names;
  for (const std::uint32_t i : capable_variants(bundle, problem)) names.push_back(bundle.variant(i)->name);
  return names;
}

}  // namespace

Result<ChoiceTrial> try_choice(const Workbench& bench, const Problem& problem, std::size_t rounds) {
  ChoiceTrial result;
  result.problem = problem;
  {
    const Result<Gemm> chosen = bench.library.prepare(problem);
    if (!chosen) return chosen.status();
    result.choice = chosen->explanation().variant;
  }
  Result<builder::GemmRun> trial = builder::GemmRun::create(bench.session, bench.device, problem, {});
  if (!trial) return trial.status();
  Race race(bench.library, problem, *trial);
  Status status = race.qualify(names_of(bench.bundle, problem));
  if (!status) return status;
  result.variants = race.racers.size();
  if (race.fastest_us() > kLongUs) rounds = std::min(rounds, kFewRounds);

  const auto is_choice = [&](const Racer& racer) { return racer.variant == result.choice; };
  race.keep([&](const Racer& r) { return is_choice(r) || r.us[0] <= kSlow * race.fastest_us(); });
  status = race.run(rounds - 1);
  if (!status) return status;

  std::sort(race.racers.begin(), race.racers.end(), faster);
  const std::size_t finalists = std::min(kFinalists, race.racers.size());
  const std::vector<Racer> first(race.racers.begin(), race.racers.begin() + static_cast<std::ptrdiff_t>(finalists));
  race.keep([&](const Racer& r) {
    const auto same = [&](const Racer& other) { return other.variant == r.variant; };
    return is_choice(r) || std::any_of(first.begin(), first.end(), same);
  });
  for (Racer& racer : race.racers) racer.us.clear();
  status = race.run(2 * rounds);
  if (!status) return status;

  const Racer& choice = *std::find_if(race.racers.begin(), race.racers.end(), is_choice);
  result.choice_us = result.best_us = builder::median(choice.us);
  result.best = result.choice;
  for (const Racer& racer : race.racers) {
    const double ratio = median_ratio(racer, choice);
    if (ratio >= result.ratio) continue;
    result.ratio = ratio;
    result.best = racer.variant;
    result.best_us = builder::median(racer.us);
  }
  return result;
}

Result<Choosing> time_choosing(const Bundle& bundle, const Target& device, const std::vector<Problem>& problems) {
  constexpr std::size_t kPasses = 9;
  constexpr std::size_t kChoices = 100000;  // of a pass, about
  const Result<ProfileChoice> choice = ProfileChoice::create(bundle, device);
  if (!choice) return choice.status();
  std::vector<double> passes;
  const std::size_t repeats = kChoices / problems.size() + 1;
  for (std::size_t pass = 0; pass < kPasses; ++pass) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < repeats; ++i) {
      for (const Problem& problem : problems) {
        const Status possible = check(problem);
        if (!possible) return possible;
        const Result<std::uint32_t> variant = choice->variant(problem);
        if (!variant) return variant.status();
      }
    }
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    passes.push_back(spent.count() / static_cast<double>(repeats * problems.size()));
  }
  return Choosing{builder::median(passes), choice->rules()};
}

}  // namespace clbake::tool
