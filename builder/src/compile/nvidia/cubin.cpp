#include "compile/nvidia/cubin.hpp"

#include <clbake/compute_capability.hpp>

#include "compile/nvidia/ptx_kernels.hpp"
#include "compile/offline/offline_tools.hpp"

#include <cstring>

namespace clbake::builder {
namespace {

// A 64-bit little-endian ELF header, as LLVM's llvm/BinaryFormat/ELF.h and NVIDIA's tools have it.
constexpr std::size_t kHeaderBytes = 64;
constexpr std::size_t kAbiVersion = 8;       // EI_ABIVERSION
constexpr std::size_t kMachine = 18;         // e_machine, 2 bytes
constexpr std::size_t kProgramHeaders = 32;  // e_phoff, 8 bytes; e_phentsize and e_phnum, 2 each, at 54
constexpr std::size_t kSectionHeaders = 40;  // e_shoff, 8 bytes; e_shentsize and e_shnum, 2 each, at 58
constexpr std::size_t kFlags = 48;           // e_flags, 4 bytes
constexpr std::uint64_t kCuda = 190;         // EM_CUDA

std::uint64_t number_at(const cache::Bytes& bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i > 0; --i) value = value << 8 | bytes[at + i - 1];
  return value;
}

// True when a table of headers lies inside the file; cubins end with theirs.
bool holds_table(const cache::Bytes& bytes, std::size_t offset_at, std::size_t sizes_at) {
  const std::uint64_t offset = number_at(bytes, offset_at, 8);
  const std::uint64_t size = number_at(bytes, sizes_at, 2) * number_at(bytes, sizes_at + 2, 2);
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

Status unknown_architecture(const std::string& architecture) {
  return {Code::invalid_argument, "\"" + architecture + "\" is no architecture of NVIDIA's, such as sm_90"};
}

// The tool's word for success is not enough.
Result<Cubin> checked(Result<Cubin> cubin, int capability) {
  if (!cubin) return cubin;
  const std::string wanted = "sm_" + std::to_string(capability);
  const std::string made = cubin_architecture(cubin->bytes);
  if (made == wanted) return cubin;
  return {Code::build_failed, name(cubin->tool) + (made.empty() ? " made no cubin" : " made a cubin for " + made) +
                                  " where one for " + wanted + " was asked for"};
}

Result<Cubin> run_ptxas(const Tool& ptxas, const std::string& ptx, int capability, std::chrono::seconds timeout) {
  constexpr const char* input = "program.ptx";
  constexpr const char* output = "program.cubin";
  const Result<ScratchDirectory> scratch = ScratchDirectory::create();
  if (!scratch) return scratch.status();
  const Status written = write_text(scratch->path() + "/" + input, ptx.c_str());  // the driver's ends in a zero
  if (!written) return written;
  const std::string architecture =
      "sm_" + std::to_string(capability) + (is_linked_for_one_architecture(ptx, capability) ? "a" : "");
  const Result<std::string> ran = run_tool(ptxas, {"-arch", architecture, "-o", output, input}, *scratch, timeout);
  if (!ran) return ran.status();
  const std::string version = ptxas_version(ptxas, *scratch, timeout);
  if (version.empty()) return {Code::build_failed, ptxas.path + ": --version tells no version"};
  const std::string bytes = file_text(scratch->path() + "/" + output);
  return Cubin{cache::Bytes(bytes.begin(), bytes.end()), {"ptxas", version}};
}

}  // namespace

bool is_cubin(const cache::Bytes& bytes) {
  const std::uint8_t magic[] = {0x7f, 'E', 'L', 'F', 2 /* 64 bits */, 1 /* little-endian */};
  return bytes.size() >= kHeaderBytes && std::memcmp(bytes.data(), magic, sizeof magic) == 0 &&
         number_at(bytes, kMachine, 2) == kCuda && holds_table(bytes, kProgramHeaders, 54) &&
         holds_table(bytes, kSectionHeaders, 58);
}

std::string cubin_architecture(const cache::Bytes& bytes) {
  if (!is_cubin(bytes)) return {};
  // Two layouts: the ABI of version 7 keeps the compute capability in the lowest byte of the flags, 8 in the next one.
  const std::uint64_t flags = number_at(bytes, kFlags, 4);
  const int abi = bytes[kAbiVersion];
  const std::uint64_t capability = abi == 7 ? flags & 0xff : abi == 8 ? flags >> 8 & 0xff : 0;
  return capability == 0 ? std::string() : "sm_" + std::to_string(capability);
}

Result<Cubin> assemble_with_libcuda(const std::string& ptx, const std::string& architecture) {
  const int capability = compute_capability(architecture, true);
  if (capability == 0) return unknown_architecture(architecture);
  return checked(link_with_libcuda(ptx, capability), capability);
}

Result<Cubin> assemble_with_ptxas(const std::string& ptxas, const std::string& ptx, const std::string& architecture,
                                  std::chrono::seconds timeout) {
  const int capability = compute_capability(architecture, true);
  if (capability == 0) return unknown_architecture(architecture);
  return checked(run_ptxas({"ptxas", ptxas, {}, {}}, ptx, capability, timeout), capability);
}

Result<Cubin> assemble(const std::string& ptx, const std::string& architecture) {
  Result<Cubin> cubin = assemble_with_libcuda(ptx, architecture);
  const bool has_device = cubin.status().code() != Code::no_device;
  // Older libraries refuse what only an architecture with a suffix has.
  if (cubin || (has_device && !is_for_one_architecture(ptx))) return cubin;
  const std::string ptxas = ptxas_tool().path;
  if (!ptxas.empty()) return assemble_with_ptxas(ptxas, ptx, architecture);
  if (has_device) return cubin;
  return {Code::no_device, cubin.status().message() + ", and there is no ptxas in PATH or /usr/local/cuda/bin"};
}

}  // namespace clbake::builder
