#include "bench/bench_device.hpp"

#include "cli/cli.hpp"

#include <clbake/builder/platforms.hpp>
#include <clbake/builder/scratch.hpp>

#include <cstdlib>

namespace clbake::tool {
namespace {

Result<BenchDevice> with_session(Result<builder::Device> device) {
  if (!device) return device.status();
  Result<builder::Session> session = builder::Session::open(*device);
  if (!session) return session.status();
  return BenchDevice{std::move(*device), std::move(*session)};
}

}  // namespace

Result<BenchDevice> open_device(const Target& target) { return with_session(builder::device_of(target)); }

Result<BenchBundle> open_bundle(const std::string& file, const std::string& spec) {
  for (const auto& [name, value] : builder::steady_environment()) setenv(name.c_str(), value.c_str(), 0);
  Result<Bundle> bundle = open_verified(file);
  if (!bundle) return bundle.status();
  Result<BenchDevice> on = with_session(device_for(*bundle, spec));
  if (!on) return on.status();
  return BenchBundle{std::move(*bundle), std::move(*on)};
}

Result<Library> open_library(const BenchDevice& on, const Bundle& bundle, const Options& options) {
  return Library::create(on.session.context(), on.device.id, {bundle}, options);
}

std::shared_ptr<const Trust> trust_of_itself(const Bundle& bundle) {
  const Result<std::string> identity = builder::release::identity_text(bundle);
  if (!identity) return nullptr;
  std::vector<std::string> keys;
  const Result<std::vector<builder::release::SignatureReport>> signatures = builder::release::signatures_of(bundle);
  if (!signatures) return nullptr;
  for (const builder::release::SignatureReport& signature : *signatures) {
    if (signature.valid) keys.push_back(signature.public_key);
  }
  const Result<std::shared_ptr<const Trust>> trust =
      keys.empty() ? builder::release::trusted_digest(*identity) : builder::release::trusted_keys(keys, 0);
  return trust ? *trust : nullptr;
}

}  // namespace clbake::tool
