// A libcuda.so.1 with one device of capability 9.0. The variable FAKE_LIBCUDA says what goes wrong, at each call.
#include "compile/cubins.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

using clbake::builder::test::handmade_cubin;

bool told(const char* word) {
  const char* options = std::getenv("FAKE_LIBCUDA");
  return options && std::strcmp(options, word) == 0;
}

// Links and modules that exist now; a test looks at it.
int alive = 0;
int target = 0;  // of the last link
char* log_buffer = nullptr;
std::size_t log_bytes = 0;
clbake::cache::Bytes made;
std::string linked;  // the text of the last link

// The registers of the machine code that `linked` became: its bound, or as many as the variable says in its first word.
int registers() {
  const std::size_t bound = linked.find(".maxnreg ");
  if (bound != std::string::npos)
    return static_cast<int>(std::strtol(linked.c_str() + bound + std::strlen(".maxnreg "), nullptr, 10));
  const char* options = std::getenv("FAKE_LIBCUDA");
  return options ? static_cast<int>(std::strtol(options, nullptr, 10)) : 0;
}

}  // namespace

extern "C" {

int fake_libcuda_alive() { return alive; }
int fake_libcuda_target() { return target; }

int cuInit(unsigned) { return told("no driver") ? 100 : 0; }
int cuDriverGetVersion(int* version) { return *version = 13020, 0; }
int cuGetErrorName(int error, const char** name) {
  *name = error == 218 ? "CUDA_ERROR_INVALID_PTX" : error == 100 ? "CUDA_ERROR_NO_DEVICE" : nullptr;
  return *name ? 0 : 1;
}
int cuDeviceGetCount(int* count) { return *count = 2, 0; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  if (attribute == 82) return *value = 65536, 0;
  return *value = attribute == 75 ? 7 + 2 * device : 0, attribute == 75 || attribute == 76 ? 0 : 1;  // 7.0 and 9.0
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  if (told("no context") || device != 1) return 999;
  return *context = &alive, 0;
}
int cuCtxSetCurrent(void*) { return 0; }

int cuLinkCreate_v2(unsigned count, const int* options, void** values, void** state) {
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == 5) log_buffer = static_cast<char*>(values[i]);
    if (options[i] == 6) log_bytes = reinterpret_cast<std::size_t>(values[i]);
    if (options[i] == 9) target = static_cast<int>(reinterpret_cast<std::size_t>(values[i]));
  }
  return told("no link") ? 999 : (*state = &made, ++alive, 0);
}

int cuLinkAddData_v2(void*, int type, const char* data, std::size_t size, const char*, unsigned, int*, void**) {
  const bool text = type == 1 && size > 0 && std::strlen(data) == size - 1;  // one zero, at the end
  if (!text) return 999;
  linked = data;
  if (told("long log")) return std::memset(log_buffer, 'x', log_bytes), 218;
  if (!told("refused")) return 0;
  const char log[] = "line 4; error: what\nanother line\n";
  return std::memcpy(log_buffer, log, sizeof log), 218;
}

int cuLinkComplete(void*, void** cubin, std::size_t* size) {
  if (told("no completion")) return 999;
  made = handmade_cubin(told("other") ? 80 : 90);
  if (registers() != 0) made.back() = static_cast<std::uint8_t>(registers());
  *cubin = told("nothing") ? nullptr : made.data();
  *size = made.size();
  return 0;
}

int cuLinkDestroy(void*) { return --alive, 0; }

// A module is its image, whose last byte is the number of registers; 0 where the test is about something else.
int cuModuleLoadData(const void** module, const void* image) { return *module = image, ++alive, 0; }
int cuModuleUnload(void*) { return --alive, 0; }
int cuModuleGetFunction(const void** function, const void* module, const char* name) {
  return *function = module, std::strcmp(name, "small") == 0 ? 0 : 500;
}
int cuFuncGetAttribute(int* value, int attribute, const void*) {
  const bool is_bounded = linked.find(".maxnreg ") != std::string::npos;
  *value = attribute == 4 ? (made.back() == 0 ? 32 : registers()) : told("130 spills") && is_bounded ? 16 : 0;
  return 0;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int block_size, std::size_t) {
  if (told("130 local memory decides")) return *blocks = 15, 0;
  return *blocks = made.back() == 0 ? 32 : 65536 / ((registers() + 7) / 8 * 8 * block_size), 0;
}

}  // extern "C"
