// A made-up bundle and shapes, as files. Needs no OpenCL device.
#pragma once

#include "command.hpp"
#include "release/synthetic_bundle.hpp"

namespace clbake::tool::test {

// Three targets: a CPU, an NVIDIA GPU, and nvidia:sm_52.
struct ReleaseFiles {
  Directory directory;
  SyntheticSettings settings;
  cache::Contents contents = synthetic_bundle(settings);
  std::string bundle = directory.write("a.clbake", encoded(contents));
  std::string shapes = write_shapes("shapes.txt", 20);

  std::string write_shapes(const std::string& name, std::size_t count) const {
    std::string text;
    for (const builder::Shape& shape : synthetic_shapes(settings, count)) text += weighted_name(shape) + "\n";
    return directory.write(name, text);
  }
};

}  // namespace clbake::tool::test
