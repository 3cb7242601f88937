// All that a search has measured: fills in a Tuning, leaves out variants that failed, reports progress.
#pragma once

#include <clbake/builder/tune.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace clbake::builder::tune {

// Seconds of all runs of a tuning together: an interrupted one goes on where its clock stopped.
class TuneClock {
 public:
  explicit TuneClock(double earlier_runs_s)
      : start_(std::chrono::steady_clock::now()), earlier_runs_s_(earlier_runs_s) {}
  double now() const {
    return earlier_runs_s_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_;
  double earlier_runs_s_;
};

class Results {
 public:
  // All must outlive it; `progress` may be empty.
  Results(const TuneClock& clock, const std::function<void(const TuneProgress&)>& progress)
      : clock_(clock), progress_(progress) {}

  profile::Tuning tuning;  // its variants, shapes, measurements, failures and noise

  // The index in tuning.variants or tuning.shapes; new ones are added.
  std::uint32_t variant(const kernels::Params& params);
  std::uint32_t shape(const Shape& shape);
  const kernels::Params& params(std::uint32_t variant) const { return params_[variant]; }

  // The results that follow are of these races.
  void enter(const std::string& stage) { now_.stage = stage; }

  // Microseconds of the calls of a turn. `final`: of a final race; such turns count together, and replace what was
  // measured before.
  void add(const kernels::Params& params, std::uint32_t shape, const std::vector<double>& us, bool final);

  // Two times of the same variant on the same shape, one over the other.
  void add_noise(double ratio);

  // The variant timed out on the shape. It fails if another one has finished the shape, or does so later; else the
  // shape is too much for the device.
  void add_late(const std::string& variant, std::uint32_t shape);

  // Leaves out a variant and its earlier times: one that is wrong on a shape is not trusted with others.
  void fail(const std::string& variant, const std::string& cause);

  bool excluded(const std::string& variant) const { return excluded_.count(variant) > 0; }
  std::size_t late(std::uint32_t shape) const;  // variants that timed out on it, while none has finished it

  // The smallest median on a shape, of variants that were not stopped after one call; 0 when there is none.
  double best(std::uint32_t shape) const;
  // These variants by their median, the fastest first, at most `most`.
  std::vector<std::uint32_t> fastest(std::uint32_t shape, std::size_t most) const;

  void report(const std::string& failure = {});

  // Why nothing could be measured.
  Status nothing_measured() const;

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // shape, variant

  void blame_late(std::uint32_t shape);
  void count(const std::string& variant);

  const TuneClock& clock_;
  const std::function<void(const TuneProgress&)>& progress_;
  std::vector<kernels::Params> params_;  // of tuning.variants
  std::map<std::string, std::uint32_t> variants_;
  std::map<std::string, std::uint32_t> shapes_;
  std::map<Key, std::size_t> rows_;  // indices into tuning.measurements
  std::map<Key, std::vector<double>> final_us_;
  std::vector<double> noise_;                               // absolute logarithms
  std::map<std::uint32_t, std::vector<std::string>> late_;  // by shape, before any variant finished it
  std::set<std::string> tried_;
  std::set<std::string> excluded_;
  TuneProgress now_;  // as last reported
};

}  // namespace clbake::builder::tune
