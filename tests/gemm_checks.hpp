// One variant on one problem against the reference; for the tests that run kernels.
#pragma once

#include <clbake/builder/gemm_run.hpp>
#include <clbake/kernels/params.hpp>

#include <string>
#include <vector>

namespace clbake::tests {

struct Size {
  std::size_t m, n, k;
};

// For the tile of the launch that multiplies: 0, 1, tile - 1, tile, tile + 1, more than two tiles, odd and thin; depths
// around unrolling and k blocks.
std::vector<Size> edge_sizes(const cache::Launch& launch);

// Device, session and library of the programs under test.
struct Surroundings {
  builder::Device device;
  builder::Session session;
  Library library;
};

// One variant, compiled from its source when it is first used.
struct FromSource {
  cache::Bytes bytes;  // of the bundle, which refers to them
  Surroundings where;
  cache::Variant variant;
};
Result<FromSource> from_source(const builder::Device& device, const kernels::Params& params);

// Scales and zero points of a mixed problem.
void set_quantization(Problem& problem, std::size_t number);

// Gives the problem one of kEpilogues epilogues, and a quantization if it is mixed: every activation with every bias,
// with and without a D. Its rows and products have gaps, its buffers offsets.
constexpr std::size_t kEpilogues = 42;
void set_epilogue(Problem& problem, builder::GemmRunOptions& options, std::size_t number);

// A list for Library::prepare_group of which the row-major problems are of this kind: sizes from 0 to twice `tile`,
// gaps between rows and matrices, an epilogue, every third list column-major.
std::vector<Problem> random_group(const GemmKind& kind, std::size_t tile, std::size_t number,
                                  builder::GemmRunOptions& options);

// Empty when the group's result is right, and nothing is written outside of the Cs; else what went wrong.
std::string failure_of(const Surroundings& where, GemmGroup& group, const std::vector<Problem>& products,
                       const builder::GemmRunOptions& options);

// Empty when the variant computes the problem within the tolerance, reads nothing that is NaN and writes nothing
// outside C; else what went wrong, with the variant and the problem.
std::string failure_of(const Surroundings& where, const std::string& variant, const Problem& problem,
                       const builder::GemmRunOptions& options);

// The same for all sizes: tight and padded matrices, offsets, several alpha and beta, some epilogues. One line for each
// failure.
std::string failures_at(const std::vector<Size>& sizes, const Surroundings& where, const cache::Variant& variant);
std::string failures_at_edges(const Surroundings& where, const cache::Variant& variant);

}  // namespace clbake::tests
