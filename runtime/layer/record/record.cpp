#include "record/record.hpp"

namespace clbake::layer::record {

void install(cl_icd_dispatch& /*table*/) {}

}  // namespace clbake::layer::record
