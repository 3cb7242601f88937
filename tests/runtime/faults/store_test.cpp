// Programs that the overlay cannot keep: the cause is logged, nothing is written, and the product is served all the
// same. And bundles that are damaged after they were opened.
#include "faults/fake_scene.hpp"
#include "system/temporary_directory.hpp"

#include <algorithm>
#include <filesystem>

using namespace clbake;
using namespace clbake::test;

namespace {

constexpr const char* kPocl = "Portable Computing Language";

// A context of one device and an empty directory.
struct Store {
  explicit Store(const char* platform = "Fake Platform") : as(platform) {
    context = clCreateContext(nullptr, 1, &scene.device, nullptr, nullptr, nullptr);
  }
  ~Store() { clReleaseContext(context); }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  Library library(const cache::Contents& contents) {
    const Result<cache::Bytes> bytes = cache::encode(contents);
    BOOST_REQUIRE_EQUAL(bytes.status().message(), "");
    return library(*Bundle::copy_of({bytes->data(), bytes->size()}));
  }
  Library library(const Bundle& bundle) {
    Options options;
    options.overlay = *open_overlay({path, OverlayMode::read_write});
    const Result<Library> made = Library::create(context, scene.device, {bundle}, log.in(options));
    BOOST_REQUIRE_EQUAL(made.status().message(), "");
    return *made;
  }
  std::string warnings() { return log.text(); }
  // Origin of the program for the problem whose variant has no machine code.
  std::string served(const Library& library) const {
    const Result<Gemm> gemm = library.prepare(problem_of(Case::source));
    library.finish();
    return gemm ? name(gemm->explanation().origin) : std::string(name(gemm.status().code()));
  }
  std::size_t files() const {
    std::size_t count = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(path))
      count += file.is_regular_file() ? 1 : 0;
    return count;
  }

  const PlatformName as;
  Scene scene;
  cl_context context = nullptr;
  const tests::TemporaryDirectory directory;
  const std::string& path = directory.path;
  LogLines log{LogLevel::warning};
};

// One call that fails once the program was compiled, and what the log says of it.
struct Failure {
  fake::Function function;
  std::size_t nth;
  const char* words;
};

void check_not_kept(const char* platform, const Failure& failure) {
  Store store(platform);
  const Library library = store.library(bundle_contents());
  BOOST_TEST_CONTEXT(fake::name(failure.function) << " " << failure.nth) {
    fake::fail(failure.function, failure.nth, CL_INVALID_OPERATION);
    BOOST_TEST(store.served(library) == "source");
    BOOST_TEST((fake::failed() == failure.function));
    fake::fail_nothing();
    BOOST_TEST(has(store.warnings(), "could not store the program in the overlay: "), store.warnings());
    BOOST_TEST(has(store.warnings(), failure.words), store.warnings());
    BOOST_TEST(store.files() == 0U);
    BOOST_TEST(store.served(store.library(bundle_contents())) == "source");
    BOOST_TEST(store.served(store.library(bundle_contents())) == "overlay");  // the second one could store it
  }
}

// The bytes of a bundle without compression, and a place in them.
struct Damaged {
  explicit Damaged(const std::string& wanted) : bytes(*cache::encode(bundle_contents(), cache::Packing::plain)) {
    const auto found = std::search(bytes.begin(), bytes.end(), wanted.begin(), wanted.end());
    BOOST_REQUIRE((found != bytes.end()));
    at = static_cast<std::size_t>(found - bytes.begin());
  }
  void flip() { bytes[at] ^= 1U; }

  cache::Bytes bytes;
  Bundle bundle = *Bundle::from_memory({bytes.data(), bytes.size()});

 private:
  std::size_t at = 0;
};

}  // namespace

BOOST_AUTO_TEST_CASE(AProgramThatCannotBeFinalizedIsNotKept) {
  using fake::Function;
  for (const Failure& failure : {Failure{Function::clGetProgramInfo, 0, "clGetProgramInfo(CL_PROGRAM_NUM_DEVICES)"},
                                 Failure{Function::clGetProgramInfo, 1, "the driver gives no binary of the program"},
                                 Failure{Function::clGetProgramInfo, 2, "clGetProgramInfo(CL_PROGRAM_BINARIES)"},
                                 Failure{Function::clCreateCommandQueue, 0, "clCreateCommandQueue"},
                                 Failure{Function::clCreateBuffer, 0, "matrices for a first launch"},
                                 Failure{Function::clEnqueueReadBuffer, 0, "clEnqueueReadBuffer"},
                                 Failure{Function::clEnqueueNDRangeKernel, 0, "clEnqueueNDRangeKernel"},
                                 Failure{Function::clFinish, 0, "clFinish"}}) {
    check_not_kept("Fake Platform", failure);
  }
  check_nothing_is_left();
}

// The driver lists a binary for each device of the context; the program was built for one.
BOOST_AUTO_TEST_CASE(AContextOfSeveralDevicesKeepsTheBinaryOfTheRightOne) {
  for (const bool first : {true, false}) {
    Store store;
    clReleaseContext(store.context);
    const cl_device_id devices[] = {store.scene.device, store.scene.other_device};
    store.context = clCreateContext(nullptr, 2, devices, nullptr, nullptr, nullptr);
    if (!first) std::swap(store.scene.device, store.scene.other_device);
    BOOST_TEST(store.served(store.library(bundle_contents())) == "source");
    BOOST_TEST(!has(store.warnings(), "could not store"), store.warnings());
    BOOST_TEST(store.served(store.library(bundle_contents())) == "overlay");
  }
  check_nothing_is_left();
}

// There, a second program is compiled for the overlay.
BOOST_AUTO_TEST_CASE(OnPoclTooWhateverFails) {
  using fake::Function;
  for (const Failure& failure : {Failure{Function::clCreateProgramWithSource, 1, "clCreateProgramWithSource"},
                                 Failure{Function::clBuildProgram, 1, "clBuildProgram"},
                                 Failure{Function::clGetProgramInfo, 1, "the driver gives no binary of the program"}}) {
    check_not_kept(kPocl, failure);
  }
  check_nothing_is_left();
}

// The first launches on PoCL are for speed only.
BOOST_AUTO_TEST_CASE(OnPoclAFirstLaunchMayFail) {
  using fake::Function;
  for (const Function function : {Function::clEnqueueReadBuffer, Function::clFinish, Function::clCreateCommandQueue,
                                  Function::clEnqueueNDRangeKernel}) {
    Store store(kPocl);
    Library library = *Library::create(store.scene.context, store.scene.device,
                                       {*Bundle::from_memory({bundle_bytes().data(), bundle_bytes().size()})});
    fake::fail(function, 0, CL_INVALID_OPERATION);
    for (const Case which : {Case::launches, Case::native}) {
      const Problem problem = problem_of(which);
      Result<Gemm> gemm = library.prepare(problem);
      BOOST_REQUIRE_EQUAL(gemm.status().message(), "");
      BOOST_TEST((fake::failed() == function), fake::name(function));
      const Operands operands(store.scene, problem);
      BOOST_TEST(enqueue(*gemm, store.scene.queue, operands).ok());
      BOOST_TEST(operands.error(store.scene.queue) < kTolerance);
    }
    fake::fail_nothing();
  }
}

BOOST_AUTO_TEST_CASE(ARejectedProgramThatCannotBeMarkedSaysSo) {
  Store store;
  const Library library = store.library(bundle_contents());
  std::error_code refused;
  std::filesystem::remove_all(store.path, refused);
  if (refused) return;  // Windows: an open directory stays
  const Result<Gemm> gemm = library.prepare(problem_of(Case::rejected));
  BOOST_REQUIRE_EQUAL(gemm.status().message(), "");
  BOOST_TEST(name(gemm->explanation().miss) == "driver rejected");
  BOOST_TEST(has(gemm->explanation().miss_message, "; the overlay could not mark it: " + store.path),
             gemm->explanation().miss_message);
  library.finish();
  BOOST_TEST(has(store.warnings(), "could not store the program in the overlay: " + store.path), store.warnings());
}

BOOST_AUTO_TEST_CASE(AKeptProgramThatTheDriverRefusesIsNotTriedAgain) {
  Store store;
  BOOST_TEST(store.served(store.library(bundle_contents())) == "source");
  BOOST_TEST(store.files() == 1U);
  fake::fail(fake::Function::clCreateProgramWithBinary, 0, CL_INVALID_BINARY);
  BOOST_TEST(store.served(store.library(bundle_contents())) == "source");
  BOOST_TEST((fake::failed() == fake::Function::clCreateProgramWithBinary));
  fake::fail_nothing();
  BOOST_TEST(store.files() == 2U);  // it is marked
  fake::forget_calls();
  BOOST_TEST(store.served(store.library(bundle_contents())) == "source");
  BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithBinary) == 0U);
  BOOST_TEST(has(store.warnings(), "is served from source"), store.warnings());
}

BOOST_AUTO_TEST_CASE(AVariantThatIsDamagedLaterReachesNoDriver) {
  Store store;
  Damaged damaged("PRECISION=64");
  const Library library = store.library(damaged.bundle);
  const Problem problem = problem_of(Case::source);
  BOOST_TEST(name(library.explain(problem)->origin) == "source");
  fake::forget_calls();
  damaged.flip();
  const Status explained = library.explain(problem).status();
  BOOST_TEST(name(explained.code()) == "checksum");
  const Status prepared = library.prepare(problem).status();
  BOOST_TEST(name(prepared.code()) == "checksum");
  BOOST_TEST(has(prepared.message(), "variants record "), prepared.message());
  library.finish();
  BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithSource) == 0U);
  BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithBinary) == 0U);
  BOOST_TEST(store.files() == 0U);
  damaged.flip();
  BOOST_TEST(store.served(store.library(damaged.bundle)) == "source");
}

BOOST_AUTO_TEST_CASE(ASourceThatIsDamagedLaterReachesNoDriver) {
  Store store;
  Damaged damaged("the fake driver reads");
  const Library library = store.library(damaged.bundle);
  fake::forget_calls();
  damaged.flip();
  const Status status = library.prepare(problem_of(Case::source)).status();
  BOOST_TEST(name(status.code()) == "checksum");
  BOOST_TEST(has(status.message(), "sources record 0"), status.message());
  BOOST_TEST(fake::calls(fake::Function::clCreateProgramWithSource) == 0U);
  // Machine code needs no source, but with an overlay its digest is part of the key.
  BOOST_TEST(name(library.prepare(problem_of(Case::native)).status().code()) == "checksum");
  const Library without = *Library::create(store.context, store.scene.device, {damaged.bundle});
  BOOST_TEST(name(without.prepare(problem_of(Case::native))->explanation().origin) == "native");
}
