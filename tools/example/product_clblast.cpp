// CLBlast, which compiles its kernels when they are first used.
#include "product.hpp"

#include <clblast_c.h>

const char* const library_name = "CLBlast";

std::string start_library(cl_context, cl_device_id) { return ""; }

void end_library() {}

std::string enqueue(cl_command_queue queue, const Product& p) {
  const CLBlastStatusCode status =
      CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeYes, p.m, p.n, p.k, p.alpha, p.a, 0, p.k,
                   p.b, 0, p.k, 1.0F, p.c, 0, p.n, &queue, nullptr);
  return status == CLBlastSuccess ? "" : "CLBlast's error " + std::to_string(status);
}
