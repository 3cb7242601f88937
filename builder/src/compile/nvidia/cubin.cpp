#include "compile/nvidia/cubin.hpp"

#include <clbake/compute_capability.hpp>

#include "compile/offline/offline_tools.hpp"

#include <cstdlib>
#include <cstring>

namespace clbake::builder::compile {
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

// True when the bytes are a whole 64-bit ELF file for NVIDIA's GPUs: one that was cut off is none.
bool is_cubin(const cache::Bytes& bytes) {
  const std::uint8_t magic[] = {0x7f, 'E', 'L', 'F', 2 /* 64 bits */, 1 /* little-endian */};
  return bytes.size() >= kHeaderBytes && std::memcmp(bytes.data(), magic, sizeof magic) == 0 &&
         number_at(bytes, kMachine, 2) == kCuda && holds_table(bytes, kProgramHeaders, 54) &&
         holds_table(bytes, kSectionHeaders, 58);
}

Result<Cubin> run_ptxas(const std::string& ptx, int capability) {
  const Tool ptxas = ptxas_tool();
  if (ptxas.path.empty()) return {Code::no_device, "there is no ptxas in PATH or /usr/local/cuda/bin"};
  const Result<ToolRoom> room = ToolRoom::create();
  if (!room) return room.status();
  const Status written = room->write("program.ptx", ptx.c_str());  // the driver's ends in a zero
  if (!written) return written;
  const std::string architecture =
      "sm_" + std::to_string(capability) + (is_linked_for_one_architecture(ptx, capability) ? "a" : "");
  const Status ran = room->run(ptxas, {"-arch", architecture, "-o", "program.cubin", "program.ptx"});
  if (!ran) return ran;
  const std::string version = room->version_of(ptxas);
  if (version.empty()) return {Code::build_failed, ptxas.path + ": --version tells no version"};
  const std::string bytes = room->read("program.cubin");
  return Cubin{cache::Bytes(bytes.begin(), bytes.end()), {"ptxas", version}};
}

}  // namespace

std::string cubin_architecture(const cache::Bytes& bytes) {
  if (!is_cubin(bytes)) return {};
  // Two layouts: the ABI of version 7 keeps the compute capability in the lowest byte of the flags, 8 in the next one.
  const std::uint64_t flags = number_at(bytes, kFlags, 4);
  const int abi = bytes[kAbiVersion];
  const std::uint64_t capability = abi == 7 ? flags & 0xff : abi == 8 ? flags >> 8 & 0xff : 0;
  return capability == 0 ? std::string() : "sm_" + std::to_string(capability);
}

Result<Cubin> assemble(const std::string& ptx, const std::string& architecture, Assembler by) {
  const int capability = compute_capability(architecture, true);
  if (capability == 0) {
    return {Code::invalid_argument, "\"" + architecture + "\" is no architecture of NVIDIA's, such as sm_90"};
  }
  Result<Cubin> cubin = by == Assembler::ptxas ? run_ptxas(ptx, capability) : link_with_libcuda(ptx, capability);
  if (!cubin && by == Assembler::best) {
    const Status refused = cubin.status();
    const bool has_device = refused.code() != Code::no_device;
    // Older libraries refuse what only an architecture with a suffix has.
    if (has_device && !is_for_one_architecture(ptx)) return cubin;
    cubin = run_ptxas(ptx, capability);
    if (cubin.status().code() == Code::no_device) {
      return has_device ? refused : Status(Code::no_device, refused.message() + ", and " + cubin.status().message());
    }
  }
  if (!cubin) return cubin;
  const std::string wanted = "sm_" + std::to_string(capability);
  const std::string made = cubin_architecture(cubin->bytes);  // the tool's word for success is not enough
  if (made == wanted) return cubin;
  return {Code::build_failed, name(cubin->tool) + (made.empty() ? " made no cubin" : " made a cubin for " + made) +
                                  " where one for " + wanted + " was asked for"};
}

std::vector<PtxKernel> kernels_of(const std::string& ptx) {
  constexpr std::size_t kMostThreads = 1024;  // of a work-group, on all of NVIDIA's devices
  const std::string entry = ".entry ";
  std::vector<PtxKernel> kernels;
  for (std::size_t at = ptx.find(entry); at != std::string::npos; at = ptx.find(entry, at + 1)) {
    const std::size_t name = at + entry.size();
    const std::size_t body = ptx.find('{', name);
    if (body == std::string::npos) break;
    const std::string directive = ".reqntid ";
    const std::size_t size = ptx.find(directive, name);
    std::size_t threads = size < body ? 1 : 0;
    for (std::size_t number = size + directive.size(); threads > 0;) {
      char* end = nullptr;
      threads *= std::strtoul(ptx.c_str() + number, &end, 10);
      if (threads > kMostThreads) threads = 0;
      if (*end != ',') break;
      number = static_cast<std::size_t>(end - ptx.c_str()) + 1;
    }
    kernels.push_back({ptx.substr(name, ptx.find_first_of("( \n", name) - name), body, static_cast<unsigned>(threads)});
  }
  return kernels;
}

bool is_for_one_architecture(const std::string& ptx) {
  const std::string directive = ".target ";
  const std::size_t at = ptx.find(directive);
  if (at == std::string::npos) return false;
  const std::size_t architecture = at + directive.size();
  const std::size_t end = ptx.find_first_of(", \r\n", architecture);
  return compute_capability(ptx.substr(architecture, end - architecture)) == 0;
}

bool is_linked_for_one_architecture(const std::string& ptx, int capability) {
  return capability == 90 || is_for_one_architecture(ptx);
}

}  // namespace clbake::builder::compile
