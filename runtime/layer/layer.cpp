// The layer's two functions of Khronos' interface (CL/cl_layer.h), which the loader calls, and the choice of a mode.
#include "down.hpp"
#include "log.hpp"
#include "record/record.hpp"
#include "serve/calls.hpp"
#include "serve/learning.hpp"
#include "settings.hpp"

#include <clbake/export.h>
#include <clbake/exceptions_to_status.hpp>
#include <clbake/os/environment.hpp>
#include <clbake/os/guest.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

namespace clbake::layer {
namespace {

// The functions that the loader calls from now on: its own, in the order of its table, but for those that a mode
// replaces. Lives as long as the process.
std::vector<void*>& loader_table() {
  static auto& table = *new std::vector<void*>;
  return table;
}

// The mode that serves: programs that a bundle or the overlay has are loaded instead of compiled.
void install_serving(cl_icd_dispatch& table) {
#define CLBAKE_REPLACE(name) replace(table.cl##name, serve::calls::name);
  CLBAKE_SERVED_CALLS(CLBAKE_REPLACE)
  if (!serve::learns()) return;
  CLBAKE_LEARNED_CALLS(CLBAKE_REPLACE)
#undef CLBAKE_REPLACE
}

// Replaces functions of the table by those of the mode that the settings ask for.
void install(cl_icd_dispatch& table) {
  const Settings& s = settings();
  if (!s.record.empty()) return record::install(table);
  if (s.serves()) install_serving(table);
}

Status init(const cl_icd_dispatch* target, std::size_t entries) {
  opencl::set_functions(target, entries);
  cl_icd_dispatch table = down();
  read_settings();
  install(table);
  std::vector<void*>& made = loader_table();
  made.resize(entries);
  std::memcpy(made.data(), target, entries * sizeof(void*));
  std::memcpy(made.data(), &table, std::min(entries * sizeof(void*), sizeof table));
  return {};
}

}  // namespace
}  // namespace clbake::layer

using namespace clbake::layer;

CLBAKE_API cl_int clGetLayerInfo(cl_layer_info what, size_t size, void* value, size_t* size_ret) {
  static constexpr char kName[] = "clbake";
  static constexpr cl_layer_api_version kVersion = CL_LAYER_API_VERSION_100;
  const bool version = what == CL_LAYER_API_VERSION;
  if (!version && what != CL_LAYER_NAME) return CL_INVALID_VALUE;
  const std::size_t needed = version ? sizeof kVersion : sizeof kName;
  if (value && size < needed) return CL_INVALID_VALUE;
  if (value) std::memcpy(value, version ? static_cast<const void*>(&kVersion) : kName, needed);
  if (size_ret) *size_ret = needed;
  return CL_SUCCESS;
}

// A loader that names the layer twice, a second loader in the process, and a process with more rights than its user get
// their own functions back.
CLBAKE_API cl_int clInitLayer(cl_uint entries, const cl_icd_dispatch* target, cl_uint* entries_ret,
                              const cl_icd_dispatch** table_ret) {
  if (!target || !entries_ret || !table_ret) return CL_INVALID_VALUE;
  static bool called = false;
  const bool first = !called && !clbake::os::is_privileged();
  called = true;
  *entries_ret = entries;
  *table_ret = target;
  if (!first || !clbake::exceptions_to_status([&] { return init(target, entries); })) return CL_SUCCESS;
  *table_ret = reinterpret_cast<const cl_icd_dispatch*>(loader_table().data());
  return CL_SUCCESS;
}

// The loader of Khronos asks for this one since 2025, and unloads the layer in the end: init() keeps it.
extern "C" CLBAKE_API cl_int CL_API_CALL clInitLayerWithProperties(cl_uint entries, const cl_icd_dispatch* target,
                                                                   cl_uint* entries_ret,
                                                                   const cl_icd_dispatch** table_ret,
                                                                   const cl_properties* /*properties*/) {
  return clInitLayer(entries, target, entries_ret, table_ret);
}
