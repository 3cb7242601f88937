#include "reference_kernel.hpp"

#include "test_device.hpp"

#include <map>
#include <stdexcept>

// by tools/cmake/EmbedText.cmake.
namespace clbake::tests::embedded {
extern const char reference_cl[];
}

namespace clbake::tests {
namespace {

constexpr std::uint32_t kTile = 8;  // work-items and elements of C, of the attribute in reference.cl

// Inserts `text` before the only occurrence of `place`, or replaces that.
struct Edit {
  const char* place;
  const char* text;
  bool replaces = false;
};

const std::map<std::string, Edit> kDefects = {
    {"WRONG_LAST_PRODUCT", {"p < (ulong)depth", "p + 1 < (ulong)depth", true}},
    {"WRONG_CORNER", {"p < (ulong)depth", "p + (i == (ulong)m - 1 && j == (ulong)n - 1 ? 1 : 0) < (ulong)depth", true}},
    {"WRITES_BESIDE", {"STORE(x", "if (j == (ulong)n - 1) c[1] = 0;\n  "}},
    {"WRITES_BEHIND", {"STORE(x", "if (i == (ulong)m - 1 && j == (ulong)n - 1) c[9] = 0;\n  "}},
    {"READS_C", {"beta == 0 ? 0 : beta * LOAD(", "beta * LOAD(", true}},
    {"READS_BESIDE_A", {"const real c_ij", "if (k > 0) sum += 0 * a[k];\n  "}},
    {"ALWAYS_ZERO", {"const real c_ij", "sum = 0;\n  "}},
    {"IGNORES_OFFSET", {"a += numbers.a_offset + ", "a += ", true}},
    {"HANGS", {"const ulong j", "volatile int forever = 1;\n  while (forever) {\n  }\n  "}},
    {"CRASHES", {"const ulong j", "*(volatile __global int*)(ulong)(8 * get_global_size(0)) = 1;\n  "}},
    {"NO_KERNEL", {"void clbake_gemm(", "void another_name(", true}},
    {"SYNTAX_ERROR", {"__kernel", "this is not OpenCL C\n"}},
};

std::string edited(std::string source, const Edit& edit) {
  const std::size_t at = source.find(edit.place);
  if (at == std::string::npos || source.find(edit.place, at + 1) != std::string::npos) {
    throw std::logic_error(std::string("reference.cl must hold '") + edit.place + "' once");
  }
  return source.replace(at, edit.replaces ? std::string(edit.place).size() : 0, edit.text);
}

}  // namespace

kernels::Kernel reference_kernel(Precision precision, bool trans_a, bool trans_b) {
  kernels::Kernel kernel;
  kernel.name = "reference";
  kernel.source_name = "reference.cl";
  kernel.source = embedded::reference_cl;
  kernel.build_options = "-cl-std=CL1.2 -DPRECISION=" + std::to_string(8 * element_bytes(precision)) +
                         (precision == Precision::bfloat16 ? " -DBFLOAT16=1" : "") +
                         " -DTRANS_A=" + (trans_a ? "1" : "0") + " -DTRANS_B=" + (trans_b ? "1" : "0");
  kernel.launches = {{kernels::Role::gemm, "clbake_gemm", {kTile, kTile, 1}, kTile, kTile}};
  return kernel;
}

builder::Job reference_job(const std::string& defect) {
  builder::Job job =
      builder::make_job(device().target, reference_kernel(Precision::single_precision, false, false), {});
  job.variant.family = "reference";
  if (!defect.empty()) {
    job.source.text = edited(job.source.text, kDefects.at(defect));
    job.variant.name += "-" + defect;
  }
  return job;
}

}  // namespace clbake::tests
