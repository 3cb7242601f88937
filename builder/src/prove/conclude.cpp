#include "prove/conclude.hpp"

#include "program/proof_note.hpp"

#include <iomanip>
#include <sstream>

namespace clbake::builder {

cache::Proof new_proof(const cache::Entry& entry, const Device& device) {
  cache::Proof proof;
  proof.tools = entry.proof.tools;
  proof.specialisations = entry.proof.specialisations;
  proof.device = device.target.device_name;
  proof.driver = device.target.driver_version;
  return proof;
}

void set_load_times(const Explanation& loaded, cache::Proof& proof) {
  proof.create_us = static_cast<float>(loaded.create_us);
  proof.build_us = static_cast<float>(loaded.build_us);
  proof.kernel_us = static_cast<float>(loaded.kernel_us);
}

bool conclude(const CompileWatch::Verdict& verdict, const LaunchOverhead& overhead,
              const std::vector<std::string>& remarks, cache::Proof proof, cache::Entry& entry) {
  const bool native = entry.form == cache::Form::native;
  proof.proven = true;
  proof.jit_free = native && !verdict.compiles;
  std::ostringstream note;
  if (!entry.proof.note.empty()) note << entry.proof.note << "; ";
  for (const std::string& remark : remarks) note << remark << "; ";
  note << std::fixed << std::setprecision(0) << "a kernel that does nothing: load " << overhead.load_us
       << " us, first launch " << overhead.first_us << " us";
  if (!native) {
    note << "; the driver keeps an intermediate language, which it compiles at every load";
  } else if (verdict.compiles) {
    note << "; " << kNotJitFree << verdict.cause;
  }
  proof.note = note.str();
  entry.proof = std::move(proof);
  return native && verdict.near_miss;
}

}  // namespace clbake::builder
