// A race: some variants are compiled, then timed in turns. A search is made of races.
//
// Racers are compiled side by side, as many as there are cores; then each is timed with nothing beside it (where there
// are identical devices, one on each). Every racer has a process of its own. A step, which is all turns on one shape of
// each racer, is in the journal before it counts; a step that the journal knows is read from there. So an interrupted
// search goes on by running once more.
#pragma once

#include "tune/journal.hpp"
#include "tune/results.hpp"
#include "tune/timing/timing_process.hpp"

#include <atomic>
#include <functional>
#include <memory>

namespace clbake::builder::tune {

enum class Stage { explore, range, refine, finals };

// All races of a search share it.
struct SearchContext {
  const TuneOptions& options;
  const std::atomic<bool>& cancel;
  const TuneClock& clock;
  Journal& journal;
  Results& results;
  TimingProcesses& processes;

  const Device& device() const { return options.devices.front(); }
  double budget_s() const;  // infinity where there is none
  unsigned jobs() const;    // how many compile at a time
};

struct Racer {
  kernels::Params params;
  std::vector<std::uint32_t> shapes;  // of each step, as many as the other racers': indices into Tuning::shapes
};

class Race {
 public:
  // `number`: of the races of this stage and kind. In the finals the first racer runs once more as the last one: how
  // much its two times differ is the noise.
  Race(SearchContext& context, Stage stage, const GemmKind& kind, std::size_t number, std::vector<Racer> racers);

  // The next steps, up to the step `end`. None begins when the clock says `until`, but for the second probe of what was
  // compiled to explore, and nothing more is compiled then, but for the finals; none lasts longer than the budget.
  // Throws Failure with cancelled or io.
  void run(double until, std::size_t end = SIZE_MAX);

  bool finished() const { return step_ == steps_; }

 private:
  std::uint32_t shape_of(std::size_t racer) const { return racers_[racer].shapes[step_]; }
  std::vector<std::size_t> wanted() const;
  bool too_slow(std::size_t racer) const;
  void time_step();
  void compile(const std::vector<std::size_t>& racers, bool in_new_processes);
  void prepare(const std::vector<std::size_t>& racers);
  void take_turns(const std::vector<std::size_t>& racers);
  void in_parallel(std::vector<std::size_t> waiting, bool timing, const std::function<void(std::size_t racer)>& start);
  void failed(std::size_t racer);
  void take_in(const JournalRecord& record);

  SearchContext& context_;
  Stage stage_;
  std::string key_;  // of the journal: "explore single nn 3"
  std::vector<Racer> racers_;
  std::vector<std::string> names_;  // of the racers
  std::string all_names_;
  std::size_t steps_ = 0;
  std::size_t step_ = 0;                                   // the next one, or the one under way
  JournalRecord record_;                                   // of the step under way
  double until_ = 0;                                       // of run()
  bool cut_ = false;                                       // the budget ended during the step
  std::vector<std::unique_ptr<TimingProcess>> processes_;  // of the racers, null: none yet, or it failed
  std::vector<std::size_t> again_;                         // racers that failed in a process of an earlier variant
};

// "explore single nn".
std::string stage_name(Stage stage, const GemmKind& kind);

}  // namespace clbake::builder::tune
