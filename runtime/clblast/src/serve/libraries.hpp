// A Library for each device of a context that a program multiplies on.
#pragma once

#include <clbake/clbake.hpp>

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <vector>

namespace clbake::door {

// True after a library has logged something, such as a miss, on this thread. The reader resets it.
bool& told_of_miss();

// A Library retains its context, so no other context gets the same handle while it is kept. Only the latest kMost are
// kept, so that contexts which the program has released do not stay for ever; `clear` drops all.
// All members: any thread; no lock is held while a driver is called.
class Libraries {
 public:
  static constexpr std::size_t kMost = 16;

  // The only one; never destroyed, so that a program's static objects may multiply in their destructors.
  static Libraries& instance();

  // Fails as Library::create does; with no_program without any bundle.
  Result<Library> get(cl_context context, cl_device_id device);

  // Programs and contexts are released as soon as no call uses them.
  void clear();

  // Makes the end of the program wait for the libraries' threads: a driver that is being torn down must not compile.
  // Called after a miss. Releases nothing: drivers may be gone.
  void wait_at_exit();

 private:
  struct Kept {
    cl_context context;
    cl_device_id device;
    Library library;
    std::atomic<std::uint64_t> used;
    Kept(cl_context c, cl_device_id d, const Library& l, std::uint64_t now)
        : context(c), device(d), library(l), used(now) {}
  };

  const Kept* find(cl_context context, cl_device_id device);
  Result<Library> create(cl_context context, cl_device_id device);
  Library keep(cl_context context, cl_device_id device, const Library& created, std::uint64_t clears);
  void finish();

  std::shared_mutex mutex_;
  std::vector<std::unique_ptr<Kept>> kept_;
  std::uint64_t clears_ = 0;  // how often `clear` was called
  std::atomic<std::uint64_t> clock_{0};
  const pid_t process_ = getpid();
};

}  // namespace clbake::door
