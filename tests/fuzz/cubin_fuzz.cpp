// NVIDIA's driver and ptxas return ELF files whose architecture clbake reads before it trusts them. Whatever the bytes,
// the reader stays inside them, and only a whole cubin has an architecture.
#include "compile/nvidia/cubin.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clbake::builder;
  const clbake::cache::Bytes bytes(data, data + size);
  const std::string architecture = compile::cubin_architecture(bytes);
  clbake::fuzz::expect(architecture.empty() || architecture.rfind("sm_", 0) == 0, "an architecture is named sm_NN");
  return 0;
}
