// Machine code for GPUs that are not here, from their vendors' compilers alone.
//
// NVIDIA: clang and libclc make PTX, ptxas assembles it. NVIDIA's own OpenCL compiler is part of the driver, so clang
// takes its place, and what clang does worse is mended here: it drops reqd_work_group_size, so `.reqntid` is written
// into the PTX; libclc rounds vstore_half_rte in software, which made kernels in half precision five times as slow; a
// clang that is older than sm_90 compiles for the newest architecture it knows. An application's program needs more:
// compile/nvidia/front_end.hpp.
//
// Intel: ocloc makes the driver's own binary. SPIR-V is left out: with it, a driver that rejects the machine code would
// compile at load without a word.
#include "compile/offline/offline_compile.hpp"

#include <clbake/builder/compile.hpp>
#include <clbake/builder/platforms.hpp>
#include <clbake/builder/programs.hpp>
#include <clbake/compute_capability.hpp>
#include <clbake/program_text.hpp>
#include "compile/nvidia/cubin.hpp"
#include "compile/nvidia/front_end.hpp"
#include "compile/nvidia/ptx_edit.hpp"
#include "compile/offline/offline_tools.hpp"
#include "process/need.hpp"
#include "program/trial.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

namespace clbake::builder::compile {
namespace {

constexpr const char* kSource = "kernel.cl";
constexpr const char* kPtx = "kernel.ptx";
constexpr const char* kOutput = "kernel";
// For sm_90: kernels/warp_tile.cl.
constexpr const char* kMatrixInstructions[] = {"mma.sync.aligned.m16n8k4.row.col.f64",
                                               "mma.sync.aligned.m16n8k8.row.col.f64"};
constexpr const char* kTransposition = "movmatrix.sync.aligned";  // of PTX 7.8, kernels/thin_tile.cl
constexpr const char* kHintedLoad = ".L1::no_allocate.L2::256B";  // of PTX 7.4, kernels/weights/weight_mma.cl
constexpr const char* kWarpgroupInstruction = "wgmma.mma_async";  // of sm_90a, kernels/warpgroup_tile.cl
constexpr const char* kTensorMap = "tensormap.replace";           // of PTX 8.3, kernels/tensor_copies.cl

cache::Bytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

// The newest architecture in `known`, a list of words, that is not newer than the wanted one: PTX for an older
// architecture runs on all newer ones.
std::string nearest(const std::string& known, const std::string& wanted) {
  std::istringstream words(known);
  std::string best;
  for (std::string word; words >> word;) {
    if (compute_capability(word) <= compute_capability(wanted) && compute_capability(word) > compute_capability(best))
      best = word;
  }
  if (!best.empty()) return best;
  throw Failure({Code::build_failed, "clang knows no architecture up to " + wanted});
}

// clang drops reqd_work_group_size, which bounds the registers that ptxas may use and which the driver reports.
void add_work_group_sizes(std::string& ptx, const std::vector<cache::Launch>& launches) {
  for (const cache::Launch& launch : launches) {
    const std::vector<PtxKernel> kernels = kernels_of(ptx);
    const auto kernel = std::find_if(kernels.begin(), kernels.end(),
                                     [&](const PtxKernel& found) { return found.name == launch.kernel_name; });
    if (kernel == kernels.end()) throw Failure({Code::build_failed, "clang left out the kernel " + launch.kernel_name});
    if (kernel->threads > 0) continue;
    std::ostringstream directive;
    directive << ".reqntid " << launch.local[0] << ", " << launch.local[1] << ", " << launch.local[2] << "\n";
    ptx.insert(kernel->body, directive.str());
  }
}

// Replaces what follows `directive` in its line.
void set_directive(std::string& ptx, const std::string& directive, const std::string& value) {
  const std::size_t at = ptx.find(directive);
  if (at == std::string::npos) return;
  ptx.replace(at, ptx.find('\n', at) - at, directive + value);
}

// Writes the version in the place of an earlier one.
void raise_version(std::string& ptx, int major, int minor) {
  const std::string directive = ".version ";
  const std::size_t at = ptx.find(directive);
  if (at == std::string::npos) return;
  std::istringstream text(ptx.substr(at + directive.size(), 16));
  int old_major = 0, old_minor = 0;
  char dot = 0;
  text >> old_major >> dot >> old_minor;
  if (std::pair(old_major, old_minor) >= std::pair(major, minor)) return;
  set_directive(ptx, directive, std::to_string(major) + "." + std::to_string(minor));
}

// clang passes inline PTX on to the assembler unread, so a clang that does not know sm_90 can compile a kernel that
// uses one of its instructions; only the directives have to name sm_90, or sm_90a, and a version of PTX that has them.
void raise_architecture(std::string& ptx, int known) {
  const auto has = [&](const char* instruction) { return ptx.find(instruction) != std::string::npos; };
  if (has(kWarpgroupInstruction)) {
    raise_version(ptx, 8, has(kTensorMap) ? 3 : 0);
    set_directive(ptx, ".target ", "sm_90a");
  }
  if (has(kTransposition)) raise_version(ptx, 7, 8);
  if (has(kHintedLoad)) raise_version(ptx, 7, 4);
  for (const char* instruction : kMatrixInstructions) {
    if (!has(instruction)) continue;
    raise_version(ptx, 7, 8);
    if (known < 90) set_directive(ptx, ".target ", "sm_90");
  }
}

// PTX of a variant of GEMM: its kernels need nothing but libclc.
std::string gemm_ptx(const Tool& clang, const Tool& libclc, const cache::Source& source, const cache::Variant& variant,
                     const std::string& cpu) {
  const ToolRoom room = need(ToolRoom::create());
  std::istringstream options(variant.build_options);
  std::vector<std::string> arguments{std::istream_iterator<std::string>(options), {}};
  const auto is_nvidias = [](const std::string& option) { return option.rfind("-cl-nv-", 0) == 0; };
  arguments.erase(std::remove_if(arguments.begin(), arguments.end(), is_nvidias), arguments.end());
  for (const std::string& option : options_for_halves()) arguments.push_back(option);
  const std::string rest[] = {kNvidiaTriple,
                              "-xcl",
                              "-O3",
                              "-S",
                              "-w",
                              "-o",
                              kPtx,
                              "-Xclang",
                              "-finclude-default-header",
                              "-Xclang",
                              "-mlink-builtin-bitcode",
                              "-Xclang",
                              libclc.path,
                              "-Xclang",
                              "-target-cpu",
                              "-Xclang",
                              cpu,
                              kSource};
  arguments.insert(arguments.end(), std::begin(rest), std::end(rest));
  need(room.write(kSource, source.text));
  need(room.run(clang, arguments));
  std::string ptx = room.read(kPtx);
  bound_registers(ptx, variant.build_options);
  add_work_group_sizes(ptx, variant.launches);
  return ptx;
}

cache::Entry entry_of(cache::Form form, cache::Bytes program, std::vector<cache::Tool> tools) {
  cache::Entry entry;
  entry.form = form;
  entry.proof.tools = std::move(tools);
  entry.program = std::move(program);
  return entry;
}

// The part of a note that names the kernels which an application's program does not list; empty when it lists all.
std::string unlisted_text(const std::string& ptx, const cache::Variant& variant) {
  if (!variant.is_program()) return {};
  const std::set<std::string> listed = launched_kernels(variant);
  std::vector<std::string> unlisted;
  for (const PtxKernel& kernel : kernels_of(ptx)) {
    if (listed.count(kernel.name) == 0) unlisted.push_back(kernel.name);
  }
  return unlisted.empty() ? std::string() : program::kUnlisted + program::kernels_text(unlisted);
}

std::vector<cache::Entry> compile_nvidia(const Job& job) {
  need(required({ptxas_tool()}));
  Ptx ptx = need(clang_ptx(job.source, job.variant, job.target.architecture));
  Cubin cubin = need(assemble(ptx.text, job.target.architecture, Assembler::ptxas));
  std::vector<cache::Tool> tools = ptx.tools;
  tools.push_back(cubin.tool);
  std::vector<cache::Entry> entries = {entry_of(cache::Form::native, std::move(cubin.bytes), std::move(tools))};
  if (!is_for_one_architecture(ptx.text)) {
    entries.push_back(entry_of(cache::Form::portable, bytes_of(ptx.text), std::move(ptx.tools)));
  }
  entries.front().newer_driver = true;  // the target names the oldest driver
  for (cache::Entry& entry : entries) entry.proof.note = unlisted_text(ptx.text, job.variant);
  return entries;
}

// ocloc compiles one text.
std::string one_source(const std::string& source) {
  const ProgramText text = need(decode_program_text(source));
  if (!text.il.empty() || !text.parts.empty() || !text.headers.empty()) {
    throw Failure(
        {Code::build_failed, "SPIR-V, linked programs and headers cannot be compiled offline for Intel's devices"});
  }
  return program::joined_sources(text);
}

// Without SPIR-V: from a binary that carries it as well, the driver rebuilds silently when it rejects the machine code.
std::vector<cache::Entry> compile_intel(const Job& job) {
  const Tool ocloc = ocloc_tool();
  need(required({ocloc}));
  const ToolRoom room = need(ToolRoom::create());
  need(room.write(kSource, one_source(job.source.text)));
  need(room.run(ocloc, {"compile", "-file", kSource, "-device", job.target.architecture, "-64", "-options",
                        job.variant.build_options, "-output", kOutput, "-output_no_suffix", "-exclude_ir"}));
  std::string binary = room.read(kOutput);  // ocloc 22.43; newer ones append ".bin"
  if (binary.empty()) binary = room.read(std::string(kOutput) + ".bin");
  if (binary.rfind("\x7f"
                   "ELF",
                   0) != 0) {
    throw Failure({Code::build_failed, "ocloc reported success but left no machine code"});
  }
  return {entry_of(cache::Form::native, bytes_of(binary), {{ocloc.name, room.version_of(ocloc)}})};
}

}  // namespace

bool is_clangs(const cache::Variant& variant) {
  const std::variant<kernels::Params, std::string> params = kernels::parse(variant.name);
  const auto* read = std::get_if<kernels::Params>(&params);
  return read && read->front_end == kernels::FrontEnd::clang;
}

Result<Ptx> clang_ptx(const cache::Source& source, const cache::Variant& variant, const std::string& architecture) try {
  if (variant.image_a || variant.image_b) {
    return {Code::invalid_argument, "clang cannot compile images for NVIDIA's devices"};
  }
  const Tool clang = clang_tool();
  const Tool libclc = libclc_tool(clang);
  need(required({clang, libclc}));
  const ToolRoom room = need(ToolRoom::create());
  const std::string cpu = nearest(room.ask(clang, {kNvidiaTriple, "--print-supported-cpus"}), architecture);
  std::string ptx = variant.is_program() ? program_ptx(clang, libclc, source, variant, cpu)
                                         : gemm_ptx(clang, libclc, source, variant, cpu);
  need(complete(ptx));
  raise_architecture(ptx, compute_capability(cpu));
  return Ptx{std::move(ptx), {{clang.name, room.version_of(clang)}, {libclc.name, {}}}};
} catch (const Failure& failure) {
  return failure.status;
}

Result<std::vector<cache::Entry>> compile_offline(const Job& job) try {
  const PlatformId platform = platform_of(job.target).id;
  if (platform == PlatformId::nvidia) return compile_nvidia(job);
  if (platform == PlatformId::intel_gpu) return compile_intel(job);
  return {Code::invalid_argument, "no offline compiler is known for " + job.target.platform_name};
} catch (const Failure& failure) {
  return failure.status;
}

Status compile_offline_job(const std::string& path, const std::string& output) try {
  Job job = need(read_job(path));
  job.entries = need(compile_offline(job));
  sign(job.entries);
  for (cache::Entry& entry : job.entries) {
    std::string& note = entry.proof.note;
    note.insert(0, note.empty() ? "" : "; ");
    note.insert(0, "not proven: compiled for " + job.target.architecture + ", which was not here");
  }
  return write_job(output, job);
} catch (const Failure& failure) {
  return failure.status;
}

}  // namespace clbake::builder::compile
