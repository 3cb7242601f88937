#include <clbake/kernels/presets.hpp>

#include <algorithm>

namespace clbake::kernels {

namespace {

// ---- "Tutorial: OpenCL SGEMM tuning for Kepler" by Cedric Nugteren, SURFsara, 2014 ----
//
// Its matrices are column-major, which is row-major with A and B exchanged: its A is our B, its M our n, its N our m.

constexpr std::uint32_t tutorial_square = 32;  // its TS: tile of kernels 1 to 5

Preset tutorial(const char* number, const char* title, const Params& params, const char* note = "") {
  const std::string original = std::string("Nugteren's OpenCL SGEMM tutorial, kernel ") + number + ": " + title;
  return {std::string("tutorial-") + number, original, params, note};
}

// One element per work-item, straight from global memory.
Params naive() {
  Params p;
  p.family = Family::direct;
  p.ml = p.nl = tutorial_square;
  return p;
}

// Tiles in local memory, loaded element by element; the next ones are loaded after the multiplication.
Params tiled() {
  Params p;
  p.family = Family::local_tile;
  p.ml = p.nl = p.kl = tutorial_square;
  p.prefetch = false;
  p.padding = 0;
  return p;
}

// Eight columns of the tutorial's C in each work-item, cyclic.
Params more_work() {
  Params p = tiled();
  p.ms = 8;
  return p;
}

// `width` neighbours in each work-item, in one load from global memory.
Params wide(std::uint32_t width) {
  Params p = tiled();
  p.ns = p.vector_width = p.load_width = width;
  p.map = Map::blocked;
  return p;
}

// Another kernel transposes the tutorial's B, our A, so both tiles are read along their rows. Tiles are flatter.
Params transposed() {
  Params p = more_work();
  p.kl = 16;
  p.layout_a = Layout::padded;
  p.padding = 1;
  return p;
}

Params register_blocks() {
  Params p = transposed();
  p.ml = p.nl = 128;
  p.ms = p.ns = 8;
  return p;
}

Params wide_register_blocks() {
  Params p = register_blocks();
  p.load_width = 4;
  p.padding = 0;
  p.ks = p.kl;
  return p;
}

// A warp reads the rows that its work-items share once, and passes them on from register to register.
Params exchanging() {
  Params p = wide_register_blocks();
  p.exchange = true;
  return p;
}

// The next tiles go to the other half of local memory before the current ones are multiplied.
Params double_buffered() {
  Params p = wide_register_blocks();
  p.buffers = 2;
  return p;
}

Params any_size() {
  Params p = double_buffered();
  p.layout_b = Layout::padded;
  return p;
}

std::vector<Preset> tutorial_presets() {
  return {
      tutorial("1", "naive", naive()),
      tutorial("2", "tiling in local memory", tiled()),
      tutorial("3", "more work per thread", more_work()),
      tutorial("4", "wider data-types, of 8 as in its benchmark", wide(8)),
      tutorial("4-w1", "wider data-types, of 1", wide(1), "The original's sources allow it; it equals kernel 2."),
      tutorial("4-w2", "wider data-types, of 2", wide(2)),
      tutorial("4-w4", "wider data-types, of 4", wide(4)),
      tutorial("5", "transposed input and rectangular tiles", transposed(),
               "Rows of both tiles have one element of padding; in the original those of one tile have two."),
      tutorial("6", "2D register blocking", register_blocks(),
               "Rows of both tiles have one element of padding; in the original those of one tile have two."),
      tutorial("7", "wider loads with register blocking", wide_register_blocks()),
      tutorial(
          "8", "CUDA and Kepler-specific optimisations", exchanging(),
          "Its __shfl is an exchange within a sub-group, on NVIDIA's devices the same instruction. OpenCL C has no "
          "__ldg, loads through the read-only cache: compilers use them by themselves."),
      tutorial("9", "pre-fetching", double_buffered()),
      tutorial("10", "incomplete tiles and arbitrary matrix sizes", any_size(),
               "A and B are packed with padding as in the original; C is not, its edges are checked."),
  };
}

// ---- "Implementing a Code Generator for Fast Matrix Multiplication in OpenCL on the GPU" ----

struct Block {
  std::uint32_t m, n, k;
};

Params stripe(Precision precision, Block large, Block small, std::uint32_t vector_width) {
  Params p;
  p.family = Family::stripe;
  p.precision = precision;
  p.ml = large.m;
  p.nl = large.n;
  p.kl = large.k;
  p.ms = small.m;
  p.ns = small.n;
  p.ks = small.k;
  p.vector_width = vector_width;
  return p;
}

// Block-major layouts need both operands packed, so they may be stored either way.
Params blocked(Params p, Layout layout) {
  p.layout_a = p.layout_b = layout;
  return p;
}

Params transposed_a(Params p) {
  p.trans_a = true;
  return p;
}

Params shared_a(Params p) {
  p.local_a = true;
  return p;
}

Params shared_b(Params p) {
  p.local_b = true;
  return p;
}

Params image_a(Params p) {
  p.layout_a = Layout::image;
  return p;
}

Preset paper(const char* name, const Params& params, const char* type, int gflops) {
  return {name, "Matsumoto, Nakasato, Sedukhin 2012, Table II", params,
          std::string(type) + ", published: " + std::to_string(gflops) + " GFlop/s on a Radeon HD 7970"};
}

// The fastest kernels that the paper found, one for each type and precision.
std::vector<Preset> paper_presets() {
  constexpr Precision d = Precision::double_precision;
  constexpr Precision s = Precision::single_precision;
  const Params d_blocks = shared_b(stripe(d, {64, 16, 16}, {4, 4, 2}, 2));
  return {
      paper("paper-dgemm-cbl", blocked(d_blocks, Layout::column_block), "A^T * B in CBL", 848),
      paper("paper-dgemm-rbl", blocked(d_blocks, Layout::row_block), "A^T * B in RBL", 812),
      paper("paper-dgemm-row-tn", transposed_a(stripe(d, {256, 8, 16}, {4, 4, 2}, 2)), "A^T * B row-major", 790),
      paper("paper-dgemm-row-nn", shared_a(stripe(d, {32, 128, 128}, {4, 4, 4}, 4)), "A * B row-major", 689),
      paper("paper-sgemm-cbl", blocked(stripe(s, {128, 128, 256}, {16, 8, 4}, 4), Layout::column_block),
            "A^T * B in CBL", 2646),
      paper("paper-sgemm-rbl", blocked(shared_b(stripe(s, {128, 32, 8}, {8, 8, 8}, 2)), Layout::row_block),
            "A^T * B in RBL", 2577),
      paper("paper-sgemm-row-tn", transposed_a(stripe(s, {128, 64, 4}, {8, 4, 4}, 4)), "A^T * B row-major", 2488),
      paper("paper-sgemm-row-nn", image_a(stripe(s, {128, 64, 256}, {8, 4, 4}, 4)), "A * B row-major, A in an image",
            2382),
  };
}

}  // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = [] {
    std::vector<Preset> joined = tutorial_presets();
    for (Preset& preset : paper_presets()) joined.push_back(std::move(preset));
    return joined;
  }();
  return all;
}

const Preset* find_preset(std::string_view name) {
  const auto named = [&](const Preset& preset) { return preset.name == name; };
  const auto found = std::find_if(presets().begin(), presets().end(), named);
  return found == presets().end() ? nullptr : &*found;
}

}  // namespace clbake::kernels
