// Random numbers for matrices: drawn once in a process, as to draw every element takes longer than a product. A has a
// ring of its own: where rows of A and of op(B) began at the same number, all their products would be positive.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace clbake::builder {

// How many are drawn; longer matrices repeat them. It is prime, so that rows and tiles differ.
inline constexpr std::size_t kRandomNumbers = 262139;
enum Ring : std::size_t { of_a, of_others };

// Copies `count` of the numbers, which follow each other in a ring, from `next` on.
template <typename T>
void repeat(const std::vector<T>& numbers, std::size_t& next, std::size_t count, T* to) {
  while (count > 0) {
    const std::size_t part = std::min(count, numbers.size() - next);
    to = std::copy_n(numbers.data() + next, part, to);
    next = (next + part) % numbers.size();
    count -= part;
  }
}

}  // namespace clbake::builder
