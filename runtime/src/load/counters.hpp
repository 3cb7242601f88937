// Counts what a library does.
#pragma once

#include <clbake/clbake.hpp>

#include <atomic>

namespace clbake {

class AtomicCounters {
 public:
  using Count = std::atomic<std::uint64_t>;
  Count loaded{0}, native{0}, portable{0}, overlay{0}, source{0}, fallback{0}, failed{0};
  Count create_us{0}, build_us{0}, kernel_us{0};

  static void add(Count& count, std::uint64_t value = 1) { count.fetch_add(value, std::memory_order_relaxed); }

  // The times of a program that a driver just loaded or compiled.
  void add_times(const Explanation& e) {
    add(create_us, static_cast<std::uint64_t>(e.create_us));
    add(build_us, static_cast<std::uint64_t>(e.build_us));
    add(kernel_us, static_cast<std::uint64_t>(e.kernel_us));
  }

  void add_served(const Explanation& e) {
    if (!e.waits_for.empty()) return add(fallback);
    if (e.loaded) return add(loaded);
    switch (e.origin) {
      case Origin::native: return add(native);
      case Origin::portable: return add(portable);
      case Origin::overlay: return add(overlay);
      case Origin::source: return add(source);
    }
  }

  // Codes that are no reason for a miss (clbake/status.hpp) are ignored.
  void add_miss(Code reason) {
    const auto index = static_cast<std::size_t>(reason);
    if (index >= 20 && index < 50) add(misses_[index]);
  }

  Counters read() const {
    Counters c;
    c.loaded = loaded;
    c.native = native;
    c.portable = portable;
    c.overlay = overlay;
    c.source = source;
    c.fallback = fallback;
    c.failed = failed;
    c.create_us = create_us;
    c.build_us = build_us;
    c.kernel_us = kernel_us;
    for (std::size_t i = 0; i < misses_.size(); ++i) c.misses[i] = misses_[i];
    return c;
  }

 private:
  std::array<Count, 64> misses_{};
};

}  // namespace clbake
