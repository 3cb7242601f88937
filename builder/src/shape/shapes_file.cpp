#include <clbake/builder/shape/shapes_file.hpp>

#include "process/text_file.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

namespace clbake::builder {
using namespace process;
namespace {

constexpr std::size_t kMostShown = 80;                  // bytes of a wrong word
constexpr const char* kByteOrderMark = "\xEF\xBB\xBF";  // some editors begin UTF-8 files with it

// The words in front of a comment.
std::vector<std::string> words_of(const std::string& line) {
  std::istringstream text(line.substr(0, line.find('#')));
  return {std::istream_iterator<std::string>(text), {}};
}

// Problems, each once.
class Problems {
 public:
  // Returns the weights of the problem so far.
  double add(const Shape& shape) {
    const auto [at, is_new] = index_.emplace(name(shape), shapes_.size());
    if (is_new) {
      shapes_.push_back(shape);
      return shape.weight;
    }
    return shapes_[at->second].weight += shape.weight;
  }

  std::vector<Shape> take() { return std::move(shapes_); }

 private:
  std::vector<Shape> shapes_;
  std::map<std::string, std::size_t> index_;  // by name
};

Status add_line(const std::vector<std::string>& words, const std::vector<GemmKind>& kinds, Problems& problems,
                Unnamed& unnamed) {
  auto word = words.begin();
  GemmKind named;
  const bool has_precision = parse_precision(*word, named);
  if (has_precision) ++word;
  const bool has_transposes = word != words.end() && parse_transposes(*word, named);
  if (has_transposes) ++word;
  if (!has_transposes && word != words.end() && word->find_first_of("0123456789") != 0) {
    return {Code::malformed, "'" + word->substr(0, kMostShown) + "' is " +
                                 (has_precision ? "" : "no precision (" + std::string(precision_names) + "), ") +
                                 "no transposes (nn, nt, tn, tt) and no size (MxNxK)"};
  }
  unnamed.precision |= !has_precision;
  unnamed.transposes |= !has_transposes;
  std::string rest;
  for (; word != words.end(); ++word) rest += ' ' + *word;
  std::set<GemmKind> seen;
  for (GemmKind kind : kinds) {
    if (has_precision) kind.precision = named.precision;
    if (has_transposes) kind.trans_a = named.trans_a, kind.trans_b = named.trans_b;
    if (!seen.insert(kind).second) continue;
    const Result<Shape> shape = parse_shape(kind_name(kind) + rest);
    if (!shape) return shape.status();
    if (problems.add(*shape) <= kMostWeight) continue;
    return {Code::malformed, "the weights of " + name(*shape) + " exceed 1e9"};
  }
  return {};
}

// "PRECISION TRANSPOSES MxNxK [lda N] [ldb N] [batch N] calls N".
Result<Shape> recorded(const std::vector<std::string>& words) {
  const std::size_t shown = words.size() - std::min<std::size_t>(words.size(), 2);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += (i > 0 ? " " : "") + words[i];
  const std::string& calls = words.back();
  const bool digits = calls.size() <= 18 && calls.find_first_not_of("0123456789") == std::string::npos;
  if (words.size() < 2 || words[shown] != "calls" || !digits || std::stod(calls) < 1) {
    return {Code::malformed, "'" + calls.substr(0, kMostShown) + "' is no number of calls: a line ends with 'calls N'"};
  }
  Result<Shape> shape = parse_shape(text);
  if (shape) shape->weight = std::stod(calls);
  return shape;
}

}  // namespace

Result<std::vector<Shape>> parse_shapes(const std::string& text, const std::string& name,
                                        const std::vector<GemmKind>& kinds, Unnamed* unnamed) {
  std::istringstream lines(text);
  if (text.rfind(kByteOrderMark, 0) == 0) lines.ignore(static_cast<std::streamsize>(std::strlen(kByteOrderMark)));
  Problems problems;
  Unnamed of_lines;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::vector<std::string> words = words_of(line);
    const Status added = words.empty() ? Status() : add_line(words, kinds, problems, of_lines);
    if (!added) return added.within(name + ": line " + std::to_string(number));
  }
  std::vector<Shape> shapes = problems.take();
  if (shapes.empty()) return {Code::malformed, name + ": no shape in it"};
  if (unnamed) *unnamed = of_lines;
  return shapes;
}

Result<std::vector<Shape>> read_shapes(const std::string& path, const std::vector<GemmKind>& kinds, Unnamed* unnamed) {
  const Result<std::string> text = read_input(path, kMostShapesBytes);
  return text ? parse_shapes(*text, input_name(path), kinds, unnamed) : text.status();
}

Result<Recording> parse_recording(const std::string& text, const std::string& name) {
  Recording recording;
  Problems problems;
  std::size_t number = 0;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    ++number;
    end = text.find('\n', begin);
    recording.torn = end == std::string::npos;
    if (recording.torn) break;
    const std::vector<std::string> words = words_of(text.substr(begin, end - begin));
    if (words.empty()) continue;
    const Result<Shape> shape = recorded(words);
    if (!shape) return shape.status().within(name + ": line " + std::to_string(number));
    problems.add(*shape);
  }
  recording.shapes = problems.take();
  return recording;
}

Result<Recording> read_recording(const std::string& path) {
  const Result<std::string> text = read_input(path, kMostShapesBytes);
  return text ? parse_recording(*text, input_name(path)) : text.status();
}

std::vector<Shape> joined(const std::vector<Recording>& recordings) {
  Problems problems;
  for (const Recording& recording : recordings) {
    for (const Shape& shape : recording.shapes) problems.add(shape);
  }
  std::vector<Shape> shapes = problems.take();
  std::stable_sort(shapes.begin(), shapes.end(), [](const Shape& a, const Shape& b) { return a.weight > b.weight; });
  return shapes;
}

std::string shapes_text(std::vector<Shape> shapes, const std::string& comment) {
  double most = 0;
  for (const Shape& shape : shapes) most = std::max(most, shape.weight);
  double unit = 1;
  while (most / unit > kMostWeight) unit *= 10;
  std::string text = "# " + comment + '\n';
  for (Shape& shape : shapes) {
    shape.weight = std::max(shape.weight / unit, kLeastWeight);
    text += weighted_name(shape) + '\n';
  }
  return text;
}

}  // namespace clbake::builder
