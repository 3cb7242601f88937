// Refusals of CLBlast: its status codes, in its order.
#pragma once

#include <clbake/clbake.hpp>

#include <clblast.h>

#include <optional>

namespace clbake::door {

// CLBlast's code for a product or batch that it refuses on this device: first for the precision, then for the leading
// dimension, the handle and the size of A, of B and of C. Empty when it would accept the call.
std::optional<clblast::StatusCode> refusal(cl_device_id device, const Problem& problem, const Matrix& a,
                                           const Matrix& b, const Matrix& c);

// True when the Cs of two products of a batch share an element. They may interleave without sharing any.
bool products_share_c(const Problem& problem);

}  // namespace clbake::door
