// The commands of a recorded product.
#pragma once

#include "launch/prepared_gemm.hpp"

#include <vector>

namespace clbake {

struct RecordedCommands {
  struct Command {
    Step step;
    void* handle = nullptr;  // cl_mutable_command_khr
    HeldArguments held;
  };
  PreparedGemm* gemm = nullptr;
  _cl_command_buffer_khr* buffer = nullptr;
  std::vector<Command> all;
};

}  // namespace clbake
