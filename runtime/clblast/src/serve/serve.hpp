// CLBlast's three products, by clbake.
#pragma once

#include <clbake/clbake.hpp>

#include <clblast.h>

#include <optional>
#include <vector>

namespace clbake::door {

// The status for the caller; empty when clbake cannot serve the call and CLBlast has to.
using Answer = std::optional<clblast::StatusCode>;

struct Operands {
  Matrix a, b, c;
};

// One product, or a batch with one alpha and beta. queue and event as in CLBlast's API: event may be null; a null queue
// is refused.
Answer serve(const Problem& problem, const Operands& operands, const Scalars& scalars, const cl_command_queue* queue,
             cl_event* event) noexcept;

// A batch with offsets, and alpha and beta for each product.
Answer serve(const Problem& problem, const Operands& operands, const std::vector<Scalars>& each,
             const cl_command_queue* queue, cl_event* event) noexcept;

// CLBlast's code for a bad queue; `otherwise` for a good one.
clblast::StatusCode check_queue(const cl_command_queue* queue, clblast::StatusCode otherwise) noexcept;

}  // namespace clbake::door
