// A file of the problems that matter to a user, one on each line; '#' starts a comment:
//
//   [PRECISION] [TRANSPOSES] MxNxK [lda N] [ldb N] [batch N] [weight W]
//   single nt 1024x512x64 lda 80 batch 16 weight 2.5
//
// Matrices are row-major; lda and ldb are elements from one stored row to the next, where rows have gaps. A line
// without a precision, or without transposes, stands for several problems. The weights of a problem that several lines
// stand for add up; a line without one weighs 1.
#pragma once

#include <clbake/builder/shape/shape.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace clbake::builder {

// The largest file that is read. Of recordings as well, for they become shapes files.
constexpr std::uintmax_t kMostShapesBytes = std::uintmax_t{64} << 20;

// The parts of a kind that some lines leave out.
struct Unnamed {
  bool precision = false;
  bool transposes = false;
};

// The problems of a text, each once, in its order. Where a line leaves out the precision, it stands for those of
// `kinds`, and likewise with the transposes; what a line names need not be in `kinds`. Sets `unnamed`, if given.
// Messages begin with `name` and the number of the line. Fails with malformed, also for a text without a problem, or
// when weights add up to more than kMostWeight.
Result<std::vector<Shape>> parse_shapes(const std::string& text, const std::string& name,
                                        const std::vector<GemmKind>& kinds, Unnamed* unnamed = nullptr);

// `path`: a file, a pipe, or "-" for standard input. Fails like parse_shapes, and with not_found, io or malformed (more
// than kMostShapesBytes) when it cannot be read.
Result<std::vector<Shape>> read_shapes(const std::string& path, const std::vector<GemmKind>& kinds,
                                       Unnamed* unnamed = nullptr);

// Calls of an application, as the runtime's Library::write_recording writes them, one problem on each line:
//
//   single nt 1024x512x64 batch 16 calls 7
struct Recording {
  std::vector<Shape> shapes;  // each once, in the order of the file; the weights are numbers of calls
  bool torn = false;  // the last line has no end, so it was left out: its writer was killed, or the disk is full
};

// Fails with malformed for any other line; the message begins with `name` and the line's number.
Result<Recording> parse_recording(const std::string& text, const std::string& name);

// `path` as for read_shapes. Fails like parse_recording, and with not_found, io or malformed when it cannot be read.
Result<Recording> read_recording(const std::string& path);

// The problems of all recordings, each once, the most called first.
std::vector<Shape> joined(const std::vector<Recording>& recordings);

// A shapes file of these problems, with a comment above them. Weights keep their ratios; where the largest exceeds
// kMostWeight, all are divided by the same power of ten, and none ends below kLeastWeight.
std::string shapes_text(std::vector<Shape> shapes, const std::string& comment);

}  // namespace clbake::builder
