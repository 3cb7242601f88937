// Values on the command line, files of shapes and recordings are typed by people and made by scripts. Whatever the
// text, a parser returns a value within its documented range, or throws UsageError or fails, never anything else. The
// first byte of an input selects the parser.
#include <clbake/builder/shape/shapes_file.hpp>
#include <clbake/kernels/params.hpp>
#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "fuzz.hpp"

#include <cmath>

namespace {

using namespace clbake::tool;
using clbake::fuzz::expect;

void sizes(const std::string& text) {
  std::string again;
  for (const Size& size : sizes_of(text)) {
    expect(size.m > 0 && size.n > 0 && size.k > 0, "sizes are positive");
    again += (again.empty() ? "" : ",") + name(size);
  }
  expect(sizes_of(again).size() == sizes_of(text).size(), "sizes are read again as they are printed");
}

void transposes(const std::string& text) {
  const std::size_t count = kinds_of({clbake::Precision::single_precision}, text).size();
  expect(count >= 1 && count <= 4, "each pair of transposes is listed once");
}

void budget(const std::string& text) {
  const double seconds = seconds_of(text);
  expect(seconds >= 1 && seconds <= 1e7, "a budget is in its range");
}

void shard(const std::string& text) {
  const Shard shard = shard_of(text);
  expect(shard.index >= 1 && shard.index <= shard.count, "a shard's index is in its range");
}

// Options as `clbake` reads them: a number, a list, precisions. Each line of the text is one argument.
void options(const std::string& text) {
  Cli cli("fuzz [OPTIONS]", "An example.");
  cli.add_value("count", "N", "a size");
  cli.add_value("part", "X", "a number");
  cli.add_precision("single,double");
  cli.add_list("name", "LIST", "names");
  std::vector<std::string> arguments = split(text, '\n');
  if (cli.parse(arguments)) return;
  const std::size_t count = cli.size("count", 3, 2, 9);
  expect(count >= 2 && count <= 9, "a size is in its range");
  expect(std::isfinite(cli.number("part", 0)), "a number is finite");
  expect(cli.precisions("precision").size() <= 3, "each precision is listed once");
  for (const std::string& part : cli.list("name")) expect(!part.empty(), "a list has no empty part");
}

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
  constexpr void (*kParsers[])(const std::string&) = {sizes,   transposes, budget, shard,
                                                      options, variant,    shapes, recording};
  try {
    kParsers[data[0] % (sizeof kParsers / sizeof kParsers[0])](text);
  } catch (const UsageError& error) {
    expect(error.what()[0] != '\0', "a usage error says what is wrong");
  }
  return 0;
}
