#include "system/faulty_memory.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> armed{false};
std::atomic<std::size_t> count{0};
std::atomic<bool> failed{false};
std::size_t fail_at = 0;
bool lasting = false;
bool (*is_exempt)() = nullptr;

bool fails() {
  if (!armed || (is_exempt && is_exempt())) return false;
  const std::size_t number = count++;
  if (number != fail_at && !(lasting && number > fail_at)) return false;
  failed = true;
  errno = ENOMEM;
  return true;
}

}  // namespace

namespace clbake::tests {

void fail_allocation(std::size_t nth, bool and_all_that_follow, bool (*exempt)()) {
  fail_at = nth;
  lasting = and_all_that_follow;
  is_exempt = exempt;
  count = 0;
  failed = false;
  armed = true;
}

bool stop_failing_allocations() {
  armed = false;
  return failed;
}

}  // namespace clbake::tests

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// All forms: the sanitizer would pair a missing one with its own counterpart.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return fails() ? nullptr : std::malloc(size == 0 ? 1 : size);
}
void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }
#else
// The standard library's operator new calls these; what they return is glibc's, whose free() takes it back.
extern "C" {
void* __libc_malloc(std::size_t);               // NOLINT(bugprone-reserved-identifier): glibc's name
void* __libc_calloc(std::size_t, std::size_t);  // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void*, std::size_t);       // NOLINT(bugprone-reserved-identifier)
void* malloc(std::size_t size) noexcept { return fails() ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t n, std::size_t size) noexcept { return fails() ? nullptr : __libc_calloc(n, size); }
void* realloc(void* memory, std::size_t size) noexcept { return fails() ? nullptr : __libc_realloc(memory, size); }
}
#endif
