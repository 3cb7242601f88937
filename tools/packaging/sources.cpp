// clbake_sources FILE: a bundle of the kernels' sources, with the default variants for every CPU and every other device
// and nothing baked. The door from CLBlast holds it for programs that have no bundle.
#include <clbake/builder/release/source_bundle.hpp>
#include <clbake/cache/writer.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const clbake::Result<clbake::cache::Bytes> bytes = clbake::builder::release::source_bundle();
  const clbake::Status status =
      bytes ? clbake::cache::write_file(argv[1], {bytes->data(), bytes->size()}) : bytes.status();
  if (!status) std::fprintf(stderr, "clbake_sources: %s\n", status.message().c_str());
  return status ? 0 : 1;
}
