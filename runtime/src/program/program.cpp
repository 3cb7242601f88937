#include "program/program.hpp"

#include <clbake/choice.hpp>
#include <clbake/finalize.hpp>
#include <clbake/joined.hpp>
#include <clbake/platform.hpp>
#include <clbake/program_text.hpp>

#include "program/build_text.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

namespace clbake {
namespace {

// A log in one line of at most 600 characters.
std::string one_line(std::string log) {
  std::replace(log.begin(), log.end(), '\0', ' ');
  std::replace(log.begin(), log.end(), '\n', ' ');
  const std::size_t limit = 600;
  return log.size() <= limit ? log : log.substr(0, limit) + " ...";
}

// The launches of the contract, in their order: copies of A and of B, the terms of zero points, the product, and a
// reduction if k is split.
bool roles_fit(const cache::Variant& variant) {
  using cache::Role;
  auto launch = variant.launches.begin();
  const auto next_is = [&](Role role) {
    const bool is = launch != variant.launches.end() && launch->role == role;
    if (is) ++launch;
    return is;
  };
  const bool pack_a = next_is(Role::pack_a);
  const bool pack_b = next_is(Role::pack_b);
  const bool has_terms = next_is(Role::row_terms);
  if (next_is(Role::column_terms) != has_terms || has_terms != sums_integers(variant.precision)) return false;
  const bool stored = !pack_a && !pack_b && !has_terms;
  const bool in_order = (next_is(Role::gemm) || (stored && variant.split_k == 1 && next_is(Role::group))) &&
                        next_is(Role::reduce) == (variant.split_k != 1);
  return in_order && launch == variant.launches.end() && (pack_a || !variant.image_a) && (pack_b || !variant.image_b) &&
         variant.split_k <= kMaxSplit;
}

Result<cache::Variant> launchable_variant(const Bundle& bundle, std::uint32_t index) {
  Result<cache::Variant> variant = bundle.variant(index);
  if (!variant) return variant;
  if (const Status status = check_launchable(*variant); !status) return status;
  return variant;
}

// The work-items of a work-group; SIZE_MAX where that number overflows, 0 where the driver chooses.
std::size_t work_items(const cache::Launch& launch) {
  std::size_t items = launch.local[0] == 0 ? 0 : 1;
  for (const std::size_t extent : launch.local) {
    items = extent > 0 && items > SIZE_MAX / extent ? SIZE_MAX : items * extent;
  }
  return items;
}

// The most work-items that a work-group of the kernel may have. A kernel that was compiled for the wanted size needs no
// more than the device offers; what drivers answer for such a kernel may be less than what runs: the preferred multiple
// on Mesa's rusticl 22.3, 256 on NVIDIA 580.
std::size_t work_group_limit(const cl::Kernel& kernel, const cl::Device& device, const cache::Launch& launch,
                             cl_int& error) {
  std::size_t compiled_for[3] = {};
  std::size_t limit = 0;
  error = clGetKernelWorkGroupInfo(kernel(), device(), CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof compiled_for,
                                   compiled_for, nullptr);
  const bool fixed = error == CL_SUCCESS && std::equal(launch.local, launch.local + 3, compiled_for);
  error = fixed
              ? cl::info(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, limit)
              : clGetKernelWorkGroupInfo(kernel(), device(), CL_KERNEL_WORK_GROUP_SIZE, sizeof limit, &limit, nullptr);
  return limit;
}

// True when a source, or its PTX, has an instruction that only sm_90a has, NVIDIA's sm_90 with a suffix.
bool needs_sm_90a(const std::string& source) { return source.find("wgmma.") != std::string::npos; }

// The driver compiles a source for the plain architecture, whose assembler refuses wgmma; but it has made PTX by then.
// Makes one of the same PTX for sm_90a, not built yet, of a program that could not be built for this reason; null
// without such PTX.
cl::Program for_sm_90a(const cl::Context& context, const cl::Device& device, const cl::Program& refused) {
  constexpr std::string_view plain = ".target sm_90,";
  const Result<cache::Bytes> binary = program_binary(refused());
  if (!binary) return {};
  std::string ptx(binary->begin(), binary->end());
  const std::size_t target = ptx.find(plain);
  if (target == std::string::npos || !needs_sm_90a(ptx)) return {};
  ptx.insert(target + plain.size() - 1, "a");

  const cl_device_id id = device();
  const auto* bytes = reinterpret_cast<const unsigned char*>(ptx.data());
  const std::size_t size = ptx.size();
  cl_int error = CL_SUCCESS;
  const cl::Program program(clCreateProgramWithBinary(context(), 1, &id, &size, &bytes, nullptr, &error));
  return error == CL_SUCCESS ? program : cl::Program();
}

// Microseconds since the last call, or since it was made.
class Stopwatch {
 public:
  double lap() {
    const Clock::time_point start = std::exchange(start_, Clock::now());
    return std::chrono::duration<double, std::micro>(start_ - start).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// "; the program has clbake_gemm;clbake_pack".
std::string kernels_in(const cl::Program& program) {
  cl_int error = CL_SUCCESS;
  const std::string names = cl::text(error, [&](std::size_t size, char* to, std::size_t* size_ret) {
    return clGetProgramInfo(program(), CL_PROGRAM_KERNEL_NAMES, size, to, size_ret);
  });
  return error == CL_SUCCESS ? "; the program has " + std::string(names.c_str()) : std::string();
}

Status check_kernel(const cl::Program& program, const cl::Device& device, const cache::Variant& variant,
                    const cache::Launch& launch, double& kernel_us) {
  cl_int error = CL_SUCCESS;
  Stopwatch watch;
  const cl::Kernel kernel(clCreateKernel(program(), launch.kernel_name.c_str(), &error));
  kernel_us += watch.lap();
  error = error_of(kernel, error);
  const std::string name = variant.is_program() ? ", kernel " + launch.kernel_name : std::string();
  if (error != CL_SUCCESS) {
    const Status status = opencl_status(("clCreateKernel" + name).c_str(), error);
    return error == CL_INVALID_KERNEL_NAME ? status.with_message(status.message() + kernels_in(program)) : status;
  }
  const std::size_t wanted = work_items(launch);
  const std::size_t limit = work_group_limit(kernel, device, launch, error);
  if (error != CL_SUCCESS || wanted <= limit) return {};
  return {Code::invalid_argument, joined({"variant ", variant.name, name, " needs ", wanted,
                                          " work-items in a work-group; the device allows ", limit})};
}

// Some drivers report success for a build that produced nothing: only creating the kernels proves it.
Status check_kernels(const cl::Program& program, const cl::Device& device, const cache::Variant& variant,
                     double& kernel_us) {
  Status status;
  for (const cache::Launch& launch : variant.launches) {
    if (status) status = check_kernel(program, device, variant, launch, kernel_us);
  }
  return status;
}

// Null until enable_encoded_programs().
std::atomic<decltype(&build_text)> text_builder{nullptr};

// Neither compilers nor drivers refuse a variant's assembler that the CPU lacks.
Status check_assembler(const cl::Device& device, const cache::Variant& variant) {
  if (*assembler_feature(variant) == 0) return {};
  const Result<Target> target = identify(device());
  if (!target) return target.status();
  return takes_assembler(assembler_features(*target), variant) ? Status() : lacks_assembler(variant);
}

Status rejected(const cache::Variant& variant, const Status& why) {
  if (why.code() == Code::out_of_memory) return why;  // says nothing of the program
  return {Code::driver_rejected, joined({"program ", variant.name, ": ", why.message()}), why.opencl_code()};
}

}  // namespace

Status check_launchable(const cache::Variant& variant) {
  const std::uint32_t known = variant.is_program() ? cache::kProgramContract : kContract;
  if (variant.contract != known) {
    return {Code::unsupported_version, joined({"variant ", variant.name, " follows kernel contract ", variant.contract,
                                               "; this runtime knows ", known})};
  }
  if (variant.is_program() || roles_fit(variant)) return {};
  return {Code::malformed,
          joined({"variant ", variant.name, " has a sequence of launches that the kernel contract does not allow"})};
}

Result<Program> load_entry(const cl::Context& context, const cl::Device& device, const Bundle& bundle,
                           const cache::EntryInfo& entry) {
  Result<cache::Variant> variant = launchable_variant(bundle, entry.variant);
  if (!variant) return variant.status();
  if (Status lacking = check_assembler(device, *variant); !lacking) return lacking;
  const Result<cache::Bytes> bytes = bundle.program(entry);
  if (!bytes) return bytes.status();

  // Error code, per-device status, build status and kernels are all checked: drivers differ in which one shows a
  // failure.
  const cl_device_id id = device();
  const unsigned char* data = bytes->data();
  const std::size_t size = bytes->size();
  cl_int status = CL_SUCCESS;
  cl_int error = CL_SUCCESS;
  Explanation explanation;
  Stopwatch watch;
  const cl::Program program(clCreateProgramWithBinary(context(), 1, &id, &size, &data, &status, &error));
  explanation.create_us = watch.lap();
  if (error != CL_SUCCESS || status != CL_SUCCESS) {
    return rejected(*variant, opencl_status("clCreateProgramWithBinary", error != CL_SUCCESS ? error : status));
  }
  error = clBuildProgram(program(), 1, &id, nullptr, nullptr, nullptr);
  explanation.build_us = watch.lap();
  if (error != CL_SUCCESS) return rejected(*variant, opencl_status("clBuildProgram", error));
  cl_build_status built = CL_BUILD_NONE;
  error = clGetProgramBuildInfo(program(), id, CL_PROGRAM_BUILD_STATUS, sizeof built, &built, nullptr);
  if (error != CL_SUCCESS) return rejected(*variant, opencl_status("clGetProgramBuildInfo", error));
  if (built != CL_BUILD_SUCCESS) return rejected(*variant, {Code::opencl, "clBuildProgram left no executable"});
  const Status usable = check_kernels(program, device, *variant, explanation.kernel_us);
  if (!usable) return rejected(*variant, usable);
  explanation.origin = entry.form == cache::Form::native ? Origin::native : Origin::portable;
  explanation.variant = variant->name;
  return Program{program, std::move(*variant), std::move(explanation)};
}

namespace {

// An encoded text as a program that is built, or a plain source as one that is not.
Result<cl::Program> create_source(const cl::Context& context, const cl::Device& device, const std::string& text,
                                  const std::string& options, const std::string& more_options) {
  if (is_encoded(text)) {
    const auto build = text_builder.load(std::memory_order_acquire);
    if (!build) return {Code::unsupported_version, "is no plain source, and enable_encoded_programs() was not called"};
    return build(context, device, text, options, more_options);
  }
  cl_int error = CL_SUCCESS;
  const char* data = text.data();
  const std::size_t length = text.size();
  const cl::Program program(clCreateProgramWithSource(context(), 1, &data, &length, &error));
  error = error_of(program, error);
  if (error != CL_SUCCESS) return opencl_status("clCreateProgramWithSource", error);
  return program;
}

// Builds a plain source.
Status build_source(const cl::Context& context, const cl::Device& device, const std::string& text,
                    const std::string& options, cl::Program& program) {
  const cl_device_id id = device();
  cl_int error = clBuildProgram(program(), 1, &id, options.c_str(), nullptr, nullptr);
  if (error == CL_BUILD_PROGRAM_FAILURE && needs_sm_90a(text)) {
    const cl::Program accelerated = for_sm_90a(context, device, program);
    if (accelerated()) {
      program = accelerated;
      error = clBuildProgram(program(), 1, &id, nullptr, nullptr, nullptr);
    }
  }
  return error == CL_SUCCESS ? Status() : build_failure(program, device, "clBuildProgram", error);
}

}  // namespace

void enable_encoded_programs() { text_builder.store(build_text, std::memory_order_release); }

Status build_failure(const cl::Program& program, const cl::Device& device, const char* call, cl_int error) {
  cl_int ignored = CL_SUCCESS;
  const std::string log = cl::text(ignored, [&](std::size_t size, char* to, std::size_t* size_ret) {
    return clGetProgramBuildInfo(program(), device(), CL_PROGRAM_BUILD_LOG, size, to, size_ret);
  });
  return {Code::build_failed, joined({call, ": ", opencl_error(error), ": ", one_line(log)}), error};
}

Result<Program> compile_source(const cl::Context& context, const cl::Device& device, const Bundle& bundle,
                               std::uint32_t index, const std::string& more_options) {
  Result<cache::Variant> variant = launchable_variant(bundle, index);
  if (!variant) return variant.status();
  if (Status lacking = check_assembler(device, *variant); !lacking) return lacking;
  const Result<cache::Source> source = bundle.source(variant->source);
  if (!source) return source.status();

  Explanation explanation;
  Stopwatch watch;
  Result<cl::Program> program = create_source(context, device, source->text, variant->build_options, more_options);
  explanation.create_us = watch.lap();
  Status built = program.status();
  if (program && !is_encoded(source->text)) {
    built = build_source(context, device, source->text, variant->build_options + more_options, *program);
  }
  explanation.build_us = watch.lap();
  if (built.code() == Code::build_failed) return built.within(joined({source->name, " as ", variant->name}));
  if (!built) return built;
  const Status usable = check_kernels(*program, device, *variant, explanation.kernel_us);
  if (!usable) return usable;
  explanation.origin = Origin::source;
  explanation.variant = variant->name;
  return Program{*program, std::move(*variant), std::move(explanation)};
}

}  // namespace clbake
