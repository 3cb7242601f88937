// The builder's half of the table of platforms (clbake/platform.hpp): a row for each PlatformId.
#pragma once

#include <clbake/platform.hpp>

#include <string>
#include <utility>
#include <vector>

namespace clbake::builder::process {

using Environment = std::vector<std::pair<std::string, std::string>>;

struct BuilderPlatform {
  PlatformId id;
  Environment caches;      // variables that turn the driver's cache on, in the directory that stands for an empty value
  const char* alias = "";  // another name for the platform in SPECs
  bool is_cpu = false;     // a device that does not tell its type is a CPU
  bool finish_waits = true;  // clFinish waits for commands without an event, too
  bool assembles = false;    // the builder makes machine code of the driver's intermediate language (compile/nvidia)
  bool serves_many = false;  // the first program takes a process long; one process serves many variants
};

const BuilderPlatform& builder_platform_of(const cache::Target& target);

// The variables of all platforms. They make every known driver keep its compilation cache in `directory`: an empty one
// is a cold cache, one used before is a warm cache.
Environment driver_cache_environment(const std::string& directory);

// For a process whose times are compared with each other.
Environment steady_environment();

}  // namespace clbake::builder::process
