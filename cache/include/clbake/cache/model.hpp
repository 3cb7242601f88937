// The contents of a bundle as plain values. FORMAT.md says how each is stored.
#pragma once

#include <clbake/export.h>
#include <clbake/gemm_kind.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clbake::cache {

// Bytes that another object owns; valid as long as that object.
struct ByteView {
  const std::uint8_t* data = nullptr;
  std::size_t size = 0;  // bytes
};

using Bytes = std::vector<std::uint8_t>;

// BLAKE2b of all that an application gives for a program: clbake/program_text.hpp.
using ContentDigest = std::array<std::uint8_t, 32>;
inline constexpr ContentDigest no_content{};  // of a program that is found by its name alone

// The device and driver that a program was made for. Two targets are equal only if all fields are. The texts are the
// driver's own, without surrounding blanks: FORMAT.md, "Fields of a target".
struct Target {
  std::string platform_name;
  std::string platform_version;
  std::string vendor;
  std::string device_name;
  std::string device_version;
  std::string driver_version;
  std::string architecture;  // "sm_90", "gfx90a", "skylake-avx512"; empty if the driver does not report it
  std::uint32_t address_bits = 0;
  // Names with blanks between: what machine code may use of the CPU, beyond what every CPU of its kind has. Empty where
  // that is no question, as for GPUs.
  std::string cpu_features = {};

  CLBAKE_API bool operator==(const Target& other) const;
  bool operator!=(const Target& other) const { return !(*this == other); }
};

// The texts of a target by name, in the order of the file. Characters instead of pointers: the loader has nothing to
// relocate.
struct TargetText {
  char name[20];
  std::string Target::*value;
};
constexpr TargetText kTargetTexts[] = {{"platform_name", &Target::platform_name},
                                       {"platform_version", &Target::platform_version},
                                       {"vendor", &Target::vendor},
                                       {"device_name", &Target::device_name},
                                       {"device_version", &Target::device_version},
                                       {"driver_version", &Target::driver_version},
                                       {"architecture", &Target::architecture},
                                       {"cpu_features", &Target::cpu_features}};

// The first CPU feature that machine code made for `made_for` may use and `device` does not have, a part of
// made_for.cpu_features; empty: there is none.
std::string_view missing_feature(const Target& made_for, const Target& device);

// The target whose profile is for every CPU, or every other device: what a runtime compiles where no other profile of
// the bundle serves. Only its name is set, and it has no entries.
Target any_device(bool is_cpu);

// Task of a variant's kernel: kernels/KERNELS.md; `kernel` for an application's own program. The values are those of
// the file format.
enum class Role : std::uint32_t {
  gemm = 1,
  pack_a = 2,
  pack_b = 3,
  reduce = 4,
  kernel = 5,
  row_terms = 6,
  column_terms = 7,
  group = 8  // in the place of gemm: a launch computes products of different sizes
};

// One kernel of a variant and how to launch it: kernels/KERNELS.md.
struct Launch {
  Role role = Role::gemm;
  std::string kernel_name;
  std::uint32_t local[3] = {1, 1, 1};  // work-group size, work-items
  std::uint32_t tile_m = 1;            // rows of C, or of a packed operand, that one work-group writes
  std::uint32_t tile_n = 1;            // columns of C, or of a packed operand, that one work-group writes
};

struct Source {
  std::string name;  // file name, for build logs
  std::string text;  // OpenCL C

  bool operator==(const Source& other) const { return name == other.name && text == other.text; }
};

// The contract of an application's own program: its kernels take the work-group sizes of its launches.
inline constexpr std::uint32_t kProgramContract = 1;

// A way to compute a product; or an application's own program, whose precision is no_precision and whose launches are
// the work-group sizes of its kernels, one by one.
struct Variant : GemmKind {
  std::string name;            // unique within a bundle, made by the generator, or the application's
  std::string family;          // "direct", "register_tile", "local_tile" ...
  bool image_a = false;        // packed A is an image
  bool image_b = false;        // packed B is an image
  std::uint32_t contract = 0;  // version of the kernel contract (KERNELS.md)
  // Elements: the extents of packed operands are rounded up to multiples of these.
  std::uint32_t block_m = 1;
  std::uint32_t block_n = 1;
  std::uint32_t block_k = 1;
  std::uint32_t split_k = 1;     // slices of k, 0: of the tail alone; all but 1 need a reduce launch
  std::string build_options;     // for clBuildProgram
  std::uint32_t source = 0;      // index into the sources
  std::vector<Launch> launches;  // in the order they run; at least one, but for a program whose launches nobody knows
  // For a program:
  ContentDigest content = no_content;  // by which it is found without its name: clbake/program_text.hpp
  std::uint32_t trial = 0;             // 1 + index of the source that says how a proof tries the kernels; 0: none
  std::vector<ContentDigest> parts;    // of a linked program: of what is linked, so that nothing compiles it for itself

  bool is_program() const { return precision == no_precision; }
  bool is_group() const { return !launches.empty() && launches.front().role == Role::group; }
};

// Equal for variants that are equal in all, the text of their source included, but the index of that source and the
// trial.
Bytes identifying_bytes(const Variant& variant, const Source& source);

// A variant for the problems of this precision and these transposes whose m, n, k and batch count all lie in the closed
// ranges.
struct Rule : GemmKind {
  std::uint32_t m_min = 0, m_max = UINT32_MAX;
  std::uint32_t n_min = 0, n_max = UINT32_MAX;
  std::uint32_t k_min = 0, k_max = UINT32_MAX;
  std::uint32_t batch_min = 0, batch_max = UINT32_MAX;  // products in one call
  std::uint32_t variant = 0;                            // index into the variants
};

// The expected time of a variant for any problem of its kind. FORMAT.md, "The cost model", has the formula;
// builder/TUNING.md says how it is fitted. Times are in microseconds, finite, and at least 0.
struct CostModel : GemmKind {
  std::uint32_t variant = 0;  // index into the variants
  // The geometry of a call. A work-group computes up to tile_m x tile_n of C; problems are cut into equal parts that
  // are multiples of item_m x item_n. One step of k is step_k deep.
  std::uint32_t tile_m = 1, tile_n = 1;
  std::uint32_t item_m = 1, item_n = 1;
  std::uint32_t step_k = 1;
  std::uint32_t slices = 1;    // of k; 0: of the tail alone
  std::uint32_t resident = 1;  // work-groups that a compute unit runs at the same time
  // The problems of which it tells: 0 all, 1 those of up to few_m rows or few_n columns, 2 all others.
  std::uint32_t regime = 0, few_m = 0, few_n = 0;
  float call_us = 0;       // once
  float start_us = 0;      // once, if there is more than one work-group: the other units begin later
  float wave_us = 0;       // for each wave of work-groups
  float latency_us = 0;    // for each wave and step of k
  float step_us = 0;       // for each work-group of the busiest unit and step of k
  float unaligned_us = 0;  // ... besides, if rows of A or B are aligned badly
  float a_us = 0;          // for each million elements of A
  float b_us = 0;          // ... of B
  float c_us = 0;          // ... of C, with the partial sums of slices
  float error = 0;         // root mean square of ln(measured / expected): FORMAT.md says of which problems
  float margin = 0;        // by which the default variant must be expected to be slower, in parts of the time
};

// Its fields by name, in the order of the file. Characters instead of pointers: the loader has nothing to relocate.
template <typename T>
struct CostModelField {
  char name[16];
  T CostModel::*value;
};
constexpr CostModelField<std::uint32_t> kCostModelExtents[] = {
    {"tile_m", &CostModel::tile_m},     {"tile_n", &CostModel::tile_n}, {"item_m", &CostModel::item_m},
    {"item_n", &CostModel::item_n},     {"step_k", &CostModel::step_k}, {"slices", &CostModel::slices},
    {"resident", &CostModel::resident}, {"regime", &CostModel::regime}, {"few_m", &CostModel::few_m},
    {"few_n", &CostModel::few_n}};
constexpr CostModelField<float> kCostModelNumbers[] = {
    {"call_us", &CostModel::call_us}, {"start_us", &CostModel::start_us},
    {"wave_us", &CostModel::wave_us}, {"latency_us", &CostModel::latency_us},
    {"step_us", &CostModel::step_us}, {"unaligned_us", &CostModel::unaligned_us},
    {"a_us", &CostModel::a_us},       {"b_us", &CostModel::b_us},
    {"c_us", &CostModel::c_us},       {"error", &CostModel::error},
    {"margin", &CostModel::margin}};

// Which variant serves which problem on one target: that of the first exception that fits; else that of the cost model
// with the least expected time, if it is faster by its margin than the variant of the first default that fits; else the
// default one. In what was read from a bundle, each list is sorted by kind.
struct Profile {
  std::uint32_t target = 0;      // index into the targets; at most one profile per target
  std::uint32_t units = 1;       // compute units of the device that was measured
  std::vector<Rule> exceptions;  // where measurements contradict the cost models; at most 32 of a kind
  std::vector<CostModel> models;
  std::vector<Rule> defaults;  // what serves without measurements; at most 32 of a kind
};

// Kind of a program's bytes.
enum class Form : std::uint32_t {
  native = 1,    // machine code for the target, possibly wrapped by the driver
  portable = 2,  // an intermediate language (PTX, SPIR-V): the driver compiles it at every load
};

// A program that had a part in making an entry's program.
struct Tool {
  std::string name;     // "clbake", "clang", "ptxas", "libcuda"; never empty
  std::string version;  // "0.1.0", "15.0.6"; empty when unknown

  bool operator==(const Tool& other) const { return name == other.name && version == other.version; }
};

// Measurements of the entry's proof, in a fresh process with empty driver caches.
// Times are in microseconds, for the proof's own problem.
struct Proof {
  bool proven = false;    // the results agree with the reference
  bool jit_free = false;  // nothing is compiled at load or first launch
  float create_us = 0;    // clCreateProgramWithBinary
  float build_us = 0;     // clBuildProgram
  float kernel_us = 0;    // clCreateKernel, all kernels of the variant
  float first_us = 0;     // first launch, enqueue to finish
  float steady_us = 0;    // median of the later launches
  float max_error = 0;    // the largest error, on the scale of `tolerance`
  float tolerance = 0;    // the bound of max_error
  // The launch shapes that the program holds machine code for, in the driver's notation; empty if it does not report
  // them.
  std::vector<std::string> specialisations;
  std::vector<Tool> tools;  // what made the program, clbake first; empty when unknown
  std::string device;       // that it was proven on, and that device's driver; both empty when it was not proven
  std::string driver;
  std::string note;  // for people: further figures, why it is not jit_free
  std::string log;   // of the build from source, which a program may look at; at most 16 KiB

  float load_us() const { return create_us + build_us + kernel_us; }
};

// One program of one variant for one target.
struct Entry {
  std::uint32_t target = 0;   // index into the targets
  std::uint32_t variant = 0;  // index into the variants
  Form form = Form::native;
  Proof proof;
  Bytes program;  // for clCreateProgramWithBinary; never empty
  // Newer drivers of the same platform may load the program for the same architecture. A runtime does so only if its
  // options allow it.
  bool newer_driver = false;
};

// Everything in a bundle: what `encode` takes and `decode` returns.
struct Contents {
  std::vector<Target> targets;
  std::vector<Source> sources;
  std::vector<Variant> variants;
  std::vector<Profile> profiles;
  std::vector<Entry> entries;
};

}  // namespace clbake::cache
