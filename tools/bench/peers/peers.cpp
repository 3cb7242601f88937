#include "bench/peers/peers.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/reference.hpp>

#include <complex>
#include <random>

namespace clbake::tool {

Result<std::unique_ptr<Peer>> make_peer(const std::string& name, std::uint32_t threads,
                                        const std::vector<ClblastParameters>& tuned) {
  if (name == "openblas") return make_openblas(threads);
  if (name == "clblast") return make_clblast(tuned);
  if (name == "cublas") return make_cublas();
  if (name == "cublaslt") return make_cublaslt();
  if (name == "launch") return make_launch();
  return {Code::invalid_argument, "'" + name + "' is none of openblas, clblast, cublas, cublaslt and launch"};
}

template <typename T>
std::vector<T> random_elements(std::size_t count) {
  std::mt19937 random(1);
  const auto draw = [&] { return static_cast<double>(random()) / 2147483648.0 - 1.0; };
  std::vector<T> data(count);
  for (T& x : data) {
    if constexpr (builder::is_complex_type<T>) {
      x.real(static_cast<typename T::value_type>(draw()));
      x.imag(static_cast<typename T::value_type>(draw()));
    } else {
      x = static_cast<T>(draw());
    }
  }
  return data;
}

template std::vector<float> random_elements(std::size_t count);
template std::vector<double> random_elements(std::size_t count);
template std::vector<std::complex<float>> random_elements(std::size_t count);
template std::vector<std::complex<double>> random_elements(std::size_t count);

Status check_single(const Peer& peer, const Problem& problem) {
  const Result<std::vector<float>> c = peer.single_result();
  if (!c) return c.status();
  const Extents e = extents(problem);
  const std::vector<float> a = random_elements<float>(e.a);
  const std::vector<float> b = random_elements<float>(e.b);
  const std::size_t apart = problem.m * problem.n * problem.k / builder::kPatientCheck + 1;
  std::vector<std::size_t> rows = {problem.m - 1};
  for (std::size_t row = 0; row + 1 < problem.m; row += apart) rows.push_back(row);
  const std::vector<float> bias = random_elements<float>(problem.n);
  const builder::HostOperands<float> operands{problem, 1.0F, 0.0F, a, 0, b, 0, *c, 0, nullptr, 0, &bias, 0};
  if (builder::max_error(operands, *c, rows) <= builder::tolerance(problem)) return {};
  return {Code::wrong_result, std::string(peer.name()) + ": wrong result"};
}

}  // namespace clbake::tool
