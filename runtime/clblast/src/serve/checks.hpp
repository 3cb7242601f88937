// The status codes of CLBlast for what it refuses, in its order.
#pragma once

#include <clbake/clbake.hpp>

#include <clblast.h>

#include <optional>

namespace clbake::door {

// The code with which CLBlast refuses this product or batch on this device: first the precision, then the leading
// dimension, the handle and the size of A, of B and of C. Nothing when it would accept it.
std::optional<clblast::StatusCode> refusal(cl_device_id device, const Problem& problem, const Matrix& a,
                                           const Matrix& b, const Matrix& c);

// The code for a failure that is not about the arguments.
clblast::StatusCode status_code(const Status& failure);

}  // namespace clbake::door
