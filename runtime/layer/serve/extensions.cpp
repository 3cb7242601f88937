// Functions that have no place in the loader's table, and those of SPIR-V, which have one since OpenCL 2.1: each takes
// the application's program, for which a driver gets the program that it has built.
#include "down.hpp"
#include "questions.hpp"
#include "serve/calls.hpp"
#include "serve/load.hpp"

#include <utility>

namespace clbake::layer::serve {
namespace {

// The driver's own function of a device; null if it has none.
template <typename Function>
Function* below(cl_device_id device, const char* name) {
  const cl_platform_id platform = platform_of(device);
  if (!platform || !down().clGetExtensionFunctionAddressForPlatform) return nullptr;
  return reinterpret_cast<Function*>(down().clGetExtensionFunctionAddressForPlatform(platform, name));
}

template <typename Create>
cl_program create_with_il(Create create, cl_context context, const void* il, std::size_t length, cl_int& error) {
  if (!create) return error = CL_INVALID_OPERATION, nullptr;
  const cl_program handle = create(context, il, length, &error);
  if (!handle) return handle;
  ProgramText text;
  text.il.assign(static_cast<const char*>(il), length);
  registry().add(std::make_shared<Program>(handle, context, std::move(text)));
  return handle;
}

cl_program executable(cl_program handle) {
  const std::shared_ptr<Program> program = registry().find(handle);
  const std::shared_ptr<const Baked> baked = program ? program->served() : nullptr;
  return baked ? baked->program : handle;
}

cl_program CL_API_CALL clCreateProgramWithILKHR(cl_context context, const void* il, std::size_t length,
                                                cl_int* error_ret) {
  return make(error_ret, [&](cl_int& error) {
    const std::vector<cl_device_id> devices = devices_of(context);
    const auto create = devices.empty() ? nullptr
                                        : below<cl_program CL_API_CALL(cl_context, const void*, std::size_t, cl_int*)>(
                                              devices.front(), "clCreateProgramWithILKHR");
    return create_with_il(create, context, il, length, error);
  });
}

// Calls the driver's function `name` of the same type.
template <typename... P, typename... A>
cl_int call_below(cl_int(CL_API_CALL* /*of_the_type*/)(P...), const char* name, cl_device_id device,
                  A... arguments) noexcept {
  return no_throw([&] {
    const auto function = below<cl_int CL_API_CALL(P...)>(device, name);
    return function ? function(arguments...) : CL_INVALID_OPERATION;
  });
}
#define CLBAKE_CALL_BELOW(name, device, ...) call_below(&name, #name, device, __VA_ARGS__)

cl_int CL_API_CALL clGetDeviceGlobalVariablePointerINTEL(cl_device_id device, cl_program program, const char* variable,
                                                         std::size_t* size, void** pointer) {
  return CLBAKE_CALL_BELOW(clGetDeviceGlobalVariablePointerINTEL, device, device, executable(program), variable, size,
                           pointer);
}

cl_int CL_API_CALL clGetDeviceFunctionPointerINTEL(cl_device_id device, cl_program program, const char* function,
                                                   cl_ulong* pointer) {
  return CLBAKE_CALL_BELOW(clGetDeviceFunctionPointerINTEL, device, device, executable(program), function, pointer);
}

cl_int CL_API_CALL clEnqueueReadHostPipeINTEL(cl_command_queue queue, cl_program program, const char* pipe,
                                              cl_bool waits, void* to, std::size_t bytes, cl_uint count,
                                              const cl_event* events, cl_event* event) {
  return CLBAKE_CALL_BELOW(clEnqueueReadHostPipeINTEL, device_of(queue), queue, executable(program), pipe, waits, to,
                           bytes, count, events, event);
}

cl_int CL_API_CALL clEnqueueWriteHostPipeINTEL(cl_command_queue queue, cl_program program, const char* pipe,
                                               cl_bool waits, const void* from, std::size_t bytes, cl_uint count,
                                               const cl_event* events, cl_event* event) {
  return CLBAKE_CALL_BELOW(clEnqueueWriteHostPipeINTEL, device_of(queue), queue, executable(program), pipe, waits, from,
                           bytes, count, events, event);
}

// The layer's function in the place of the driver's, if it has one of this name.
void* extension(const char* name, void* of_the_driver) {
  if (!of_the_driver || !name) return of_the_driver;
#define CLBAKE_EXTENSION(function) \
  if (std::strcmp(name, #function) == 0) return reinterpret_cast<void*>(&(function));
  CLBAKE_EXTENSION(clCreateProgramWithILKHR)
  CLBAKE_EXTENSION(clGetDeviceGlobalVariablePointerINTEL)
  CLBAKE_EXTENSION(clGetDeviceFunctionPointerINTEL)
  CLBAKE_EXTENSION(clEnqueueReadHostPipeINTEL)
  CLBAKE_EXTENSION(clEnqueueWriteHostPipeINTEL)
#undef CLBAKE_EXTENSION
  return of_the_driver;
}

}  // namespace

cl_program calls::CreateProgramWithIL(cl_context context, const void* il, std::size_t length, cl_int* error_ret) {
  return make(error_ret,
              [&](cl_int& error) { return create_with_il(down().clCreateProgramWithIL, context, il, length, error); });
}

void* calls::GetExtensionFunctionAddress(const char* name) {
  return extension(name, down().clGetExtensionFunctionAddress(name));
}

void* calls::GetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char* name) {
  return extension(name, down().clGetExtensionFunctionAddressForPlatform(platform, name));
}

}  // namespace clbake::layer::serve
