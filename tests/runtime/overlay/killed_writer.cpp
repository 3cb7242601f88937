// killed_writer DIRECTORY FIRST: writes versions FIRST, FIRST + 1 ... of an entry into the overlay DIRECTORY/overlay
// and of the file DIRECTORY/file, until it is killed; prints one byte for each that is done.
#include "overlay/overlay_samples.hpp"

#include <clbake/os/files.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace clbake;
using namespace clbake::test;

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string directory = argv[1];
  const Result<Overlay> overlay = Overlay::open({directory + "/overlay", OverlayMode::read_write, 1U << 20U});
  if (!overlay) return 1;
  for (std::uint64_t version = std::strtoull(argv[2], nullptr, 10);; ++version) {
    const Status stored = overlay->store(sample_key(1), sample_entries(1, version));
    const Status written = os::write_file(directory + "/file", std::string(100000, 'x') + std::to_string(version));
    if (!stored || !written) {
      std::fprintf(stderr, "\n%s%s\n", stored.message().c_str(), written.message().c_str());
      return 1;
    }
    std::fputc('.', stdout);
    std::fflush(stdout);
  }
}
