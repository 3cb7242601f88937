// Names of variants, files of shapes and recordings are typed by people and made by scripts. Whatever the text, a
// parser returns a value within its documented range, or a cause. The first byte of an input selects the parser.
#include <clbake/builder/shape/shapes_file.hpp>
#include <clbake/kernels/params.hpp>
#include "fuzz.hpp"

namespace {

using clbake::fuzz::expect;

void variant(const std::string& text) {
  const auto read = clbake::kernels::parse(text);
  if (const auto* params = std::get_if<clbake::kernels::Params>(&read)) {
    expect(clbake::kernels::name(*params) == text, "a variant's name is the only one that is read as this variant");
  } else {
    expect(!std::get<std::string>(read).empty(), "a refused name has a cause");
  }
}

void shapes(const std::string& text) {
  using namespace clbake::builder;
  const clbake::Result<std::vector<Shape>> read = parse_shapes(text, "fuzz", {{}, {clbake::Precision::half_precision}});
  if (!read) {
    expect(read.status().message().substr(0, 6) == "fuzz: ", "a failure begins with the file's name");
    return;
  }
  std::string again;
  for (const Shape& shape : *read) {
    expect(shape.weight >= kLeastWeight && shape.weight <= kMostWeight, "a weight is in its range");
    again += weighted_name(shape) + '\n';
  }
  const clbake::Result<std::vector<Shape>> same = parse_shapes(again, "fuzz", {{}});
  expect(same && *same == *read, "shapes are read again as they are written");
}

void recording(const std::string& text) {
  using namespace clbake::builder;
  const clbake::Result<Recording> read = parse_recording(text, "fuzz");
  if (!read) {
    expect(read.status().message().substr(0, 11) == "fuzz: line ", "a failure names the file and the line");
    return;
  }
  if (read->shapes.empty()) return;
  const std::vector<Shape> all = joined({*read, *read});
  expect(all.size() == read->shapes.size(), "a problem is joined with itself");
  const clbake::Result<std::vector<Shape>> shapes = parse_shapes(shapes_text(all, "fuzz"), "fuzz", {{}});
  expect(shapes && *shapes == all, "a recording becomes a shapes file");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr void (*kParsers[])(const std::string&) = {variant, shapes, recording};
  kParsers[data[0] % 3](text);
  return 0;
}
