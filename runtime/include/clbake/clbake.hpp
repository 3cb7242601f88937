// clbake runtime: GEMM from a bundle of device binaries, with nothing left to compile.
//
//   clbake::Result<clbake::Bundle> bundle = clbake::Bundle::open("gemm.clbake");
//   clbake::Result<clbake::Library> library = clbake::Library::create(context, device, {*bundle});
//   clbake::Problem problem = clbake::make_problem({clbake::Precision::single_precision}, 512, 512, 512);
//   clbake::Result<clbake::Gemm> gemm = library->prepare(problem);
//   clbake::Status status = gemm->enqueue(queue, 1.0, {a}, {b}, 0.0, {c});
//
// Nothing here throws, prints, aborts or reads the environment. Every failure is a Status (clbake/status.hpp).
#pragma once

#include <clbake/export.h>
#include <clbake/version.h>
#include <clbake/cache/reader.hpp>
#include <clbake/overlay.hpp>
#include <clbake/status.hpp>

#include <CL/cl.h>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct _cl_command_buffer_khr;  // of cl_khr_command_buffer; CL/cl_ext.h has it from late 2021 on

namespace clbake {

using cache::Bundle;  // opened from a file or from memory: clbake/cache/reader.hpp
using cache::Target;
using cache::Version;

enum class Layout { row_major, column_major };

// Elements from the start of A, B and C to the matrices of one product of a batch.
struct BatchOffsets {
  std::size_t a = 0;
  std::size_t b = 0;
  std::size_t c = 0;
};

// A vector that is added to C: with an element for each of its m rows, or of its n columns, as the caller sees them.
enum class Bias { none, per_row, per_column };

// Function of each element x of C, with s(x) = 1 / (1 + exp(-x)).
enum class Activation {
  none,
  relu,       // max(x, 0)
  clamp,      // at least Epilogue::low, at most Epilogue::high
  sigmoid,    // s(x)
  silu,       // x * s(x)
  gelu,       // x * (1 + erf(x / sqrt(2))) / 2
  gelu_tanh,  // x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2
};

// C = act(alpha * op(A) * op(B) + beta * D + bias), computed in the precision of the sums, before the result is rounded
// to C's; a NaN stays one.
struct Epilogue {
  Bias bias = Bias::none;
  std::size_t bias_stride = 0;  // elements from a product's bias to that of the next one in a batch; 0: all share it
  Activation activation = Activation::none;
  double low = 0;  // of a clamp; rounded to the problem's precision (of 16 bits: to single)
  double high = 0;
  // True: beta multiplies a matrix D of C's size instead of C. D is C itself (with C's leading dimension and stride)
  // or shares no element with it.
  bool has_d = false;
  std::size_t ldd = 0;       // as ldc; elements
  std::size_t d_stride = 0;  // as c_stride. With offsets, the products of D begin where those of C do
};

// Scales and zero points of a mixed product of bytes. An element of A is (a - zero_a) times the scale of its row of
// op(A), one of B (b - zero_b) times that of its column of op(B); alpha is the scale of the whole product. Scales are
// singles, one for each of the m rows, or n columns, as the caller sees them.
struct Quantization {
  bool row_scales = false;  // C must not be int32, whose sums stay whole
  bool column_scales = false;
  std::size_t row_scale_stride = 0;  // elements from a product's scales to those of the next one; 0: all share them
  std::size_t column_scale_stride = 0;
  int zero_a = 0;  // A and B of integers: each a number of its type
  int zero_b = 0;
  int zero_c = 0;  // C of int8 or uint8: added to the result after rounding to a whole number
  // Packed weights (clbake/weights/pack.hpp), which have scales of their own and none of the above:
  std::size_t weight_group = 32;  // steps of k that share a scale: 32, 64 or 128, a divisor of k
  bool weight_zeros = false;      // they have a zero point for each scale
};

// C = alpha * op(A) * op(B) + beta * C in the precision and with the transposes of the kind (clbake/gemm_kind.hpp),
// and then the epilogue; C is m x n, op(A) m x k, op(B) k x n. Sizes and leading dimensions are in elements and at most
// 2^31 - 1 (complex: 2^30 - 1); m, n and k may be 0. A complex problem has no epilogue.
//
// Mixed precisions (clbake/gemm_kind.hpp): integers are summed in 32 bits, which wrap around, e4m3 and e5m2 in single.
// With an int32 C all is computed in whole numbers: alpha, beta and bounds are whole, the bias is int32, and the
// activation is none, relu or clamp. Else the sums go on as singles, the bias is single, and the result is rounded to
// nearest even; what is too large for an int8, uint8, e4m3 or e5m2 C becomes the largest number, and a NaN 0 in
// integers.
//
// Packed weights, of element q4 or q8, are op(B), not transposed (column-major: op(A)), sums are single, and bias and D
// have C's type. Their offsets, strides and extents are in bytes, multiples of 16, and their leading dimension is not
// used.
struct Problem : GemmKind {
  // Complex problems only: conjugate op(X), so that with trans_x it is the conjugate transpose.
  bool conj_a = false;
  bool conj_b = false;
  Layout layout = Layout::row_major;
  std::size_t m = 0;
  std::size_t n = 0;
  std::size_t k = 0;
  // From one row (row-major) or column (column-major) of the matrix as stored to the next; at least its length, and 1.
  std::size_t lda = 0;
  std::size_t ldb = 0;
  std::size_t ldc = 0;
  // Products of these sizes in one call, at most 2^31 - 1. The matrices of product i begin i * a_stride, i * b_stride
  // and i * c_stride elements after the first; with offsets, one for each product, offsets[i] elements after the start,
  // and the strides are ignored. The Cs of two products must not share elements: `check` refuses c_stride = 0, other
  // overlaps are not detected. A and B may overlap.
  std::size_t batch = 1;
  std::size_t a_stride = 0;
  std::size_t b_stride = 0;
  std::size_t c_stride = 0;
  std::vector<BatchOffsets> offsets;
  Epilogue epilogue;
  Quantization quantization;
};

// One product of matrices without gaps between their rows (columns, if column-major): the least leading dimensions.
CLBAKE_API Problem make_problem(const GemmKind& kind, std::size_t m, std::size_t n, std::size_t k,
                                Layout layout = Layout::row_major);

// alpha and beta of one product.
struct Scalars {
  std::complex<double> alpha;
  std::complex<double> beta;
};

// A matrix in a buffer: its first element lies `offset` elements after the buffer's start. The caller owns the buffer.
// svm() and usm() make one at a pointer, which stands in the place of the buffer, with a flag in the offset.
struct Matrix {
  cl_mem buffer = nullptr;
  std::size_t offset = 0;
  static constexpr std::size_t svm_flag = SIZE_MAX / 2 + 1;
  static constexpr std::size_t usm_flag = SIZE_MAX / 4 + 1;
};

// A matrix in shared virtual memory, coarse-grained (not mapped while kernels run) or fine-grained: `pointer` is what
// clSVMAlloc returned, or, as far as the driver knows those, one into its allocation; a multiple of an element's size
// (packed weights: of 16). The memory must live until the kernels have ended.
inline Matrix svm(const void* pointer, std::size_t offset = 0) {
  return {static_cast<cl_mem>(const_cast<void*>(pointer)), offset | Matrix::svm_flag};
}

// The same at a pointer into an allocation of cl_intel_unified_shared_memory: of the host, of the device, or shared.
inline Matrix usm(const void* pointer, std::size_t offset = 0) {
  return {static_cast<cl_mem>(const_cast<void*>(pointer)), offset | Matrix::usm_flag};
}

// The buffers of an epilogue, as far as the problem's has a bias and a D (and beta is not 0), and of scales.
struct EpilogueBuffers {
  Matrix bias;
  Matrix d;
  Matrix row_scales = {};  // of the quantization, if it has them
  Matrix column_scales = {};
};

// Origin of the program that serves a problem, best first.
enum class Origin {
  native,    // machine code of the bundle
  portable,  // an intermediate language (PTX) of the bundle, which the driver compiled
  overlay,   // compiled at an earlier miss and kept in the overlay
  source,    // compiled by the driver from the bundle's source
};

// Which program `prepare` chose, and why.
struct Explanation {
  Origin origin = Origin::native;
  // Why no machine code made for this device (on NVIDIA: for its architecture) and driver serves; ok when it does.
  Code miss = Code::ok;
  std::string miss_message;  // the same for a person; empty when there was no miss
  std::string variant;       // name of the variant, or of the application's program, in the bundle
  std::string baked_for;     // the driver that the program was made for, if not this one; else empty
  std::size_t bundle = 0;    // the bundle that it is from: an index into the list given to Library::create, or its size
                             // where no bundle has the program that the application gave
  std::string reason;        // why this variant, for a person: expected time and runner-up, the name asked for ...
  std::string waits_for;     // OnMiss::fallback: the variant that is being compiled to serve later calls; else empty
  bool loaded = false;       // the program was loaded before this call
  // Microseconds that the driver took to load or compile the program, when its first caller loaded it.
  double create_us = 0;  // clCreateProgramWithBinary, or WithSource
  double build_us = 0;   // clBuildProgram, and on PoCL a first launch
  double kernel_us = 0;  // clCreateKernel, all kernels of the variant
};

enum class OnMiss {
  compile,   // compile from the source that the bundle carries
  fail,      // fail with the reason of the miss
  fallback,  // serve with what needs no compiler, while a thread of the library compiles the wanted variant for later
             // calls: RUNTIME.md. Compile if there is none, after a line in the log
};

enum class LogLevel { info, warning };

// Receives misses, failed calls and background compilations that fail. `message` is one line and valid during the call
// only. Called by the thread that does the work, with no lock held. Must not throw. May call the library, but must not
// destroy its last copy.
using Log = void (*)(LogLevel level, const char* message, void* data);

// Receives how far `warm` has come: before the first problem, and after each one. seconds_left is an estimate. Returns
// whether to go on. Called by the thread that called `warm`, with no lock held; must not throw.
using Progress = bool (*)(std::size_t done, std::size_t total, double seconds_left, void* data);

class Trust;
struct ProgramText;  // program_text.hpp

struct Options {
  OnMiss on_miss = OnMiss::compile;
  // Allows machine code made for an older driver, or made offline, for the same platform and architecture, if its entry
  // says that newer drivers load it. An exact driver match is still preferred.
  bool newer_driver = false;
  // On PoCL each program is launched once on zeros before it first serves (0.5 to 6 ms): it compiles at a kernel's
  // first launch, and 3.1 may abort the process when the grids of a running kernel grow; after this launch still for
  // matrices of more than 16,384 rows or columns (where k is split: a C of more than 4 million elements). true: no such
  // launch.
  bool only_build = false;
  // Keeps compiled programs for the next process: open_overlay(). Null: they are not kept.
  std::shared_ptr<OverlayStore> overlay;
  // Which bundles may be used: clbake/trust.hpp. A bundle that is not trusted serves nothing: a miss, not_trusted.
  // Null: any.
  std::shared_ptr<const Trust> trust;
  Log log = nullptr;
  void* log_data = nullptr;  // passed to `log`; must live as long as the library
  bool record = false;       // counts the calls of each problem for write_recording
};

// How to prepare, beside the problem.
struct PrepareOptions {
  std::string variant;            // the name of a variant; empty: the profile's choice
  bool caller_workspace = false;  // allocate no workspace: Gemm::use_workspace comes before the first enqueue
};

class PreparedGemm;
struct RecordedCommands;

// A product in a command buffer, which Gemm::record filled in, to change it there. Copies mean the same commands. One
// thread at a time may use them, and the Gemm; not after the end of the Gemm or the command buffer.
class RecordedGemm {
 public:
  // Gives the recorded commands these scalars and operands, all or, after a failure, none of them. The command buffer
  // is finalized and does not run. Fails as Gemm::enqueue; with Argument::scalars for scalars with which the product
  // needs other launches than it had, as alpha = 0 where operands are copied first; and with opencl.
  CLBAKE_API Status update(std::complex<double> alpha, Matrix a, Matrix b, std::complex<double> beta, Matrix c,
                           const EpilogueBuffers& more = {});

 private:
  friend class Gemm;
  std::shared_ptr<RecordedCommands> commands_;
};

// A problem ready to run: the kernels of a loaded program, and a workspace if the variant needs one. Move-only; may
// outlive its Library. One thread at a time may use a Gemm; clone it for each thread. Its calls wait for each other
// where they share a workspace. A moved-from Gemm fails with invalid_argument. Destroying one does not wait for its
// calls.
class Gemm {
 public:
  CLBAKE_API Gemm(Gemm&&) noexcept;
  CLBAKE_API Gemm& operator=(Gemm&&) noexcept;
  CLBAKE_API ~Gemm();

  // The same problem and program with its own kernels and workspace. Fails with opencl or out_of_memory.
  CLBAKE_API Result<Gemm> clone() const;

  // Bytes that use_workspace needs, without images of operands, which stay the handle's own.
  CLBAKE_API std::size_t workspace_bytes() const;

  // Uses workspace_bytes() bytes of the caller's buffer, from `offset` bytes on, a multiple of
  // CL_DEVICE_MEM_BASE_ADDR_ALIGN, and retains the buffer. Two handles may share these bytes only if the caller orders
  // their calls. Fails with invalid_argument or opencl; the handle then keeps what it had.
  CLBAKE_API Status use_workspace(cl_mem buffer, std::size_t offset = 0);

  // Enqueues the product on a queue of the library's context and device, and returns without waiting for it. alpha and
  // beta are rounded to the problem's precision (of 16 bits: to single) first; they are real unless the problem is
  // complex. beta = 0: C is not read. k = 0 or alpha = 0: A and B are not read, their buffers may be null. m = 0, n = 0
  // or batch = 0: nothing runs, the event completes after the wait list. Where a user event of the wait list fails, no
  // kernel runs. `event` (may be null) is the caller's to release. Without one, on NVIDIA and a queue in order, a later
  // call on another queue may wait for all that this queue has by then; the Gemm retains the queue until that call or
  // its own end. C may share a buffer with A and B, but no element: that is checked, except between sub-buffers.
  //
  // Fails with invalid_argument, and then has enqueued nothing. Status::argument() names the first that is refused in
  // this order: alpha, beta, queue, workspace, wait list; then, of those that will be read or written, A, B and C, each
  // for its handle, context, type, access (a C that is CL_MEM_READ_ONLY) and size; then elements that C shares with A,
  // or with B. Fails with opencl or out_of_memory; what was enqueued before that still runs: finish the queue before
  // releasing the buffers.
  CLBAKE_API Status enqueue(cl_command_queue queue, std::complex<double> alpha, Matrix a, Matrix b,
                            std::complex<double> beta, Matrix c, cl_uint wait_count = 0,
                            const cl_event* wait_list = nullptr, cl_event* event = nullptr);

  // The same for a problem with an epilogue. D and the bias are checked after C, and for elements that they share with
  // C after A and B.
  CLBAKE_API Status enqueue(cl_command_queue queue, std::complex<double> alpha, Matrix a, Matrix b,
                            std::complex<double> beta, Matrix c, const EpilogueBuffers& more, cl_uint wait_count = 0,
                            const cl_event* wait_list = nullptr, cl_event* event = nullptr);

  // The same with scalars for each product of the batch, of which there must be problem.batch (else:
  // Argument::scalars). They are read before it returns. Products beside each other with equal scalars share launches.
  CLBAKE_API Status enqueue(cl_command_queue queue, const std::vector<Scalars>& each, Matrix a, Matrix b, Matrix c,
                            const EpilogueBuffers& more = {}, cl_uint wait_count = 0,
                            const cl_event* wait_list = nullptr, cl_event* event = nullptr);

  // Records the product into a command buffer (cl_khr_command_buffer) of one queue of the library's context and device,
  // which the caller creates, finalizes and enqueues. It runs after the sync points of `wait`; `point` (may be null) is
  // where it is done. Scalars, operands and the rest are those of this call, however often the commands run, unless
  // `recorded` is given: it can change them, where the device has cl_khr_command_buffer_mutable_dispatch 0.9.2 or later
  // and the command buffer was created with CL_COMMAND_BUFFER_MUTABLE_KHR. The Gemm and the operands' memory must
  // outlive the command buffer. Where workspace_bytes() is not 0, the Gemm's other calls, recorded or not, must not run
  // at the same time. Fails as enqueue, with opencl where the platform lacks an extension, and with invalid_argument
  // for a product without a launch (m, n or batch 0); what was recorded before a failure stays.
  CLBAKE_API Status record(_cl_command_buffer_khr* commands, std::complex<double> alpha, Matrix a, Matrix b,
                           std::complex<double> beta, Matrix c, const EpilogueBuffers& more = {},
                           const std::vector<cl_uint>& wait = {}, cl_uint* point = nullptr,
                           RecordedGemm* recorded = nullptr);

  CLBAKE_API const Explanation& explanation() const;

  // The program of this problem, owned by the library; for tools that query the driver's binary.
  CLBAKE_API cl_program program() const;

  // For the library itself.
  explicit Gemm(std::unique_ptr<PreparedGemm> prepared);

 private:
  friend Status launch_every_shape(const Gemm& gemm);
  std::unique_ptr<PreparedGemm> prepared_;
};

class PreparedGroup;

// The buffers of a group's epilogue, and the rows of its products where those are counted on the device: an int32 for
// each.
struct GroupBuffers : EpilogueBuffers {
  Matrix counts = {};
};

// Products of different sizes, ready to run in one call: Library::prepare_group. Move-only; may outlive its Library.
// One thread at a time may use a group; prepare one for each thread. A moved-from group fails with invalid_argument.
class GemmGroup {
 public:
  CLBAKE_API GemmGroup(GemmGroup&&) noexcept;
  CLBAKE_API GemmGroup& operator=(GemmGroup&&) noexcept;
  CLBAKE_API ~GemmGroup();

  // Enqueues all products, which share alpha, beta and the buffers, and returns without waiting. Product i of the list
  // finds its A, B and C its own offsets[0] behind those of the call, D where C is, the bias and scales i times their
  // stride behind the call's. Otherwise as Gemm::enqueue, and fails like it; operands are checked before alpha and
  // beta. No C may share an element with what any product reads or lie between such, from first element to last; but D
  // may be C.
  CLBAKE_API Status enqueue(cl_command_queue queue, std::complex<double> alpha, Matrix a, Matrix b,
                            std::complex<double> beta, Matrix c, const GroupBuffers& more = {}, cl_uint wait_count = 0,
                            const cl_event* wait_list = nullptr, cl_event* event = nullptr);

  // True: one launch computes all. Else each product that has elements is enqueued by itself.
  CLBAKE_API bool is_one_launch() const;

  // The variant for groups, or that of the first product which has elements.
  CLBAKE_API const Explanation& explanation() const;

  // For the library itself.
  explicit GemmGroup(std::unique_ptr<PreparedGroup> prepared);

 private:
  std::unique_ptr<PreparedGroup> prepared_;
};

// A program of the application's own (`clbake build --programs`), loaded and built for the library's device. Copies are
// cheap and share everything; may outlive its Library. Any number of threads may use one, but a cl_kernel one at a
// time.
class LoadedProgram {
 public:
  // Moving copies, so that no object is ever empty.
  LoadedProgram(const LoadedProgram&) = default;
  // NOLINTNEXTLINE(performance-move-constructor-init): a copy is meant
  LoadedProgram(LoadedProgram&& other) noexcept : state_(other.state_) {}
  LoadedProgram& operator=(const LoadedProgram&) = default;
  LoadedProgram& operator=(LoadedProgram&& other) noexcept { return *this = std::as_const(other); }
  ~LoadedProgram() = default;

  // For clCreateKernel. Valid as long as a copy of this object lives; kernels, and clRetainProgram, keep it longer.
  CLBAKE_API cl_program get() const;

  CLBAKE_API const Explanation& explanation() const;

 private:
  friend class Library;
  struct State;
  explicit LoadedProgram(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

// Events of a library since it was created.
struct Counters {
  // Calls of `prepare` and `program`, and of `gemm` and `warm` where they had to prepare, by what served them.
  std::uint64_t loaded = 0;    // a program loaded before
  std::uint64_t native = 0;    // machine code of a bundle
  std::uint64_t portable = 0;  // an intermediate language of a bundle
  std::uint64_t overlay = 0;   // a program of the overlay
  std::uint64_t source = 0;    // compiled
  std::uint64_t fallback = 0;  // another program, while the wanted one compiles
  std::uint64_t failed = 0;    // nothing: the call failed
  std::uint64_t cached = 0;    // calls of `gemm` that found a plan, and so did not prepare
  std::uint64_t waits = 0;     // times that `gemm` waited for a lock of the plan cache
  // Misses by reason, whether another program served or the call failed; the index is the number of the Code (20 to
  // 49).
  std::array<std::uint64_t, 64> misses{};
  // Microseconds of all threads together that drivers took.
  std::uint64_t create_us = 0;  // clCreateProgramWithBinary, or WithSource
  std::uint64_t build_us = 0;   // clBuildProgram, and on PoCL first launches
  std::uint64_t kernel_us = 0;  // clCreateKernel of new programs
};

// The programs of some bundles on one device of one context. Copies are cheap and share everything. Destroying the last
// copy waits for the library's thread to end its compilation and its writes to the overlay. Any number of threads may
// call all members at once. After a fork the child must not destroy the last copy.
class Library {
 public:
  // Moving copies, so that no library is ever empty.
  Library(const Library&) = default;
  // NOLINTNEXTLINE(performance-move-constructor-init): a copy is meant
  Library(Library&& other) noexcept : state_(other.state_) {}
  Library& operator=(const Library&) = default;
  Library& operator=(Library&& other) noexcept { return *this = std::as_const(other); }
  ~Library() = default;

  // Retains the context and shares the bundles; the caller may destroy its own. Loads nothing yet. A bundle that has
  // nothing for the device is no failure: its sources serve. Nor is one that Options::trust refuses: that is logged,
  // and calls that it could have served miss with not_trusted. Fails with invalid_argument, opencl or out_of_memory.
  CLBAKE_API static Result<Library> create(cl_context context, cl_device_id device, const std::vector<Bundle>& bundles,
                                           const Options& options = {});

  // Chooses the variant for the problem, from the first bundle that has one, or another variant if its workspace does
  // not fit the device, and loads its program once: machine code for this device and driver from any of the bundles,
  // else what Options::newer_driver allows, else a portable program, else the overlay's, else compiled from source. A
  // program that the driver refuses is not tried again. Fails with invalid_argument (field by field in the order of
  // `check`), with no_variant (also for a complex problem, if no bundle has the kernels that rearrange its operands),
  // with the reason of the miss (on_miss = fail), or with build_failed. A failure of the machine (opencl,
  // out_of_memory) is tried again at the next call. Every failure is counted (Counters::failed) and logged as a
  // warning.
  CLBAKE_API Result<Gemm> prepare(const Problem& problem, const PrepareOptions& options = {}) const;
  CLBAKE_API Result<Gemm> prepare(const Problem& problem, const std::string& variant) const;

  // Prepares products of different sizes for one call. Each is a problem with a batch of 1 and, unless all is at the
  // start of the buffers, one element of `offsets`. They must agree in kind, layout, epilogue (but for ldd) and
  // quantization; sizes may be 0. One launch, where a bundle has a variant for groups of this kind that need not be
  // compiled (`clbake build --group`); else a launch or more for each product, prepared once for those of equal sizes.
  // `variant`: the name of one for groups, which serves or the call fails; empty: the library's choice.
  // Fails with invalid_argument: `group` for an empty list, for products that do not agree, and where the Cs of two
  // share an element or lie between each other, compared from their first element to their last; else as `prepare`, the
  // product named. Nothing is recorded.
  CLBAKE_API Result<GemmGroup> prepare_group(const std::vector<Problem>& products,
                                             const std::string& variant = {}) const;

  // The same for problem.batch products that share n, k and their leading dimensions, and of which only the device
  // knows how many rows each has: GroupBuffers::counts. The rows of product i in A, C and D, and in a bias for each
  // row, follow those of product i - 1; its B begins i * b_stride elements behind the first one, its bias for each
  // column i * bias_stride. problem.m is the most rows that all have together: a count is cut to what is left of it, a
  // negative one counts as 0; rows of C beyond all of them stay as they were. Row-major, plain precisions, no offsets.
  // Needs a variant for groups, else fails with no_variant.
  CLBAKE_API Result<GemmGroup> prepare_counted_group(const Problem& problem, const std::string& variant = {}) const;

  // prepare and enqueue in one call; fails like both. Keeps the prepared problems as plans, up to kPlans, and
  // kPlanBytes of their workspaces, for each of a few groups of threads, replacing the least recently used: from the
  // second call of a problem on, nothing is prepared or allocated. Calls on several queues do not wait for each other.
  CLBAKE_API Status gemm(cl_command_queue queue, const Problem& problem, std::complex<double> alpha, Matrix a, Matrix b,
                         std::complex<double> beta, Matrix c, cl_uint wait_count = 0,
                         const cl_event* wait_list = nullptr, cl_event* event = nullptr) const;
  CLBAKE_API Status gemm(cl_command_queue queue, const Problem& problem, std::complex<double> alpha, Matrix a, Matrix b,
                         std::complex<double> beta, Matrix c, const EpilogueBuffers& more, cl_uint wait_count = 0,
                         const cl_event* wait_list = nullptr, cl_event* event = nullptr) const;
  CLBAKE_API Status gemm(cl_command_queue queue, const Problem& problem, const std::vector<Scalars>& each, Matrix a,
                         Matrix b, Matrix c, const EpilogueBuffers& more = {}, cl_uint wait_count = 0,
                         const cl_event* wait_list = nullptr, cl_event* event = nullptr) const;
  static constexpr std::size_t kPlans = 64;
  static constexpr std::size_t kPlanBytes = std::size_t{64} << 20;

  // Loads, or compiles, the programs for these problems ahead of time, one after another; goes on after a failure and
  // returns the first. `progress` (may be null) gets `data`. Fails with cancelled when it stopped the rest.
  CLBAKE_API Status warm(const std::vector<Problem>& problems, Progress progress = nullptr, void* data = nullptr) const;

  // Loads the application's own program of this name once, by the same tiers as `prepare`. The first bundle that has
  // the name decides which source and options are meant; others serve only with the same ones. OnMiss::fallback
  // compiles. Nothing is launched. Fails with no_program (the message lists the names that there are), or like
  // `prepare`.
  CLBAKE_API Result<LoadedProgram> program(const std::string& name) const;

  // The same for what the application would give OpenCL itself: found by all that a driver would see, whatever its name
  // in a bundle. Where no bundle has it, or not for this device, the overlay's or what is given is compiled, as on_miss
  // says; with `fallback`, too. Reads the files that the text may include. Fails with invalid_argument like
  // content_digest (program_text.hpp), or like `prepare`; with on_miss = fail, with no_program where no bundle has it.
  CLBAKE_API Result<LoadedProgram> program(const ProgramText& text) const;

  // The same for sources and options alone: in place of clCreateProgramWithSource and clBuildProgram.
  CLBAKE_API Result<LoadedProgram> program(const std::vector<std::string>& sources, const std::string& options) const;

  // Tells what `program` would do now, without loading or counting anything. Fails as `program` without one of this
  // name and, with on_miss = fail, without a program for the device.
  CLBAKE_API Result<Explanation> explain_program(const std::string& name) const;
  CLBAKE_API Result<Explanation> explain_program(const ProgramText& text) const;

  // Tells what `prepare` would do now, without loading or counting anything. Fails as `prepare` for an impossible
  // problem, without a variant and, with on_miss = fail, without a program.
  CLBAKE_API Result<Explanation> explain(const Problem& problem) const;

  // True when `prepare` would serve the problem with its variant's machine code made for this device and driver.
  CLBAKE_API bool contains(const Problem& problem) const;

  // Gemm::workspace_bytes() of the problem's handle. Loads the program; fails as `prepare`.
  CLBAKE_API Result<std::size_t> workspace_bytes(const Problem& problem) const;

  CLBAKE_API Counters counters() const;

  // Writes which problems were called so far, and how often, for `clbake capture`: a line like "single nn 512x512x64
  // batch 16 calls 7" for each. Counts calls that succeeded and multiplied something; a column-major problem as the
  // row-major one of the same bytes. Replaces the file atomically; each process needs one of its own. Fails with
  // invalid_argument without Options::record, and with io.
  CLBAKE_API Status write_recording(const std::string& path) const;

  // Waits until the library's thread has nothing left to compile or to write to the overlay. `log` must not call it.
  CLBAKE_API void finish() const;

  // The identity by which bundles are searched.
  CLBAKE_API const Target& target() const;

 private:
  struct State;
  explicit Library(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

// Does early what NVIDIA's driver would do at the first program of the process: loads the driver's compiler library. On
// other platforms it does nothing. Optional. Call it in a thread of its own beside clCreateContext: after that it gains
// nothing (RUNTIME.md). Any thread, any number of times. Fails with not_found (best effort: the driver will load it),
// opencl or invalid_argument (null).
CLBAKE_API Status preload(cl_platform_id platform);

// The target of this device: its identity in bundles. Fails with opencl or invalid_argument (null).
CLBAKE_API Result<Target> identify(cl_device_id device);

// True when machine code made for `made_for` may run on `device`: the same platform, vendor, architecture and address
// bits, and a driver that is not older. NVIDIA keeps machine code of one architecture loadable by later drivers: "CUDA
// Compatibility", https://docs.nvidia.com/deploy/cuda-compatibility/. False where a target has no architecture.
CLBAKE_API bool newer_driver_serves(const Target& made_for, const Target& device);

// True when the driver of `device` can compile PTX made for `made_for`: the architecture is the same or a later one,
// the driver is not older ("PTX ISA", section "PTX Module Directives: .target"). False for other languages: drivers'
// wrappers of SPIR-V and LLVM bitcode change from version to version.
CLBAKE_API bool portable_serves(const Target& made_for, const Target& device);

// Checks that the problem is possible. Fails with invalid_argument; Status::argument() is the first of these fields
// that is wrong: precision, layout, m, n, k, lda, ldb, ldc, batch, c_stride = 0, a_stride, b_stride, c_stride, offsets;
// conj_a, conj_b; bias, bias_stride, activation, bounds, ldd or d_stride; quantization.
CLBAKE_API Status check(const Problem& problem);

// Elements that a buffer must hold from `offset` on for A, B, C, D, the bias and scales of the problem, all products of
// the batch; 0 for an empty matrix, and for a D or bias that the epilogue does not have. Requires check(problem).ok().
struct Extents {
  std::size_t a = 0;
  std::size_t b = 0;
  std::size_t c = 0;
  std::size_t d = 0;
  std::size_t bias = 0;
  std::size_t row_scales = 0;
  std::size_t column_scales = 0;
};
CLBAKE_API Extents extents(const Problem& problem);

// "native", "portable", "overlay", "source".
CLBAKE_API const char* name(Origin origin);

// CLBAKE_VERSION_NUMBER of the library that the program runs with, which may be another than that of its headers.
CLBAKE_API int version();

}  // namespace clbake
