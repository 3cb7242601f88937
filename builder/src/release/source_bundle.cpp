#include <clbake/builder/release/source_bundle.hpp>

#include <clbake/builder/jobs.hpp>
#include <clbake/builder/programs.hpp>
#include <clbake/builder/release/signing.hpp>
#include <clbake/cache/pack.hpp>
#include "profile/default_targets.hpp"

#include <iterator>

namespace clbake::builder::release {

Result<cache::Bytes> source_bundle() {
  cache::Contents contents;
  profile::add_default_targets(contents);
  for (const kernels::DeviceType type : kernels::all_device_types) {
    const cache::Target target = cache::any_device(type == kernels::DeviceType::cpu);
    for (const program::Program& program :
         program::complex_programs(type, {std::begin(complex_precisions), std::end(complex_precisions)})) {
      add_job(contents, make_job(target, program));
    }
  }
  cache::PackOptions options;
  options.digest = digest_function();
  return cache::pack(contents, options);
}

}  // namespace clbake::builder::release
