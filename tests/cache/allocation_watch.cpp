// In a file of its own: where the compiler can inline the replaced operators, it takes them for a mismatch.
#include "allocation_watch.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> largest{0};

}  // namespace

namespace clbake::cache::test {

void reset_largest_allocation() { largest = 0; }
std::size_t largest_allocation() { return largest; }

}  // namespace clbake::cache::test

void* operator new(std::size_t size) {
  std::size_t seen = largest.load();
  while (seen < size && !largest.compare_exchange_weak(seen, size)) {
  }
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
