#include <clbake/builder/shapes_file.hpp>

#include "process/text_file.hpp"

#include <iterator>
#include <map>
#include <set>
#include <sstream>

namespace clbake::builder {
namespace {

constexpr std::uintmax_t kMaxBytes = std::uintmax_t{1} << 20;
constexpr std::size_t kMostShown = 80;  // bytes of a wrong word

// The words in front of a comment.
std::vector<std::string> words_of(const std::string& line) {
  std::istringstream text(line.substr(0, line.find('#')));
  return {std::istream_iterator<std::string>(text), {}};
}

// Problems, each once.
class Problems {
 public:
  Status add(const Shape& shape) {
    const auto [at, is_new] = index_.emplace(name(shape), shapes_.size());
    if (is_new) {
      shapes_.push_back(shape);
      return {};
    }
    double& weight = shapes_[at->second].weight;
    weight += shape.weight;
    return weight <= kMostWeight ? Status() : Status(Code::malformed, "the weights of " + at->first + " exceed 1e9");
  }

  std::vector<Shape> take() { return std::move(shapes_); }

 private:
  std::vector<Shape> shapes_;
  std::map<std::string, std::size_t> index_;  // by name
};

Status add_line(const std::vector<std::string>& words, const std::vector<GemmKind>& kinds, Problems& problems) {
  auto word = words.begin();
  GemmKind named;
  const bool has_precision = parse_precision(*word, named);
  if (has_precision) ++word;
  const bool has_transposes = word != words.end() && parse_transposes(*word, named);
  if (has_transposes) ++word;
  if (!has_transposes && word != words.end() && word->find_first_of("0123456789") != 0) {
    return {Code::malformed, "'" + word->substr(0, kMostShown) + "' is " +
                                 (has_precision ? "" : "no precision (half, single, double), ") +
                                 "no transposes (nn, nt, tn, tt) and no size (MxNxK)"};
  }
  std::string text = kind_name(named);
  for (; word != words.end(); ++word) text += ' ' + *word;
  const Result<Shape> line = parse_shape(text);
  if (!line) return line.status();
  std::set<GemmKind> seen;
  for (const GemmKind& kind : kinds) {
    Shape shape = *line;
    if (!has_precision) shape.precision = kind.precision;
    if (!has_transposes) shape.trans_a = kind.trans_a, shape.trans_b = kind.trans_b;
    const Status added = seen.insert(shape.kind()).second ? problems.add(shape) : Status();
    if (!added) return added;
  }
  return {};
}

}  // namespace

Result<std::vector<Shape>> parse_shapes(const std::string& text, const std::string& name,
                                        const std::vector<GemmKind>& kinds) {
  std::istringstream lines(text);
  Problems problems;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::vector<std::string> words = words_of(line);
    const Status added = words.empty() ? Status() : add_line(words, kinds, problems);
    if (!added) return added.within(name + ": line " + std::to_string(number));
  }
  std::vector<Shape> shapes = problems.take();
  if (shapes.empty()) return {Code::malformed, name + ": no shape in it"};
  return shapes;
}

Result<std::vector<Shape>> read_shapes(const std::string& path, const std::vector<GemmKind>& kinds) {
  const Result<std::string> text = read_text_file(path, kMaxBytes);
  return text ? parse_shapes(*text, path, kinds) : text.status();
}

}  // namespace clbake::builder
