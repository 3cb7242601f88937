// The device that a benchmark measures on, and the bundle that it runs there.
#pragma once

#include <clbake/builder/devices.hpp>
#include <clbake/builder/release/signing.hpp>

#include <string>

namespace clbake::tool {

// A device with a context and a queue.
struct BenchDevice {
  builder::Device device;
  builder::Session session;
};

struct BenchBundle {
  Bundle bundle;
  BenchDevice on;
};

// The device of this machine that is `target`: in a worker, whose parent has chosen it.
Result<BenchDevice> open_device(const Target& target);

// Verifies every byte of the bundle and opens the device that --device SPEC selects for it (`device_for`). Also sets
// the environment in which drivers measure steadily (builder::steady_environment), so call it before anything else that
// starts OpenCL. Fails like open_verified or device_for, or with opencl.
Result<BenchBundle> open_bundle(const std::string& file, const std::string& spec);

Result<Library> open_library(const BenchDevice& on, const Bundle& bundle, const Options& options = {});

// Trusts the keys that signed the bundle or, if none did, the bundle's digest: what trust costs is measured with a
// policy that the bundle satisfies. Null where there is nothing to trust: without digests, or without libsodium.
std::shared_ptr<const Trust> trust_of_itself(const Bundle& bundle);

}  // namespace clbake::tool
