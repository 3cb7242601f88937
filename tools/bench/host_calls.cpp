#include "bench/host_calls.hpp"

#include "cli/arguments.hpp"

#include <clbake/builder/gemm_run.hpp>

#include <array>

namespace clbake::tool {
namespace {

// The struct that every kernel gets (kernels/KERNELS.md, "Arguments").
struct Numbers {
  cl_ulong offsets_and_strides[10];
  cl_int m, n, k, lda, ldb, ldc, ldd;
  cl_int first_product, steps, unused;
};
static_assert(sizeof(Numbers) == 120, "no gaps, and all members");

// The OpenCL calls that an application would write by hand for a variant's kernel: sets the arguments of the kernel
// contract, then launches.
void bare_calls(cl_command_queue queue, cl_kernel kernel, const cache::Launch& launch, const Problem& p, cl_mem a,
                cl_mem b, cl_mem c) {
  cl_uint index = 0;
  cl_int error = CL_SUCCESS;
  const auto set = [&](const auto& value) { error |= clSetKernelArg(kernel, index++, sizeof value, &value); };
  const cl_mem none = nullptr;  // offsets, bias and D
  for (const cl_mem argument : {a, b, c, none, none, none}) set(argument);
  const auto size = [](std::size_t value) { return static_cast<cl_int>(value); };
  set(Numbers{{}, size(p.m), size(p.n), size(p.k), size(p.lda), size(p.ldb), size(p.ldc), 0, 0, 0, 0});
  set(cl_float4{{1, 0, 0, 0}});
  const std::size_t local[] = {launch.local[0], launch.local[1], launch.local[2]};
  const std::size_t global[] = {(p.n + launch.tile_n - 1) / launch.tile_n * local[0],
                                (p.m + launch.tile_m - 1) / launch.tile_m * local[1], local[2]};
  error |= clEnqueueNDRangeKernel(queue, kernel, 3, nullptr, global, local, 0, nullptr, nullptr);
  if (error != CL_SUCCESS) throw Failure("bare calls: OpenCL error " + std::to_string(error));
}

// The only launch of the variant.
cache::Launch launch_of(const Bundle& bundle, const std::string& variant) {
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
    const cache::Variant found = need(bundle.variant(i));
    if (found.name == variant && found.launches.size() == 1) return found.launches[0];
  }
  throw Failure(variant + " launches more than one kernel; choose another of --sizes");
}

// A function of an extension; null where the platform has none.
template <typename Function>
Function extension(const BenchDevice& on, const char* name) {
  cl_platform_id platform = nullptr;
  clGetDeviceInfo(on.device.id, CL_DEVICE_PLATFORM, sizeof platform, static_cast<void*>(&platform), nullptr);
  return reinterpret_cast<Function>(clGetExtensionFunctionAddressForPlatform(platform, name));
}

// Adds the times of a product in a stream of 100, enqueued and in a command buffer, if the platform has any.
void add_stream_times(Json& json, const BenchDevice& on, Gemm& gemm, const std::array<Matrix, 3>& matrices,
                      std::size_t rounds) {
  using Commands = _cl_command_buffer_khr*;
  using Call = cl_int(CL_API_CALL*)(Commands);
  constexpr std::size_t products = 100;
  const cl_command_queue queue = on.session.queue();
  const auto create = extension<Commands(CL_API_CALL*)(cl_uint, const cl_command_queue*, const void*, cl_int*)>(
      on, "clCreateCommandBufferKHR");
  const auto run =
      extension<cl_int(CL_API_CALL*)(cl_uint, cl_command_queue*, Commands, cl_uint, const cl_event*, cl_event*)>(
          on, "clEnqueueCommandBufferKHR");
  const Commands commands = create ? create(1, &queue, nullptr, nullptr) : nullptr;
  const auto& [a, b, c] = matrices;
  for (std::size_t i = 0; commands && i < products; ++i) need(gemm.record(commands, 1, a, b, 0, c));
  if (commands) extension<Call>(on, "clFinalizeCommandBufferKHR")(commands);
  const auto enqueue = [&, a = a, b = b, c = c] {
    for (std::size_t i = 0; i < products; ++i) need(gemm.enqueue(queue, 1, a, b, 0, c));
  };
  const auto run_commands = [&] {
    cl_int error = CL_INVALID_OPERATION;  // PoCL 3.1 may say so for a moment after clFinish: the commands still run
    for (int tries = 0; error == CL_INVALID_OPERATION && tries < 10000; ++tries) {
      error = run(0, nullptr, commands, 0, nullptr, nullptr);
    }
    if (error != CL_SUCCESS) throw Failure("clEnqueueCommandBufferKHR: OpenCL error " + std::to_string(error));
  };
  const auto until_ended = [&](const auto& work) { return [&] { work(), clFinish(queue); }; };
  std::vector<std::pair<const char*, TimedCall>> calls = {{"stream_us", {enqueue}},
                                                          {"stream_end_us", {until_ended(enqueue)}}};
  if (commands) {
    calls.insert(calls.end(), {{"commands_us", {run_commands}}, {"commands_end_us", {until_ended(run_commands)}}});
  }
  for (std::size_t round = 0; round <= rounds; ++round) {
    for (auto& [name, timed] : calls) {
      if (round == 1) timed.us.clear();
      timed.us.push_back(time_us(timed.call) / products);
      clFinish(queue);
    }
  }
  for (const auto& [name, call] : calls) json[name] = builder::median(call.us);
  if (commands) extension<Call>(on, "clReleaseCommandBufferKHR")(commands);
}

}  // namespace

Json host_times(const BenchDevice& on, const Bundle& bundle, const Problem& problem, std::size_t rounds) {
  Options recording;
  recording.record = true;
  const Library library = open_library(on, bundle);
  const Library recorder = open_library(on, bundle, recording);
  Gemm gemm = need(library.prepare(problem));
  Gemm recorded = need(recorder.prepare(problem));
  const std::string variant = gemm.explanation().variant;
  const cache::Launch launch = launch_of(bundle, variant);
  const std::unique_ptr<_cl_kernel, decltype(&clReleaseKernel)> kernel(
      clCreateKernel(gemm.program(), launch.kernel_name.c_str(), nullptr), clReleaseKernel);
  if (!kernel) throw Failure(variant + ": no kernel named " + launch.kernel_name);

  const builder::GemmRun gemm_run = need(builder::GemmRun::create(on.session, on.device, problem));
  const auto [a, b, c] = gemm_run.buffers();
  const Matrix of_a{a}, of_b{b}, of_c{c};
  const cl_command_queue queue = on.session.queue();
  const auto bare = [&, a = a, b = b, c = c] { bare_calls(queue, kernel.get(), launch, problem, a, b, c); };
  bare();
  clFinish(queue);
  if (!need(gemm_run.check()).ok()) throw Failure("bare calls: wrong result");
  std::vector<std::pair<const char*, TimedCall>> calls = {
      {"bare_us", {bare}},
      {"prepared_us", {[&] { need(gemm.enqueue(queue, 1, of_a, of_b, 0, of_c)); }}},
      {"recorded_us", {[&] { need(recorded.enqueue(queue, 1, of_a, of_b, 0, of_c)); }}},
      {"one_call_us", {[&] { need(library.gemm(queue, problem, 1, of_a, of_b, 0, of_c)); }}},
      {"prepare_us", {[&] { need(library.prepare(problem).status()); }}},
  };
  // In turns; the queue is emptied after each turn, which is not timed.
  for (std::size_t round = 0; round <= rounds; ++round) {
    for (auto& [name, timed] : calls) {
      if (round == 1) timed.us.clear();  // the first round warms up
      for (std::size_t i = 0; i < host_calls_per_round; ++i) timed.us.push_back(time_us(timed.call));
      clFinish(queue);
    }
  }
  Json json = {{"size", name(Size{problem.m, problem.n, problem.k})}, {"variant", variant}};
  for (const auto& [name, call] : calls) json[name] = builder::median(call.us);
  add_stream_times(json, on, gemm, {of_a, of_b, of_c}, rounds);
  return json;
}

}  // namespace clbake::tool
