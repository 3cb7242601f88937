#include "bench/choice/choice_timing.hpp"

#include "bench/alternate.hpp"
#include "cli/cli.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/device_lookup.hpp>

#include <algorithm>
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
  // The choice never drops out.
  Candidates(const Problem& problem, const std::string& choice, builder::GemmRun& gemm_run)
      : problem_(problem), choice_(choice), gemm_run_(gemm_run) {}

  // One turn for each variant that can be loaded and computes the product.
  void add(const Served& contenders) {
    for (const std::uint32_t i : capable_variants(contenders.bundle, problem_)) {
      const std::string variant = contenders.bundle.variant(i)->name;
      const bool known = std::any_of(all.begin(), all.end(), [&](const Candidate& c) { return c.variant == variant; });
      if (known) continue;
      Result<Gemm> gemm = contenders.library.prepare(problem_, variant);
      if (!gemm) continue;  // not baked for this device, or its workspace is too large
      Candidate candidate{&contenders.library, variant, {}};
      if (!is_right(*gemm)) continue;
      take_turn(*gemm, candidate);
      if (!fastest_us_ || candidate.us[0] < *fastest_us_) fastest_us_ = candidate.us[0];
      all.push_back(std::move(candidate));
    }
  }

  // A turn for each that is not too slow.
  void take_turns() {
    for (Candidate& candidate : all) {
      if (candidate.us[0] > kSlow * *fastest_us_ && candidate.variant != choice_) continue;
      // Prepared again for each turn: the workspaces of all candidates may not fit the device at once.
      Gemm gemm = need(candidate.library->prepare(problem_, candidate.variant));
      take_turn(gemm, candidate);
    }
  }

  std::vector<Candidate> all;

 private:
  bool is_right(Gemm& gemm) {
    if (problem_.m * problem_.n * problem_.k * problem_.batch > kChecked) return true;
    need(gemm_run_.reset());
    need(gemm_run_.run(gemm));
    return need(gemm_run_.check()).ok();
  }

  // The first call warms up and is not counted.
  void take_turn(Gemm& gemm, Candidate& candidate) {
    const double first = need(gemm_run_.run(gemm), candidate.variant);
    const bool is_slow = first > kLongUs && fastest_us_ && first > kSlow * *fastest_us_;
    if (is_slow && candidate.variant != choice_) {
      candidate.us.push_back(first);
      return;
    }
    std::vector<double> calls;
    for (double total = 0; total < kTurnUs; total += calls.back()) calls.push_back(need(gemm_run_.time(gemm)));
    candidate.us.push_back(builder::median(calls));
  }

  const Problem& problem_;
  const std::string& choice_;
  builder::GemmRun& gemm_run_;
  std::optional<double> fastest_us_;
};

}  // namespace

ChoiceTiming time_choice(const BenchDevice& on, const std::vector<Served>& contenders, const Problem& problem,
                         std::size_t rounds) {
  ChoiceTiming result;
  result.problem = problem;
  result.choice = need(contenders.front().library.prepare(problem), contenders.front().name).explanation().variant;
  builder::GemmRun gemm_run = need(builder::GemmRun::create(on.session, on.device, problem, {}));
  Candidates candidates(problem, result.choice, gemm_run);
  for (const Served& more : contenders) candidates.add(more);
  for (std::size_t round = 1; round < rounds; ++round) candidates.take_turns();
  for (const Candidate& candidate : candidates.all) result.us[candidate.variant] = builder::median(candidate.us);
  if (result.us.count(result.choice) == 0) throw Failure(result.choice + ": wrong result");
  result.choice_us = result.us.at(result.choice);
  result.best = result.choice;
  result.best_us = result.choice_us;
  for (const Candidate& candidate : candidates.all) {
    const double us = result.us.at(candidate.variant);
    if (candidate.us.size() < rounds || us >= result.best_us) continue;  // timed as often as the choice
    result.best = candidate.variant;
    result.best_us = us;
  }
  result.ratio = result.best_us / result.choice_us;
  return result;
}

double time_choosing(const Bundle& bundle, const std::string& file, const Target& device,
                     const std::vector<Problem>& problems) {
  constexpr std::size_t kPasses = 9;
  constexpr std::size_t kChoices = 100000;  // of a pass, roughly
  const DeviceLookup lookup = need(DeviceLookup::create({bundle}, device, true), file);
  const std::optional<std::uint32_t> target = lookup.profile_target();
  if (!target || !bundle.find_profile(*target)) throw Failure(file + ": the bundle has no profile for the device");
  std::vector<double> passes;
  const std::size_t repeats = kChoices / problems.size() + 1;
  for (std::size_t pass = 0; pass < kPasses; ++pass) {
    const double us = time_us([&] {
      for (std::size_t i = 0; i < repeats; ++i) {
        for (const Problem& problem : problems) need(lookup.choose(problem).status(), file);
      }
    });
    passes.push_back(1000 * us / static_cast<double>(repeats * problems.size()));
  }
  return builder::median(passes);
}

}  // namespace clbake::tool
