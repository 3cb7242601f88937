#include "bench/peers/peers.hpp"

#include "cli/cli.hpp"

#include <clbake/builder/elements.hpp>
#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/reference.hpp>

#include <cstring>
#include <random>

namespace clbake::tool {
namespace {

template <typename Real>
std::vector<unsigned char> random_bytes(std::size_t count) {
  std::mt19937 random(1);
  std::vector<unsigned char> bytes(count * sizeof(Real));
  for (std::size_t i = 0; i < count; ++i) {
    const Real x = static_cast<Real>(static_cast<double>(random()) / 2147483648.0 - 1.0);
    std::memcpy(bytes.data() + i * sizeof x, &x, sizeof x);
  }
  return bytes;
}

std::vector<float> random_floats(std::size_t count) {
  const std::vector<unsigned char> bytes = random_bytes<float>(count);
  std::vector<float> floats(count);
  std::memcpy(floats.data(), bytes.data(), bytes.size());
  return floats;
}

// A run of numbers of the other types, repeated.
std::vector<unsigned char> random_small(Element element, std::size_t count) {
  constexpr std::size_t run = 65537;
  const std::vector<float> numbers = random_floats(run);
  const bool is_integer = element == Element::int8 || element == Element::uint8 || element == Element::int32;
  const std::size_t bytes = bytes_of(element);
  std::vector<unsigned char> matrix(count * bytes);
  for (std::size_t i = 0; i < std::min(count, run); ++i) {
    builder::encode(element, is_integer ? 100 * numbers[i] : numbers[i], matrix.data() + i * bytes);
  }
  for (std::size_t i = run; i < count; ++i) std::copy_n(&matrix[(i - run) * bytes], bytes, &matrix[i * bytes]);
  return matrix;
}

}  // namespace

std::unique_ptr<Peer> make_peer(const std::string& name) {
  constexpr std::pair<const char*, std::unique_ptr<Peer> (*)()> kPeers[] = {
      {"openblas", make_openblas}, {"onednn", make_onednn},     {"clblast", [] { return make_clblast({}); }},
      {"cublas", make_cublas},     {"cublaslt", make_cublaslt}, {"cublaslt-fast", make_cublaslt_fast}};
  for (const auto& [known, make] : kPeers) {
    if (name == known) return make();
  }
  throw UsageError("--peer: '" + name + "' is none of openblas, onednn, clblast, cublas, cublaslt and cublaslt-fast");
}

std::vector<unsigned char> random_matrix(Element element, std::size_t count) {
  switch (element) {
    case Element::half: return random_bytes<builder::Half>(count);
    case Element::bfloat16: return random_bytes<builder::Bfloat16>(count);
    case Element::single: return random_bytes<float>(count);
    case Element::real_double: return random_bytes<double>(count);
    case Element::complex_single: return random_bytes<float>(2 * count);
    case Element::complex_double: return random_bytes<double>(2 * count);
    case Element::int8:
    case Element::uint8:
    case Element::int32:
    case Element::e4m3:
    case Element::e5m2:
    case Element::q4:
    case Element::q8: break;
  }
  return random_small(element, count);
}

void check_single(Peer& peer, const Problem& problem) {
  peer.run();
  const std::vector<float> c = peer.single_result();
  const Extents e = extents(problem);
  const std::vector<float> a = random_floats(e.a), b = random_floats(e.b), bias = random_floats(problem.n);
  const std::size_t apart = problem.m * problem.n * problem.k / builder::kPatientCheck + 1;
  std::vector<std::size_t> rows = {problem.m - 1};
  for (std::size_t row = 0; row + 1 < problem.m; row += apart) rows.push_back(row);
  const builder::HostOperands<float> operands{problem, 1.0F, 0.0F, a, 0, b, 0, c, 0, nullptr, 0, &bias, 0};
  if (builder::max_error(operands, c, rows) <= builder::tolerance(problem)) return;
  throw Failure(std::string(peer.name()) + ": wrong result");
}

}  // namespace clbake::tool
