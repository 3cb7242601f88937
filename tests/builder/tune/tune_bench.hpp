// A tuning of a small space with the fake worker, for the tests of whole tunings.
#pragma once

#include "build_fixture.hpp"
#include "tune/propose/candidates.hpp"
#include "tune/time_model.hpp"

#include <clbake/builder/tune.hpp>
#include <clbake/builder/tuning_file.hpp>

#include <atomic>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace clbake::builder::test {

namespace fs = std::filesystem;
using namespace builder::tune;

using Names = std::vector<std::string>;

// Most tests need one shard of the 336 points only, so few that all of them run in the final race.
constexpr std::uint32_t kParts = 12;

// A tuning of a small space: every point of the family direct for work-groups of one work-item.
class Bench {
 public:
  Bench() {
    options.devices = {made_up_device()};
    options.kinds = {GemmKind{}};
    options.families = {kernels::Family::direct};
    for (const char* shape : {"512x512x512", "16x1024x1024", "64x64x64", "64x64x64 batch 16"}) {
      options.shapes.list.push_back(*parse_shape(std::string("single nn ") + shape));
    }
    options.shapes.probes = {0, 1};
    options.strategy = Strategy::exhaustive;
    options.budget = std::chrono::seconds(0);
    options.work = shop.path("work");
    options.worker = shop.options.worker;
    options.parallel = 2;
  }

  TuneOptions options;
  BuildFixture shop;

  // Clears the log of calls first. With `stop_after`, cancels at that report of the progress.
  Result<profile::Tuning> tune(std::size_t stop_after = SIZE_MAX) {
    fs::remove(shop.path("calls.log"));
    std::atomic<bool> cancel{stop_after == 0};
    reports = 0;
    return builder::tune::run(options, cancel, [&](const TuneProgress&) {
      if (++reports >= stop_after) cancel = true;
    });
  }

  std::size_t reports = 0;  // of the last tuning

  std::string journal() const { return options.work + "/tuning.journal"; }

  // Every point of the shard.
  std::vector<kernels::Params> points() const {
    static std::map<std::uint64_t, std::vector<kernels::Params>> known;  // by the limit: walking through all takes time
    const kernels::DeviceLimits& limits = options.devices.at(0).limits;
    std::vector<kernels::Params>& all = known[limits.max_work_group_size];
    if (all.empty()) {
      std::mt19937 random(1);
      PointWalk walk(kernels::space(kernels::Family::direct), {}, limits, random);
      while (const std::optional<kernels::Params> p = walk.next()) all.push_back(*p);
    }
    std::vector<kernels::Params> list;
    for (const kernels::Params& p : all) {
      if (shard_of(p, options.shards) == options.shard) list.push_back(p);
    }
    return list;
  }

  // The rank-th best of them on a shape.
  std::string best(const Shape& shape, std::size_t rank = 0) const {
    std::vector<std::pair<double, std::string>> list;
    for (const kernels::Params& p : points()) list.emplace_back(modelled_us(p, shape), kernels::name(p));
    std::sort(list.begin(), list.end());
    return list.at(rank).second;
  }

  const Shape& square() const { return options.shapes.list[0]; }
};

// One shard of that space.
class SmallBench : public Bench {
 public:
  SmallBench() {
    options.shard = 2;
    options.shards = kParts;
  }
};

// The text of a tuning without what depends on the time of day and on interruptions.
inline std::string lasting_text(profile::Tuning tuning) {
  tuning.date = "";
  tuning.elapsed_s = 0;
  tuning.complete = true;
  return profile::tuning_text(tuning);
}

inline std::string winner(const profile::Tuning& tuning, const Shape& shape) {
  for (const profile::Measurement& w : profile::winners(tuning)) {
    if (tuning.shapes[w.shape] == shape) return tuning.variants[w.variant];
  }
  return {};
}

inline Names calls_of(const Bench& bench, const std::string& verb) {
  Names list;
  for (const std::string& call : bench.shop.calls()) {
    if (call.rfind(verb + ' ', 0) == 0) list.push_back(call.substr(verb.size() + 1));
  }
  return list;
}

}  // namespace clbake::builder::test
