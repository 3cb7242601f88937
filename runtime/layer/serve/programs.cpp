// Programs: their creation, references, and what they answer.
#include "down.hpp"
#include "finalize/poclbin.hpp"
#include "questions.hpp"
#include "serve/calls.hpp"
#include "serve/load.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace clbake::layer::serve {
namespace {

void add(cl_program handle, cl_context context, ProgramText text) {
  registry().add(std::make_shared<Program>(handle, context, std::move(text)));
}

// Forgets an earlier program with this handle.
cl_program forget_earlier(cl_program handle) {
  if (handle) registry().forget(handle);
  return handle;
}

// The references that the application's program would have, had it been built: without those that the layer took for
// kernels, but with as many as kernels take in this driver.
cl_int reference_count(const Program& program, const Baked& baked, const Answer& answer) {
  cl_uint own = 0;
  cl_uint of_baked = 1;
  const cl_uint holds = registry().counts(program).holds;
  constexpr cl_program_info what = CL_PROGRAM_REFERENCE_COUNT;
  const cl_int error = down().clGetProgramInfo(program.handle, what, sizeof own, &own, nullptr);
  if (error != CL_SUCCESS) return error;
  if (!baked.is_the_applications) {
    static_cast<void>(down().clGetProgramInfo(baked.program, what, sizeof of_baked, &of_baked, nullptr));
  }
  return answer.number(own - holds + (of_baked - 1));
}

// CL_PROGRAM_BINARIES, or their sizes: of these, one for each device of the program.
cl_int answer_binaries(const std::vector<const cache::Bytes*>& all, cl_program_info what, const Answer& answer) {
  if (what == CL_PROGRAM_BINARY_SIZES) {
    std::vector<std::size_t> sizes;
    for (const cache::Bytes* binary : all) sizes.push_back(binary->size());
    return answer.bytes(sizes.data(), sizes.size() * sizeof sizes[0]);
  }
  const std::size_t bytes = all.size() * sizeof(unsigned char*);
  if (answer.size_ret) *answer.size_ret = bytes;
  if (!answer.value) return CL_SUCCESS;
  if (answer.size < bytes) return CL_INVALID_VALUE;
  auto** const to = static_cast<unsigned char**>(answer.value);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (to[i]) std::copy(all[i]->begin(), all[i]->end(), to[i]);
  }
  return CL_SUCCESS;
}

// CL_PROGRAM_BINARIES and their sizes: one for each device of the program, for which the baked program may have none.
cl_int binaries(Program& program, const Baked& baked, cl_program_info what, const Answer& answer) {
  const std::vector<cl_device_id> devices = devices_of(program.handle);
  const bool knows_all = std::all_of(baked.builds.begin(), baked.builds.end(),
                                     [&](const DeviceBuild& build) { return has(devices, build.device); });
  const std::vector<cache::Bytes>* const own = knows_all ? binaries_of(baked) : nullptr;
  const cl_program source = own ? nullptr : source_of(program, "its binaries are asked for");
  if (!own && !source) return CL_INVALID_PROGRAM_EXECUTABLE;
  if (!own) return down().clGetProgramInfo(source, what, answer.size, answer.value, answer.size_ret);
  static const cache::Bytes none;
  std::vector<const cache::Bytes*> all;
  for (const cl_device_id device : devices) {
    const DeviceBuild* const build = baked.find(device);
    all.push_back(build ? &(*own)[static_cast<std::size_t>(build - baked.builds.data())] : &none);
  }
  return answer_binaries(all, what, answer);
}

cl_int baked_info(Program& program, const Baked& baked, cl_program_info what, const Answer& answer) {
  switch (what) {
    case CL_PROGRAM_REFERENCE_COUNT: return reference_count(program, baked, answer);
    case CL_PROGRAM_BINARY_SIZES:
    case CL_PROGRAM_BINARIES: return binaries(program, baked, what, answer);
    case CL_PROGRAM_NUM_KERNELS:
    case CL_PROGRAM_KERNEL_NAMES:
    case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT:
    case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT:
      return down().clGetProgramInfo(baked.program, what, answer.size, answer.value, answer.size_ret);
    default: return down().clGetProgramInfo(program.handle, what, answer.size, answer.value, answer.size_ret);
  }
}

cl_int text(const Answer& answer, const std::string& text) { return answer.bytes(text.c_str(), text.size() + 1); }

cl_int baked_build_info(cl_program baked, const DeviceBuild& build, cl_program_build_info what, const Answer& answer) {
  switch (what) {
    case CL_PROGRAM_BUILD_OPTIONS: return text(answer, build.options);
    case CL_PROGRAM_BUILD_LOG: return text(answer, build.log);
    case CL_PROGRAM_BINARY_TYPE: return answer.number<cl_program_binary_type>(CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    default: return down().clGetProgramBuildInfo(baked, build.device, what, answer.size, answer.value, answer.size_ret);
  }
}

// The answer about a part that the driver has not compiled; false for a question that takes the driver.
bool deferred_info(cl_program_build_info what, const Answer& answer, cl_int& result) {
  switch (what) {
    case CL_PROGRAM_BUILD_STATUS: result = answer.number<cl_build_status>(CL_BUILD_SUCCESS); return true;
    case CL_PROGRAM_BUILD_LOG: result = text(answer, {}); return true;
    case CL_PROGRAM_BINARY_TYPE:
      result = answer.number<cl_program_binary_type>(CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
      return true;
    default: return false;
  }
}

}  // namespace

cl_program calls::CreateProgramWithSource(cl_context context, cl_uint count, const char** strings,
                                          const std::size_t* lengths, cl_int* error_ret) {
  return make(error_ret, [&](cl_int& error) {
    const cl_program handle = down().clCreateProgramWithSource(context, count, strings, lengths, &error);
    if (!handle) return handle;
    ProgramText text;
    text.sources = {joined_sources(count, strings, lengths)};
    add(handle, context, std::move(text));
    return handle;
  });
}

cl_program calls::CreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id* devices,
                                          const std::size_t* lengths, const unsigned char** binaries, cl_int* statuses,
                                          cl_int* error_ret) {
  const cl_program handle =
      forget_earlier(down().clCreateProgramWithBinary(context, count, devices, lengths, binaries, statuses, error_ret));
  bool is_any_slim = false;
  for (cl_uint i = 0; handle && i < count; ++i) {
    is_any_slim = is_any_slim || is_slim_poclbin({binaries[i], lengths[i]});
  }
  if (!is_any_slim) return handle;
  no_throw([&] {
    // PoCL would end a process that asks for them.
    std::vector<cache::Bytes> given;
    for (cl_uint i = 0; i < count; ++i) given.emplace_back(binaries[i], binaries[i] + lengths[i]);
    registry().give(handle, std::make_shared<const std::vector<cache::Bytes>>(std::move(given)));
    return CL_SUCCESS;
  });
  return handle;
}

cl_program calls::CreateProgramWithBuiltInKernels(cl_context context, cl_uint count, const cl_device_id* devices,
                                                  const char* names, cl_int* error_ret) {
  return forget_earlier(down().clCreateProgramWithBuiltInKernels(context, count, devices, names, error_ret));
}

cl_int calls::RetainProgram(cl_program handle) {
  const cl_int error = down().clRetainProgram(handle);
  if (error == CL_SUCCESS) registry().retain(handle);
  return error;
}

cl_int calls::ReleaseProgram(cl_program handle) {
  registry().release(handle);  // before another program can get this handle
  return down().clReleaseProgram(handle);
}

cl_int calls::GetProgramInfo(cl_program handle, cl_program_info what, std::size_t size, void* value,
                             std::size_t* size_ret) {
  return no_throw([&] {
    const std::shared_ptr<Program> program = registry().find(handle);
    const bool of_binaries = what == CL_PROGRAM_BINARIES || what == CL_PROGRAM_BINARY_SIZES;
    if (const GivenBinaries given = !program && of_binaries ? registry().given(handle) : nullptr) {
      std::vector<const cache::Bytes*> all;
      for (const cache::Bytes& binary : *given) all.push_back(&binary);
      return answer_binaries(all, what, {size, value, size_ret});
    }
    if (!program) return down().clGetProgramInfo(handle, what, size, value, size_ret);
    if (const std::shared_ptr<const Baked> baked = program->served()) {
      return baked_info(*program, *baked, what, {size, value, size_ret});
    }
    if (of_binaries) compile_deferred(*program);
    return down().clGetProgramInfo(handle, what, size, value, size_ret);
  });
}

cl_int calls::GetProgramBuildInfo(cl_program handle, cl_device_id device, cl_program_build_info what, std::size_t size,
                                  void* value, std::size_t* size_ret) {
  return no_throw([&] {
    const Answer answer{size, value, size_ret};
    if (const std::shared_ptr<Program> program = registry().find(handle)) {
      const std::shared_ptr<const Baked> baked = program->served();
      const DeviceBuild* const build = baked ? baked->find(device) : nullptr;
      if (build) return baked_build_info(baked->program, *build, what, answer);
      const std::shared_ptr<const Compilation> part = program->part();
      cl_int result = CL_SUCCESS;
      const bool is_part = part && program->text.parts.empty() && has(part->devices, device);
      if (is_part && what == CL_PROGRAM_BUILD_OPTIONS) return text(answer, part->options);
      if (is_part && part->deferred) {
        if (deferred_info(what, answer, result)) return result;
        compile_deferred(*program);
      }
    }
    return down().clGetProgramBuildInfo(handle, device, what, size, value, size_ret);
  });
}

cl_int calls::SetProgramSpecializationConstant(cl_program handle, cl_uint id, std::size_t size, const void* value) {
  const cl_int error = down().clSetProgramSpecializationConstant(handle, id, size, value);
  if (error != CL_SUCCESS) return error;
  // No bundle has programs of other constants than the default ones.
  if (const std::shared_ptr<Program> program = registry().find(handle)) {
    const std::lock_guard<std::mutex> lock(program->mutex);
    program->is_specialized = true;
  }
  return error;
}

}  // namespace clbake::layer::serve
