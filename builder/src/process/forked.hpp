// Work in a copy of this process.
#pragma once

#include <clbake/status.hpp>

#include <functional>

namespace clbake::builder {

// Runs `work` in a forked child and returns what it returned. To be called while the process has one thread and has not
// called a driver. A signal that kills the child kills the caller as well, so that whoever waits for the caller learns
// of it; a child is killed with its caller. Fails with io when there can be no child.
Status run_forked(const std::function<Status()>& work);

}  // namespace clbake::builder
