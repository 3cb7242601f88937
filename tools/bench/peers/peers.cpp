#include "bench/peers/peers.hpp"

#include "cli/cli.hpp"

#include <clbake/builder/elements.hpp>
#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/reference.hpp>

#include <algorithm>
#include <cmath>
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

// A run of numbers of the other types, repeated.
std::vector<unsigned char> random_small(Element element, std::size_t count) {
  constexpr std::size_t run = 65537;
  const std::vector<unsigned char> numbers = random_bytes<float>(run);
  const bool is_integer = element == Element::int8 || element == Element::uint8 || element == Element::int32;
  const std::size_t bytes = bytes_of(element);
  std::vector<unsigned char> matrix(count * bytes);
  for (std::size_t i = 0; i < std::min(count, run); ++i) {
    const double number = builder::decode(Element::single, &numbers[i * sizeof(float)]);
    builder::encode(element, is_integer ? 100 * number : number, matrix.data() + i * bytes);
  }
  for (std::size_t i = run; i < count; ++i) std::copy_n(&matrix[(i - run) * bytes], bytes, &matrix[i * bytes]);
  return matrix;
}

}  // namespace

std::unique_ptr<Peer> make_peer(const std::string& name) {
  constexpr std::pair<const char*, std::unique_ptr<Peer> (*)()> kPeers[] = {
      {"onednn", make_onednn},
      {"clblast", [] { return make_clblast({}); }},
      {"cublas", make_cublas},
      {"cublaslt", make_cublaslt},
      {"cublaslt-fast", make_cublaslt_fast}};
  for (const auto& [known, make] : kPeers) {
    if (name == known) return make();
  }
  if (std::unique_ptr<Peer> peer = make_cblas(name)) return peer;
  throw UsageError("--peer: '" + name +
                   "' is none of openblas, blis, mkl, onednn, clblast, cublas, cublaslt and cublaslt-fast; "
                   "the first three may have =PATH");
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

void check_product(Peer& peer, const Problem& p) {
  peer.run();
  const Element of_a = element_a(p.precision), of_b = element_b(p.precision), of_c = element_c(p.precision);
  if (is_complex(p.precision) || bytes_of(of_c) == 1) return;
  const auto number = [](const std::vector<unsigned char>& matrix, Element element, std::size_t i) {
    return builder::decode(element, &matrix[i * bytes_of(element)]);
  };
  const Extents e = extents(p);
  const std::vector<unsigned char> a = random_matrix(of_a, e.a), b = random_matrix(of_b, e.b), c = peer.result(),
                                   bias = random_matrix(Element::single, p.n);
  const std::size_t longest = std::max(p.m, p.n);
  for (std::size_t i = 0; i < longest; i += longest * p.k / builder::kPatientCheck + 1) {
    const std::size_t row = p.m - 1 - i % p.m, column = (p.n - i % p.n) % p.n;  // off the diagonal
    double sum = 0, terms = 0;
    const auto add = [&](double x) {
      sum += x;
      terms += std::abs(x);
    };
    for (std::size_t q = 0; q < p.k; ++q) {
      add(number(a, of_a, p.trans_a ? q * p.lda + row : row * p.lda + q) *
          number(b, of_b, p.trans_b ? column * p.ldb + q : q * p.ldb + column));
    }
    if (p.epilogue.bias != Bias::none) add(number(bias, Element::single, column));
    const double expected = builder::activated(p.epilogue, sum), found = number(c, of_c, row * p.ldc + column);
    const double least = of_c == Element::half ? 0x1p-14 : 0;
    const double allowed = builder::tolerance(p, true) * (std::max(terms, std::abs(expected)) + least);
    if (of_c == Element::int32 ? found != expected : !(std::abs(found - expected) <= allowed)) {
      throw Failure(std::string(peer.name()) + ": wrong result");
    }
  }
}

}  // namespace clbake::tool
