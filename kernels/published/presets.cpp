#include <clbake/kernels/presets.hpp>

#include <algorithm>

namespace clbake::kernels {

namespace {

constexpr std::string_view published[][2] = {
    // "Tutorial: OpenCL SGEMM tuning for Kepler" by Cedric Nugteren, SURFsara, 2014. Its matrices are column-major,
    // which is row-major with A and B exchanged: its A is our B, its M our n, its N our m. Without prefetch, the next
    // tiles are loaded after the multiplication.
    {"tutorial-1", "direct-s-nn-32x32x1-1x1x1-v1"},                                      // naive
    {"tutorial-2", "local_tile-s-nn-32x32x32-1x1x1-v1-noprefetch"},                      // tiles in local memory
    {"tutorial-3", "local_tile-s-nn-32x32x32-8x1x1-v1-noprefetch"},                      // more work per thread
    {"tutorial-4", "local_tile-s-nn-32x32x32-1x8x1-v8-noprefetch-load8-mapblocked"},     // wider data-types, of 8
    {"tutorial-4-w1", "local_tile-s-nn-32x32x32-1x1x1-v1-noprefetch-mapblocked"},        // of 1: equals kernel 2
    {"tutorial-4-w2", "local_tile-s-nn-32x32x32-1x2x1-v2-noprefetch-load2-mapblocked"},  // of 2
    {"tutorial-4-w4", "local_tile-s-nn-32x32x32-1x4x1-v4-noprefetch-load4-mapblocked"},  // of 4
    // Transposed input and rectangular tiles, then 2D register blocking. Rows of both tiles have one element of
    // padding; in the original those of one tile have two.
    {"tutorial-5", "local_tile-s-nn-32x32x16-8x1x1-v1-apad-noprefetch-padding1"},
    {"tutorial-6", "local_tile-s-nn-128x128x16-8x8x1-v1-apad-noprefetch-padding1"},
    {"tutorial-7", "local_tile-s-nn-128x128x16-8x8x16-v1-apad-noprefetch-load4"},  // wider loads
    // CUDA and Kepler: its __shfl is an exchange within a sub-group. OpenCL C has no __ldg, loads through the read-only
    // cache: compilers use them by themselves.
    {"tutorial-8", "local_tile-s-nn-128x128x16-8x8x16-v1-apad-noprefetch-load4-exchange"},
    {"tutorial-9", "local_tile-s-nn-128x128x16-8x8x16-v1-apad-buffers2-noprefetch-load4"},  // pre-fetching
    // Any size: A and B are packed with padding as in the original; C is not, its edges are checked.
    {"tutorial-10", "local_tile-s-nn-128x128x16-8x8x16-v1-apad-bpad-buffers2-noprefetch-load4"},

    // The fastest kernels of "Implementing a Code Generator for Fast Matrix Multiplication in OpenCL on the GPU" by
    // Matsumoto, Nakasato and Sedukhin, 2012, Table II, one for each type and precision, with the published GFlop/s on
    // a Radeon HD 7970. Block-major layouts need both operands packed, so they may be stored either way.
    {"paper-dgemm-cbl", "stripe-d-nn-64x16x16-4x4x2-v2-acbl-bcbl-blocal"},  // A^T * B in CBL: 848
    {"paper-dgemm-rbl", "stripe-d-nn-64x16x16-4x4x2-v2-arbl-brbl-blocal"},  // A^T * B in RBL: 812
    {"paper-dgemm-row-tn", "stripe-d-tn-256x8x16-4x4x2-v2"},                // A^T * B row-major: 790
    {"paper-dgemm-row-nn", "stripe-d-nn-32x128x128-4x4x4-v4-alocal"},       // A * B row-major: 689
    {"paper-sgemm-cbl", "stripe-s-nn-128x128x256-16x8x4-v4-acbl-bcbl"},     // A^T * B in CBL: 2646
    {"paper-sgemm-rbl", "stripe-s-nn-128x32x8-8x8x8-v2-arbl-brbl-blocal"},  // A^T * B in RBL: 2577
    {"paper-sgemm-row-tn", "stripe-s-tn-128x64x4-8x4x4-v4"},                // A^T * B row-major: 2488
    {"paper-sgemm-row-nn", "stripe-s-nn-128x64x256-8x4x4-v4-aimage"},       // A * B row-major, A in an image: 2382
};

}  // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = [] {
    std::vector<Preset> list;
    for (const auto& [name, point] : published) list.push_back({std::string(name), std::get<Params>(parse(point))});
    return list;
  }();
  return all;
}

const Preset* find_preset(std::string_view name) {
  const auto named = [&](const Preset& preset) { return preset.name == name; };
  const auto found = std::find_if(presets().begin(), presets().end(), named);
  return found == presets().end() ? nullptr : &*found;
}

}  // namespace clbake::kernels
