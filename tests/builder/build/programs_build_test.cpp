// Builds of an application's own programs, with the fake worker: what is baked, dropped and left out.
#include "build_fixture.hpp"

#include <clbake/builder/release/prune.hpp>
#include <clbake/cache/writer.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

namespace clbake::builder::test {
using namespace build;
namespace {

program::Program program(const std::string& name, const std::string& text = "kernel void rows() {}\n") {
  program::Program program;
  program.name = name;
  program.source = {name + ".cl", text};
  program.launches = {{cache::Role::kernel, "rows", {1, 1, 1}, 1, 1}};
  program.trial = R"([{"name": "rows", "work_group_sizes": [[1]], "trials": [{"global": [1], "arguments": []}]}])";
  return program;
}

struct Programs : BuildFixture {
  Programs() {
    options.precisions.clear();
    options.gemm = false;
    options.programs = {program("softmax"), program("scale")};
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const cache::Variant& variant : contents_of(options.output).variants) names.push_back(variant.name);
    return names;
  }
};

using Names = std::vector<std::string>;

}  // namespace

BOOST_FIXTURE_TEST_CASE(ProgramsAloneMakeABundleWithoutGemm, Programs) {
  const BuildReport report = required(build());
  BOOST_TEST(report.baked == 2U);
  BOOST_TEST(calls_of("compile ") == 2U);
  BOOST_TEST(calls_of("prove ") == 2U);
  const cache::Contents contents = contents_of(options.output);
  BOOST_TEST((names() == Names{"scale", "softmax"}));
  BOOST_TEST(contents.targets.size() == 1U);  // no default variants of GEMM
  BOOST_TEST(contents.profiles.empty());
  BOOST_REQUIRE_EQUAL(contents.entries.size(), 2U);
  BOOST_TEST(contents.entries[0].proof.proven);
  BOOST_TEST(trial_of(contents, contents.variants[1]) == options.programs[0].trial);
  BOOST_TEST(contents.entries[1].proof.proven);
}

BOOST_FIXTURE_TEST_CASE(AChangedSourceOptionOrTrialIsBakedAgain, Programs) {
  required(build());
  BOOST_TEST(required(build()).reused == 2U);
  options.programs[0].source.text += "// changed\n";
  BOOST_TEST(required(build()).baked == 1U);
  BOOST_TEST(calls_of("softmax") == 2U);
  options.programs[1].options = "-DX";
  BOOST_TEST(required(build()).baked == 1U);
  options.programs[1].trial += " ";
  const BuildReport report = required(build());
  BOOST_TEST(report.baked == 1U);
  BOOST_TEST(report.reused == 1U);
  const cache::Contents contents = contents_of(options.output);
  BOOST_TEST(contents.sources.size() == 4U);  // two sources and two trials: nothing of the older ones
  BOOST_TEST(contents.sources[1].text == options.programs[0].source.text);
}

BOOST_FIXTURE_TEST_CASE(ProgramsAndGemmStandBesideEachOther, Programs) {
  options.gemm = true;
  options.precisions = {Precision::single_precision};
  BOOST_TEST(required(build()).baked == kVariants + 2);
  // A build of one program alone drops the rest.
  options.gemm = false;
  options.programs.pop_back();
  const BuildReport report = required(build());
  BOOST_TEST(report.reused == 1U);
  BOOST_TEST(report.dropped == kVariants + 1);
  BOOST_TEST((names() == Names{"softmax"}));
}

BOOST_FIXTURE_TEST_CASE(AProgramThatFailsIsLeftOutAndNamed, Programs) {
  options.programs.push_back(program("broken"));
  options.programs.back().failure = "broken.cl: No such file or directory";
  options.programs.push_back(program("large"));
  options.programs.back().launches[0].local[0] = 64;
  misbehave("compile:message:scale");
  const BuildReport report = required(build());
  BOOST_TEST(report.baked == 1U);
  BOOST_TEST(report.failed == 3U);
  BOOST_TEST(report_of(report, "scale").cause == "compile: the driver has lost its mind");
  BOOST_TEST(report_of(report, "broken").cause == "broken.cl: No such file or directory");
  BOOST_TEST(report_of(report, "large").cause ==
             "kernel rows: the work-group size 64x1x1 has 64 work-items; the device allows 1");
  BOOST_TEST((names() == Names{"softmax"}));
  options.programs.erase(options.programs.begin(), options.programs.begin() + 2);
  const Result<BuildReport> nothing = build();
  BOOST_TEST(outcome(nothing) == "build failed");
  BOOST_TEST(contains(nothing.status().message(), "broken.cl"));
}

// Unlike variants of one vector width, programs have nothing in common.
BOOST_FIXTURE_TEST_CASE(ProgramsThatHangDoNotCostTheOthers, Programs) {
  options.programs = {program("a1"), program("a2"), program("a3"), program("b")};
  options.timeout = std::chrono::seconds(1);
  options.parallel = 1;
  misbehave("compile:hang:a");
  const BuildReport report = required(build());
  BOOST_TEST(report.baked == 1U);
  BOOST_TEST(report_of(report, "a3").cause == "compile: no end after 1 s");
}

BOOST_FIXTURE_TEST_CASE(ABundleOfProgramsIsProvenElsewhere, Programs) {
  required(build());
  cache::Contents contents = contents_of(options.output);
  for (cache::Entry& entry : contents.entries) entry.proof = {};
  write_bundle(options.output, contents);
  const ProveReport report = required(prove());
  BOOST_TEST(report.proven == 2U);
  contents = contents_of(options.output);
  BOOST_TEST(contents.entries[1].proof.proven);
  BOOST_TEST(contents.profiles.empty());
  BOOST_TEST(contents.variants.size() == 2U);
}

BOOST_FIXTURE_TEST_CASE(PruningKeepsPrograms, Programs) {
  options.gemm = true;
  options.precisions = {Precision::single_precision, Precision::double_precision};
  required(build());
  const Bundle bundle = required(Bundle::open(options.output));
  release::PruneOptions prune_options;
  prune_options.kinds = {GemmKind{}};
  for (std::uint32_t i = 0; i < bundle.target_count(); ++i) prune_options.targets.push_back(i);
  const release::PrunedBundle pruned = required(release::prune(bundle, prune_options));
  const Bundle small = required(Bundle::from_memory({pruned.bytes.data(), pruned.bytes.size()}));
  const cache::Contents kept = required(small.decode());
  BOOST_TEST(kept.entries.size() == 3U + 2U);
  BOOST_TEST(std::count_if(kept.entries.begin(), kept.entries.end(),
                           [&](const cache::Entry& e) { return kept.variants[e.variant].is_program(); }) == 2);
  BOOST_TEST(small.verify().message() == "");
}

}  // namespace clbake::builder::test
