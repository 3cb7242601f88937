// Times of a bundle's variants as a tuning, which `clbake tune --merge` joins with others.
#pragma once

#include "bench/choice/choice_timing.hpp"

#include <clbake/builder/tuning.hpp>

namespace clbake::tool {

// Each turn counts as one call, as in a final race. The cost models are those of these times alone. `command`: the
// command line, for the record.
builder::Tuning tuning_of(const std::vector<ChoiceTiming>& rows, const builder::Device& device, std::uint32_t seed,
                          const std::string& command);

}  // namespace clbake::tool
