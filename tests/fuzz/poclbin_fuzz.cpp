// PoCL's program binaries come from bundles, and from the driver at a miss. Whatever the bytes, parsing stays inside
// them; what can be slimmed is a binary again, with the same kernels, and cannot be slimmed further.
#include "finalize/poclbin.hpp"
#include "fuzz.hpp"

#include <algorithm>

namespace {

using namespace clbake;
using clbake::fuzz::expect;

bool inside(cache::ByteView part, cache::ByteView whole) {
  return part.size == 0 || (part.data >= whole.data && part.data + part.size <= whole.data + whole.size);
}

void check_views(const PoclBinary& binary, cache::ByteView bytes) {
  expect(inside(binary.header, bytes), "the header lies inside the bytes");
  for (const PoclKernel& kernel : binary.kernels) {
    expect(inside(kernel.description, bytes), "a kernel's description lies inside the bytes");
    for (const PoclFunction& function : kernel.functions) {
      expect(inside(function.code, bytes), "machine code lies inside the bytes");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const cache::ByteView bytes{data, size};
  const Result<PoclBinary> binary = parse_poclbin(bytes);
  if (binary) check_views(*binary, bytes);
  const Result<cache::Bytes> slim = slim_poclbin(bytes);
  if (!slim) return 0;
  expect(binary.ok(), "what can be slimmed can be parsed");
  const Result<PoclBinary> again = parse_poclbin({slim->data(), slim->size()});
  expect(again.ok() && !again->holds_bitcode, "a slim binary can be parsed and holds no bitcode");
  expect(std::equal(again->kernels.begin(), again->kernels.end(), binary->kernels.begin(), binary->kernels.end(),
                    [](const PoclKernel& a, const PoclKernel& b) { return a.name == b.name; }),
         "a slim binary has the same kernels");
  const Result<cache::Bytes> twice = slim_poclbin({slim->data(), slim->size()});
  expect(twice.ok() && twice->size() == slim->size(), "a slim binary cannot be slimmed further");
  return 0;
}
