#include "compile/entries_for_bundle.hpp"

#include <clbake/builder/platforms.hpp>
#include "compile/nvidia/cubin.hpp"
#include "compile/nvidia/ptx.hpp"
#include "compile/offline/offline_compile.hpp"

namespace clbake::builder::compile {
namespace {

// NVIDIA's driver answers with PTX, which it assembles at every load: 25 to 300 ms on an H200, with driver 580.159.04.
// It takes machine code (a cubin) as well, which loads in 0.05 ms. The PTX goes along: later architectures skip the
// front end with it, and so does this one when a driver refuses the machine code. A load costs about 9 us for each
// kernel in a program, so a program holds the kernels of one variant and no other. Nothing has to be launched: machine
// code is the same for every launch shape. Variants whose front end is clang's get its PTX in place of the driver's.
Status add_machine_code(const Compiled& compiled, const cache::Source& source, std::vector<cache::Entry>& entries) {
  cache::Entry& portable = entries.front();
  const std::string& architecture = compiled.target.architecture;
  if (is_clangs(compiled.variant)) {
    const Result<Ptx> ptx = clang_ptx(source, compiled.variant, architecture);
    if (!ptx) return ptx.status();
    portable.program.assign(ptx->text.begin(), ptx->text.end());
    portable.proof.tools = ptx->tools;
  }
  const std::string ptx(portable.program.begin(), portable.program.end());
  Result<Cubin> cubin = assemble(ptx, architecture);
  if (!cubin && is_for_one_architecture(ptx)) return cubin.status();
  if (!cubin) {  // the portable form alone is better than nothing, and the proof says what it costs
    portable.proof.note = "no machine code: " + cubin.status().message();
    return {};
  }
  cache::Entry native;
  native.program = std::move(cubin->bytes);
  native.newer_driver = true;
  native.proof.tools = portable.proof.tools;
  native.proof.tools.push_back(cubin->tool);
  if (is_for_one_architecture(ptx)) entries.clear();
  entries.insert(entries.begin(), std::move(native));
  return {};
}

}  // namespace

Result<std::vector<cache::Entry>> entries_for_bundle(const Compiled& compiled, const cache::Source& source) {
  Result<std::vector<cache::Entry>> entries = finalize(compiled);
  if (!entries || !process::builder_platform_of(compiled.target).assembles) return entries;
  if (entries->front().form != cache::Form::portable) return entries;
  const Status added = add_machine_code(compiled, source, *entries);
  if (!added) return added;
  return entries;
}

cache::Tool this_clbake() { return {"clbake", CLBAKE_VERSION}; }

void sign(std::vector<cache::Entry>& entries) {
  for (cache::Entry& entry : entries) entry.proof.tools.insert(entry.proof.tools.begin(), this_clbake());
}

}  // namespace clbake::builder::compile
