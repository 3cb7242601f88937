// A bundle with nothing baked.
#pragma once

#include <clbake/cache/writer.hpp>

namespace clbake::builder::release {

// The part of every bundle for devices that it was not baked for, and nothing else: the default variants for every CPU
// and every other device, for all precisions and transposes, and
// the programs of complex products, as sources. Fails like cache::pack.
Result<cache::Bytes> source_bundle();

}  // namespace clbake::builder::release
