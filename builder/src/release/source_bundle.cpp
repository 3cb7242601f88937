#include <clbake/builder/release/source_bundle.hpp>

#include <clbake/builder/release/signing.hpp>
#include <clbake/cache/pack.hpp>
#include "profile/default_targets.hpp"

namespace clbake::builder {

Result<cache::Bytes> source_bundle() {
  cache::Contents contents;
  add_default_targets(contents);
  cache::PackOptions options;
  options.digest = digest_function();
  return cache::pack(contents, options);
}

}  // namespace clbake::builder
