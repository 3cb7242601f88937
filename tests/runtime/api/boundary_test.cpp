// Nothing damaged reaches a driver. This executable stands in for the driver at clCreateProgramWithBinary: it counts
// what gets there and refuses it, so that whatever the runtime passes on cannot crash a driver.
#include "driver_main.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/kernels/defaults.hpp>

#include <atomic>
#include <random>

namespace {

std::atomic<std::size_t> programs_seen{0};

}  // namespace

cl_program CL_API_CALL clCreateProgramWithBinary(cl_context, cl_uint, const cl_device_id*, const std::size_t*,
                                                 const unsigned char**, cl_int*, cl_int* error) {
  ++programs_seen;
  if (error) *error = CL_INVALID_BINARY;
  return nullptr;
}

namespace clbake::tests {
namespace {

constexpr std::size_t kTries = 10000;

const kernels::Params& direct() {
  static const std::vector<kernels::Params> all =
      kernels::default_variants(kernels::DeviceType::gpu, Precision::single_precision);
  return *std::find_if(all.begin(), all.end(),
                       [](const auto& params) { return params.family == kernels::Family::direct; });
}

// A bundle of one entry, whose program nearly fills it.
cache::Bytes bundle_for(const builder::Device& device, std::mt19937& random) {
  builder::Job job = builder::make_job(device.target, kernels::generate(direct()), direct());
  cache::Entry entry;
  entry.program.resize(40000);
  for (std::uint8_t& byte : entry.program) byte = static_cast<std::uint8_t>(random());
  job.entries = {entry};
  return *builder::encode_job(job, cache::Packing::compressed);
}

// The answer of a library over these bytes that may not compile.
Status serve(const cache::Bytes& bytes, const builder::Device& device, const builder::Session& session) {
  const Result<Bundle> bundle = Bundle::from_memory({bytes.data(), bytes.size()});
  if (!bundle) return bundle.status();
  Options options;
  options.on_miss = OnMiss::fail;
  options.newer_driver = true;
  const Result<Library> library = Library::create(session.context(), device.id, {*bundle}, options);
  if (!library) return library.status();
  const Problem problem = builder::tight_problem(Precision::single_precision, 8, 8, 8);
  return library->prepare(problem, kernels::name(direct())).status();
}

// The bytes that decide what a driver gets: the program, and its index record.
std::vector<std::size_t> bytes_that_count(const cache::Bytes& bytes) {
  const Bundle bundle = *Bundle::from_memory({bytes.data(), bytes.size()});
  const cache::EntryInfo entry = *bundle.entry(0);
  std::vector<std::size_t> places(entry.program.stored_bytes);
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = entry.program.offset + i;
  return places;
}

void check_device(const builder::Device& device) {
  const Result<builder::Session> session = builder::Session::open(device);
  BOOST_REQUIRE_MESSAGE(session.ok(), session.status().message());
  std::mt19937 random(7);
  const cache::Bytes intact = bundle_for(device, random);
  const std::vector<std::size_t> places = bytes_that_count(intact);

  programs_seen = 0;
  BOOST_TEST(name(serve(intact, device, *session).code()) == name(Code::driver_rejected));
  BOOST_TEST(programs_seen == 1U);  // the count works

  programs_seen = 0;
  std::size_t served = 0;
  for (std::size_t i = 0; i < kTries; ++i) {
    cache::Bytes damaged = intact;
    if (i % 2 == 0) {
      damaged[places[random() % places.size()]] ^= static_cast<std::uint8_t>(1U << random() % 8);
    } else {
      damaged.resize(random() % damaged.size());
    }
    served += serve(damaged, device, *session).ok() ? 1 : 0;
  }
  BOOST_TEST(served == 0U);
  BOOST_TEST(programs_seen == 0U, device.target.platform_name << ": " << programs_seen << " of " << kTries);
}

}  // namespace

BOOST_AUTO_TEST_CASE(NoDamagedProgramReachesADriver) {
  for (const builder::Device& device : devices().value()) check_device(device);
}

}  // namespace clbake::tests
