// The learner's workers: what crashes or hangs in a driver takes one of them with it.
#include <clbake/builder/compile.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/learn.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/cache/limits.hpp>
#include <clbake/finalize.hpp>
#include <clbake/os/environment.hpp>
#include <clbake/platform.hpp>
#include <clbake/program_text.hpp>

#include "learn/functions.hpp"
#include "learn/inbox.hpp"
#include "learn/program_to_learn.hpp"
#include "process/need.hpp"
#include "process/text_file.hpp"
#include "prove/compile_watch.hpp"

#include <algorithm>
#include <utility>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

namespace clbake::builder::learn {
namespace {

std::vector<cl::Kernel> all_kernels(cl_program id) {
  std::vector<cl::Kernel> kernels;
  const cl_int error = cl::Program(id, true).createKernels(&kernels);
  if (error != CL_SUCCESS) {
    throw Failure({Code::opencl, "clCreateKernelsInProgram: error " + std::to_string(error), error});
  }
  return kernels;
}

std::string name_of(const cl::Kernel& kernel) { return kernel.getInfo<CL_KERNEL_FUNCTION_NAME>().c_str(); }

// True for a kernel with variables or arguments in local memory, and when the driver does not tell.
bool has_local_memory(const cl::Kernel& kernel, const Device& device) {
  cl_int error = CL_SUCCESS;
  cl_ulong bytes = 0;
  error = clGetKernelWorkGroupInfo(kernel(), device.id, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
  if (error != CL_SUCCESS || bytes > 0) return true;
  for (cl_uint i = 0; i < kernel.getInfo<CL_KERNEL_NUM_ARGS>(); ++i) {
    const auto address = kernel.getArgInfo<CL_KERNEL_ARG_ADDRESS_QUALIFIER>(i, &error);
    if (error != CL_SUCCESS || address == CL_KERNEL_ARG_ADDRESS_LOCAL) return true;
  }
  return false;
}

std::vector<SeenLaunch> with_local_memory(std::vector<SeenLaunch> launches, const std::vector<cl::Kernel>& kernels,
                                          const Device& device) {
  std::set<std::string> needing;
  for (const cl::Kernel& kernel : kernels) {
    if (has_local_memory(kernel, device)) needing.insert(name_of(kernel));
  }
  const auto needs_none = [&](const SeenLaunch& launch) { return needing.count(launch.kernel) == 0; };
  launches.erase(std::remove_if(launches.begin(), launches.end(), needs_none), launches.end());
  return launches;
}

// A program by content, with the local sizes that were seen.
cache::Variant variant_of(const Request& request) {
  cache::Variant variant;
  variant.name = content_name(request.digest);
  variant.family = "program";
  variant.precision = no_precision;
  variant.contract = cache::kProgramContract;
  variant.content = request.digest;
  std::set<std::pair<std::string, std::array<std::uint32_t, 3>>> sizes;
  for (const SeenLaunch& launch : request.launches) {
    if (launch.local[0] != 0 && sizes.size() < cache::kMaxLaunches) sizes.insert({launch.kernel, launch.local});
  }
  for (const auto& [kernel, local] : sizes) {
    variant.launches.push_back({cache::Role::kernel, kernel, {local[0], local[1], local[2]}, 1, 1});
  }
  return variant;
}

// The processes in which a program is compiled. First the functions that a program without a compiler needs; then all,
// if it turns out that this one keeps its compiler. The driver's cache keeps what each has compiled.
struct Passes {
  std::vector<std::string> shapes;  // of each
  std::size_t least = 0;            // after so many the program may be whole

  Passes(const Request& request, const std::vector<cl::Kernel>& kernels, const Device& device)
      : shapes(passes_for(functions_of(with_local_memory(request.launches, kernels, device)))), least(shapes.size()) {
    if (platform_of(request.target).binaries != Binaries::functions) return;
    for (std::string& more : passes_for(functions_of(request.launches))) shapes.push_back(std::move(more));
  }

  bool may_be_last(std::size_t pass) const { return pass + 1 == least || is_last(pass); }
  bool is_last(std::size_t pass) const { return pass + 1 >= shapes.size(); }

  void choose(std::size_t pass) const {
    const std::string wanted = pass < shapes.size() ? shapes[pass] : std::string();
    if (wanted.empty()) {
      os::unset_variable(compile::kSpecialise);
    } else {
      os::set_variable(compile::kSpecialise, wanted);
    }
  }
};

// The functions that a load has put into the driver's cache, where it is PoCL.
Functions functions_in_cache() {
  const std::optional<std::string> cache = os::variable("POCL_CACHE_DIR");
  return cache ? functions_in(*cache) : Functions();
}

// The only program of the entries.
cache::Entry machine_code(std::vector<cache::Entry> entries) {
  if (entries.front().form != cache::Form::native) {
    throw Failure(
        {Code::driver_rejected, "the driver gives an intermediate language, which it compiles at every load"});
  }
  entries.resize(1);  // without the portable form that it may have, too
  compile::sign(entries);
  return std::move(entries.front());
}

}  // namespace

Status compile_learned(const std::string& path, const std::string& output, std::size_t pass) try {
  const Request request =
      need(clbake::learn::decode(need(process::read_text_file(path, clbake::learn::kMaxMessage))), path);
  const ProgramText text = need(decode_program_text(request.program));
  const compile::Place place = need(compile::place_of(request.target));
  Options options;
  options.only_build = true;
  const std::string cache = prove::cache_directory(request.target);
  const prove::Signs before = prove::signs_now(cache);
  const Library library = need(Library::create(place.session.context(), place.device.id, {}, options));
  const LoadedProgram program = need(library.program(text));
  const std::vector<cl::Kernel> kernels = all_kernels(program.get());
  if (pass == 0) {  // later ones find what this one has compiled
    const prove::Signs signs = prove::since(before, prove::signs_now(cache));
    need(prove::write_control(control_beside(output),
                              prove::control_of(signs, prove::compiled_extension(request.target))));
  }

  const Passes passes(request, kernels, place.device);
  const auto go_on = [&] {
    return process::start_anew({"worker", "compile-learned", path, output, std::to_string(pass + 1)});
  };
  passes.choose(pass);
  if (!passes.may_be_last(pass)) {
    need(program_binary(program.get()));
    return go_on();
  }
  Job job{request.target, {"program.cl", request.program}, variant_of(request), {}, {}};
  const auto nothing = [] { return Status(); };  // only the program knows the arguments
  std::vector<cache::Entry> entries =
      need(compile::entries_for_bundle({place.device.target, job.variant, program.get(), nothing}, job.source));
  if (!passes.is_last(pass) && !serves_every_launch(entries.front().proof)) return go_on();
  job.entries = {machine_code(std::move(entries))};
  return write_job(output, job);
} catch (const Failure& failure) {
  return failure.status;
}

Status prove_learned(const std::string& path, const std::string& output) try {
  Job job = need(read_job(path));
  const Bundle bundle = need(Bundle::open(path));
  const compile::Place place = need(compile::place_of(job.target));
  Options options;
  options.on_miss = OnMiss::fail;
  options.only_build = true;
  const Library library = need(Library::create(place.session.context(), place.device.id, {bundle}, options));
  // NVIDIA's driver loads its compiler at the first program of any process, machine code or not: that is no sign then.
  (void)preload(place.device.platform);
  prove::CompileWatch watch(job.target, prove::read_control(control_beside(path)), 0);
  cache::Proof& proof = job.entries.front().proof;
  watch.begin();
  const LoadedProgram program = need(library.program(job.variant.name));
  const std::vector<cl::Kernel> kernels = all_kernels(program.get());
  const Explanation& loaded = program.explanation();
  proof.create_us = static_cast<float>(loaded.create_us);
  proof.build_us = static_cast<float>(loaded.build_us);
  proof.kernel_us = static_cast<float>(loaded.kernel_us);
  watch.loaded(proof.load_us(), kernels.size(), proof.specialisations.size());
  const prove::Verdict verdict = watch.verdict();
  const Functions functions = functions_in_cache();
  proof.specialisations.assign(functions.begin(), functions.end());
  proof.jit_free = verdict.compiled.empty();
  proof.note = proof.jit_free ? "learned: loaded, but nothing was launched"
                              : (verdict.by_time ? kSlowLoad : "loading compiles: ") + verdict.compiled;
  return write_job(output, job);
} catch (const Failure& failure) {
  return failure.status;
}

}  // namespace clbake::builder::learn
