// clbake, with the bundle inside of the program (clbake_add_bundle in CMakeLists.txt).
#include "product.hpp"

#include <gemm_clbake.h>
#include <clbake/clbake.hpp>

#include <optional>
#include <utility>

static std::optional<clbake::Library> library;

const char* const library_name = "clbake";

std::string start_library(cl_context context, cl_device_id device) {
  const clbake::Result<clbake::Bundle> bundle = clbake::Bundle::from_memory({gemm_clbake, gemm_clbake_size});
  if (!bundle) return bundle.status().message();
  clbake::Result<clbake::Library> made = clbake::Library::create(context, device, {*bundle});
  if (!made) return made.status().message();
  library = std::move(*made);
  return "";
}

void end_library() { library.reset(); }

std::string enqueue(cl_command_queue queue, const Product& p) {
  const clbake::Problem problem =
      clbake::make_problem({clbake::Precision::single_precision, false, true}, p.m, p.n, p.k);
  const clbake::Status status = library->gemm(queue, problem, p.alpha, {p.a}, {p.b}, 1.0, {p.c});
  return status ? "" : status.message();
}
