// Helpers of the functions of the C header.
#pragma once

#include <clbake/clbake.h>
#include <clbake/clbake.hpp>
#include <clbake/exceptions_to_status.hpp>
#include <clbake/trust.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct clbake_bundle {
  clbake::Bundle bundle;
};

struct clbake_overlay {
  std::shared_ptr<clbake::OverlayStore> store;
};

struct clbake_trust {
  std::shared_ptr<const clbake::Trust> trust;
};

namespace clbake::c {
struct CLog {
  clbake_log log = nullptr;
  void* data = nullptr;
};
}  // namespace clbake::c

struct clbake_library {
  std::unique_ptr<clbake::c::CLog> log;  // outlives the library's thread, which may use it
  clbake::Library library;
  std::atomic<std::size_t> owners{1};
};

namespace clbake::c {

// Copies the text, cut where it is longer.
template <std::size_t size>
void copy_text(char (&to)[size], const std::string& from) {
  const std::size_t length = std::min(from.size(), size - 1);
  std::memcpy(to, from.data(), length);
  to[length] = '\0';
}

inline clbake_code report(const Status& status, clbake_error* error) {
  const auto code = static_cast<clbake_code>(status.code());
  if (status.ok() || !error) return code;
  error->code = code;
  error->argument = static_cast<clbake_argument>(status.argument());
  error->opencl_code = status.opencl_code();
  copy_text(error->message, status.message().empty() ? std::string(name(status.code())) : status.message());
  return code;
}

// The problem; throws Refused for one that no enumeration has.
clbake::Problem problem_of(const clbake_problem* problem);

// Thrown by the checks below and caught by `run`.
struct Refused {
  Status status;
};

// Runs `work` (-> Status) and catches its exceptions.
template <typename Work>
clbake_code run(clbake_error* error, const Work& work) {
  const auto checked = [&]() -> Status {
    try {
      return work();
    } catch (const Refused& refused) {
      return refused.status;
    }
  };
  return report(exceptions_to_status(checked), error);
}

// Returns a pointer of the caller's; throws Refused for null.
template <typename T>
T* given(T* pointer, const char* name, Argument argument = Argument::other) {
  if (!pointer) throw Refused{{argument, std::string(name) + " is null"}};
  return pointer;
}

inline cache::ByteView view_of(const void* bytes, std::size_t size) {
  return {given(static_cast<const std::uint8_t*>(bytes), "bytes"), size};
}

// Gives the result to the caller in a new object, or returns its failure.
template <typename Object, typename T>
Status hand_over(Result<T> result, Object** to) {
  if (!result) return result.status();
  *to = new Object{std::move(*result)};
  return {};
}

// Gives the caller a new object of what `work` returns (a Result), once the place for it is known to be there.
template <typename Object, typename Work>
clbake_code make(clbake_error* error, Object** object, const char* name, const Work& work) {
  return run(error, [&] {
    given(object, name, Argument::output);
    return hand_over(work(), object);
  });
}

// The number in an enum of a caller in C, who may have written any; C++ does not define reading an unlisted one as the
// enum.
template <typename Enum>
int number(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(int));
  int n = 0;
  std::memcpy(&n, &value, sizeof n);
  return n;
}

// Throws Refused for another size of a caller's struct. `at_least`: for one that the library writes to; a larger one,
// of a newer header, begins with the fields that this library knows.
inline void check_size(std::size_t size, std::size_t known, const char* name, bool at_least = false) {
  if (size == known || (at_least && size > known)) return;
  throw Refused{{Argument::struct_size, std::string(name) + ".struct_size is " + std::to_string(size) + ", not " +
                                            std::to_string(known) +
                                            ": call its _init function, with headers of this version"}};
}

inline Library& library_of(clbake_library* library) { return given(library, "library", Argument::library)->library; }

// A place for the caller's new object or result.
template <typename T>
T* output(T* to, const char* name) {
  return given(to, name, Argument::output);
}

// A struct of the caller's that the library fills in.
template <typename Struct>
Struct& sized_output(Struct* to, const char* name) {
  check_size(output(to, name)->struct_size, sizeof *to, name, true);
  return *to;
}

inline EpilogueBuffers buffers_of(const clbake_epilogue_buffers* from) {
  if (!from) return {};
  return {{from->bias, from->bias_offset},
          {from->d, from->d_offset},
          {from->row_scales, from->row_scales_offset},
          {from->column_scales, from->column_scales_offset}};
}

inline Scalars scalars_of(const clbake_scalars& from) {
  return {{from.alpha, from.alpha_imaginary}, {from.beta, from.beta_imaginary}};
}

// Calls one(alpha and beta of all products), or each(a list with one for each product).
template <typename One, typename Each>
Status with_scalars(const clbake_scalars* scalars, std::size_t count, const One& one, const Each& each) {
  if (count > 0) given(scalars, "scalars", Argument::scalars);
  if (count == 1) return one(scalars_of(*scalars));
  std::vector<Scalars> list;
  list.reserve(count);
  for (std::size_t i = 0; i < count; ++i) list.push_back(scalars_of(scalars[i]));
  return each(list);
}

inline std::vector<Problem> problems_of(const clbake_problem* problems, std::size_t count, const char* name) {
  if (count > 0) given(problems, name);
  std::vector<Problem> list;
  for (std::size_t i = 0; i < count; ++i) list.push_back(problem_of(&problems[i]));
  return list;
}

// Copies the texts, cut where they are longer.
Status copy_explanation(const Result<Explanation>& result, clbake_explanation& to);

}  // namespace clbake::c
