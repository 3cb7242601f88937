// trust_write_golden DIRECTORY: writes the signed golden bundle of the current version, once, when the version is
// released.
#include "samples.hpp"
#include "trust/trust_scene.hpp"

#include <clbake/cache/writer.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  using namespace clbake;
  if (argc != 2) {
    std::fputs("usage: trust_write_golden DIRECTORY\n", stderr);
    return 2;
  }
  cache::PackOptions options;
  options.digest = compute_digest;
  const cache::Bytes bytes = *cache::pack(cache::test::similar_contents(), options);
  const cache::Bytes with = test::signed_by({test::Key(1), test::Key(2)}, 7, bytes);
  const Status status = cache::write_file(std::string(argv[1]) + "/v1.0-signed.clbake", {with.data(), with.size()});
  if (!status) std::fprintf(stderr, "trust_write_golden: %s\n", status.message().c_str());
  return status ? 0 : 1;
}
