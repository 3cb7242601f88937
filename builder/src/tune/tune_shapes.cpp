#include <clbake/builder/tune.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <random>

namespace clbake::builder::tune {
namespace {

constexpr std::size_t kGridShapes = 264;

Shape sized(std::size_t m, std::size_t n, std::size_t k, std::size_t batch = 1) {
  Shape shape;
  shape.m = m;
  shape.n = n;
  shape.k = k;
  shape.batch = batch;
  return shape;
}

// How large shapes may be so that a variant takes them in a fraction of a second: two cores and a large GPU are two
// orders of magnitude apart.
struct Scale {
  std::size_t probes[2];  // m = n = k of the first stage
  std::size_t largest;    // of square shapes
  std::size_t length;     // of the long sides of thin ones
  std::size_t batch;      // products of 64 x 64 x 64
  double grid_multiplications;
};
constexpr Scale kCpu = {{256, 1024}, 2048, 2048, 64, 2.2e9};
constexpr Scale kGpu = {{1024, 4096}, 4096, 2048, 1024, 7e10};

void add_squares(std::size_t largest, std::size_t smallest, TuneShapes& shapes) {
  for (std::size_t n = largest; n >= smallest; n /= 2) shapes.list.push_back(sized(n, n, n));
}

void add_thin(const Scale& scale, TuneShapes& shapes) {
  const std::size_t l = scale.length;
  for (const std::size_t s : {std::size_t{16}, std::size_t{64}}) {
    for (const Shape& shape :
         {sized(s, l, l), sized(l, s, l), sized(l, l, s), sized(s, s, l), sized(s, l, s), sized(l, s, s)}) {
      shapes.list.push_back(shape);
    }
  }
  shapes.list.push_back(sized(1, l, l));
  shapes.list.push_back(sized(l, 1, l));
}

void add_batches(const Scale& scale, TuneShapes& shapes) {
  shapes.list.push_back(sized(64, 64, 64, scale.batch));
  shapes.list.push_back(sized(16, 16, 16, scale.batch * 4));
  shapes.list.push_back(sized(128, 128, 128, scale.batch / 4));
}

// Squares between those of the list, where a wave of work-groups more or less decides, some of them odd, so that rows
// are not aligned; then few rows and columns; then random sizes, log-uniform, which tiles mostly do not divide. Any
// beginning of each is spread over all. Two of five random shapes have no side below 64: of the others many take little
// more than a launch, whichever variant computes them, and of long, thin and deep ones there would be too few.
void add_grid(const Scale& scale, TuneShapes& shapes) {
  const auto is_new = [&](const std::vector<Shape>& list, const Shape& shape) {
    return std::find(list.begin(), list.end(), shape) == list.end();
  };
  const auto add = [&](const Shape& shape) {
    const bool fits = operations(shape) <= 2 * scale.grid_multiplications;
    if (fits && is_new(shapes.list, shape) && is_new(shapes.grid, shape)) shapes.grid.push_back(shape);
  };
  constexpr std::size_t squares[] = {1536, 2039, 768, 1531, 1152, 1021, 384,  3067, 1792, 640,
                                     2560, 511,  192, 2557, 896,  1280, 3072, 2304, 320,  96};
  for (const std::size_t n : squares) add(sized(n, n, n));
  // Not a distribution of the library's: they differ from one to the other.
  const auto size = [](std::mt19937& random, double least) {  // to 4096
    const double part = static_cast<double>(random()) / 4294967296.0;
    return static_cast<std::size_t>(least * std::exp2(std::log2(4096 / least) * part));
  };
  std::mt19937 random(1), large(2);
  constexpr std::size_t few_lines[] = {1, 4, 2, 8, 3, 16, 6, 32};
  for (const std::size_t few : few_lines) {
    for (const double least : {1024, 256}) {
      const std::size_t length = size(random, least), k = size(random, least);
      add(sized(few, length, k));
      add(sized(length, few, k));
    }
  }
  for (std::size_t i = 0; shapes.grid.size() < kGridShapes; ++i) {
    const bool is_large = i % 5 % 2 == 1;  // two of five
    std::mt19937& source = is_large ? large : random;
    const double least = is_large ? 64 : 8;
    const std::size_t m = size(source, least), n = size(source, least), k = size(source, least);
    add(sized(m, n, k));
  }
}

// Two of the list's shapes, of a medium and of a large amount of work: a third and five sixths of the weight are on
// shapes with less.
void choose_probes(TuneShapes& shapes) {
  std::vector<std::size_t> order(shapes.list.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return operations(shapes.list[a]) < operations(shapes.list[b]);
  });
  double total = 0;
  for (const Shape& shape : shapes.list) total += shape.weight;
  const auto after = [&](double weight) {
    double sum = 0;
    const auto at = std::find_if(order.begin(), order.end(), [&](std::size_t i) {
      sum += shapes.list[i].weight;
      return sum > weight;
    });
    return at == order.end() ? order.back() : *at;
  };
  const std::size_t medium = after(total / 3);
  const std::size_t large = after(total * 5 / 6);
  shapes.probes = medium == large ? std::vector<std::size_t>{medium} : std::vector<std::size_t>{medium, large};
}

// Adds the shapes of one kind.
void append(const GemmKind& kind, const TuneShapes& shapes, TuneShapes& all) {
  for (const std::size_t probe : shapes.probes) all.probes.push_back(all.list.size() + probe);
  const auto of_kind = [&](Shape shape) {
    shape.kind() = kind;
    return shape;
  };
  std::transform(shapes.list.begin(), shapes.list.end(), std::back_inserter(all.list), of_kind);
  std::transform(shapes.grid.begin(), shapes.grid.end(), std::back_inserter(all.grid), of_kind);
}

// The shapes of a preset, for any kind.
std::optional<TuneShapes> preset_of_a_kind(const std::string& name, const Scale& scale) {
  TuneShapes shapes;
  const bool all = name == "all";
  if (all || name == "square") add_squares(scale.largest, 256, shapes);
  if (all || name == "thin") add_thin(scale, shapes);
  if (all || name == "small") add_squares(128, 16, shapes);
  if (all || name == "batched") add_batches(scale, shapes);
  if (shapes.list.empty()) return std::nullopt;
  add_grid(scale, shapes);
  if (!all && name != "square") {
    choose_probes(shapes);
    return shapes;
  }
  for (const std::size_t n : scale.probes) {
    const auto at = std::find(shapes.list.begin(), shapes.list.end(), sized(n, n, n));
    shapes.probes.push_back(static_cast<std::size_t>(at - shapes.list.begin()));
  }
  return shapes;
}

}  // namespace

std::optional<TuneShapes> preset_shapes(const std::string& name, kernels::DeviceType type,
                                        const std::vector<GemmKind>& kinds) {
  const std::optional<TuneShapes> preset = preset_of_a_kind(name, type == kernels::DeviceType::cpu ? kCpu : kGpu);
  if (!preset) return std::nullopt;
  TuneShapes all;
  for (const GemmKind& kind : kinds) append(kind, *preset, all);
  return all;
}

TuneShapes shapes_to_tune(const std::vector<Shape>& shapes, const std::vector<GemmKind>& kinds) {
  TuneShapes all;
  for (const GemmKind& kind : kinds) {
    TuneShapes of_kind;
    std::copy_if(shapes.begin(), shapes.end(), std::back_inserter(of_kind.list),
                 [&](const Shape& shape) { return shape.kind() == kind; });
    if (of_kind.list.empty()) continue;
    std::stable_sort(of_kind.list.begin(), of_kind.list.end(),
                     [](const Shape& a, const Shape& b) { return a.weight > b.weight; });
    choose_probes(of_kind);
    append(kind, of_kind, all);
  }
  return all;
}

}  // namespace clbake::builder::tune
