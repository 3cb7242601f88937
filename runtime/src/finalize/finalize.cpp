#include <clbake/exceptions_to_status.hpp>
#include <clbake/finalize.hpp>
#include <clbake/platform.hpp>

#include "finalize/poclbin.hpp"
#include "opencl/cl.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace clbake {
namespace {

bool begins_with(const cache::Bytes& bytes, std::string_view prefix) {
  return bytes.size() >= prefix.size() && std::memcmp(bytes.data(), prefix.data(), prefix.size()) == 0;
}

// SPIR-V's magic word in either byte order, at the start or after a driver's short header (Mesa's is 28 bytes).
bool holds_spirv(const cache::Bytes& bytes) {
  constexpr std::uint8_t little[] = {0x03, 0x02, 0x23, 0x07};
  constexpr std::uint8_t big[] = {0x07, 0x23, 0x02, 0x03};
  const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(bytes.size(), 64));
  return std::search(bytes.begin(), end, std::begin(little), std::end(little)) != end ||
         std::search(bytes.begin(), end, std::begin(big), std::end(big)) != end;
}

// The binary for the only device that the program was built for: the driver lists all devices of the context.
Result<cache::Bytes> query_binary(cl_program program) {
  cl_uint devices = 0;
  cl_int error = clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof devices, &devices, nullptr);
  if (error != CL_SUCCESS) return opencl_status("clGetProgramInfo(CL_PROGRAM_NUM_DEVICES)", error);
  std::vector<std::size_t> sizes(devices);
  error = clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, devices * sizeof sizes[0], sizes.data(), nullptr);
  const auto built = std::find_if(sizes.begin(), sizes.end(), [](std::size_t size) { return size > 0; });
  if (error != CL_SUCCESS || built == sizes.end()) {
    return {Code::driver_rejected, "the driver gives no binary of the program"};
  }
  cache::Bytes bytes(*built);
  std::vector<unsigned char*> pointers(devices);  // null: not wanted
  pointers[static_cast<std::size_t>(built - sizes.begin())] = bytes.data();
  error = clGetProgramInfo(program, CL_PROGRAM_BINARIES, devices * sizeof pointers[0], pointers.data(), nullptr);
  if (error != CL_SUCCESS) return opencl_status("clGetProgramInfo(CL_PROGRAM_BINARIES)", error);
  return bytes;
}

// The versions whose containers slim_poclbin is known to slim.
bool known_version(const Target& target) {
  constexpr const char* known[] = {"PoCL 3.1", "PoCL 6.0", "PoCL 7.1"};
  return std::any_of(std::begin(known), std::end(known),
                     [&](const char* version) { return target.platform_version.find(version) != std::string::npos; });
}

bool one_item_groups(const cache::Variant& variant) {
  return std::all_of(variant.launches.begin(), variant.launches.end(), [](const cache::Launch& launch) {
    return launch.local[0] * launch.local[1] * launch.local[2] == 1;
  });
}

// With POCL_KERNEL_CACHE=0 PoCL compiles in a directory of this name, from which not every function gets into the
// binary.
bool made_without_cache(const cache::Bytes& program) {
  constexpr std::string_view name = "_UNCACHED_";
  const auto end = program.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(program.size(), 128));
  return std::search(program.begin(), end, name.begin(), name.end()) != end;
}

// "gemm 1-1-1-goffs0" for each function, for a person.
std::vector<std::string> functions_in(const cache::Bytes& program) {
  std::vector<std::string> names;
  const Result<PoclBinary> parsed = parse_poclbin({program.data(), program.size()});
  if (!parsed) return names;
  for (const PoclKernel& kernel : parsed->kernels) {
    for (const PoclFunction& function : kernel.functions) names.push_back(kernel.name + " " + function.shape);
  }
  return names;
}

// PoCL compiles a work-group function for each launch shape (local size, grid of 65,535 work-items or more, offset) at
// the first launch of that shape. The binary that it returns holds the functions that exist when it is first asked for;
// later queries return the same binary. So every shape is launched once before the binary is asked for, unless no
// specialised function would be kept.
//
// PoCL also packs the functions that its cache directory has for the same program, those of earlier processes too. The
// builder's worker therefore starts with an empty directory; an overlay's entry may contain functions it does not need.
//
// Besides specialised functions the binary always contains one that serves every launch. For work-groups of one item a
// specialised function is no faster than that one, so nothing is launched for them. The binary also contains bitcode,
// which makes a load take three times as long: slim_poclbin removes it, and the specialised functions that are not
// needed, from containers whose layout it knows.
Result<std::vector<cache::Entry>> finalize_pocl(const Compiled& compiled) {
  if (!known_version(compiled.target) || !one_item_groups(compiled.variant)) {
    const Status launched = compiled.launch_every_shape();
    if (!launched) return launched;
  }
  Result<std::vector<cache::Entry>> entries = entry_of_binary(compiled.program);
  if (!entries) return entries;
  cache::Entry& entry = entries->front();
  if (made_without_cache(entry.program)) {
    return Status(Code::driver_rejected,
                  "PoCL's kernel cache is off (POCL_KERNEL_CACHE=0): its binary would be compiled again at each load");
  }
  Result<cache::Bytes> slim = slim_poclbin({entry.program.data(), entry.program.size()},
                                           compiled.variant.is_program() ? &compiled.variant : nullptr);
  if (slim) entry.program = std::move(*slim);
  if (!slim) entry.proof.note = "the driver's container as it is: " + slim.status().message();
  entry.proof.specialisations = functions_in(entry.program);
  return entries;
}

// As much of the build's log as an entry keeps; empty where the driver tells none.
std::string build_log(cl_program program) {
  constexpr std::size_t kMostBytes = 16384;
  cl_device_id device = nullptr;
  if (clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof device, &device, nullptr) != CL_SUCCESS) return {};
  cl_int error = CL_SUCCESS;
  std::string log = cl::text(error, [&](std::size_t size, char* to, std::size_t* size_ret) {
    return clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, to, size_ret);
  });
  log.resize(std::min(log.size(), kMostBytes));
  return error == CL_SUCCESS ? log : std::string();
}

Result<std::vector<cache::Entry>> finalize_here(const Compiled& compiled) {
  const Binaries binaries = platform_of(compiled.target).binaries;
  if (binaries == Binaries::functions) return finalize_pocl(compiled);
  const Status launched = binaries == Binaries::intermediate ? Status() : compiled.launch_every_shape();
  if (!launched) return launched;
  return entry_of_binary(compiled.program);
}

}  // namespace

Result<std::vector<cache::Entry>> finalize(const Compiled& compiled) {
  return exceptions_to_status([&] {
    Result<std::vector<cache::Entry>> entries = finalize_here(compiled);
    if (!entries) return entries;
    const std::string log = build_log(compiled.program);
    for (cache::Entry& entry : *entries) entry.proof.log = log;
    return entries;
  });
}

Result<cache::Bytes> program_binary(cl_program program) {
  return exceptions_to_status([&] { return query_binary(program); });
}

Result<std::set<std::string>> kernels_with_local_memory(cl_program program) {
  return exceptions_to_status([&]() -> Result<std::set<std::string>> {
    const Result<cache::Bytes> binary = query_binary(program);
    if (!binary) return binary.status();
    const Result<PoclBinary> parsed = parse_poclbin({binary->data(), binary->size()});
    if (!parsed) return parsed.status();
    std::set<std::string> names;
    for (const PoclKernel& kernel : parsed->kernels) {
      if (kernel.has_local_memory) names.insert(kernel.name);
    }
    return names;
  });
}

Result<std::vector<cache::Entry>> entry_of_binary(cl_program program) {
  return exceptions_to_status([&]() -> Result<std::vector<cache::Entry>> {
    Result<cache::Bytes> binary = query_binary(program);
    if (!binary) return binary.status();
    cache::Entry entry;
    entry.form = form_of(*binary);
    entry.program = std::move(*binary);
    std::vector<cache::Entry> entries;
    entries.push_back(std::move(entry));
    return entries;
  });
}

cache::Form form_of(const cache::Bytes& program) {
  // NVIDIA's PTX is text: a comment block, then directives.
  const bool ptx = begins_with(program, "//") || begins_with(program, "\n//") || begins_with(program, ".version");
  const bool llvm_bitcode = begins_with(program, "BC\xC0\xDE");
  return ptx || llvm_bitcode || holds_spirv(program) ? cache::Form::portable : cache::Form::native;
}

}  // namespace clbake
