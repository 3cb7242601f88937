// The time that a compilation, or a measurement, may take on this machine.
#pragma once

#include <algorithm>
#include <chrono>

namespace clbake::builder::tune {

// The limit that the user gave, or one that follows the machine: an emulated processor or a small board takes a minute
// for what others do in a second.
class MachineLimit {
 public:
  using Seconds = std::chrono::seconds;
  static constexpr Seconds kUnknown{180};  // until a variant has compiled: as for a bake
  static constexpr Seconds kLeast{20};
  static constexpr int kFactor = 10;  // slow variants take so many times what fast ones do

  explicit MachineLimit(Seconds given) : given_(given) {}  // 0: none

  // A variant has compiled in this time.
  void compiled(std::chrono::duration<double> time) { fastest_ = std::min(fastest_, time); }

  Seconds now() const {
    if (given_ > Seconds(0)) return given_;
    if (fastest_ == fastest_.max()) return kUnknown;
    return std::max(kLeast, std::chrono::ceil<Seconds>(kFactor * fastest_));
  }

 private:
  Seconds given_;
  std::chrono::duration<double> fastest_ = std::chrono::duration<double>::max();
};

}  // namespace clbake::builder::tune
