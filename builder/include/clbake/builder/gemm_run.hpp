// One problem with random matrices on a device: run it, time it, check it. Used by the prover, `clbake run`, the
// benchmarks and the tests.
#pragma once

#include <clbake/builder/devices.hpp>

#include <array>
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace clbake::builder {

// The limit for a person who waits: a fraction of a second.
inline constexpr std::uint64_t kPatientCheck = std::uint64_t{1} << 28;

struct GemmRunOptions {
  std::complex<double> alpha = 1.0;  // real, unless the problem is complex
  std::complex<double> beta = 0.0;
  std::vector<Scalars> each;  // instead of alpha and beta: those of each product of the batch
  std::size_t a_offset = 0;   // elements before each matrix in its buffer
  std::size_t b_offset = 0;
  std::size_t c_offset = 0;
  std::size_t d_offset = 0;  // of the epilogue's, where the problem has them
  std::size_t bias_offset = 0;
  std::uint32_t seed = 1;
  std::vector<std::int32_t> counts;  // of a group that the device counts: the products are what these make of it
  std::size_t behind = 0;            // more elements behind all but B, which nothing may read or write
  bool infinite_a = false;           // the first element of A is infinite: its row of C has to be, and no other
  // Multiplications of the reference, about: of larger problems a random sample of at least two rows is checked.
  std::uint64_t check_limit = UINT64_MAX;
};

struct Check {
  double max_error = 0;  // see tolerance()
  double tolerance = 0;
  std::size_t rows_checked = 0;
  bool guards_intact = true;  // nothing was written outside the m x n part of C
  bool ok() const { return guards_intact && max_error <= tolerance; }
  Status status(const std::string& problem) const;  // wrong_result, with the problem in its message, if not ok()
};

// The problem's matrices, and its epilogue's: uniform random in [-1, 1), bytes of integers in all of their range, NaN
// wherever nothing may be read (around and between the rows of A, B and D and the biases; in C and D when beta = 0),
// and a guard pattern wherever nothing may be written.
class GemmRun {
 public:
  // `problem` needs check(problem).ok(). Fails with out_of_memory (also when the matrices exceed the device's
  // memory or largest allocation) or opencl. Retains the session.
  static Result<GemmRun> create(const Session& session, const Device& device, const Problem& problem,
                                const GemmRunOptions& options = {});
  // The same for the products of a group (Library::prepare_group), whose Cs share nothing. Not of mixed ones.
  static Result<GemmRun> create(const Session& session, const Device& device, const std::vector<Problem>& products,
                                const GemmRunOptions& options = {});
  GemmRun(GemmRun&&) noexcept;
  ~GemmRun();

  // Enqueues once and waits for the end, whose failure it returns; microseconds from the call to the end. Writes C:
  // reset() restores it.
  Result<double> run(Gemm& gemm);
  Result<double> run(GemmGroup& group);

  // As run, in the shortest time: see finish_timed. A failure that only an event tells is not seen: run it first.
  Result<double> time(Gemm& gemm);
  Result<double> time(GemmGroup& group);

  // Buffers of A, B and C, which stay this object's, for a run by other means than a Gemm.
  std::array<cl_mem, 3> buffers() const;

  // C as it was before the first run.
  Status reset();

  // Compares C, after exactly one run since create or reset, with the reference.
  Result<Check> check() const;

 private:
  struct State;
  explicit GemmRun(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Products of sizes up to `most` for Library::prepare_group, their matrices one after the other. gaps: some sizes are
// 0, and there are elements between rows and matrices; else sizes begin at 16.
std::vector<Problem> random_products(const GemmKind& kind, Layout layout, std::size_t count, std::size_t most,
                                     bool gaps, std::uint32_t seed);

// Scalars for a check: those given, but whole numbers where C is int32; and where integers are summed for another C, an
// alpha with which most results of make_mixed's numbers lie in its range.
double alpha_for(Precision precision, double alpha);
double beta_for(Precision precision, double beta);

// A depth for a check: k, but whole groups of packed weights. And an offset of an operand: weights have aligned ones.
std::size_t depth_for(Precision precision, std::size_t k);
std::size_t offset_for(Element element, std::size_t offset);

// Waits until all that was enqueued is done; releases `event`, which the last command left (null: there was none).
Status finish(cl_command_queue queue, cl_event event);

// Enqueues by `enqueue` and waits, as a caller who wants nothing but the end: with an event, which takes two
// microseconds on NVIDIA, only where clFinish does not wait without one. `enqueue` gets the place for it, or null.
Status finish_timed(const Session& session, const std::function<Status(cl_event*)>& enqueue);

// The middle value; the mean of the two middle ones for an even count. Requires values to be non-empty.
double median(std::vector<double> values);

// A problem with tight leading dimensions (at least 1), and the k of depth_for.
Problem tight_problem(Precision precision, std::size_t m, std::size_t n, std::size_t k, bool trans_a = false,
                      bool trans_b = false, Layout layout = Layout::row_major);

}  // namespace clbake::builder
