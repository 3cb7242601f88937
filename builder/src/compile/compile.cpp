#include <clbake/builder/compile.hpp>
#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/platforms.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/builder/programs.hpp>
#include <clbake/finalize.hpp>
#include <clbake/os/environment.hpp>
#include <clbake/platform.hpp>
#include <clbake/program_text.hpp>
#include "compile/nvidia/cubin.hpp"
#include "compile/nvidia/ptx_edit.hpp"
#include "compile/offline/offline_compile.hpp"
#include "process/need.hpp"
#include "program/trial_run.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

namespace clbake::builder::compile {
using namespace program;
namespace {

// NVIDIA's driver answers with PTX, which it assembles at every load: 25 to 300 ms on an H200, with driver 580.159.04.
// It takes machine code (a cubin) as well, which loads in 0.05 ms. The PTX goes along: later architectures skip the
// front end with it, and so does this one when a driver refuses the machine code. A load costs about 9 us for each
// kernel in a program, so a program holds the kernels of one variant and no other. Nothing has to be launched: machine
// code is the same for every launch shape. Variants whose front end is clang's get its PTX in place of the driver's.
void add_machine_code(const Compiled& compiled, const cache::Source& source, std::vector<cache::Entry>& entries) {
  cache::Entry& portable = entries.front();
  const std::string& architecture = compiled.target.architecture;
  if (is_clangs(compiled.variant)) {
    const Ptx ptx = need(clang_ptx(source, compiled.variant, architecture));
    portable.program.assign(ptx.text.begin(), ptx.text.end());
    portable.proof.tools = ptx.tools;
  }
  std::string ptx(portable.program.begin(), portable.program.end());
  if (bound_registers(ptx, compiled.variant.build_options)) portable.program.assign(ptx.begin(), ptx.end());
  Result<Cubin> cubin = assemble(ptx, architecture);
  if (is_for_one_architecture(ptx)) need(cubin.status());
  if (!cubin) {  // the portable form alone is better than nothing, and the proof says what it costs
    portable.proof.note = "no machine code: " + cubin.status().message();
    return;
  }
  cache::Entry native;
  native.program = std::move(cubin->bytes);
  native.newer_driver = true;
  native.proof.tools = portable.proof.tools;
  native.proof.tools.push_back(cubin->tool);
  if (is_for_one_architecture(ptx)) entries.clear();
  entries.insert(entries.begin(), std::move(native));
}

constexpr const char* kSpecialiseAtLaunch = "POCL_WORK_GROUP_SPECIALIZATION";

using Restart = std::vector<std::string>;  // the arguments with which the worker starts anew

// The sizes of types of the program, as a kernel of a further build from source measures them. Empty when that does not
// build: a type may be known inside of a kernel only.
TypeSizes measure(const std::set<std::string>& types, const Job& job, const Place& place) {
  constexpr const char* kKernel = "clbake_type_sizes";
  Job more = job;
  std::string& text = more.source.text;
  text += std::string("\nkernel void ") + kKernel + "(global ulong* clbake_sizes) {\n";
  std::size_t count = 0;
  for (const std::string& type : types) {
    text += "clbake_sizes[" + std::to_string(count++) + "] = sizeof(" + type + ");\n";
  }
  text += "}\n";
  more.variant.launches = {{cache::Role::kernel, kKernel, {1, 1, 1}, 1, 1}};
  TypeSizes sizes;
  const Result<LoadedProgram> program = build_from_source(more, place.device, place.session);
  if (!program) return sizes;
  TrialArgument argument;
  argument.element = element_type("ulong");
  argument.count = count;
  argument.values = {0};
  const TriedKernel kernel{kKernel, {{1, 1, 1}}, {{{1, 1, 1}, {}, {{1, 1, 1}}, {argument}}}};
  const TrialCase tried{kernel, kernel.trials[0], {1, 1, 1}};
  Result<TrialRun> run = TrialRun::create(place.session, place.device, program->get(), tried);
  if (!run || !run->run()) return sizes;
  const Result<std::vector<cache::Bytes>> results = run->results();
  if (!results) return sizes;
  std::size_t i = 0;
  for (const std::string& type : types) {
    sizes[type] = static_cast<std::uint64_t>(argument.element.number->load(&results->at(0)[8 * i++]));
  }
  return sizes;
}

// The kernels that have trials, made of a program.
struct MadeKernels {
  std::vector<cl::Kernel> all;
  bool told = true;             // what the arguments of each are
  std::set<std::string> types;  // of arguments, that have a size only the program knows
};

MadeKernels make_kernels(const std::vector<TriedKernel>& kernels, cl_program program) {
  MadeKernels made;
  for (const TriedKernel& kernel : kernels) {
    cl_int error = CL_SUCCESS;
    made.all.emplace_back(cl::Program(program, true), kernel.name.c_str(), &error);
    if (error != CL_SUCCESS) throw Failure(opencl_failure("clCreateKernel", error).within("kernel " + kernel.name));
    if (kernel.trials.empty()) continue;
    made.told = made.told && tells_parameters(made.all.back()());
    made.types.merge(unknown_types(made.all.back()()));
  }
  return made;
}

Status check_made(const std::vector<TriedKernel>& kernels, const MadeKernels& made, const Job& job,
                  const Place& place) {
  const TypeSizes sizes = made.types.empty() ? TypeSizes() : measure(made.types, job, place);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    for (std::size_t i = 0; i < kernels[k].trials.size(); ++i) {
      const Status status = check_signature(made.all[k](), kernels[k].trials[i], sizes);
      if (!status) return status.within("kernel " + kernels[k].name + ": trial " + std::to_string(i));
    }
  }
  return {};
}

// True for a linked program on PoCL, which never tells the arguments of its kernels.
bool never_tells(const Job& job) {
  const Result<ProgramText> text = decode_program_text(job.source.text);
  return text && !text->parts.empty() && platform_of(job.target).binaries == Binaries::functions;
}

// Checks that the trials fit the kernels. Where the driver does not tell what a kernel's arguments are, and to name the
// one that does not fit, by a further build with an option, which must not get into the bundle.
void check_signatures(const Job& job, const Place& place, cl_program program) {
  const std::vector<TriedKernel> kernels = need(parse_trial(job.trial));
  const MadeKernels made = make_kernels(kernels, program);
  const Status fits = check_made(kernels, made, job, place);
  if (never_tells(job) || (fits && made.told)) return need(fits);
  const Result<LoadedProgram> telling = build_from_source(job, place.device, place.session, " -cl-kernel-arg-info");
  // Else the driver does not know the option.
  need(telling ? check_made(kernels, make_kernels(kernels, telling->get()), job, place) : fits);
}

Status run_trials(const Job& job, const Place& place, cl_program program) {
  const Result<std::vector<TriedKernel>> kernels = parse_trial(job.trial);
  if (!kernels) return kernels.status();
  for (const TrialCase& tried : cases_of(*kernels)) {
    announce(tried);
    Result<TrialRun> run = TrialRun::create(place.session, place.device, program, tried);
    Status status = run ? run->run().status() : run.status();
    if (status) status = run->results().status();
    if (!status) return status.within(tried.name());
  }
  return {};
}

// The kernels of the program that the variant does not list.
std::vector<std::string> unlisted_kernels(cl_program id, const cache::Variant& variant) {
  cl_int error = CL_SUCCESS;
  std::istringstream names(cl::Program(id, true).getInfo<CL_PROGRAM_KERNEL_NAMES>(&error));
  std::vector<std::string> unlisted;
  for (std::string name; error == CL_SUCCESS && std::getline(names, name, ';');) {
    name = name.c_str();  // some drivers count the end
    const auto is_it = [&](const cache::Launch& launch) { return launch.kernel_name == name; };
    const bool listed = std::any_of(variant.launches.begin(), variant.launches.end(), is_it);
    if (!name.empty() && !listed) unlisted.push_back(name);
  }
  return unlisted;
}

// "64-1-1-goffs0,8-8-1-goffs0": the work-group sizes of the kernels; of all without a list.
std::string large_shapes(const cache::Variant& variant, const std::optional<std::set<std::string>>& kernels = {}) {
  std::set<std::string> shapes;
  for (const cache::Launch& launch : variant.launches) {
    if (launch.local[0] == 0) continue;  // the driver chooses
    if (kernels && kernels->count(launch.kernel_name) == 0) continue;
    shapes.insert(std::to_string(launch.local[0]) + "-" + std::to_string(launch.local[1]) + "-" +
                  std::to_string(launch.local[2]) + "-goffs0");
  }
  std::string text;
  for (const std::string& shape : shapes) text += (text.empty() ? "" : ",") + shape;
  return text;
}

// PoCL. The trials put a function for each work-group size in small grids into its cache directory. Those for large
// grids, for which a trial's buffers are too small, PoCL makes when an environment variable asks, which it reads once;
// and only one of two functions for a size is made in one process. So the worker starts anew, and finds what it has
// compiled in the directory. A program whose kernels have no local memory needs but the functions for every launch: the
// trials use those, and the worker goes on.
void try_functions(const Job& job, const Place& place, cl_program program, const Restart& restart) {
  check_signatures(job, place, program);
  const Result<std::set<std::string>> needing = kernels_with_local_memory(program);  // compiles for every launch
  const std::vector<cache::Launch>& launches = job.variant.launches;
  const bool none_needing = needing && std::none_of(launches.begin(), launches.end(), [&](const auto& launch) {
                              return needing->count(launch.kernel_name) > 0;
                            });
  if (none_needing) os::set_variable(kSpecialiseAtLaunch, "0");
  const Status tried = run_trials(job, place, program);
  if (none_needing) os::unset_variable(kSpecialiseAtLaunch);
  if (!tried || none_needing) return need(tried);
  const std::string shapes = needing ? large_shapes(job.variant, *needing) : large_shapes(job.variant);
  os::set_variable(kSpecialise, shapes);
  need(process::start_anew(restart));
}

std::vector<cache::Entry> compile_program(const Job& job, const Place& place, Stage stage, const Restart& restart) {
  const LoadedProgram program = need(build_from_source(job, place.device, place.session));
  if (stage == Stage::plain) return need(entry_of_binary(program.get()));
  const bool keeps_functions = platform_of(job.target).binaries == Binaries::functions;
  if (keeps_functions && stage == Stage::first) try_functions(job, place, program.get(), restart);
  if (!keeps_functions) check_signatures(job, place, program.get());
  const auto launch = [&] { return keeps_functions ? Status() : run_trials(job, place, program.get()); };
  const std::vector<std::string> unlisted = unlisted_kernels(program.get(), job.variant);
  std::vector<cache::Entry> entries =
      need(entries_for_bundle({place.device.target, job.variant, program.get(), launch}, job.source));
  for (cache::Entry& entry : entries) {
    std::string& note = entry.proof.note;
    if (!unlisted.empty()) note += (note.empty() ? "" : "; ") + (kUnlisted + kernels_text(unlisted));
  }
  return entries;
}

std::vector<cache::Entry> compile_variant(const Job& job, const std::string& path, const Place& place, bool plain) {
  const Bundle bundle = need(Bundle::open(path));
  Options options;
  options.only_build = true;  // what is launched, and when, is the finalizer's
  const Library library = need(Library::create(place.session.context(), place.device.id, {bundle}, options));
  const Problem any = tight_problem(job.variant.precision, 1, 1, 1, job.variant.trans_a, job.variant.trans_b);
  const Gemm gemm = need(library.prepare(any, job.variant.name));
  if (plain) return need(entry_of_binary(gemm.program()));
  const auto launch = [&] { return launch_every_shape(gemm); };
  return need(entries_for_bundle({place.device.target, job.variant, gemm.program(), launch}, job.source));
}

}  // namespace

Result<Place> place_of(const Target& target) try {
  Device device = need(device_of(target));
  Session session = need(Session::open(device));
  return Place{std::move(device), std::move(session)};
} catch (const Failure& failure) {
  return failure.status;
}

Result<std::vector<cache::Entry>> entries_for_bundle(const Compiled& compiled, const cache::Source& source) try {
  Result<std::vector<cache::Entry>> entries = finalize(compiled);
  if (!entries || !process::builder_platform_of(compiled.target).assembles) return entries;
  if (entries->front().form != cache::Form::portable) return entries;
  add_machine_code(compiled, source, *entries);
  return entries;
} catch (const Failure& failure) {
  return failure.status;
}

cache::Tool this_clbake() { return {"clbake", CLBAKE_VERSION}; }

void sign(std::vector<cache::Entry>& entries) {
  for (cache::Entry& entry : entries) entry.proof.tools.insert(entry.proof.tools.begin(), this_clbake());
}

Status compile_job(const std::string& path, const std::string& output, Stage stage, std::optional<Place>& kept) try {
  Job job = need(read_job(path));
  if (!kept || kept->device.target != job.target) kept = need(place_of(job.target));
  const Restart restart = {"worker", "compile-tried", path, output};
  job.entries = job.variant.is_program() ? compile_program(job, *kept, stage, restart)
                                         : compile_variant(job, path, *kept, stage == Stage::plain);
  sign(job.entries);
  return write_job(output, job);
} catch (const Failure& failure) {
  return failure.status;
}

}  // namespace clbake::builder::compile
