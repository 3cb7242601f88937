// PoCL compiles a work-group function for each launch shape (local size, grid of 65,535 work-items or more, offset) at
// the first launch of that shape. The binary that it returns holds the functions that exist when it is first asked for;
// later queries return the same binary. So every shape is launched once before the binary is asked for, unless no
// specialised function would be kept.
//
// PoCL also packs the functions that its cache directory has for the same program, those of earlier processes too. The
// builder's worker therefore starts with an empty directory; an overlay's entry may contain functions it does not need.
//
// Besides specialised functions the binary always contains one that serves every launch. For work-groups of one item a
// specialised function is no faster than that one, so nothing is launched for them. The binary also contains bitcode,
// which makes a load take three times as long: slim_poclbin removes it, and the specialised functions that are not
// needed, from containers whose layout it knows.
#include "finalize/finalize_pocl.hpp"

#include "finalize/poclbin.hpp"

#include <algorithm>
#include <string_view>

namespace clbake {
namespace {

// The version whose containers slim_poclbin knows.
bool known_version(const Target& target) { return target.platform_version.find("PoCL 3.1") != std::string::npos; }

bool one_item_groups(const cache::Variant& variant) {
  return std::all_of(variant.launches.begin(), variant.launches.end(), [](const cache::Launch& launch) {
    return launch.local[0] * launch.local[1] * launch.local[2] == 1;
  });
}

// With POCL_KERNEL_CACHE=0 PoCL compiles in a directory of this name, from which not every function gets into the
// binary.
bool made_without_cache(const cache::Bytes& program) {
  constexpr std::string_view name = "_UNCACHED_";
  const auto end = program.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(program.size(), 128));
  return std::search(program.begin(), end, name.begin(), name.end()) != end;
}

// "gemm 1-1-1-goffs0" for each function, for a person.
std::vector<std::string> functions_in(const cache::Bytes& program) {
  std::vector<std::string> names;
  const Result<PoclBinary> parsed = parse_poclbin({program.data(), program.size()});
  if (!parsed) return names;
  for (const PoclKernel& kernel : parsed->kernels) {
    for (const PoclFunction& function : kernel.functions) names.push_back(kernel.name + " " + function.shape);
  }
  return names;
}

}  // namespace

Result<std::vector<cache::Entry>> finalize_pocl(const Compiled& compiled) {
  if (!known_version(compiled.target) || !one_item_groups(compiled.variant)) {
    const Status launched = compiled.launch_every_shape();
    if (!launched) return launched;
  }
  Result<std::vector<cache::Entry>> entries = entry_of_binary(compiled.program);
  if (!entries) return entries;
  cache::Entry& entry = entries->front();
  if (made_without_cache(entry.program)) {
    return Status(Code::driver_rejected,
                  "PoCL's kernel cache is off (POCL_KERNEL_CACHE=0): its binary would be compiled again at each load");
  }
  Result<cache::Bytes> slim = slim_poclbin({entry.program.data(), entry.program.size()},
                                           compiled.variant.is_program() ? &compiled.variant : nullptr);
  if (slim) entry.program = std::move(*slim);
  if (!slim) entry.proof.note = "the driver's container as it is: " + slim.status().message();
  entry.proof.specialisations = functions_in(entry.program);
  return entries;
}

}  // namespace clbake
