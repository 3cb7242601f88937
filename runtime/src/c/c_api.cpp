// The C API on top of the C++ one: checks pointers, translates structs, copies texts.
#include "c/c_api.hpp"

#include <clbake/program_text.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

using clbake::Argument;
using clbake::Code;
using clbake::Result;
using clbake::Status;
using namespace clbake::c;

struct clbake_program {
  clbake::LoadedProgram program;
};

namespace {

// The i-th text of a list, up to its zero unless its size is given.
std::string text_in(const char* const* list, const size_t* sizes, std::size_t i, const char* name) {
  const char* const text = given(given(list, name)[i], name);
  return sizes ? std::string(text, sizes[i]) : std::string(text);
}

clbake::ProgramText text_of(const clbake_program_text& from, std::size_t deep = 0) {
  check_size(from.struct_size, sizeof from, "text");
  if (deep > 16) throw Refused{{Argument::other, "text.parts: more than 16 deep"}};
  clbake::ProgramText text;
  for (std::size_t i = 0; i < from.source_count; ++i) {
    text.sources.push_back(text_in(from.sources, from.source_sizes, i, "text.sources"));
  }
  if (from.il_size > 0) text.il.assign(static_cast<const char*>(given(from.il, "text.il")), from.il_size);
  if (from.options) text.options = from.options;
  for (std::size_t i = 0; i < from.header_count; ++i) {
    text.headers.push_back({text_in(from.header_names, nullptr, i, "text.header_names"),
                            text_in(from.header_texts, nullptr, i, "text.header_texts")});
  }
  for (std::size_t i = 0; i < from.part_count; ++i) {
    text.parts.push_back(text_of(*given(given(from.parts, "text.parts")[i], "text.parts"), deep + 1));
  }
  return text;
}

clbake::Epilogue epilogue_of(const clbake_problem& from) {
  clbake::Epilogue e;
  e.bias = static_cast<clbake::Bias>(from.bias);
  e.bias_stride = from.bias_stride;
  e.activation = static_cast<clbake::Activation>(from.activation);
  e.low = from.low;
  e.high = from.high;
  e.has_d = from.has_d != 0;
  e.ldd = from.ldd;
  e.d_stride = from.d_stride;
  return e;
}

// Throws Refused unless the value is from `first` to `last`: in C an enumerator may be any number.
template <typename Enum>
void check_enumerator(const Enum& value, int first, int last, Argument argument, const std::string& message) {
  const int n = number(value);
  if (n < first || n > last) throw Refused{{argument, message}};
}

}  // namespace

clbake::Problem clbake::c::problem_of(const clbake_problem* problem) {
  const clbake_problem& from = *given(problem, "problem");
  check_size(from.struct_size, sizeof from, "problem");
  check_enumerator(from.layout, CLBAKE_ROW_MAJOR, CLBAKE_COLUMN_MAJOR, Argument::layout,
                   "layout is neither row-major nor column-major");
  check_enumerator(from.bias, CLBAKE_BIAS_NONE, CLBAKE_BIAS_PER_COLUMN, Argument::bias,
                   "bias is neither none, per row nor per column");
  check_enumerator(from.activation, CLBAKE_ACTIVATION_NONE, CLBAKE_GELU_TANH, Argument::activation,
                   "activation is none that is known");
  if (from.offsets && from.batch > INT32_MAX) throw Refused{{Argument::batch, "batch is more than 2^31 - 1"}};
  clbake::Problem p;
  p.precision = clbake::Precision{static_cast<std::uint32_t>(from.precision)};
  p.layout = from.layout == CLBAKE_ROW_MAJOR ? clbake::Layout::row_major : clbake::Layout::column_major;
  p.trans_a = from.trans_a != 0;
  p.trans_b = from.trans_b != 0;
  p.conj_a = from.conj_a != 0;
  p.conj_b = from.conj_b != 0;
  p.m = from.m;
  p.n = from.n;
  p.k = from.k;
  p.lda = from.lda;
  p.ldb = from.ldb;
  p.ldc = from.ldc;
  p.batch = from.batch;
  p.a_stride = from.a_stride;
  p.b_stride = from.b_stride;
  p.c_stride = from.c_stride;
  if (from.offsets) p.offsets.reserve(from.batch);
  for (std::size_t i = 0; from.offsets && i < from.batch; ++i) {
    p.offsets.push_back({from.offsets[i].a, from.offsets[i].b, from.offsets[i].c});
  }
  p.epilogue = epilogue_of(from);
  p.quantization = {from.row_scales != 0,  from.column_scales != 0,
                    from.row_scale_stride, from.column_scale_stride,
                    from.zero_a,           from.zero_b,
                    from.zero_c,           from.weight_group,
                    from.weight_zeros != 0};
  return p;
}

namespace {

// Calls the C log for the C++ library.
void pass_on(clbake::LogLevel level, const char* message, void* data) {
  const auto& c = *static_cast<const CLog*>(data);
  c.log(level == clbake::LogLevel::info ? CLBAKE_INFO : CLBAKE_WARNING, message, c.data);
}

clbake::Options options_of(const clbake_options* from) {
  clbake::Options options;
  if (!from) return options;
  check_size(from->struct_size, sizeof *from, "options");
  switch (number(from->on_miss)) {
    case CLBAKE_COMPILE: options.on_miss = clbake::OnMiss::compile; break;
    case CLBAKE_FAIL: options.on_miss = clbake::OnMiss::fail; break;
    case CLBAKE_FALLBACK: options.on_miss = clbake::OnMiss::fallback; break;
    default: throw Refused{{Argument::options, "on_miss is none of the policies"}};
  }
  if (from->overlay) options.overlay = from->overlay->store;
  if (from->trust) options.trust = from->trust->trust;
  options.newer_driver = from->newer_driver != 0;
  options.only_build = from->only_build != 0;
  options.record = from->record != 0;
  return options;
}

}  // namespace

Status clbake::c::copy_explanation(const Result<clbake::Explanation>& result, clbake_explanation& to) {
  if (!result) return result.status();
  const clbake::Explanation& from = *result;
  to.origin = static_cast<clbake_origin>(from.origin);
  to.miss = static_cast<clbake_code>(from.miss);
  to.loaded = from.loaded ? 1 : 0;
  to.bundle = from.bundle;
  copy_text(to.variant, from.variant);
  copy_text(to.waits_for, from.waits_for);
  copy_text(to.baked_for, from.baked_for);
  copy_text(to.reason, from.reason);
  copy_text(to.miss_message, from.miss_message);
  to.create_us = from.create_us;
  to.build_us = from.build_us;
  to.kernel_us = from.kernel_us;
  return {};
}

clbake_code clbake_bundle_open(const char* path, clbake_bundle** bundle, clbake_error* error) {
  return make(error, bundle, "bundle", [&] { return clbake::Bundle::open(given(path, "path")); });
}

clbake_code clbake_bundle_from_memory(const void* bytes, std::size_t size, clbake_bundle** bundle,
                                      clbake_error* error) {
  return make(error, bundle, "bundle", [&] { return clbake::Bundle::from_memory(view_of(bytes, size)); });
}

clbake_code clbake_bundle_copy_memory(const void* bytes, std::size_t size, clbake_bundle** bundle,
                                      clbake_error* error) {
  return make(error, bundle, "bundle", [&] { return clbake::Bundle::copy_of(view_of(bytes, size)); });
}

void clbake_bundle_release(clbake_bundle* bundle) { delete bundle; }

clbake_code clbake_library_create(cl_context context, cl_device_id device, clbake_bundle* const* bundles,
                                  std::size_t count, const clbake_options* from, clbake_library** library,
                                  clbake_error* error) {
  return run(error, [&]() -> Status {
    clbake_library** const to = output(library, "library");
    if (count > 0) given(bundles, "bundles", Argument::bundle);
    std::vector<clbake::Bundle> list;
    for (std::size_t i = 0; i < count; ++i) {
      list.push_back(given(bundles[i], "a bundle of the list", Argument::bundle)->bundle);
    }
    clbake::Options options = options_of(from);
    auto log = std::make_unique<CLog>();
    if (from && from->log) {
      *log = {from->log, from->log_data};
      options.log = pass_on;
      options.log_data = log.get();
    }
    Result<clbake::Library> made = clbake::Library::create(context, device, list, options);
    if (!made) return made.status();
    *to = new clbake_library{std::move(log), std::move(*made)};
    return {};
  });
}

clbake_library* clbake_library_retain(clbake_library* library) {
  if (library) library->owners.fetch_add(1, std::memory_order_relaxed);
  return library;
}

void clbake_library_release(clbake_library* library) {
  if (library && library->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete library;
}

clbake_code clbake_library_gemm(clbake_library* library, cl_command_queue queue, const clbake_problem* problem,
                                double alpha, cl_mem a, std::size_t a_offset, cl_mem b, std::size_t b_offset,
                                double beta, cl_mem c, std::size_t c_offset, const clbake_epilogue_buffers* more,
                                cl_uint wait_count, const cl_event* wait_list, cl_event* event, clbake_error* error) {
  const clbake_scalars scalars = {alpha, 0, beta, 0};
  return clbake_library_gemm_scaled(library, queue, problem, &scalars, 1, a, a_offset, b, b_offset, c, c_offset, more,
                                    wait_count, wait_list, event, error);
}

clbake_code clbake_library_gemm_scaled(clbake_library* library, cl_command_queue queue, const clbake_problem* problem,
                                       const clbake_scalars* scalars, std::size_t count, cl_mem a, std::size_t a_offset,
                                       cl_mem b, std::size_t b_offset, cl_mem c, std::size_t c_offset,
                                       const clbake_epilogue_buffers* more, cl_uint wait_count,
                                       const cl_event* wait_list, cl_event* event, clbake_error* error) {
  return run(error, [&] {
    const clbake::Library& from = library_of(library);
    const clbake::Problem p = problem_of(problem);
    return with_scalars(
        scalars, count,
        [&](const clbake::Scalars& s) {
          return from.gemm(queue, p, s.alpha, {a, a_offset}, {b, b_offset}, s.beta, {c, c_offset}, buffers_of(more),
                           wait_count, wait_list, event);
        },
        [&](const std::vector<clbake::Scalars>& list) {
          return from.gemm(queue, p, list, {a, a_offset}, {b, b_offset}, {c, c_offset}, buffers_of(more), wait_count,
                           wait_list, event);
        });
  });
}

clbake_code clbake_library_warm(clbake_library* library, const clbake_problem* problems, std::size_t count,
                                clbake_progress progress, void* data, clbake_error* error) {
  return run(error, [&] {
    const clbake::Library& from = library_of(library);
    const std::vector<clbake::Problem> list = problems_of(problems, count, "problems");
    std::pair<clbake_progress, void*> receiver = {progress, data};
    const auto forward = [](std::size_t done, std::size_t total, double seconds_left, void* to) {
      const auto& [call, caller_data] = *static_cast<const decltype(receiver)*>(to);
      return call(done, total, seconds_left, caller_data) != 0;
    };
    return from.warm(list, progress ? static_cast<clbake::Progress>(forward) : nullptr, &receiver);
  });
}

clbake_code clbake_library_explain(clbake_library* library, const clbake_problem* problem,
                                   clbake_explanation* explanation, clbake_error* error) {
  return run(error, [&] {
    const clbake::Library& from = library_of(library);
    clbake_explanation& to = sized_output(explanation, "explanation");
    return copy_explanation(from.explain(problem_of(problem)), to);
  });
}

int clbake_library_contains(clbake_library* library, const clbake_problem* problem) {
  clbake_explanation e;
  clbake_explanation_init(&e);
  const bool explained = clbake_library_explain(library, problem, &e, nullptr) == CLBAKE_OK;
  return explained && e.origin == CLBAKE_NATIVE && e.miss == CLBAKE_OK ? 1 : 0;
}

clbake_code clbake_library_workspace_bytes(clbake_library* library, const clbake_problem* problem, std::size_t* bytes,
                                           clbake_error* error) {
  return run(error, [&] {
    const clbake::Library& from = library_of(library);
    std::size_t* const to = output(bytes, "bytes");
    const Result<std::size_t> size = from.workspace_bytes(problem_of(problem));
    if (size) *to = *size;
    return size.status();
  });
}

clbake_code clbake_library_counters(clbake_library* library, clbake_counters* counters, clbake_error* error) {
  return run(error, [&]() -> Status {
    const clbake::Counters c = library_of(library).counters();
    clbake_counters& to = sized_output(counters, "counters");
    to.loaded = c.loaded;
    to.native = c.native;
    to.portable = c.portable;
    to.overlay = c.overlay;
    to.source = c.source;
    to.fallback = c.fallback;
    to.failed = c.failed;
    to.cached = c.cached;
    to.waits = c.waits;
    to.create_us = c.create_us;
    to.build_us = c.build_us;
    to.kernel_us = c.kernel_us;
    std::copy(c.misses.begin(), c.misses.end(), to.misses);
    return {};
  });
}

clbake_code clbake_library_write_recording(clbake_library* library, const char* path, clbake_error* error) {
  return run(error, [&] { return library_of(library).write_recording(given(path, "path")); });
}

void clbake_library_finish(clbake_library* library) {
  if (library) library->library.finish();
}

clbake_code clbake_library_program(clbake_library* library, const char* name, clbake_program** program,
                                   clbake_error* error) {
  return run(error, [&] {
    const clbake::Library& from = library_of(library);
    clbake_program** const to = output(program, "program");
    clbake::enable_encoded_programs();
    return hand_over(from.program(given(name, "name")), to);
  });
}

clbake_code clbake_library_program_text(clbake_library* library, const clbake_program_text* text,
                                        clbake_program** program, clbake_error* error) {
  return run(error, [&] {
    const clbake::Library& from = library_of(library);
    const clbake::ProgramText converted = text_of(*given(text, "text"));
    clbake_program** const to = output(program, "program");
    return hand_over(from.program(converted), to);
  });
}

clbake_code clbake_library_explain_program_text(clbake_library* library, const clbake_program_text* text,
                                                clbake_explanation* explanation, clbake_error* error) {
  return run(error, [&] {
    const clbake::Library& from = library_of(library);
    const clbake::ProgramText converted = text_of(*given(text, "text"));
    clbake_explanation& to = sized_output(explanation, "explanation");
    return copy_explanation(from.explain_program(converted), to);
  });
}

clbake_code clbake_library_explain_program(clbake_library* library, const char* name, clbake_explanation* explanation,
                                           clbake_error* error) {
  return run(error, [&] {
    const clbake::Library& from = library_of(library);
    clbake_explanation& to = sized_output(explanation, "explanation");
    return copy_explanation(from.explain_program(given(name, "name")), to);
  });
}

void clbake_program_release(clbake_program* program) { delete program; }

cl_program clbake_program_get(const clbake_program* program) { return program ? program->program.get() : nullptr; }

clbake_code clbake_program_explanation(const clbake_program* program, clbake_explanation* explanation,
                                       clbake_error* error) {
  return run(error, [&] {
    const clbake::Explanation& e = given(program, "program")->program.explanation();
    return copy_explanation(e, sized_output(explanation, "explanation"));
  });
}

clbake_code clbake_preload(cl_platform_id platform, clbake_error* error) {
  return run(error, [&] { return clbake::preload(platform); });
}

void clbake_overlay_release(clbake_overlay* overlay) { delete overlay; }

int clbake_version(void) { return clbake::version(); }

const char* clbake_code_name(clbake_code code) { return clbake::name(static_cast<Code>(code)).data(); }
