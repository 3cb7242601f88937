#include "serve/libraries.hpp"

#include "log.hpp"
#include "serve/bundles.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

namespace clbake::door {
namespace {

// Also tells the call that is being served on this thread.
void write_log(LogLevel, const char* message, void*) {
  told_of_miss() = true;
  log(message);
}

}  // namespace

bool& told_of_miss() {
  thread_local bool told = false;
  return told;
}

Libraries& Libraries::instance() {
  static Libraries& only = *new Libraries;
  return only;
}

const Libraries::Kept* Libraries::find(cl_context context, cl_device_id device) {
  for (const auto& kept : kept_) {
    if (kept->context != context || kept->device != device) continue;
    kept->used.store(clock_.fetch_add(1, std::memory_order_relaxed), std::memory_order_relaxed);
    return kept.get();
  }
  return nullptr;
}

Result<Library> Libraries::get(cl_context context, cl_device_id device) {
  std::uint64_t clears = 0;
  {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    if (const Kept* const kept = find(context, device)) return kept->library;
    clears = clears_;
  }
  const Result<Library> created = create(context, device);
  if (!created) return created;
  return keep(context, device, *created, clears);
}

Result<Library> Libraries::create(cl_context context, cl_device_id device) {
  const std::vector<Bundle> from = bundles();
  if (from.empty()) return {Code::no_program, "there is no bundle"};
  Options options;
  options.on_miss = OnMiss::fallback;
  options.overlay = overlay();
  options.log = write_log;
  return Library::create(context, device, from, options);
}

// Another thread may have created one meanwhile, which is returned, or cleared all: then the new one, perhaps of
// earlier bundles, serves this call only.
Library Libraries::keep(cl_context context, cl_device_id device, const Library& created, std::uint64_t clears) {
  std::unique_ptr<Kept> oldest;  // released without the lock
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  if (const Kept* const kept = find(context, device)) return kept->library;
  if (clears != clears_) return created;
  if (kept_.size() == kMost) {
    const auto at = std::min_element(kept_.begin(), kept_.end(),
                                     [](const auto& a, const auto& b) { return a->used.load() < b->used.load(); });
    oldest = std::move(*at);
    kept_.erase(at);
  }
  kept_.push_back(std::make_unique<Kept>(context, device, created, clock_.fetch_add(1)));
  return created;
}

void Libraries::clear() {
  std::vector<std::unique_ptr<Kept>> dropped;
  {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    dropped.swap(kept_);
    ++clears_;
  }
}

// A forked child has no such threads.
void Libraries::finish() {
  if (getpid() != process_) return;
  std::vector<Library> all;
  {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    for (const auto& kept : kept_) all.push_back(kept->library);
  }
  for (const Library& library : all) library.finish();
}

// The end of the main thread precedes all exit handlers. A program that ends in another thread runs the latest handlers
// first: this one before those of the compiler, which has begun to work.
void Libraries::wait_at_exit() {
  struct AtEndOfThread {
    ~AtEndOfThread() { instance().finish(); }
  };
  if (gettid() == getpid()) {
    thread_local const AtEndOfThread at_end;
    static_cast<void>(&at_end);
  }
  static_cast<void>(std::atexit([] { instance().finish(); }));
}

}  // namespace clbake::door
