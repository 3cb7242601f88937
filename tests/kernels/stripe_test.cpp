// The stripe family, compiled from source: presets, packed layouts, local memory, images, split-k and half precision,
// against the host's reference at the edges of tiles.
#include "gemm_checks.hpp"
#include "selected_devices.hpp"

#include <clbake/builder/jobs.hpp>
#include <clbake/cache/writer.hpp>
#include <clbake/kernels/presets.hpp>

#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

using namespace clbake;
using namespace clbake::builder;
using namespace clbake::tests;
using kernels::Params;

namespace {

Result<std::vector<Device>>& devices() {
  static Result<std::vector<Device>> found = selected_devices();
  return found;
}

const Device& device() { return devices()->front(); }

// One for all variants, because making a context takes longer than running most of them. Owned by main: some drivers
// crash when called from destructors of static objects.
const Session* the_session = nullptr;
const Session& session() { return *the_session; }

struct Prepared {
  std::shared_ptr<const cache::Bytes> bytes;  // referred to by the bundle
  std::string variant;
  Surroundings where;
};

std::optional<Prepared> prepare(const Params& params) {
  const std::vector<kernels::Violation> violations = kernels::check(params, device().limits);
  if (!violations.empty()) {
    std::printf("%s: not on this device: %s\n", name(params).c_str(), violations[0].reason.c_str());
    return {};
  }
  const Job job = make_job(device().target, kernels::generate(params), params);
  cache::Contents contents;
  contents.targets = {job.target};
  contents.sources = {job.source};
  contents.variants = {job.variant};
  Result<cache::Bytes> encoded = cache::encode(contents);
  BOOST_REQUIRE_MESSAGE(encoded.ok(), encoded.status().message());
  const auto bytes = std::make_shared<const cache::Bytes>(std::move(*encoded));
  const Result<Bundle> bundle = Bundle::from_memory({bytes->data(), bytes->size()});
  BOOST_REQUIRE_MESSAGE(bundle.ok(), bundle.status().message());
  const Result<Library> library = Library::create(session().context(), device().id, {*bundle});
  BOOST_REQUIRE_MESSAGE(library.ok(), library.status().message());
  return Prepared{bytes, job.variant.name, {device(), session(), *library}};
}

// A few sizes around the tile's edges; some with unaligned rows.
void check_edges(const Params& p) {
  const std::optional<Prepared> prepared = prepare(p);
  if (!prepared) return;
  const std::size_t m = p.ml;
  const std::size_t n = p.nl;
  const std::size_t k = p.kl;
  const Size sizes[] = {{m, n, 2 * k}, {2 * m + 1, n + 3, k + 1}, {m - 1, 2 * n, 3 * k - 1}, {1, 1, 1}, {m + 5, n, 0}};
  std::uint32_t seed = 10;
  for (const Size& size : sizes) {
    Problem problem = tight_problem(p.precision, size.m, size.n, size.k, p.trans_a, p.trans_b);
    GemmRunOptions options;
    options.seed = ++seed;
    options.alpha = seed % 2 ? 1.0 : -1.5;
    options.beta = seed % 3 == 0 ? 0.75 : 0.0;
    if (seed % 2) {
      problem.lda += 3;
      problem.ldb += 1;
      problem.ldc += 5;
      options.a_offset = 1;
      options.b_offset = 3;
      options.c_offset = 7;
    }
    const std::string failure = failure_of(prepared->where, prepared->variant, problem, options);
    BOOST_TEST(failure.empty(), failure);
  }
}

// Three products in one call, which share the workspace.
void check_batch(const Params& p) {
  const std::optional<Prepared> prepared = prepare(p);
  if (!prepared) return;
  Problem problem = tight_problem(p.precision, p.ml + 1, p.nl - 1, p.kl + 3, p.trans_a, p.trans_b);
  problem.batch = 3;
  problem.a_stride = problem.lda * (p.trans_a ? problem.k : problem.m) + 5;
  problem.b_stride = problem.ldb * (p.trans_b ? problem.n : problem.k) + 1;
  problem.c_stride = problem.ldc * problem.m + 2;
  GemmRunOptions options;
  options.beta = -2;
  std::string failure = failure_of(prepared->where, prepared->variant, problem, options);
  BOOST_TEST(failure.empty(), failure);
  problem.offsets = {{2 * problem.a_stride, 0, problem.c_stride},
                     {0, problem.b_stride, 0},
                     {problem.a_stride, 0, 2 * problem.c_stride}};
  problem.a_stride = problem.b_stride = problem.c_stride = 0;
  failure = failure_of(prepared->where, prepared->variant, problem, options);
  BOOST_TEST(failure.empty(), failure + " with offsets");
}

template <typename Use>
void for_each_transpose(Params p, const Use& use) {
  for (const int both : {0, 1, 2, 3}) {
    p.trans_a = both >= 2;
    p.trans_b = both % 2 == 1;
    use(p);
  }
}

Params stripe(Precision precision = Precision::single_precision) {
  Params p;
  p.family = kernels::Family::stripe;
  p.precision = precision;
  p.ml = 16;
  p.nl = 24;
  p.kl = 8;
  p.ms = 4;
  p.ns = 8;
  p.ks = 4;
  p.vector_width = 4;
  return p;
}

constexpr kernels::Layout all_layouts[] = {kernels::Layout::row_major, kernels::Layout::padded,
                                           kernels::Layout::column_block, kernels::Layout::row_block,
                                           kernels::Layout::image};

}  // namespace

BOOST_AUTO_TEST_SUITE(stripe_family)

// With all transposes; where both operands are packed, two pairs of transposes show both ways of packing each.
BOOST_AUTO_TEST_CASE(PresetsAreRight) {
  for (const kernels::Preset& preset : kernels::presets()) {
    if (preset.params.family != kernels::Family::stripe) continue;
    const bool copied =
        preset.params.layout_a != kernels::Layout::row_major && preset.params.layout_b != kernels::Layout::row_major;
    for_each_transpose(preset.params, [&](const Params& p) {
      if (!copied || p.trans_a == p.trans_b) check_edges(p);
    });
  }
}

// Each layout with ROW_MAJOR, and half of the other pairs, as operands are read independently. Pairs of equal layouts
// are in the tests below.
BOOST_AUTO_TEST_CASE(LayoutsGoTogether) {
  unsigned turn = 0;  // varies the transposes, and at another pace local memory
  for (const kernels::Layout a : all_layouts) {
    for (const kernels::Layout b : all_layouts) {
      const bool row_major = a == kernels::Layout::row_major || b == kernels::Layout::row_major;
      if (!row_major && (static_cast<unsigned>(a) + static_cast<unsigned>(b)) % 2 == 0) continue;
      Params p = stripe();
      p.layout_a = a;
      p.layout_b = b;
      p.trans_a = turn % 2 == 1;
      p.trans_b = turn / 2 % 2 == 1;
      p.local_a = turn / 3 % 2;
      p.local_b = turn / 5 % 2;
      ++turn;
      check_edges(p);
    }
  }
}

BOOST_AUTO_TEST_CASE(EveryUseOfLocalMemoryIsRight) {
  for (const std::uint32_t local : {0U, 1U, 2U, 3U}) {
    Params p = stripe();
    p.local_a = local & 1;
    p.local_b = local >> 1;
    for_each_transpose(p, [local](const Params& q) {
      if ((q.trans_a == q.trans_b) == (local % 3 == 0)) check_edges(q);
    });
  }
}

BOOST_AUTO_TEST_CASE(EveryVectorWidthIsRight) {
  for (const std::uint32_t width : {1U, 2U, 8U, 16U}) {
    for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
      Params p = stripe(precision);
      p.vector_width = width;
      p.nl = 32;
      p.ns = width == 16 ? 16 : 8;
      p.ml = p.ms = width == 8 ? 8 : 3;
      p.ks = width == 16 ? 4 : 1;
      p.local_a = width == 2 || width == 16;
      p.trans_a = width == 8;
      p.trans_b = width == 16;
      check_edges(p);
      p.layout_a = kernels::Layout::padded;
      p.layout_b = kernels::Layout::column_block;
      p.local_a = 1 - p.local_a;
      p.local_b = width == 8;
      check_edges(p);
    }
  }
}

BOOST_AUTO_TEST_CASE(FactorsNeedNotBePowersOfTwo) {
  Params p = stripe();
  p.ml = 18;
  p.ms = 6;  // pieces of two rows, because the vector width does not divide it
  p.nl = 36;
  p.ns = 12;
  p.kl = 15;
  p.ks = 5;
  check_edges(p);
  p.local_a = p.local_b = 1;
  p.trans_a = true;
  check_edges(p);
  p.layout_a = p.layout_b = kernels::Layout::row_block;
  check_edges(p);
}

// A texel has two doubles; a vector may be narrower than a texel.
BOOST_AUTO_TEST_CASE(ImagesAreRight) {
  for (const std::uint32_t width : {1U, 2U}) {
    for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
      Params p = stripe(precision);
      p.vector_width = width;
      p.layout_a = p.layout_b = kernels::Layout::image;
      check_edges(p);
      p.layout_a = kernels::Layout::column_block;
      p.local_a = p.local_b = 1;
      p.trans_a = p.trans_b = true;
      check_edges(p);
    }
  }
}

void check_16_bits(Precision precision) {
  Params p = stripe(precision);
  check_edges(p);
  p.trans_a = true;
  p.local_a = p.local_b = 1;
  check_edges(p);
  for (const kernels::Layout layout : all_layouts) {
    p.layout_a = p.layout_b = layout;
    p.split_k = layout == kernels::Layout::padded ? 2 : 1;
    p.local_a = layout == kernels::Layout::row_block;
    check_edges(p);
  }
  p.vector_width = 1;
  p.layout_a = kernels::Layout::row_major;
  check_edges(p);
}

BOOST_AUTO_TEST_CASE(HalfPrecisionIsRight) { check_16_bits(Precision::half_precision); }
BOOST_AUTO_TEST_CASE(Bfloat16IsRight) { check_16_bits(Precision::bfloat16); }

BOOST_AUTO_TEST_CASE(BatchesShareTheWorkspace) {
  for (const kernels::Layout layout : all_layouts) {
    Params p = stripe();
    p.layout_a = p.layout_b = layout;
    p.local_b = 1;
    p.split_k = layout == kernels::Layout::image ? 2 : 1;
    check_batch(p);
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(split_k)

BOOST_AUTO_TEST_CASE(EveryFamilyAddsUpItsSlices) {
  for (const Precision precision : all_precisions) {
    Params tiles = stripe(precision);
    tiles.split_k = 3;
    tiles.local_a = tiles.local_b = 1;
    check_edges(tiles);
    tiles.layout_a = kernels::Layout::row_block;
    tiles.layout_b = kernels::Layout::image;
    tiles.vector_width = 2;
    check_edges(tiles);
    tiles.split_k = 2;
    tiles.layout_a = kernels::Layout::column_block;
    tiles.layout_b = kernels::Layout::padded;
    check_edges(tiles);

    for (Params p : kernels::default_variants(kernels::DeviceType::gpu, precision)) {
      if (p.trans_a || p.trans_b) continue;
      p.split_k = precision == Precision::single_precision ? 2 : 3;
      check_edges(p);
      check_batch(p);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

int main(int argc, char** argv) {
  if (!devices()) {
    std::printf("skipped: %s\n", devices().status().message().c_str());
    return 77;
  }
  const Result<Session> session = Session::open(device());
  if (!session) {
    std::printf("%s\n", session.status().message().c_str());
    return 1;
  }
  the_session = &*session;
  return boost::unit_test::unit_test_main(init_unit_test, argc, argv);
}
