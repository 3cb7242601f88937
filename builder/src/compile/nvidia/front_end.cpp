#include "compile/nvidia/front_end.hpp"

#include <clbake/builder/programs.hpp>
#include "compile/nvidia/driver_options.hpp"
#include "compile/nvidia/kernel_arguments.hpp"
#include "compile/nvidia/ptx_edit.hpp"
#include "process/need.hpp"

namespace clbake::builder::compile {

namespace embedded {
extern const char* const files[][2];  // of builtins/, by name
}

namespace {

constexpr const char* kPreludeFile = "prelude.cl";
constexpr const char* kBuiltinsFile = "builtins.cl";
constexpr const char* kBitcodeFile = "builtins.bc";
constexpr const char* kLlvmFile = "kernel.ll";
constexpr const char* kPtxFile = "kernel.ptx";

using Words = std::vector<std::string>;

// Options of clang's inner compiler, each behind "-Xclang".
void add_inner(Words& words, const Words& options) {
  for (const std::string& option : options) {
    words.emplace_back("-Xclang");
    words.push_back(option);
  }
}

// The driver's language, which has more than OpenCL 1.2; sub-groups it lacks.
Words language(const DriverOptions& options, const std::string& cpu, bool sub_groups) {
  std::string extensions =
      "-cl-ext=+cl_khr_fp64,+cl_khr_fp16,+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics,"
      "+cl_khr_3d_image_writes";
  for (const char* feature :
       {"3d_image_writes", "atomic_order_acq_rel", "atomic_order_seq_cst", "fp64", "generic_address_space", "images",
        "int64", "program_scope_global_variables", "read_write_images"}) {
    extensions += std::string(",+__opencl_c_") + feature;
  }
  // -cl-no-stdinc: with the declarations that clang makes up itself, a function of the program hides all of its name.
  Words words = {kNvidiaTriple, "-xcl", "-cl-no-stdinc", "-w", "-O3"};
  add_inner(words, {"-finclude-default-header", "-target-cpu", cpu, "-disable-llvm-passes"});
  if (options.flush) add_inner(words, {"-fdenormal-fp-math-f32=preserve-sign,preserve-sign"});
  for (const char* feature : {"atomic_scope_all_devices", "atomic_scope_device", "work_group_collective_functions"}) {
    words.push_back(std::string("-D__opencl_c_") + feature + "=1");
  }
  if (sub_groups) {
    extensions += ",+cl_khr_subgroups,+__opencl_c_subgroups";
    for (const char* extension : {"ballot", "shuffle", "shuffle_relative"}) {
      words.push_back(std::string("-Dcl_khr_subgroup_") + extension + "=1");
    }
  }
  add_inner(words, {extensions});
  return words;
}

std::string builtins_text() {
  std::string text;
  for (const auto* file = embedded::files; (*file)[0]; ++file) {
    if (std::string((*file)[0]) != kPreludeFile) text += std::string("#line 1 \"") + (*file)[0] + "\"\n" + (*file)[1];
  }
  return text;
}

std::string prelude_text() {
  for (const auto* file = embedded::files; (*file)[0]; ++file) {
    if (std::string((*file)[0]) == kPreludeFile) return (*file)[1];
  }
  return {};
}

void compile_builtins(const ToolRoom& room, const Tool& clang, const DriverOptions& options, const std::string& cpu) {
  Words words = language(options, cpu, true);
  for (const char* more : {"-cl-std=CL3.0", "-ffp-contract=off", "-emit-llvm", "-c", "-o", kBitcodeFile}) {
    words.emplace_back(more);
  }
  if (options.flush) words.emplace_back("-DCLBAKE_FLUSH");
  if (options.exact) words.emplace_back("-DCLBAKE_EXACT");
  if (options.relaxed) words.emplace_back("-D__FAST_RELAXED_MATH__=1");
  words.emplace_back(kBuiltinsFile);
  need(room.write(kBuiltinsFile, builtins_text()));
  need(room.run(clang, words));
}

// A text of a program, or of one part of a linked program: its source is in part_N.cl.
struct Part {
  std::size_t number = 0;
  DriverOptions options;
  bool mentions_sub_groups = false;

  std::string file(const std::string& suffix) const { return "part_" + std::to_string(number) + suffix; }
};

Words front_end_words(const Part& part, const std::string& cpu, bool sub_groups) {
  Words words = language(part.options, cpu, sub_groups);
  for (const std::string& option : clang_options(part.options)) words.push_back(option);
  for (const std::string& option : options_for_halves()) words.push_back(option);
  for (const char* more : {"-include", kPreludeFile, "-ffp-contract=fast", "-emit-llvm"}) words.emplace_back(more);
  words.push_back("-I" + part.file(""));  // where its headers are
  return words;
}

// A program that uses sub-groups gets them, but one that defines functions of their names itself, as the driver lacks
// them, keeps its own.
Status compile_part(const ToolRoom& room, const Tool& clang, const Part& part, const std::string& cpu,
                    const Words& more) {
  const auto compile = [&](bool sub_groups) {
    Words words = front_end_words(part, cpu, sub_groups);
    words.insert(words.end(), more.begin(), more.end());
    words.push_back(part.file(".cl"));
    return room.run(clang, words);
  };
  const Status status = compile(part.mentions_sub_groups);
  return !status && part.mentions_sub_groups && compile(false) ? Status() : status;
}

// The last part is compiled with all others and with the functions that they need.
void compile_to_llvm(const ToolRoom& room, const Tool& clang, const Tool& libclc, const std::vector<Part>& parts,
                     const std::string& cpu) {
  Words linked;
  for (const Part& part : parts) {
    if (&part == &parts.back()) break;
    need(compile_part(room, clang, part, cpu, {"-c", "-o", part.file(".bc")}), "part " + std::to_string(part.number));
    add_inner(linked, {"-mlink-bitcode-file", part.file(".bc")});
  }
  add_inner(linked, {"-mlink-builtin-bitcode", kBitcodeFile, "-mlink-builtin-bitcode", libclc.path});
  linked.insert(linked.end(), {"-S", "-o", kLlvmFile});
  need(compile_part(room, clang, parts.back(), cpu, linked));
}

Part write_part(const ToolRoom& room, const ProgramText& text, std::size_t number) {
  if (!text.il.empty()) throw Failure({Code::build_failed, "SPIR-V cannot be compiled offline for NVIDIA's devices"});
  const std::string source = program::joined_sources(text);
  Part part{number, need(driver_options(text.options)), source.find("sub_group") != std::string::npos};
  need(room.write(part.file(".cl"), source));
  for (const ProgramText::Header& header : text.headers) {
    need(room.write(part.file("") + "/" + header.name, header.text));
  }
  return part;
}

// The texts of a program, each with its options; those of a linked program's link hold for all.
std::vector<Part> write_parts(const ToolRoom& room, const std::string& source, const std::string& options) {
  const ProgramText text = need(decode_program_text(source));
  std::vector<ProgramText> texts = text.parts;
  if (texts.empty()) texts.push_back(text);
  std::vector<Part> parts;
  for (ProgramText& each : texts) {
    each.options += " " + options;
    parts.push_back(write_part(room, each, parts.size()));
  }
  return parts;
}

// 0: the device's fast approximation; 1: an approximation to 2 units in the last place, the driver's default; 2: exact.
Status compile_to_ptx(const ToolRoom& room, const Tool& clang, const DriverOptions& options, const std::string& cpu) {
  const std::string precision = options.exact ? "2" : options.fast ? "0" : "1";
  Words words = {kNvidiaTriple, "-O3",  "-S",      "-w",     "-o",
                 kPtxFile,      "-xir", kLlvmFile, "-mllvm", "-nvptx-prec-divf32=" + precision};
  add_inner(words, {"-target-cpu", cpu});
  return room.run(clang, words);
}

}  // namespace

std::string program_ptx(const Tool& clang, const Tool& libclc, const cache::Source& source,
                        const cache::Variant& variant, const std::string& cpu) {
  const ToolRoom room = need(ToolRoom::create());
  const std::vector<Part> parts = write_parts(room, source.text, variant.build_options);
  const DriverOptions& options = parts.back().options;
  need(room.write(kPreludeFile, prelude_text()));
  compile_builtins(room, clang, options, cpu);
  compile_to_llvm(room, clang, libclc, parts, cpu);
  std::string llvm = room.read(kLlvmFile);
  const std::vector<KernelArguments> kernels = kernel_arguments(llvm);
  allow_inlining(llvm, takes_images(kernels));  // a function that takes an image has to be a part of its kernel
  need(room.write(kLlvmFile, llvm));
  need(compile_to_ptx(room, clang, options, cpu));
  std::string ptx = room.read(kPtxFile);
  mend_rotations(ptx);
  need(bind_images(ptx, kernels));
  need(add_launch_bounds(ptx, kernels, variant.launches, options.registers));
  return ptx;
}

}  // namespace clbake::builder::compile
