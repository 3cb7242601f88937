// Pruned bundles choose as before, and hold nothing else.
#include <clbake/builder/release/prune.hpp>

#include "files.hpp"
#include "release/synthetic_bundle.hpp"

#include <clbake/builder/release/served.hpp>
#include <clbake/builder/release/signing.hpp>
#include <clbake/cache/pack.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <set>

namespace clbake::builder::test {
namespace {

using namespace clbake::builder::release;
using namespace clbake::tests;

Bundle bundle_of(const cache::Bytes& bytes) { return required(Bundle::copy_of({bytes.data(), bytes.size()})); }

struct Scene {
  explicit Scene(std::uint32_t seed, std::size_t targets = 5) : settings{targets, 4, 6, 200, seed} {
    contents = tests::synthetic_bundle(settings);
    if (seed % 2 == 0) contents.profiles.pop_back();  // goes by the most similar device's
    bundle = bundle_of(encoded(contents));
    contents = required(bundle->decode());
    options.targets.resize(contents.targets.size());
    std::iota(options.targets.begin(), options.targets.end(), 0U);
  }

  tests::SyntheticSettings settings;
  cache::Contents contents;
  std::optional<Bundle> bundle;
  PruneOptions options;
};

// "variant origin baked-for", or "nothing".
std::string served_by(const Bundle& bundle, const Target& target, const Shape& shape, bool newer_driver) {
  Serving serving = required(Serving::create({bundle}, served_device(target), newer_driver));
  const Served served = required(serving.find(shape));
  if (!served.program) return "nothing";
  const std::optional<cache::EntryInfo>& entry = served.program->entry;
  return served.program->name + " " + name(served.program->origin) + " " +
         (entry ? target_name(required(bundle.target(entry->target))) : "");
}

void check_served_as_before(const Scene& scene, const Bundle& pruned, const std::vector<std::uint32_t>& targets) {
  for (const std::uint32_t target : targets) {
    for (const Shape& shape : scene.options.shapes) {
      for (const bool newer_driver : {false, true}) {
        const Target& device = scene.contents.targets[target];
        BOOST_TEST(served_by(pruned, device, shape, newer_driver) ==
                   served_by(*scene.bundle, device, shape, newer_driver));
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(EveryShapeIsServedAsBefore) {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    Scene scene(seed);
    scene.options.shapes = tests::synthetic_shapes(scene.settings, 3 + 2 * seed);
    const PrunedBundle pruned = required(prune(*scene.bundle, scene.options));
    const Bundle after = bundle_of(pruned.bytes);
    BOOST_REQUIRE(after.verify().ok());
    BOOST_TEST(pruned.after.entries < pruned.before.entries);
    check_served_as_before(scene, after, scene.options.targets);
  }
}

BOOST_AUTO_TEST_CASE(OneTargetAndTenShapesLeaveNothingElse) {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    Scene scene(seed);
    scene.options.shapes = tests::synthetic_shapes(scene.settings, 10);
    scene.options.targets = {seed % 5};
    const PrunedBundle pruned = required(prune(*scene.bundle, scene.options));
    const Bundle after = bundle_of(pruned.bytes);
    check_served_as_before(scene, after, scene.options.targets);
    const cache::Contents kept = required(after.decode());
    std::set<std::string> chosen;
    // A target without a device's name stands for more than one device, and a vector has two readings.
    bool several = scene.contents.targets[seed % 5].device_name.empty();
    for (const Shape& shape : scene.options.shapes) {
      Problem problem = problem_of(shape);
      several = several || read_otherwise(problem);
      const std::string served = served_by(*scene.bundle, scene.contents.targets[seed % 5], shape, true);
      chosen.insert(served.substr(0, served.find(' ')));
    }
    for (const cache::Variant& variant : kept.variants) {
      BOOST_TEST((chosen.count(variant.name) == 1 || pruned.deciding > 0 || several), variant.name);
    }
    BOOST_TEST(kept.variants.size() <= chosen.size() * (several ? 2 : 1) + pruned.deciding);
    BOOST_TEST((kept.targets.size() == 1 || kept.entries.empty() || scene.contents.profiles.size() < 5 || several));
  }
}

// Without the variant that decides, another one would be chosen.
BOOST_AUTO_TEST_CASE(VariantsThatDecideStay) {
  std::size_t deciding = 0;
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    Scene scene(seed, 2);
    for (cache::Profile& profile : scene.contents.profiles) {
      for (cache::CostModel& model : profile.models) model.margin = 0.5F;  // defaults win often
    }
    scene.bundle = bundle_of(encoded(scene.contents));
    scene.options.shapes = tests::synthetic_shapes(scene.settings, 8);
    const PrunedBundle pruned = required(prune(*scene.bundle, scene.options));
    deciding += pruned.deciding;
    check_served_as_before(scene, bundle_of(pruned.bytes), scene.options.targets);
  }
  BOOST_TEST(deciding > 0U);
}

BOOST_AUTO_TEST_CASE(KindsAndTargetsWithoutShapes) {
  Scene scene(1);
  scene.options.kinds = {{Precision::single_precision, false, false}};
  scene.options.targets = {0, 3};
  const PrunedBundle pruned = required(prune(*scene.bundle, scene.options));
  const cache::Contents kept = required(bundle_of(pruned.bytes).decode());
  for (const cache::Variant& variant : kept.variants) {
    BOOST_TEST((variant.kind() == GemmKind{Precision::single_precision, false, false}));
  }
  BOOST_TEST(pruned.removed_targets.size() + kept.targets.size() == 5U);
  const auto of_target = [&](const cache::Contents& contents, const Target& target) {
    return std::count_if(contents.entries.begin(), contents.entries.end(), [&](const cache::Entry& entry) {
      return contents.targets[entry.target] == target &&
             contents.variants[entry.variant].kind() == GemmKind{Precision::single_precision, false, false};
    });
  };
  for (const std::uint32_t target : {0U, 3U}) {
    BOOST_TEST(of_target(kept, scene.contents.targets[target]) ==
               of_target(scene.contents, scene.contents.targets[target]));
  }
  scene.options.shapes = tests::synthetic_shapes(scene.settings, 40);
  scene.options.shapes.erase(std::remove_if(scene.options.shapes.begin(), scene.options.shapes.end(),
                                            [](const Shape& shape) { return shape.kind() != GemmKind(); }),
                             scene.options.shapes.end());
  BOOST_REQUIRE(!scene.options.shapes.empty());
  check_served_as_before(scene, bundle_of(pruned.bytes), {0, 3});
}

BOOST_AUTO_TEST_CASE(EverythingStaysWhenEverythingIsAskedFor) {
  const Scene scene(3);
  PruneOptions options = scene.options;
  for (const Precision precision : all_precisions) {
    for (const bool trans_a : {false, true}) {
      for (const bool trans_b : {false, true}) options.kinds.push_back({precision, trans_a, trans_b});
    }
  }
  const PrunedBundle pruned = required(prune(*scene.bundle, options));
  BOOST_TEST(pruned.after.entries == pruned.before.entries);
  BOOST_TEST((pruned.bytes == required(cache::pack(scene.contents, {0, nullptr, {}, digest_function()}))));
}

// Adds a profile for any CPU and one for any other device, with a variant of a kind that nothing was baked for.
GemmKind add_defaults(Scene& scene) {
  const GemmKind kind = {Precision::double_precision, true, true};
  cache::Contents& contents = scene.contents;
  contents.variants.push_back(contents.variants[0]);
  contents.variants.back().kind() = kind;
  contents.variants.back().name = "default-double-tt";
  cache::Rule rule;
  rule.kind() = kind;
  rule.variant = static_cast<std::uint32_t>(contents.variants.size() - 1);
  for (const bool is_cpu : {true, false}) {
    contents.profiles.push_back({static_cast<std::uint32_t>(contents.targets.size()), 1, {}, {}, {rule}});
    scene.options.targets.push_back(contents.profiles.back().target);
    contents.targets.push_back(cache::any_device(is_cpu));
  }
  scene.bundle = bundle_of(encoded(contents));
  contents = required(scene.bundle->decode());
  return kind;
}

BOOST_AUTO_TEST_CASE(TheSourceOfDefaultsStaysUnlessItsKindOrDeviceIsLeftOut) {
  Scene scene(1);
  Shape problem;
  problem.kind() = add_defaults(scene);
  problem.m = problem.n = problem.k = 8;
  scene.options.shapes = tests::synthetic_shapes(scene.settings, 10);
  const auto served = [&](const Target& device) {
    return served_by(bundle_of(required(prune(*scene.bundle, scene.options)).bytes), device, problem, false);
  };
  Target unknown;
  unknown.device_name = "a GPU that nobody knew";
  BOOST_TEST(served(unknown) == "nothing");
  scene.options.kinds = {problem.kind()};
  for (const std::uint32_t target : scene.options.targets) {
    BOOST_TEST(served(scene.contents.targets[target]) == "default-double-tt source ");
  }
  BOOST_TEST(served(unknown) == "default-double-tt source ");
  const auto cpu = std::find_if(scene.contents.targets.begin(), scene.contents.targets.end(),
                                [](const Target& target) { return target.device_name == "pthread-cpu0"; });
  scene.options.targets = {static_cast<std::uint32_t>(cpu - scene.contents.targets.begin())};
  const Bundle pruned = bundle_of(required(prune(*scene.bundle, scene.options)).bytes);
  BOOST_TEST(pruned.find_target(cache::any_device(true)).ok());
  BOOST_TEST(!pruned.find_target(cache::any_device(false)).ok());
}

BOOST_AUTO_TEST_CASE(NoProgramLeftIsAFailure) {
  Scene scene(1);
  scene.options.kinds = {add_defaults(scene)};
  scene.options.targets = {required(scene.bundle->find_target(cache::any_device(true)))};
  const Result<PrunedBundle> refused = prune(*scene.bundle, scene.options);
  BOOST_TEST((refused.status().code() == Code::invalid_argument));
  BOOST_TEST(contains(refused.status().message(), "no program of the bundle would be left"));
  scene.options.targets.clear();
  BOOST_TEST((prune(*scene.bundle, scene.options).status().code() == Code::invalid_argument));
}

}  // namespace clbake::builder::test
