// write_golden DIRECTORY: writes the golden bundles of the current version, once, when the version is released.
#include "samples.hpp"

#include <clbake/cache/writer.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  using namespace clbake::cache;
  if (argc != 2) {
    std::fputs("usage: write_golden DIRECTORY\n", stderr);
    return 2;
  }
  const std::string directory = argv[1];
  clbake::Status status = write_file(directory + "/v1.0.clbake", test::view_of(test::small_bundle()));
  if (status) {
    status = write_file(directory + "/v1.0-dictionaries.clbake", test::view_of(test::packed_bundle()));
  }
  if (status) {
    status = write_file(directory + "/v1.0-programs.clbake", test::view_of(test::encoded(test::program_contents())));
  }
  if (!status) std::fprintf(stderr, "write_golden: %s\n", status.message().c_str());
  return status ? 0 : 1;
}
