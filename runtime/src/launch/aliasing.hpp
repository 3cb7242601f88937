// Aliasing: two operands in one buffer that share elements.
#pragma once

#include <clbake/operand.hpp>

namespace clbake {

// Exact: blocks of one matrix, as in a blocked factorisation, may lie between each other's rows. Constant time where
// both have one leading dimension, and there is no batch; otherwise sorts the rows of both. Also true when they
// interleave and are too many to compare (4 million). May throw std::bad_alloc.
bool overlap(const Operand& x, const Operand& y);

}  // namespace clbake
