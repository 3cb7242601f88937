// Library::program by content: each program that a library was asked for by its content has the bundles that have it,
// and what the application gave, to compile.
#include "library_state.hpp"
#include "load/policy.hpp"

#include <clbake/cache/writer.hpp>
#include <clbake/exceptions_to_status.hpp>
#include <clbake/program_text.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace clbake {
// All members may be called by any number of threads at once.
class ContentPrograms {
 public:
  // All three must outlive it.
  ContentPrograms(const Setup& setup, Background& background, Tally& tally)
      : setup_(setup), background_(background), tally_(tally) {}

  // As Policy::find and Policy::explain, and like content_digest.
  Result<Found> find(const ProgramText& text);
  Result<Explanation> explain(const ProgramText& text);

 private:
  // One content: a library of its own, as it were.
  struct One {
    One(Setup its_setup, Request its_request, Background& background, Tally& tally)
        : setup(std::move(its_setup)), request(std::move(its_request)), policy(setup, background, tally) {}
    const Setup setup;
    const Request request;
    Policy policy;
  };

  Result<std::shared_ptr<One>> one_of(const ProgramText& text);
  Result<std::shared_ptr<One>> make(const ProgramText& text, const ContentDigest& content) const;

  const Setup& setup_;
  Background& background_;
  Tally& tally_;
  std::mutex mutex_;  // guards ones_
  std::map<ContentDigest, std::shared_ptr<One>> ones_;
};

namespace {

// A bundle of what the application gave, without machine code: to compile it, and for the overlay's key. The kernels
// are not known.
Result<Bundle> bundle_of(ProgramText text, const ContentDigest& content) {
  Result<std::vector<ContentDigest>> parts = part_digests(text);
  if (!parts) return parts.status();
  cache::Variant variant;
  variant.name = content_name(content);
  variant.family = "program";
  variant.precision = no_precision;
  variant.contract = cache::kProgramContract;
  variant.build_options = std::exchange(text.options, {});
  variant.content = content;
  variant.parts = std::move(*parts);
  cache::Contents contents;
  contents.sources = {{"program.cl", encode(text)}};
  contents.variants = {std::move(variant)};
  const Result<cache::Bytes> bytes = cache::encode(contents, cache::Packing::plain);
  if (!bytes) return bytes.status();
  return Bundle::copy_of({bytes->data(), bytes->size()});
}

// The bundle of `known` as far as programs go: without its profiles.
DeviceBundle without_products(const DeviceBundle& known) {
  const Status none(Code::no_variant, {});
  return {known.bundle, known.target, none, {}, none, known.refused};
}

}  // namespace

Result<std::shared_ptr<ContentPrograms::One>> ContentPrograms::make(const ProgramText& text,
                                                                    const ContentDigest& content) const {
  Setup setup{setup_.context, setup_.device, setup_.target, setup_.options, {}, setup_.is_cpu};
  Request request;
  request.problem.precision = no_precision;
  request.named = true;
  request.by_content = true;
  Status miss(Code::no_program, "no bundle has a program of this content");
  for (const DeviceBundle& known : setup_.bundles) {
    const Result<std::vector<std::uint32_t>> found = known.bundle.find_content(content);
    if (found) miss = Status();
    const bool is_damaged = !found && found.status().code() != Code::no_program;
    if (is_damaged && miss.code() == Code::no_program) miss = found.status();
    for (std::size_t i = 0; found && i < found->size(); ++i) {
      request.candidates.push_back({setup.bundles.size(), (*found)[i]});
    }
    if (!known.refused && request.refused.ok()) request.refused = known.refused;
    setup.bundles.push_back(without_products(known));
  }
  if (request.refused.ok()) request.refused = miss;
  const Result<Bundle> given = bundle_of(text, content);
  if (!given) return given.status();
  request.candidates.push_back({setup.bundles.size(), 0});
  const Status no_target(Code::no_target, {}), none(Code::no_variant, {});
  setup.bundles.push_back({*given, no_target, none, {}, none, {}, true});
  return std::make_shared<One>(std::move(setup), std::move(request), background_, tally_);
}

Result<std::shared_ptr<ContentPrograms::One>> ContentPrograms::one_of(const ProgramText& text) {
  const Result<ContentDigest> content = content_digest(text);
  if (!content) return content.status();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = ones_.find(*content);
    if (known != ones_.end()) return known->second;
  }
  Result<std::shared_ptr<One>> made = make(text, *content);
  if (!made) return made;
  const std::lock_guard<std::mutex> lock(mutex_);
  return ones_.emplace(*content, std::move(*made)).first->second;
}

Result<Found> ContentPrograms::find(const ProgramText& text) {
  const Result<std::shared_ptr<One>> one = one_of(text);
  if (!one) return one.status();
  return (*one)->policy.find((*one)->request);
}

Result<Explanation> ContentPrograms::explain(const ProgramText& text) {
  const Result<std::shared_ptr<One>> one = one_of(text);
  if (!one) return one.status();
  return (*one)->policy.explain((*one)->request);
}

std::shared_ptr<ContentPrograms> Library::State::content_programs() {
  const std::lock_guard<std::mutex> lock(contents_mutex);
  if (!contents) contents = std::make_shared<ContentPrograms>(setup, background, tally);
  return std::static_pointer_cast<ContentPrograms>(contents);
}

Result<LoadedProgram> Library::program(const ProgramText& text) const {
  State& s = *state_;
  enable_encoded_programs();
  Result<LoadedProgram> loaded = exceptions_to_status([&]() -> Result<LoadedProgram> {
    Result<Found> found = s.content_programs()->find(text);
    if (!found) return found.status();
    return LoadedProgram(std::make_shared<const LoadedProgram::State>(LoadedProgram::State{std::move(*found)}));
  });
  if (!loaded) s.policy.count_failure(loaded.status());
  return loaded;
}

Result<LoadedProgram> Library::program(const std::vector<std::string>& sources, const std::string& options) const {
  Result<ProgramText> text = exceptions_to_status([&]() -> Result<ProgramText> {
    return ProgramText{sources, {}, options, {}, {}};
  });
  return text ? program(*text) : text.status();
}

Result<Explanation> Library::explain_program(const ProgramText& text) const {
  return exceptions_to_status([&] { return state_->content_programs()->explain(text); });
}

}  // namespace clbake
