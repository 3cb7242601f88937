// Trust of the settings: which bundles may serve.
#pragma once

#include <clbake/cache/reader.hpp>

namespace clbake::layer::serve {

// The bundle under the guard of CLBAKE_TRUST's keys; the bundle itself where no key is given. Fails with not_trusted,
// and the message says why; also where the system has no libsodium, which checks signatures.
Result<cache::Bundle> trusted(const cache::Bundle& bundle);

}  // namespace clbake::layer::serve
