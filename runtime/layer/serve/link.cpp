// clCompileProgram and clLinkProgram: a part of a baked program is not compiled unless a link misses.
#include "down.hpp"
#include "log.hpp"
#include "questions.hpp"
#include "serve/calls.hpp"
#include "serve/learning.hpp"
#include "serve/load.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace clbake::layer::serve {
namespace {

// The text of the program and of its headers; nothing if the layer does not know them all.
std::optional<ProgramText> part_of(const Program& program, const char* options, cl_uint count,
                                   const cl_program* headers, const char** names) {
  ProgramText part = program.text;
  part.options = options ? options : "";
  for (cl_uint i = 0; i < count; ++i) {
    const std::shared_ptr<Program> header = headers ? registry().find(headers[i]) : nullptr;
    if (!header || header->text.sources.empty() || !names || !names[i]) return std::nullopt;
    part.headers.push_back({names[i], header->text.sources.front()});
  }
  return part;
}

void set_compilation(Program& program, std::shared_ptr<const Compilation> compilation) {
  std::shared_ptr<const Baked> earlier;  // destroyed after the lock
  const std::lock_guard<std::mutex> lock(program.mutex);
  std::swap(program.baked, earlier);
  program.compilation = std::move(compilation);
}

// The text of a link, if the layer knows all of its parts. Its devices: those of the call, or the context's.
std::optional<ProgramText> linked_text(cl_uint count, const cl_program* programs, const char* options) {
  ProgramText text;
  text.options = options ? options : "";
  for (cl_uint i = 0; i < count; ++i) {
    const std::shared_ptr<Program> program = registry().find(programs[i]);
    const std::shared_ptr<const Compilation> part = program ? program->part() : nullptr;
    if (!part) return std::nullopt;
    text.parts.push_back(part->text);
  }
  return text;
}

std::shared_ptr<Program> add_linked(cl_program handle, cl_context context, const ProgramText& text,
                                    const std::vector<cl_device_id>& devices) {
  auto program = std::make_shared<Program>(handle, context, text);
  // A library's, if it is one.
  program->compilation = std::make_shared<Compilation>(Compilation{text, text.options, devices, false});
  registry().add(program);
  return program;
}

// A baked program for the whole link, built; null on a miss.
std::shared_ptr<Baked> baked_link(cl_context context, const ProgramText& text, const std::vector<cl_device_id>& devices,
                                  const Result<ContentDigest>& digest) {
  const Result<Loaded> loaded =
      digest ? load_baked(context, builds_for(devices, text.options, digest)) : digest.status();
  const Status status = loaded ? build_baked(*loaded) : loaded.status();
  if (!status) return log_miss(text, digest, status), nullptr;
  log_served(text, digest, *loaded);
  return loaded->baked;
}

bool makes_library(const char* options) { return options && std::strstr(options, "-create-library"); }

}  // namespace

cl_int calls::CompileProgram(cl_program handle, cl_uint count, const cl_device_id* devices, const char* options,
                             cl_uint header_count, const cl_program* headers, const char** names,
                             void(CL_CALLBACK* notify)(cl_program, void*), void* data) {
  return no_throw([&] {
    const auto as_without_layer = [&] {
      return down().clCompileProgram(handle, count, devices, options, header_count, headers, names, notify, data);
    };
    const std::shared_ptr<Program> program = registry().find(handle);
    if (!program || (count == 0) != (devices == nullptr) || (!notify && data)) return as_without_layer();
    // Kernels of the baked program are kernels of this one, which must not be compiled again.
    if (registry().counts(*program).holds > 0) return CL_INVALID_OPERATION;
    std::optional<ProgramText> part = part_of(*program, options, header_count, headers, names);
    if (!part || program->specialized()) {
      log_miss(program->text, digest_of(program->text),
               {Code::not_found, part ? "it has specialization constants" : "a header is not known"});
      set_compilation(*program, nullptr);
      return as_without_layer();
    }

    Result<ProgramText> whole = self_contained(*part);
    const Result<ContentDigest> digest = whole ? digest_of(*whole) : whole.status();
    auto compilation = std::make_shared<Compilation>();
    compilation->options = part->options;
    compilation->text = std::move(whole ? *whole : *part);
    compilation->devices = devices ? std::vector<cl_device_id>(devices, devices + count) : devices_of(program->context);
    compilation->deferred = digest && !compilation->devices.empty() &&
                            std::all_of(compilation->devices.begin(), compilation->devices.end(),
                                        [&](cl_device_id device) { return is_baked_part(*digest, device); });
    const bool deferred = compilation->deferred;
    set_compilation(*program, std::move(compilation));
    if (!deferred) return as_without_layer();
    if (notify) notify(handle, data);
    return CL_SUCCESS;
  });
}

cl_program calls::LinkProgram(cl_context context, cl_uint count, const cl_device_id* devices, const char* options,
                              cl_uint program_count, const cl_program* programs,
                              void(CL_CALLBACK* notify)(cl_program, void*), void* data, cl_int* error_ret) {
  return make(error_ret, [&](cl_int& error) -> cl_program {
    const bool valid = programs && (count == 0) == (devices == nullptr) && (notify || !data);
    std::optional<ProgramText> text;
    if (valid) text = linked_text(program_count, programs, options);
    if (valid && !text) log("a linked program is left to the driver: a part of it was not compiled from a known text");
    const std::vector<cl_device_id> on =
        devices ? std::vector<cl_device_id>(devices, devices + count) : devices_of(context);
    const bool is_program = text && !text->parts.empty() && !makes_library(options);
    const Result<ContentDigest> digest = is_program ? digest_of(*text) : Status(Code::not_found, "");
    if (is_program) {
      if (const std::shared_ptr<Baked> baked = baked_link(context, *text, on, digest)) {
        baked->is_the_applications = true;
        const cl_program handle = baked->program;
        add_linked(handle, context, *text, on)->baked = baked;
        error = CL_SUCCESS;
        if (notify) notify(handle, data);
        return handle;
      }
    }
    for (cl_uint i = 0; valid && i < program_count; ++i) {
      const std::shared_ptr<Program> program = registry().find(programs[i]);
      if (program) error = compile_deferred(*program);
      if (program && error != CL_SUCCESS) return error = CL_LINK_PROGRAM_FAILURE, nullptr;
    }
    const cl_program linked =
        down().clLinkProgram(context, count, devices, options, program_count, programs, notify, data, &error);
    if (linked && text) {
      const std::shared_ptr<Program> program = add_linked(linked, context, *text, on);
      if (is_program) program->built_by_driver = builds_for(on, text->options, digest);
      if (error == CL_SUCCESS && !notify) learn_program(*program);
    }
    if (linked && !text) registry().forget(linked);
    return linked;
  });
}

}  // namespace clbake::layer::serve
