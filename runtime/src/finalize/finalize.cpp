#include <clbake/exceptions_to_status.hpp>
#include <clbake/finalize.hpp>
#include <clbake/platform.hpp>

#include "finalize/finalize_pocl.hpp"
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

Result<std::vector<cache::Entry>> finalize_here(const Compiled& compiled) {
  const Binaries binaries = platform_of(compiled.target).binaries;
  if (binaries == Binaries::functions) return finalize_pocl(compiled);
  const Status launched = binaries == Binaries::intermediate ? Status() : compiled.launch_every_shape();
  if (!launched) return launched;
  return entry_of_binary(compiled.program);
}

}  // namespace

Result<std::vector<cache::Entry>> finalize(const Compiled& compiled) {
  return exceptions_to_status([&] { return finalize_here(compiled); });
}

Result<cache::Bytes> program_binary(cl_program program) {
  return exceptions_to_status([&] { return query_binary(program); });
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
