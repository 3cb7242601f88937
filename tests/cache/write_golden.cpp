// write_golden FILE: writes the golden bundle of the current version, once, when the version is released.
#include "samples.hpp"

#include <clbake/cache/writer.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  using namespace clbake::cache;
  if (argc != 2) {
    std::fputs("usage: write_golden FILE\n", stderr);
    return 2;
  }
  const clbake::Status status = write_file(argv[1], test::view_of(test::small_bundle()));
  if (!status) std::fprintf(stderr, "write_golden: %s\n", status.message().c_str());
  return status ? 0 : 1;
}
