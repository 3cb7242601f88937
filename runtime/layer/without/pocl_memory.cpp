// PoCL's cache is nowhere in memory on this system.
#include "serve/pocl_memory.hpp"

namespace clbake::layer::serve {

void place_in_memory(cache::Bytes& /*program*/, std::uint64_t /*checksum*/) noexcept {}

}  // namespace clbake::layer::serve
