// CLBlast's three products, by clbake.
#pragma once

#include <clbake/clbake.hpp>
#include <clbake/exceptions_to_status.hpp>

#include <clblast.h>

#include <optional>

namespace clbake::door {

// The status for the caller; empty when clbake cannot serve the call and CLBlast has to.
using Answer = std::optional<clblast::StatusCode>;

struct Operands {
  Matrix a, b, c;
};

// One product, or a batch with one alpha and beta (count = 1) or with those of each product. queue and event as in
// CLBlast's API: event may be null; a null queue is refused. Throws for lack of memory.
Answer serve(const Problem& problem, const Operands& operands, const Scalars* scalars, std::size_t count,
             const cl_command_queue* queue, cl_event* event);

// The answer of `work`, which may throw.
template <typename Work>
Answer without_exceptions(const Work& work) noexcept {
  Answer answer;
  const Status status = exceptions_to_status([&] { return answer = work(), Status(); });
  return status ? answer : clblast::StatusCode::kOpenCLOutOfHostMemory;
}

// CLBlast's code for a bad queue; `otherwise` for a good one.
clblast::StatusCode check_queue(const cl_command_queue* queue, clblast::StatusCode otherwise) noexcept;

}  // namespace clbake::door
