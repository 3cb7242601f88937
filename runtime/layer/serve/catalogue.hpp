// The bundles and the overlay of the settings: which machine code there is for a program on a device.
#pragma once

#include <clbake/baked_programs.hpp>

#include <CL/cl.h>

#include <string>
#include <vector>

namespace clbake::layer::serve {

// All functions: any thread. The first call opens the bundles and the overlay; what is wrong with them is logged then.

struct ServingBundle {
  std::string file;
  Bundle bundle;
};

const std::vector<ServingBundle>& serving_bundles();

// Machine code for the device, or an intermediate language, which the driver compiles; nothing that the driver rejected
// before. Fails with the reason of the miss.
Result<BakedBinary> find_binary(const ContentDigest& content, cl_device_id device);

// The file that it is from, or "the overlay".
std::string origin_of(const BakedBinary& binary);

// Keeps a binary that the driver rejected from being offered again, in later processes too if the overlay is writable.
void reject_binary(const ContentDigest& content, cl_device_id device, const BakedBinary& binary);

// True when a program that a bundle or the overlay has is linked of this part.
bool is_baked_part(const ContentDigest& content, cl_device_id device);

// The device that a sub-device is a part of, itself no sub-device. Handles of sub-devices come and go.
cl_device_id root_of(cl_device_id device);

// The identity of a device, of which a sub-device has that of its parent. Fails like `identify`.
Result<Target> target_of(cl_device_id device);

}  // namespace clbake::layer::serve
