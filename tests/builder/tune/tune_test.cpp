// Whole tunings with the fake worker, whose times follow time_model.hpp: nothing here depends on speed.
#include <clbake/builder/gemm_run.hpp>

#include "tune/tune_bench.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace clbake::builder::test {
namespace {

std::vector<nlohmann::json> records_of(const std::string& journal) {
  std::istringstream lines(read_file(journal));
  std::string line;
  std::getline(lines, line);  // the settings
  std::vector<nlohmann::json> records;
  while (std::getline(lines, line)) records.push_back(nlohmann::json::parse(line));
  return records;
}

// How many orders the journal has answers of. An order of the finals is for one call.
std::size_t journaled_orders(const std::string& path) {
  std::size_t count = 0;
  for (const nlohmann::json& record : records_of(path)) {
    const bool finals = record["key"].get<std::string>().rfind("finals", 0) == 0;
    for (const auto& us : record["us"]) count += finals ? us.size() : (us.empty() ? 0 : 1);
  }
  return count;
}

}  // namespace

// ---- What is searched ----

BOOST_AUTO_TEST_CASE(AnExhaustiveSearchTriesEveryPointOnceAndFindsTheBestOfEachShape) {
  SmallBench bench;
  bench.options.shard = 1;
  const Result<profile::Tuning> tuning = bench.tune();
  BOOST_REQUIRE_EQUAL(outcome(tuning), "ok");
  BOOST_TEST(tuning->complete);
  BOOST_TEST(tuning->failures.empty());
  std::set<std::string> wanted;
  for (const kernels::Params& p : bench.points()) wanted.insert(kernels::name(p));
  const Names calls = calls_of(bench, "time");
  std::set<std::string> tried(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(wanted.size()));
  BOOST_TEST((tried == wanted));
  tried.insert(calls.begin(), calls.end());  // the default variants, at the end
  BOOST_TEST(tuning->tried == tried.size());
  for (const Shape& shape : bench.options.shapes.list) {
    BOOST_TEST(winner(*tuning, shape) == bench.best(shape), name(shape));
  }
  BOOST_TEST(!tuning->exceptions.empty());
  BOOST_TEST(outcome(profile::parse_tuning(profile::tuning_text(*tuning), "text")) == "ok");
}

BOOST_AUTO_TEST_CASE(EqualSeedsTryTheSameVariantsInTheSameOrder) {
  Names first;
  for (const std::uint64_t seed : {1U, 1U, 2U}) {
    SmallBench bench;
    bench.options.seed = seed;
    bench.options.parallel = 1;
    BOOST_REQUIRE_EQUAL(outcome(bench.tune()), "ok");
    const Names calls = calls_of(bench, "time");
    if (first.empty()) first = calls;
    BOOST_TEST((calls == first) == (seed == 1));
  }
}

BOOST_AUTO_TEST_CASE(HowManyCompileAtATimeDoesNotMatter, *boost::unit_test::label("slow")) {
  for (const Strategy strategy : {Strategy::exhaustive, Strategy::staged}) {
    std::string first;
    for (const unsigned parallel : {1U, 4U}) {
      SmallBench bench;
      bench.options.strategy = strategy;
      bench.options.parallel = parallel;
      const Result<profile::Tuning> tuning = bench.tune();
      BOOST_REQUIRE_EQUAL(outcome(tuning), "ok");
      if (first.empty()) first = lasting_text(*tuning);
      BOOST_TEST((lasting_text(*tuning) == first), name(strategy));
    }
  }
}

// One seed says little of a search that draws points: the median of five does.
BOOST_AUTO_TEST_CASE(TheStagedSearchFindsGoodPointsWithFarFewerTriesThanThereArePoints) {
  std::map<std::size_t, std::vector<double>> slowdowns;  // by probe, of each seed
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Bench bench;
    bench.options.seed = seed;
    bench.options.strategy = Strategy::staged;
    bench.options.devices[0].limits.max_work_group_size = 64;
    for (std::uint64_t& size : bench.options.devices[0].limits.max_work_item_sizes) size = 64;
    const std::size_t all = bench.points().size();
    const Result<profile::Tuning> tuning = bench.tune(30);
    BOOST_REQUIRE_EQUAL(outcome(tuning), "ok");
    BOOST_TEST(!tuning->complete);
    BOOST_TEST(tuning->tried * 30 < all);
    for (const std::size_t probe : bench.options.shapes.probes) {
      const Shape& shape = bench.options.shapes.list[probe];
      const auto params = std::get<kernels::Params>(kernels::parse(winner(*tuning, shape)));
      const auto ideal = std::get<kernels::Params>(kernels::parse(bench.best(shape)));
      slowdowns[probe].push_back(modelled_us(params, shape) / modelled_us(ideal, shape));
    }
  }
  for (const auto& [probe, of_seeds] : slowdowns) {
    BOOST_TEST_INFO("probe " << probe);
    BOOST_TEST(median(of_seeds) <= 2.2);
  }
}

BOOST_AUTO_TEST_CASE(EveryPrecisionAndEveryPairOfTransposesIsTunedOnItsShapes, *boost::unit_test::label("slow")) {
  SmallBench bench;
  const std::vector<Shape> of_single_nn = bench.options.shapes.list;
  std::vector<Shape> shapes = {*parse_shape("double tn 300x300x300 weight 2.5")};
  bench.options.kinds.clear();
  for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
    for (const bool trans_a : {false, true}) {
      const GemmKind kind = bench.options.kinds.emplace_back(GemmKind{precision, trans_a, false});
      for (Shape shape : of_single_nn) {
        shape.kind() = kind;
        shapes.push_back(shape);
      }
    }
  }
  bench.options.shapes = shapes_to_tune(shapes, bench.options.kinds);
  const Result<profile::Tuning> tuning = bench.tune();
  BOOST_REQUIRE_EQUAL(outcome(tuning), "ok");
  BOOST_TEST(profile::winners(*tuning).size() == 4 * of_single_nn.size() + 1);
  BOOST_REQUIRE((tuning->shapes.size() == shapes.size()));
  const auto heavy = std::find(tuning->shapes.begin(), tuning->shapes.end(), shapes[0]);
  BOOST_REQUIRE((heavy != tuning->shapes.end()));
  BOOST_TEST(heavy->weight == 2.5);
  std::set<std::string> kinds;
  for (const profile::Measurement& winner : profile::winners(*tuning)) {
    const GemmKind& kind = tuning->shapes[winner.shape];
    kinds.insert(kind_name(kind));
    const auto params = std::get<kernels::Params>(kernels::parse(tuning->variants[winner.variant]));
    BOOST_TEST((params.kind() == kind));
  }
  for (const GemmKind& kind : bench.options.kinds) BOOST_TEST(kinds.count(kind_name(kind)) == 1U, kind_name(kind));
}

// ---- Parts of the space ----

BOOST_AUTO_TEST_CASE(PartsOfTheSpaceTogetherAreTheWholeOfIt) {
  Bench whole;
  const profile::Tuning unsharded = required(whole.tune());
  std::vector<profile::NamedTuning> parts;
  Names tried;
  for (std::uint32_t shard = 1; shard <= 3; ++shard) {
    Bench bench;
    bench.options.shard = shard;
    bench.options.shards = 3;
    parts.push_back({"part " + std::to_string(shard), required(bench.tune())});
    const Names calls = calls_of(bench, "time");
    const auto points = static_cast<std::ptrdiff_t>(bench.points().size());
    tried.insert(tried.end(), calls.begin(), calls.begin() + points);
  }
  const std::set<std::string> different(tried.begin(), tried.end());
  BOOST_TEST(different.size() == tried.size());
  BOOST_TEST(different.size() == whole.points().size());
  const profile::Tuning merged = required(profile::merge(parts));
  BOOST_TEST(profile::winners(merged).size() == profile::winners(unsharded).size());
  for (const std::size_t probe : whole.options.shapes.probes) {
    const Shape& shape = whole.options.shapes.list[probe];
    BOOST_TEST(winner(merged, shape) == winner(unsharded, shape), name(shape));
  }
}

// How many calls the finals of a journal have of each variant. The last racer runs for the noise.
std::map<std::string, std::size_t> final_calls(const std::string& path) {
  std::map<std::string, std::size_t> calls;
  for (const nlohmann::json& record : records_of(path)) {
    if (record["key"].get<std::string>().rfind("finals ", 0) != 0) continue;
    std::istringstream racers(record["variants"].get<std::string>());
    std::string racer;
    for (std::size_t i = 0; racers >> racer && i + 1 < record["us"].size(); ++i) calls[racer] += record["us"][i].size();
  }
  return calls;
}

BOOST_AUTO_TEST_CASE(EveryCallOfAFinalRaceCountsOnce) {
  SmallBench bench;
  bench.options.shapes.grid = {*parse_shape("single nn 300x300x300"), *parse_shape("single nn 9x900x90")};
  const profile::Tuning tuning = required(bench.tune());
  std::map<std::string, std::size_t> runs;
  for (const profile::Measurement& m : tuning.measurements) {
    if (m.final) runs[tuning.variants[m.variant]] += m.runs;
  }
  BOOST_TEST(!runs.empty());
  BOOST_TEST((runs == final_calls(bench.journal())));
}

BOOST_AUTO_TEST_CASE(NamedVariantsAreTimedInTurnsOnAllShapesAndNoOthers) {
  Bench bench;
  bench.options.strategy = Strategy::variants;
  bench.options.shapes.grid = {*parse_shape("single nn 300x300x300")};
  const std::vector<kernels::Params> points = bench.points();
  bench.options.variants = {points.at(3), points.at(5)};
  std::set<std::string> wanted = {kernels::name(points[3]), kernels::name(points[5])};
  for (const kernels::Params& p : kernels::default_variants(bench.options.devices[0].type, Precision::single_precision,
                                                            bench.options.devices[0].vector_bytes)) {
    const bool runs = p.kind() == GemmKind{} && kernels::admits(bench.options.devices[0].limits, p);
    if (runs) wanted.insert(kernels::name(p));
  }
  const profile::Tuning tuning = required(bench.tune());
  BOOST_TEST((std::set<std::string>(tuning.variants.begin(), tuning.variants.end()) == wanted));
  BOOST_TEST(tuning.strategy == "variants");
  BOOST_TEST(tuning.complete);
  BOOST_TEST(tuning.measurements.size() == wanted.size() * 5);
  for (const profile::Measurement& m : tuning.measurements) BOOST_TEST(m.final);
  bench.options.variants.pop_back();
  bench.options.fresh = true;
  BOOST_TEST(required(bench.tune()).variants.size() == wanted.size() - 1);
}

// ---- Processes ----

// The variant that fails was not the first of its process, which may have been broken before.
BOOST_AUTO_TEST_CASE(OnAGpuAProcessServesManyVariantsAndAFailureIsTriedAgainInANewOne) {
  SmallBench bench;
  bench.options.devices[0].type = kernels::DeviceType::gpu;
  BOOST_REQUIRE_EQUAL(outcome(bench.tune()), "ok");
  const Names next = calls_of(bench, "next");
  BOOST_REQUIRE(next.size() > calls_of(bench, "time").size());
  const std::string& failing = next.front();
  const auto starts = [&](const std::string& verb) {
    const Names calls = calls_of(bench, verb);
    return std::count(calls.begin(), calls.end(), failing);
  };
  BOOST_TEST(starts("time") == 0);
  bench.options.fresh = true;
  bench.shop.misbehave("time:crash@512:" + failing);
  const profile::Tuning tuning = required(bench.tune());
  BOOST_TEST(starts("next") == 1);
  BOOST_TEST(starts("time") == 1);
  BOOST_REQUIRE_EQUAL(tuning.failures.size(), 1U);
  BOOST_TEST(tuning.failures[0].variant == failing);
}

BOOST_AUTO_TEST_CASE(IdenticalDevicesSideBySideGiveTheSameResult) {
  std::string first;
  for (const std::size_t count : {1U, 3U}) {
    SmallBench bench;
    bench.options.devices.assign(count, bench.options.devices[0]);
    const std::string text = lasting_text(required(bench.tune()));
    if (first.empty()) first = text;
    BOOST_TEST((text == first));
  }
}

// ---- Interruptions ----

void check_goes_on(Strategy strategy, const std::vector<double>& parts) {
  SmallBench uninterrupted;
  uninterrupted.options.shapes.grid = {*parse_shape("single nn 300x300x300"), *parse_shape("single nn 9x900x90")};
  uninterrupted.options.strategy = strategy;
  uninterrupted.options.parallel = 1;
  const std::string wanted = lasting_text(required(uninterrupted.tune()));
  const std::size_t orders = calls_of(uninterrupted, "order").size();
  const auto reports = static_cast<double>(uninterrupted.reports);
  for (const double part_done : parts) {
    const auto stop_after = static_cast<std::size_t>(std::max(1.0, part_done * reports - 3));
    BOOST_TEST_CONTEXT(name(strategy) << " stopped after " << stop_after << " of " << reports) {
      SmallBench bench;
      bench.options = uninterrupted.options;
      bench.options.work = bench.shop.path("work");
      const Result<profile::Tuning> part = bench.tune(stop_after);
      BOOST_REQUIRE_EQUAL(outcome(part), "ok");
      BOOST_TEST(!part->complete);
      BOOST_TEST(!part->measurements.empty());
      const std::size_t known = journaled_orders(bench.journal());
      BOOST_TEST(known > 0U);
      const Result<profile::Tuning> tuning = bench.tune();
      BOOST_REQUIRE_EQUAL(outcome(tuning), "ok");
      BOOST_TEST(tuning->complete);
      BOOST_TEST(calls_of(bench, "order").size() == orders - known);
      BOOST_TEST((lasting_text(*tuning) == wanted));
      BOOST_TEST(tuning->elapsed_s >= part->elapsed_s);
    }
  }
}

BOOST_AUTO_TEST_CASE(AnInterruptedTuningGoesOnAndTimesNothingTwice) { check_goes_on(Strategy::staged, {0.5}); }

BOOST_AUTO_TEST_CASE(WhereverItWasInterrupted, *boost::unit_test::label("slow")) {
  check_goes_on(Strategy::staged, {0, 1});
  check_goes_on(Strategy::exhaustive, {0, 0.5, 1});
}

BOOST_AUTO_TEST_CASE(ATuningThatIsDoneIsReadFromItsJournal) {
  SmallBench bench;
  const profile::Tuning tuning = required(bench.tune());
  BOOST_TEST(lasting_text(required(bench.tune())) == lasting_text(tuning));
  BOOST_TEST(calls_of(bench, "order").empty());
}

BOOST_AUTO_TEST_CASE(CancelledAtOnceItKnowsNothing) {
  SmallBench bench;
  const Result<profile::Tuning> tuning = bench.tune(0);
  BOOST_REQUIRE_EQUAL(outcome(tuning), "ok");
  BOOST_TEST(!tuning->complete);
  BOOST_TEST(tuning->measurements.empty());
  BOOST_TEST(bench.shop.calls().empty());
}

BOOST_AUTO_TEST_CASE(WithTheBudgetUsedUpWhatIsKnownIsTheResult) {
  SmallBench bench;
  bench.options.budget = std::chrono::hours(1);
  const profile::Tuning part = required(bench.tune(14));  // in the finals
  write_file(bench.journal(), read_file(bench.journal()) +
                                  R"({"key":"the end","variants":"v","at":4000.0,"us":[[]],"failures":[],"late":[]})" +
                                  "\n");
  const Result<profile::Tuning> tuning = bench.tune();
  BOOST_REQUIRE_EQUAL(outcome(tuning), "ok");
  BOOST_TEST(bench.shop.calls().empty());
  BOOST_TEST(tuning->complete);
  BOOST_TEST(tuning->measurements.size() >= part.measurements.size());
  BOOST_TEST(winner(*tuning, bench.square()) == bench.best(bench.square()));
}

BOOST_AUTO_TEST_CASE(ABudgetThatIsTooShortForAnythingFails) {
  SmallBench bench;
  bench.options.budget = std::chrono::duration<double>(1e-9);
  const Result<profile::Tuning> tuning = bench.tune();
  BOOST_TEST(outcome(tuning) == "build failed");
  BOOST_TEST(contains(tuning.status().message(), "within the budget"), tuning.status().message());
}

BOOST_AUTO_TEST_CASE(OtherOptionsAreRefusedUnlessStartingOver) {
  SmallBench bench;
  BOOST_TEST(outcome(bench.tune(5)) == "ok");
  bench.options.seed = 2;
  const Result<profile::Tuning> other = bench.tune();
  BOOST_TEST(outcome(other) == "invalid argument");
  BOOST_TEST(contains(other.status().message(), bench.journal()), other.status().message());
  BOOST_TEST(contains(other.status().message(), "other options: seed was 1, is 2;"), other.status().message());
  bench.options.seed = 1;
  bench.options.budget = std::chrono::seconds(90);
  bench.options.shapes.list.push_back(*parse_shape("single nn 5x5x5"));
  const std::string message = bench.tune().status().message();
  BOOST_TEST(contains(message, "budget was 0.0, is 90.0"), message);
  BOOST_TEST(contains(message, "shapes"), message);
  BOOST_TEST(!contains(message, "seed"), message);
  bench.options = [&] {
    TuneOptions options = SmallBench().options;
    options.work = bench.options.work;
    options.worker = bench.options.worker;
    return options;
  }();
  bench.options.seed = 2;
  bench.options.fresh = true;
  SmallBench fresh;
  fresh.options.seed = 2;
  const std::string wanted = lasting_text(required(fresh.tune()));
  SmallBench again;  // the last one decides where calls are logged
  again.options = bench.options;
  BOOST_TEST((lasting_text(required(again.tune())) == wanted));
}

BOOST_AUTO_TEST_CASE(TwoTuningsDoNotShareAWorkDirectory) {
  SmallBench bench;
  std::string second;
  const std::atomic<bool> never{false};
  const auto start_another = [&](const TuneProgress&) {
    if (!second.empty()) return;
    const Result<profile::Tuning> other = builder::tune::run(bench.options, never, {});
    second = outcome(other) + ": " + other.status().message();
  };
  BOOST_TEST(outcome(builder::tune::run(bench.options, never, start_another)) == "ok");
  BOOST_TEST(contains(second, "input/output: " + bench.options.work), second);
  BOOST_TEST(outcome(bench.tune()) == "ok");  // afterwards it is free
}

BOOST_AUTO_TEST_CASE(AForgottenTuningLeavesNothing) {
  SmallBench bench;
  BOOST_TEST(outcome(bench.tune(20)) == "ok");
  forget(bench.options.work);
  BOOST_TEST(!fs::exists(bench.options.work));
  BOOST_TEST(outcome(bench.tune(20)) == "ok");
  BOOST_TEST(bench.shop.calls().size() >= 10U);
}

// ---- What cannot be done ----

BOOST_AUTO_TEST_CASE(ImpossibleOptionsAreRefused) {
  const auto refused = [](void (*change)(TuneOptions&)) {
    Bench bench;
    change(bench.options);
    const Result<profile::Tuning> tuning = bench.tune();
    return outcome(tuning) == "invalid argument" && bench.shop.calls().empty() && !fs::exists(bench.options.work);
  };
  BOOST_TEST(refused([](TuneOptions& o) { o.devices.clear(); }));
  BOOST_TEST(refused([](TuneOptions& o) { o.kinds.clear(); }));
  BOOST_TEST(refused([](TuneOptions& o) { o.families.clear(); }));
  BOOST_TEST(refused([](TuneOptions& o) { o.shapes.list.clear(); }));
  BOOST_TEST(refused([](TuneOptions& o) { o.shapes.probes.clear(); }));
  BOOST_TEST(refused([](TuneOptions& o) { o.kinds.push_back({Precision::single_precision, true, false}); }));
  BOOST_TEST(refused([](TuneOptions& o) { o.shard = 0; }));
  BOOST_TEST(refused([](TuneOptions& o) { o.shard = 2; }));
  BOOST_TEST(refused([](TuneOptions& o) { o.shards = 0; }));
  BOOST_TEST(refused([](TuneOptions& o) { o.devices.push_back(made_up_device("Device B")); }));
}

BOOST_AUTO_TEST_CASE(AMissingWorkerAndAWorkDirectoryThatCannotBeMadeAreNamed) {
  Bench bench;
  const auto failure = [&] {
    const Result<profile::Tuning> tuning = bench.tune();
    return outcome(tuning) + ": " + tuning.status().message();
  };
  bench.options.worker = "/no/such/worker";
  BOOST_TEST(contains(failure(), "input/output: /no/such/worker"), failure());
  write_file(bench.shop.path("file"), "");
  bench.options.work = bench.shop.path("file") + "/work";
  BOOST_TEST(contains(failure(), "input/output: " + bench.options.work), failure());
}

}  // namespace clbake::builder::test
