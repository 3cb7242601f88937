// Programs that the settings' overlay should have, for the learner: what the driver compiled, and launches for which
// the overlay's program has no machine code.
#pragma once

#include "serve/registry.hpp"

#include <CL/cl.h>

namespace clbake::layer::serve {

// True when the settings ask for learning, there is a learner, and the process is no fork of one that called this.
bool learns();

// Tells the learner of a program that the driver has built, whether it is ever launched or not: the next process builds
// it, too. Any thread; never throws, and fails without notice but for the log.
void learn_program(Program& program) noexcept;

// Tells the learner of a launch that nothing was learned from yet. `kernel`: its name. Any thread; never throws, and
// fails without notice but for the log.
void learn_launch(Program& program, const std::string& kernel, cl_command_queue queue, cl_uint dimensions,
                  const std::size_t* offset, const std::size_t* global, const std::size_t* local) noexcept;

}  // namespace clbake::layer::serve
