#include "serve/serve.hpp"

namespace clbake::layer::serve {

void install(cl_icd_dispatch& /*table*/) {}

}  // namespace clbake::layer::serve
