// Jobs on their way between processes: nothing is lost, and nothing damaged gets through.
#include "build_fixture.hpp"

#include <clbake/builder/jobs.hpp>

#include <boost/test/unit_test.hpp>
#include <functional>

namespace clbake::builder::test {
namespace {

Job sample() {
  const kernels::Params params =
      kernels::default_variants(kernels::DeviceType::gpu, Precision::double_precision).back();
  Job job = make_job(made_up_device().target, kernels::generate(params), params);
  cache::Entry entry;
  entry.program = {1, 2, 3, 4, 5};
  entry.proof.proven = true;
  entry.proof.note = "proven";
  job.entries = {entry};
  return job;
}

class Directory {
 public:
  std::string path(const std::string& name) const { return scratch_->path() + "/" + name; }

 private:
  Result<process::ScratchDirectory> scratch_ = process::ScratchDirectory::create();
};

}  // namespace

BOOST_AUTO_TEST_CASE(AJobIsTheGeneratorsKernel) {
  const kernels::Params params =
      kernels::default_variants(kernels::DeviceType::gpu, Precision::double_precision).back();
  const kernels::Kernel kernel = kernels::generate(params);
  const Job job = make_job(made_up_device().target, kernel, params);
  BOOST_TEST((job.target == made_up_device().target));
  BOOST_TEST(job.source.name == kernel.source_name);
  BOOST_TEST(job.source.text == kernel.source);
  BOOST_TEST(job.variant.name == kernel.name);
  BOOST_TEST(job.variant.family == kernels::name(params.family));
  BOOST_TEST((job.variant.precision == Precision::double_precision));
  BOOST_TEST(job.variant.trans_a == params.trans_a);
  BOOST_TEST(job.variant.trans_b == params.trans_b);
  BOOST_TEST(job.variant.contract == kernels::contract_version);
  BOOST_TEST(job.variant.build_options == kernel.build_options);
  BOOST_TEST(job.variant.block_m == params.ml);
  BOOST_TEST(job.variant.block_n == params.nl);
  BOOST_TEST(job.variant.block_k == params.kl);
  BOOST_TEST(job.variant.split_k == params.split_k);
  BOOST_REQUIRE_EQUAL(job.variant.launches.size(), kernel.launches.size());
  for (std::size_t i = 0; i < kernel.launches.size(); ++i) {
    const cache::Launch& launch = job.variant.launches[i];
    BOOST_TEST(launch.kernel_name == kernel.launches[i].kernel_name);
    BOOST_TEST(std::equal(launch.local, launch.local + 3, kernel.launches[i].local));
    BOOST_TEST(launch.tile_m == kernel.launches[i].tile_m);
    BOOST_TEST(launch.tile_n == kernel.launches[i].tile_n);
  }
  BOOST_TEST(job.entries.empty());
}

BOOST_AUTO_TEST_CASE(AJobKnowsCopiesImagesAndSlices) {
  kernels::Params params;
  params.family = kernels::Family::stripe;
  params.precision = Precision::half_precision;
  params.layout_a = kernels::Layout::image;
  params.layout_b = kernels::Layout::row_block;
  params.split_k = 3;
  const Job job = make_job(made_up_device().target, kernels::generate(params), params);
  BOOST_TEST((job.variant.precision == Precision::half_precision));
  BOOST_TEST(job.variant.image_a);
  BOOST_TEST(!job.variant.image_b);
  BOOST_TEST(job.variant.split_k == 3U);
  const std::vector<cache::Role> roles = {cache::Role::pack_a, cache::Role::pack_b, cache::Role::gemm,
                                          cache::Role::reduce};
  BOOST_REQUIRE_EQUAL(job.variant.launches.size(), roles.size());
  for (std::size_t i = 0; i < roles.size(); ++i) BOOST_TEST((job.variant.launches[i].role == roles[i]));
}

BOOST_AUTO_TEST_CASE(AWrittenJobIsReadBackWhole) {
  const Directory directory;
  Job job = sample();
  for (const bool compiled : {true, false}) {
    if (!compiled) job.entries.clear();
    BOOST_TEST(outcome(write_job(directory.path("job"), job)) == "ok");
    const Result<Job> read = read_job(directory.path("job"));
    BOOST_REQUIRE_EQUAL(outcome(read), "ok");
    BOOST_TEST(same_work(*read, job));
    BOOST_REQUIRE_EQUAL(read->entries.size(), job.entries.size());
    if (!compiled) continue;
    BOOST_TEST((read->entries[0].program == job.entries[0].program));
    BOOST_TEST(read->entries[0].proof.note == "proven");
  }
}

BOOST_AUTO_TEST_CASE(SameWorkLooksAtEveryField) {
  const Job job = sample();
  const std::vector<std::function<void(Job&)>> changes = {
      [](Job& j) { j.target.driver_version += "1"; },
      [](Job& j) { j.target.platform_version += "1"; },
      [](Job& j) { j.target.address_bits = 32; },
      [](Job& j) { j.source.name += "1"; },
      [](Job& j) { j.source.text += "1"; },
      [](Job& j) { j.variant.name += "1"; },
      [](Job& j) { j.variant.family += "1"; },
      [](Job& j) { j.variant.precision = Precision::single_precision; },
      [](Job& j) { j.variant.trans_a = !j.variant.trans_a; },
      [](Job& j) { j.variant.trans_b = !j.variant.trans_b; },
      [](Job& j) { j.variant.contract += 1; },
      [](Job& j) { j.variant.build_options += "1"; },
      [](Job& j) { j.variant.image_a = !j.variant.image_a; },
      [](Job& j) { j.variant.image_b = !j.variant.image_b; },
      [](Job& j) { j.variant.block_m += 1; },
      [](Job& j) { j.variant.block_n += 1; },
      [](Job& j) { j.variant.block_k += 1; },
      [](Job& j) { j.variant.split_k += 1; },
      [](Job& j) { j.variant.launches[0].role = cache::Role::pack_a; },
      [](Job& j) { j.variant.launches.push_back(j.variant.launches[0]); },
      [](Job& j) { j.variant.launches[0].kernel_name += "1"; },
      [](Job& j) { j.variant.launches[0].local[2] += 1; },
      [](Job& j) { j.variant.launches[0].tile_m += 1; },
      [](Job& j) { j.variant.launches[0].tile_n += 1; },
  };
  BOOST_TEST(same_work(job, sample()));
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Job changed = sample();
    changes[i](changed);
    BOOST_TEST(!same_work(job, changed), "change " << i);
  }
}

BOOST_AUTO_TEST_CASE(TheEntryAndTheIndexOfTheSourceAreNotPartOfTheWork) {
  Job other = sample();
  other.entries.clear();
  other.variant.source = 5;
  BOOST_TEST(same_work(sample(), other));
}

BOOST_AUTO_TEST_CASE(ADamagedJobIsRefused) {
  const Directory directory;
  BOOST_TEST(outcome(write_job(directory.path("job"), sample())) == "ok");
  const std::string good = read_file(directory.path("job"));
  std::size_t accepted = 0;
  for (std::size_t at = 0; at < good.size(); at += 7) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 16);
    write_file(directory.path("bad"), bad);
    const Result<Job> read = read_job(directory.path("bad"));
    if (!read) continue;
    // Padding that nothing refers to may change; what was read may not.
    accepted += same_work(*read, sample()) && read->entries[0].program == sample().entries[0].program ? 0 : 1;
  }
  BOOST_TEST(accepted == 0U);
  write_file(directory.path("bad"), good.substr(0, good.size() / 2));
  BOOST_TEST(outcome(read_job(directory.path("bad"))) == "truncated");
  BOOST_TEST(outcome(read_job(directory.path("missing"))) == "not found");
}

BOOST_AUTO_TEST_CASE(ABundleOfSeveralVariantsIsNoJob) {
  BuildFixture fixture;
  BOOST_REQUIRE_EQUAL(outcome(fixture.build()), "ok");
  const Result<Job> read = read_job(fixture.options.output);
  BOOST_TEST(outcome(read) == "malformed");
  BOOST_TEST(contains(read.status().message(), fixture.options.output), read.status().message());
}

BOOST_AUTO_TEST_CASE(EveryEntryOfABundleIsAJob) {
  BuildFixture fixture;
  fixture.options.devices = {made_up_device("A"), made_up_device("B")};
  BOOST_REQUIRE_EQUAL(outcome(fixture.build()), "ok");
  const Result<Bundle> bundle = Bundle::open(fixture.options.output);
  BOOST_REQUIRE_EQUAL(outcome(bundle), "ok");
  const Result<std::vector<Job>> jobs = jobs_of(*bundle);
  BOOST_REQUIRE_EQUAL(outcome(jobs), "ok");
  BOOST_TEST(jobs->size() == 2 * kVariants);
  for (const Job& job : *jobs) {
    BOOST_TEST(job.entries.size() == 1U);
    BOOST_TEST(contains(job.source.name, job.variant.family), job.source.name << " of " << job.variant.name);
  }
}

BOOST_AUTO_TEST_CASE(AJobThatCannotBeWrittenIsAnIoFailure) {
  BOOST_TEST(outcome(write_job("/no/such/directory/job", sample())) == "input/output");
}

}  // namespace clbake::builder::test
