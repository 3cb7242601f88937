// Recording is not for this system yet.
#include "record/record.hpp"
#include "log.hpp"

namespace clbake::layer::record {

void install(cl_icd_dispatch& /*table*/) { log("CLBAKE_RECORD: nothing is recorded on this system"); }

}  // namespace clbake::layer::record
