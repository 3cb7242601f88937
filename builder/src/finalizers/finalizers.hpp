// The finalizers, one file each.
#pragma once

#include <clbake/builder/finalize.hpp>

namespace clbake::builder {

const Finalizer& pocl_finalizer();
const Finalizer& nvidia_finalizer();
const Finalizer& rusticl_finalizer();
const Finalizer& generic_finalizer();

}  // namespace clbake::builder
