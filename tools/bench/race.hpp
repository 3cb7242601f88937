// What the benchmarks share: problem sizes and transposes as users write them, and timing in turns.
#pragma once

#include <clbake/clbake.hpp>

#include <functional>
#include <string>
#include <vector>

namespace clbake::tool {

struct Size {
  std::size_t m, n, k;
};

// "256,512" or "1000x20x300", mixed. Throws UsageError.
std::vector<Size> sizes_of(const std::string& text);

std::string name(const Size& size);  // "1000x20x300"

struct Transposes {
  bool a, b;
};

// "nn,tn", each once. Throws UsageError.
std::vector<Transposes> transposes_of(const std::string& text);

std::string trans_name(const Problem& problem);  // "tn"

// One who runs the same thing again and again, and the microseconds of each time.
struct Contender {
  std::function<Status()> once;
  std::vector<double> times;
};

// Everyone takes a turn in each round; the first turn warms up and is not counted.
Status race(std::vector<Contender>& contenders, std::size_t rounds);

double gflops(const Problem& problem, double us);

}  // namespace clbake::tool
