// Options::record: what a library writes about the calls that it has seen.
#include "faults/fake_scene.hpp"

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

using namespace clbake;
using namespace clbake::test;

namespace {

// A file of this process, which the destructor removes.
struct File {
  std::string path = "recording." + std::to_string(std::rand()) + ".txt";
  ~File() { std::remove(path.c_str()); }
};

// The lines of the library's recording, without comments.
std::string recorded(const Library& library) {
  const File file;
  const Status written = library.write_recording(file.path);
  BOOST_REQUIRE_MESSAGE(written.ok(), written.message());
  std::ifstream in(file.path);
  std::string text;
  for (std::string line; std::getline(in, line);) {
    if (line[0] != '#') text += line + '\n';
  }
  return text;
}

Library recording_library(const Scene& scene) {
  Options options;
  options.record = true;
  Result<Library> library = open_library(scene, options);
  BOOST_REQUIRE_MESSAGE(library.ok(), library.status().message());
  return *library;
}

Status call(const Library& library, const Scene& scene, const Problem& problem, const Operands& o) {
  return library.gemm(scene.queue, problem, Operands::kAlpha, o.a, o.b, Operands::kBeta, o.c);
}

}  // namespace

BOOST_AUTO_TEST_CASE(EachCallOfAProblemIsCounted) {
  const Scene scene;
  const Library library = recording_library(scene);
  const Problem single = problem_of(Case::native), batch = problem_of(Case::launches, 2);
  const Operands operands(scene, single), batch_operands(scene, batch);
  Result<Gemm> gemm = prepare(library, single);
  BOOST_REQUIRE(gemm.ok());
  BOOST_TEST(recorded(library) == "");  // preparing is no call
  for (int i = 0; i < 3; ++i) BOOST_TEST(enqueue(*gemm, scene.queue, operands).ok());
  Result<Gemm> clone = gemm->clone();
  BOOST_REQUIRE(clone.ok());
  BOOST_TEST(enqueue(*clone, scene.queue, operands).ok());
  for (int i = 0; i < 2; ++i) BOOST_TEST(call(library, scene, batch, batch_operands).ok());
  BOOST_TEST(recorded(library) ==
             "single nn 9x13x11 lda 14 ldb 15 calls 4\nsingle tn 9x13x11 lda 14 ldb 15 batch 2 calls 2\n");
  BOOST_TEST(call(library, scene, single, operands).ok());
  BOOST_TEST(recorded(library) ==
             "single nn 9x13x11 lda 14 ldb 15 calls 5\nsingle tn 9x13x11 lda 14 ldb 15 batch 2 calls 2\n");
}

BOOST_AUTO_TEST_CASE(GapsInAAndBMakeAnotherProblemAndGapsInCDoNot) {
  const Scene scene;
  const Library library = recording_library(scene);
  Problem problem = problem_of(Case::native);
  for (std::size_t gap : {3U, 4U}) {
    problem.ldc = problem.n + gap;
    BOOST_TEST(call(library, scene, problem, Operands(scene, problem)).ok());
  }
  problem.lda = problem.k;
  BOOST_TEST(call(library, scene, problem, Operands(scene, problem)).ok());
  problem.ldb = problem.n;
  BOOST_TEST(call(library, scene, problem, Operands(scene, problem)).ok());
  BOOST_TEST(recorded(library) ==
             "single nn 9x13x11 calls 1\nsingle nn 9x13x11 lda 14 ldb 15 calls 2\nsingle nn 9x13x11 ldb 15 calls 1\n");
}

// C^T = B^T * A^T: a column-major product of m x n is the row-major one of n x m of the same bytes.
BOOST_AUTO_TEST_CASE(AColumnMajorProblemIsRecordedAsTheRowMajorOneOfTheSameBytes) {
  const Scene scene;
  const Library library = recording_library(scene);
  const Problem row_major = problem_of(Case::native);
  const Operands operands(scene, row_major);
  Problem problem = row_major;
  problem.layout = Layout::column_major;
  std::swap(problem.m, problem.n);
  std::swap(problem.lda, problem.ldb);
  BOOST_TEST(library.gemm(scene.queue, problem, 1, operands.b, operands.a, 0, operands.c).ok());
  BOOST_TEST(recorded(library) == "single nn 9x13x11 lda 14 ldb 15 calls 1\n");
}

BOOST_AUTO_TEST_CASE(CallsThatFailOrMultiplyNothingAreNotCounted) {
  const Scene scene;
  const Library library = recording_library(scene);
  Problem problem = problem_of(Case::native);
  const Operands operands(scene, problem);
  BOOST_TEST(!library.gemm(scene.queue, problem, 1, {nullptr}, operands.b, 0, operands.c).ok());
  for (std::size_t Problem::*size : {&Problem::m, &Problem::n, &Problem::k, &Problem::batch}) {
    Problem nothing = problem;
    nothing.*size = 0;
    BOOST_TEST(call(library, scene, nothing, operands).ok());
  }
  BOOST_TEST(recorded(library) == "");
}

BOOST_AUTO_TEST_CASE(NoCallOfAnyThreadIsLost) {
  constexpr int threads = 8, calls = 50;
  const Scene scene;
  const Library library = recording_library(scene);
  const Problem problem = problem_of(Case::native);
  std::vector<std::thread> all;
  std::atomic<int> failed{0};
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      const Operands operands(scene, problem);
      for (int c = 0; c < calls; ++c) failed += call(library, scene, problem, operands).ok() ? 0 : 1;
      clFinish(scene.queue);
    });
  }
  recorded(library);  // meanwhile
  for (std::thread& thread : all) thread.join();
  BOOST_TEST(failed == 0);
  BOOST_TEST(recorded(library) == "single nn 9x13x11 lda 14 ldb 15 calls " + std::to_string(threads * calls) + '\n');
}

BOOST_AUTO_TEST_CASE(WithoutTheOptionAndWithoutADirectoryNothingIsWritten) {
  const Scene scene;
  const Library library = *open_library(scene);
  const Status off = library.write_recording("recording.off");
  BOOST_TEST((off.code() == Code::invalid_argument && off.argument() == Argument::options), off.message());
  BOOST_TEST(!std::ifstream("recording.off").good());
  const Status nowhere = recording_library(scene).write_recording("/no/such/directory/recording");
  BOOST_TEST((nowhere.code() == Code::io), nowhere.message());
  BOOST_TEST(nowhere.message().find("/no/such/directory/recording") == 0U, nowhere.message());
}
