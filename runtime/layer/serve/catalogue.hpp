// The bundles and the overlay of the settings: which machine code there is for a program on a device.
#pragma once

#include <clbake/clbake.hpp>
#include <clbake/program_text.hpp>

#include <CL/cl.h>

#include <cstdint>
#include <string>

namespace clbake::layer::serve {

// Machine code for one device: verified bytes for clCreateProgramWithBinary.
struct Binary {
  cache::Bytes bytes;
  std::string log;             // that the driver's compiler wrote when the program was baked
  std::uint64_t checksum = 0;  // of the bytes
  bool from_overlay = false;
};

// All functions: any thread. The first call opens the bundles and the overlay; what is wrong with them is logged then.

// The bundles' machine code, else the overlay's, else a bundle's intermediate language, which the driver compiles.
// Nothing that the driver rejected before. Fails with the reason of the miss, for the log: no_program, no_target,
// other_driver, not_trusted, checksum ...
Result<Binary> find_binary(const ContentDigest& digest, cl_device_id device);

// Keeps a binary that the driver rejected from being offered again, in later processes too if the overlay is writable.
void reject_binary(const ContentDigest& digest, cl_device_id device, const Binary& binary) noexcept;

// True when a program that a bundle or the overlay has is linked of this part.
bool is_baked_part(const ContentDigest& digest, cl_device_id device);

// The identity of a device, of which a sub-device has that of its parent. Fails like `identify`.
Result<Target> target_of(cl_device_id device);

}  // namespace clbake::layer::serve
