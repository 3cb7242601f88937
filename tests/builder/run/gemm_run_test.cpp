// Trials on a real device: what they accept, and that they see each way to be wrong.
#include "reference_kernel.hpp"
#include "test_device.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/scratch.hpp>
#include <clbake/cache/writer.hpp>

#include <boost/test/unit_test.hpp>
#include <map>
#include <stdexcept>

namespace clbake::builder::test {
namespace {

using tests::device;
using tests::reference_job;

template <typename T>
T required(Result<T> result) {
  if (!result) throw std::runtime_error(result.status().message());
  return std::move(*result);
}

const Session& session() {
  static const Session opened = required(Session::open(device()));
  return opened;
}

// Compiled from source, once for each defect.
const Library& library(const std::string& defect) {
  static std::map<std::string, Library> libraries;
  const auto found = libraries.find(defect);
  if (found != libraries.end()) return found->second;
  const Job job = reference_job(defect);
  const process::ScratchDirectory scratch = required(process::ScratchDirectory::create());
  const std::string path = scratch.path() + "/job";
  if (!write_job(path, job)) throw std::runtime_error("write_job");
  const Bundle bundle = required(Bundle::open(path));
  return libraries.emplace(defect, required(Library::create(session().context(), device().id, {bundle}))).first->second;
}

Gemm gemm(const std::string& defect, const Problem& problem) {
  return required(library(defect).prepare(problem, reference_job(defect).variant.name));
}

Problem padded(std::size_t m, std::size_t n, std::size_t k, Layout layout = Layout::row_major) {
  Problem p = tight_problem(Precision::single_precision, m, n, k, false, false, layout);
  p.lda += 3;
  p.ldb += 2;
  p.ldc += 4;
  return p;
}

Check check_of(const std::string& defect, const Problem& problem, const GemmRunOptions& options = {}) {
  GemmRun trial = required(GemmRun::create(session(), device(), problem, options));
  Gemm prepared = gemm(defect, problem);
  BOOST_TEST(required(trial.run(prepared)) > 0.0);
  return required(trial.check());
}

}  // namespace

BOOST_AUTO_TEST_CASE(ACorrectKernelIsAccepted) {
  for (const Layout layout : {Layout::row_major, Layout::column_major}) {
    for (const double beta : {0.0, -0.5}) {
      GemmRunOptions options;
      options.alpha = 1.5;
      options.beta = beta;
      options.a_offset = 5;
      options.b_offset = 6;
      options.c_offset = 7;
      const Check check = check_of("", padded(13, 9, 17, layout), options);
      BOOST_TEST(check.ok(), "error " << check.max_error << ", tolerance " << check.tolerance);
      BOOST_TEST(check.rows_checked == 13U);
    }
  }
}

BOOST_AUTO_TEST_CASE(EmptyProblemsAreAccepted) {
  BOOST_TEST(check_of("", padded(0, 9, 5)).ok());
  BOOST_TEST(check_of("", padded(9, 0, 5)).ok());
  BOOST_TEST(check_of("", padded(9, 5, 0)).ok());
}

BOOST_AUTO_TEST_CASE(NothingDoneIsWrong) {
  const GemmRun trial = required(GemmRun::create(session(), device(), padded(4, 4, 4)));
  BOOST_TEST(!required(trial.check()).ok());
}

BOOST_AUTO_TEST_CASE(WrongNumbersAreWrongWithGuardsIntact) {
  for (const char* defect : {"WRONG_LAST_PRODUCT", "WRONG_CORNER", "ALWAYS_ZERO"}) {
    const Check check = check_of(defect, padded(13, 9, 17));
    BOOST_TEST(check.max_error > check.tolerance, defect);
    BOOST_TEST(check.guards_intact, defect);
  }
}

BOOST_AUTO_TEST_CASE(WritesOutsideCAreFoundWithNumbersRight) {
  for (const char* defect : {"WRITES_BESIDE", "WRITES_BEHIND"}) {
    const Check check = check_of(defect, padded(13, 9, 17));
    BOOST_TEST(!check.guards_intact, defect);
    BOOST_TEST(!check.ok(), defect);
    BOOST_TEST(check.max_error <= check.tolerance, defect);
  }
  // Also where rows have no padding: behind the last one.
  BOOST_TEST(!check_of("WRITES_BEHIND", tight_problem(Precision::single_precision, 5, 5, 5)).guards_intact);
}

BOOST_AUTO_TEST_CASE(ReadsWhereNothingMayBeReadAreFound) {
  BOOST_TEST(!check_of("READS_C", padded(13, 9, 17)).ok());
  BOOST_TEST(!check_of("READS_BESIDE_A", padded(13, 9, 17)).ok());
  GemmRunOptions options;
  options.beta = 0.5;
  BOOST_TEST(check_of("READS_C", padded(13, 9, 17), options).ok());  // there it may
}

BOOST_AUTO_TEST_CASE(ASecondRunNeedsAReset) {
  GemmRunOptions options;
  options.beta = 0.5;
  const Problem problem = padded(6, 7, 8);
  GemmRun trial = required(GemmRun::create(session(), device(), problem, options));
  Gemm prepared = gemm("", problem);
  BOOST_TEST(trial.run(prepared).ok());
  BOOST_TEST(required(trial.check()).ok());
  BOOST_TEST(trial.run(prepared).ok());
  BOOST_TEST(!required(trial.check()).ok());
  BOOST_TEST(trial.reset().ok());
  BOOST_TEST(trial.run(prepared).ok());
  BOOST_TEST(required(trial.check()).ok());
}

BOOST_AUTO_TEST_CASE(ASampleOfRowsKeepsFirstAndLast) {
  GemmRunOptions options;
  options.check_limit = kPatientCheck;
  const Problem problem = tight_problem(Precision::single_precision, 3000, 256, 512);
  const Check sampled = check_of("", problem, options);
  BOOST_TEST(sampled.ok());
  BOOST_TEST(sampled.rows_checked == 2048U);  // 2^28 / (256 * 512)
  BOOST_TEST(!check_of("WRONG_CORNER", problem, options).ok());
}

BOOST_AUTO_TEST_CASE(ImpossibleProblemsAreRefused) {
  Problem problem = padded(4, 4, 4);
  problem.lda = 3;
  BOOST_TEST((GemmRun::create(session(), device(), problem).status().code() == Code::invalid_argument));
}

BOOST_AUTO_TEST_CASE(MatricesBeyondTheDevicesMemoryAreRefusedBeforeAnythingIsAllocated) {
  for (const std::size_t m : {std::size_t{2000000}, std::size_t{2147483647}}) {
    const Problem problem = tight_problem(Precision::double_precision, m, 2147483647, 1);
    const Result<GemmRun> trial = GemmRun::create(session(), device(), problem);
    BOOST_TEST((trial.status().code() == Code::out_of_memory));
    BOOST_TEST(trial.status().message().find("bytes") != std::string::npos, trial.status().message());
  }
}

}  // namespace clbake::builder::test
