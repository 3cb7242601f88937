#include "handmade.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace clbake::builder::test {
namespace {

constexpr char kSource[] = R"cl(
#ifdef SYNTAX_ERROR
this is no OpenCL C
#endif
#ifdef NO_KERNEL
#define gemm another_name
#endif

__kernel __attribute__((reqd_work_group_size(8, 8, 1)))
void gemm(int m, int n, int k, float alpha, __global const float* a, ulong a_offset, int lda,
          __global const float* b, ulong b_offset, int ldb, float beta, __global float* c, ulong c_offset, int ldc,
          ulong a_stride, ulong b_stride, ulong c_stride, __global const ulong* offsets, int first_product) {
  const int j = get_global_id(0);
  const int i = get_global_id(1);
#ifdef HANGS
  volatile int forever = 1;
  while (forever) {
  }
#endif
#ifdef CRASHES
  *(volatile __global int*)(ulong)(8 * get_global_size(0)) = 1;
#endif
  if (i >= m || j >= n) return;
#ifdef IGNORES_OFFSET
  a_offset = 0;
#endif
  a += a_offset + (ulong)i * lda;
  b += b_offset + j;
  c += c_offset + (ulong)i * ldc + j;

  int depth = k;
#ifdef WRONG_LAST_PRODUCT
  depth -= 1;
#endif
#ifdef WRONG_CORNER
  if (i == m - 1 && j == n - 1) depth -= 1;
#endif
  float sum = 0;
  for (int p = 0; p < depth; ++p) sum += a[p] * b[(ulong)p * ldb];
#ifdef READS_BESIDE_A
  if (k > 0) sum += 0 * a[k];
#endif
#ifdef ALWAYS_ZERO
  sum = 0;
#endif
#ifdef READS_C
  c[0] = alpha * sum + beta * c[0];
#else
  c[0] = alpha * sum + (beta == 0 ? 0 : beta * c[0]);
#endif
#ifdef WRITES_BESIDE
  if (j == n - 1) c[1] = 0;
#endif
#ifdef WRITES_BEHIND
  if (i == m - 1 && j == n - 1) c[9] = 0;
#endif
}
)cl";

[[noreturn]] void skip(const std::string& reason) {
  std::printf("skipped: %s\n", reason.c_str());
  std::fflush(stdout);
  std::_Exit(77);
}

Device choose_device() {
  static const Result<ScratchDirectory> cache = ScratchDirectory::create();
  if (!cache) throw std::runtime_error(cache.status().message());
  for (const auto& [name, value] : driver_cache_environment(cache->path())) setenv(name.c_str(), value.c_str(), 1);
  const Result<std::vector<Device>> all = list_devices();
  if (all.status().code() == Code::no_device) skip(all.status().message());
  if (!all) throw std::runtime_error(all.status().message());
  const Result<std::vector<Device>> pocl = select_devices(*all, "Portable Computing Language");
  return pocl ? pocl->front() : all->front();
}

}  // namespace

const Device& device() {
  static const Device chosen = choose_device();
  return chosen;
}

bool on_pocl() { return device().target.platform_name == "Portable Computing Language"; }

Job handmade_job(const std::string& defect) {
  Job job;
  job.target = device().target;
  job.source = {"handmade.cl", kSource};
  job.variant.name = defect.empty() ? "handmade" : "handmade-" + defect;
  job.variant.family = "handmade";
  job.variant.contract = kernels::contract_version;
  job.variant.build_options = defect.empty() ? "" : "-D" + defect;
  job.variant.launches = {{cache::Role::gemm, "gemm", {8, 8, 1}, 8, 8}};
  return job;
}

}  // namespace clbake::builder::test
