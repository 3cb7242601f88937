#include "record/programs.hpp"

#include "down.hpp"
#include "questions.hpp"
#include "record/guard.hpp"
#include "record/write/journal.hpp"
#include "settings.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>

namespace clbake::layer::record {
namespace {

constexpr const char* kDidNotBuild = "a program that did not build is not recorded";

// The latest build, compilation or link.
struct Build {
  std::optional<ProgramText> made;  // self-contained, with its options; none: it failed at once
  SeenProgram* seen = nullptr;      // of `made`
};

struct State : Build {
  ProgramText text;  // as it was created: sources or SPIR-V
  bool is_recordable = true;
};

// States stay behind when a program is released: its address gets a new one when a program is created there.
std::unordered_map<cl_program, State>& states() {
  static auto& all = *new std::unordered_map<cl_program, State>;
  return all;
}

State* state_of(cl_program program) {
  const auto found = states().find(program);
  return found == states().end() ? nullptr : &found->second;
}

void created(cl_program program, ProgramText text) {
  if (!program) return;
  const std::lock_guard<std::mutex> lock(seen_mutex());
  State& state = states()[program] = State();
  state.text = std::move(text);
}

void created_of_unknown(cl_program program) {
  if (!program) return;
  const std::lock_guard<std::mutex> lock(seen_mutex());
  states().erase(program);
}

std::string text_of(const char* options) { return options ? options : ""; }

// With seen_mutex held: writes the program if it is not written.
SeenProgram* write(State& state, const BuildAnswers& answers) {
  if (!state.seen && state.made && state.is_recordable) state.seen = see(*state.made, answers);
  return state.seen;
}

// A build or link has ended well: it is written now, even if no kernel is ever made from it.
void built(cl_program program) {
  const std::vector<cl_device_id> devices = devices_of(program);
  const BuildAnswers answers = {devices.empty() ? std::string() : build_log_of(program, devices.front()),
                                info_text(program, CL_PROGRAM_KERNEL_NAMES)};
  const std::lock_guard<std::mutex> lock(seen_mutex());
  if (State* state = state_of(program)) write(*state, answers);
}

// ---- The functions that take the place of the driver's ----

cl_program CL_API_CALL create_with_source(cl_context context, cl_uint count, const char** strings,
                                          const size_t* lengths, cl_int* error) {
  cl_program program = down().clCreateProgramWithSource(context, count, strings, lengths, error);
  if (!program) return program;
  guarded([&] {
    ProgramText text;
    text.sources = {joined_sources(count, strings, lengths)};
    created(program, std::move(text));
  });
  return program;
}

void created_of_il(cl_program program, const void* il, size_t size) {
  if (!program) return;
  guarded([&] {
    ProgramText text;
    text.il.assign(static_cast<const char*>(il), size);
    created(program, std::move(text));
  });
}

cl_program CL_API_CALL create_with_il(cl_context context, const void* il, size_t size, cl_int* error) {
  cl_program program = down().clCreateProgramWithIL(context, il, size, error);
  created_of_il(program, il, size);
  return program;
}

constexpr const char* kIlExtension = "clCreateProgramWithILKHR";

cl_program CL_API_CALL create_with_il_khr(cl_context context, const void* il, size_t size, cl_int* error) {
  using Function = cl_program(CL_API_CALL*)(cl_context, const void*, size_t, cl_int*);
  cl_platform_id platform = nullptr;
  guarded([&] {
    const std::vector<cl_device_id> devices = devices_of(context);
    if (!devices.empty()) platform = platform_of(devices.front());
  });
  const auto function =
      platform ? reinterpret_cast<Function>(down().clGetExtensionFunctionAddressForPlatform(platform, kIlExtension))
               : nullptr;
  if (!function) {
    if (error) *error = CL_INVALID_CONTEXT;
    return nullptr;
  }
  cl_program program = function(context, il, size, error);
  created_of_il(program, il, size);
  return program;
}

cl_program CL_API_CALL create_with_binary(cl_context context, cl_uint count, const cl_device_id* devices,
                                          const size_t* lengths, const unsigned char** binaries, cl_int* status,
                                          cl_int* error) {
  if (!settings().record_binaries) {
    if (status) std::fill_n(status, count, CL_INVALID_BINARY);
    if (error) *error = CL_INVALID_BINARY;
    return nullptr;
  }
  cl_program program = down().clCreateProgramWithBinary(context, count, devices, lengths, binaries, status, error);
  created_of_unknown(program);
  if (!program) return program;
  guarded([] {
    note("a program made from a binary is not recorded: if that is the application's own cache, empty it before");
  });
  return program;
}

cl_program CL_API_CALL create_with_built_in_kernels(cl_context context, cl_uint count, const cl_device_id* devices,
                                                    const char* names, cl_int* error) {
  cl_program program = down().clCreateProgramWithBuiltInKernels(context, count, devices, names, error);
  created_of_unknown(program);
  return program;
}

// Before the driver works on it, as the process may change files to include as soon as it has the result. Sets `before`
// to the program's build until now.
void takes(cl_program program, const char* options, std::vector<ProgramText::Header> headers, Build& before) {
  const std::lock_guard<std::mutex> lock(seen_mutex());
  State* state = state_of(program);
  if (!state) return;
  before = std::exchange(static_cast<Build&>(*state), Build());
  ProgramText text = state->text;
  text.options = text_of(options);
  text.headers = std::move(headers);
  Result<ProgramText> whole = self_contained(text);
  if (whole) {
    state->made = std::move(*whole);
  } else {
    note("a program is not recorded: " + whole.status().message());
  }
}

void forget_build(cl_program program) {
  const std::lock_guard<std::mutex> lock(seen_mutex());
  if (State* state = state_of(program)) static_cast<Build&>(*state) = Build();
}

// A driver that refuses to begin, as the program still has kernels, leaves the program as it was.
void failed(cl_program program, cl_int error, Build before) {
  const bool has_begun = error == CL_BUILD_PROGRAM_FAILURE || error == CL_COMPILE_PROGRAM_FAILURE;
  const bool is_built = !has_begun && before.made;
  {
    const std::lock_guard<std::mutex> lock(seen_mutex());
    State* state = state_of(program);
    if (state) static_cast<Build&>(*state) = has_begun ? Build() : std::move(before);
  }
  if (!is_built) note(kDidNotBuild);
}

cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                         void(CL_CALLBACK* notify)(cl_program, void*), void* data) {
  Build before;
  guarded([&] { takes(program, options, {}, before); });
  const cl_int error = down().clBuildProgram(program, count, devices, options, notify, data);
  if (error != CL_SUCCESS) {
    guarded([&] { failed(program, error, std::move(before)); });
  } else if (!notify) {
    guarded([&] { built(program); });  // else when a kernel is made from it
  }
  return error;
}

// False when a header is not of source.
bool headers_of(cl_uint count, const cl_program* programs, const char** names,
                std::vector<ProgramText::Header>& texts) {
  const std::lock_guard<std::mutex> lock(seen_mutex());
  for (cl_uint i = 0; programs && names && i < count; ++i) {
    const State* state = state_of(programs[i]);
    if (!state || state->text.sources.empty()) return false;
    texts.push_back({names[i], state->text.sources[0]});
  }
  return true;
}

cl_int CL_API_CALL compile(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                           cl_uint headers, const cl_program* header_programs, const char** names,
                           void(CL_CALLBACK* notify)(cl_program, void*), void* data) {
  Build before;
  guarded([&] {
    std::vector<ProgramText::Header> texts;
    const bool is_known = headers_of(headers, header_programs, names, texts);
    takes(program, options, std::move(texts), before);
    if (!is_known) forget_build(program);
  });
  const cl_int error =
      down().clCompileProgram(program, count, devices, options, headers, header_programs, names, notify, data);
  if (error != CL_SUCCESS) guarded([&] { failed(program, error, std::move(before)); });
  return error;
}

// False when the linked program is not recorded.
bool takes_parts(cl_program linked, const char* options, cl_uint count, const cl_program* programs) {
  ProgramText text;
  text.options = text_of(options);
  const std::lock_guard<std::mutex> lock(seen_mutex());
  for (cl_uint i = 0; i < count; ++i) {
    const State* part = state_of(programs[i]);
    if (!part || !part->made || !part->is_recordable) {
      note("a linked program is not recorded: a part of it was not compiled from source or SPIR-V");
      return false;
    }
    text.parts.push_back(*part->made);
  }
  State& state = states()[linked] = State();
  state.made = std::move(text);
  return true;
}

cl_program CL_API_CALL link(cl_context context, cl_uint count, const cl_device_id* devices, const char* options,
                            cl_uint inputs, const cl_program* programs, void(CL_CALLBACK* notify)(cl_program, void*),
                            void* data, cl_int* error) {
  cl_int result = CL_SUCCESS;
  cl_program linked = down().clLinkProgram(context, count, devices, options, inputs, programs, notify, data, &result);
  if (error) *error = result;
  created_of_unknown(linked);
  if (result != CL_SUCCESS) guarded([] { note(kDidNotBuild); });
  if (!linked || result != CL_SUCCESS) return linked;
  guarded([&] {
    if (takes_parts(linked, options, inputs, programs) && !notify) built(linked);
  });
  return linked;
}

cl_int CL_API_CALL set_specialization_constant(cl_program program, cl_uint id, size_t size, const void* value) {
  guarded([&] {
    const std::lock_guard<std::mutex> lock(seen_mutex());
    if (State* state = state_of(program)) state->is_recordable = false;
    note("a program with specialization constants is not recorded");
  });
  return down().clSetProgramSpecializationConstant(program, id, size, value);
}

}  // namespace

SeenProgram* built_program(cl_program program) {
  State* state = state_of(program);
  return state ? write(*state, {}) : nullptr;
}

void* il_extension(const char* name) {
  return name && std::strcmp(name, kIlExtension) == 0 ? reinterpret_cast<void*>(create_with_il_khr) : nullptr;
}

void install_programs(cl_icd_dispatch& table) {
  replace(table.clCreateProgramWithSource, create_with_source);
  replace(table.clCreateProgramWithIL, create_with_il);
  replace(table.clCreateProgramWithBinary, create_with_binary);
  replace(table.clCreateProgramWithBuiltInKernels, create_with_built_in_kernels);
  replace(table.clBuildProgram, build);
  replace(table.clCompileProgram, compile);
  replace(table.clLinkProgram, link);
  replace(table.clSetProgramSpecializationConstant, set_specialization_constant);
}

}  // namespace clbake::layer::record
