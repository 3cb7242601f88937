// The devices that tests run on.
#pragma once

#include <clbake/builder/devices.hpp>

#include <cstdlib>

namespace clbake::tests {

// This machine's devices, or those that CLBAKE_TEST_DEVICE (an index or a part of a name) selects.
inline Result<std::vector<builder::Device>> selected_devices() {
  Result<std::vector<builder::Device>> all = builder::list_devices();
  const char* spec = std::getenv("CLBAKE_TEST_DEVICE");
  return all && spec ? builder::select_devices(*all, spec) : all;
}

// True when the binaries of the device's driver hold machine code. Mesa's rusticl gives SPIR-V, Oclgrind LLVM's
// bitcode.
inline bool gives_machine_code(const builder::Device& device) {
  return device.target.platform_name != "rusticl" && device.target.platform_name != "Oclgrind";
}

// True when messages of the driver's compiler have the file and the line that #line gives.
inline bool keeps_lines(const builder::Device& device) { return gives_machine_code(device); }

}  // namespace clbake::tests
