#include "record/record.hpp"

#include "down.hpp"
#include "record/handles.hpp"
#include "record/kernels.hpp"
#include "record/launches.hpp"
#include "record/programs.hpp"
#include "record/trial/trial.hpp"
#include "record/write/journal.hpp"
#include "settings.hpp"

#include <cstdlib>

namespace clbake::layer::record {
namespace {

void* CL_API_CALL extension(const char* name) {
  void* function = down().clGetExtensionFunctionAddress(name);
  void* own = function ? il_extension(name) : nullptr;
  return own ? own : function;
}

void* CL_API_CALL extension_for_platform(cl_platform_id platform, const char* name) {
  void* function = down().clGetExtensionFunctionAddressForPlatform(platform, name);
  void* own = function ? il_extension(name) : nullptr;
  return own ? own : function;
}

}  // namespace

void install(cl_icd_dispatch& table) {
  open_journal(settings().record);
  install_programs(table);
  install_kernels(table);
  install_handles(table);
  install_launches(table);
  replace(table.clGetExtensionFunctionAddress, extension);
  replace(table.clGetExtensionFunctionAddressForPlatform, extension_for_platform);
  static_cast<void>(std::atexit(await_trials));
}

}  // namespace clbake::layer::record
