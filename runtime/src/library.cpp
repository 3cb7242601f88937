#include <clbake/clbake.hpp>
#include <clbake/guard.hpp>

#include "choose.hpp"
#include "gemm.hpp"
#include "offers.hpp"
#include "problem.hpp"

#include <map>
#include <mutex>
#include <tuple>
#include <utility>

namespace clbake {
namespace {

// Where to look for a program: a variant of one of the library's bundles.
struct Candidate {
  std::size_t shelf = 0;
  std::uint32_t variant = 0;
};

// What a program is kept under. A request by name is another one than a profile's choice: when the variant does not
// fit the device, only the latter may be served by another variant.
struct Key {
  Candidate candidate;
  bool named = false;
  bool operator<(const Key& other) const {
    return std::tie(candidate.shelf, candidate.variant, named) <
           std::tie(other.candidate.shelf, other.candidate.variant, other.named);
  }
};

// A program that is loaded at most once, however many threads ask for it. A failure is kept like a success, so that
// a broken program is not tried again at every call.
struct Slot {
  std::once_flag once;
  std::shared_ptr<const Program> program;  // null: see failure
  Status failure;
};

}  // namespace

struct Library::State {
  cl::Context context;
  cl::Device device;
  Target target;
  Options options;
  std::vector<Shelf> shelves;

  std::mutex mutex;  // guards `slots`, never held across a driver call
  std::map<Key, std::shared_ptr<Slot>> slots;

  static Result<Library> create(cl_context context, cl_device_id device, const std::vector<Bundle>& bundles,
                                const Options& options);
  Result<Gemm> prepare(const Problem& problem, const std::string& variant);

  std::shared_ptr<Slot> slot_of(const Key& key) {
    const std::lock_guard<std::mutex> lock(mutex);
    std::shared_ptr<Slot>& slot = slots[key];
    if (!slot) slot = std::make_shared<Slot>();
    return slot;
  }

  // The first candidate's program, from the slot that all callers share.
  using Loaded = Result<std::shared_ptr<const Program>>;
  Loaded loaded(const std::vector<Candidate>& candidates, const Problem& problem, const std::string& name);
  // With another variant than the chosen one, whose workspace does not fit.
  Result<Gemm> prepare_with_less(const Candidate& chosen, const Problem& rows, const Problem& problem);

  Result<Program> load(const std::vector<Candidate>& candidates, const Problem& problem, const std::string& name) const;
  // A program that one of the bundles holds. The failure, and the explanation of a program that is no machine code for
  // exactly this device, is why the first candidate's machine code does not serve.
  Result<Program> load_baked(const std::vector<Candidate>& candidates) const;
  Result<Program> load_tier(const Candidate& candidate, Tier tier) const;
  Result<Program> compile(const std::vector<Candidate>& candidates, const Problem& problem,
                          const std::string& name) const;
};

namespace {

// The variant that each bundle would use, in the order of the bundles.
Result<std::vector<Candidate>> candidates_for(const std::vector<Shelf>& shelves, const Problem& problem,
                                              const std::string& name) {
  std::vector<Candidate> candidates;
  Status first_failure(Code::no_variant, "the library has no bundle");
  for (std::size_t i = 0; i < shelves.size(); ++i) {
    const Result<std::uint32_t> variant = choose(shelves[i], problem, name);
    if (variant) candidates.push_back({i, *variant});
    if (!variant && i == 0) first_failure = variant.status();
  }
  if (candidates.empty()) return first_failure;
  return candidates;
}

void explain_miss(Program& program, const Status& miss) {
  program.explanation.miss = miss.code();
  program.explanation.miss_message = miss.message();
}

}  // namespace

Result<Program> Library::State::compile(const std::vector<Candidate>& candidates, const Problem& problem,
                                        const std::string& name) const {
  Status failure;
  for (const Candidate& candidate : candidates) {
    Result<Program> program = compile_source(context, device, shelves[candidate.shelf].bundle, candidate.variant);
    if (program || !name.empty()) return program;
    if (failure.ok()) failure = program.status();
  }
  // The choice was made for another device and does not fit this one: any variant that can do the problem will do.
  for (const Candidate& candidate : candidates) {
    const Bundle& bundle = shelves[candidate.shelf].bundle;
    for (const std::uint32_t variant : capable_variants(bundle, problem)) {
      if (variant == candidate.variant) continue;
      Result<Program> program = compile_source(context, device, bundle, variant);
      if (program) return program;
    }
  }
  return failure;
}

Result<Program> Library::State::load(const std::vector<Candidate>& candidates, const Problem& problem,
                                     const std::string& name) const {
  Result<Program> baked = load_baked(candidates);
  if (baked || options.on_miss == OnMiss::fail) return baked;
  Result<Program> program = compile(candidates, problem, name);
  if (program) explain_miss(*program, baked.status());
  return program;
}

Result<Program> Library::State::load_tier(const Candidate& candidate, Tier tier) const {
  const Shelf& shelf = shelves[candidate.shelf];
  Status reason;
  for (const cache::EntryInfo& entry : offers(shelf, target, candidate.variant, tier, reason)) {
    Result<Program> program = load_entry(context, device, shelf.bundle, entry);
    reason = program.status();
    if (!program) continue;
    const Result<Target> made_for = shelf.bundle.target(entry.target);
    const bool other_driver = made_for && made_for->driver_version != target.driver_version;
    if (other_driver) program->explanation.baked_for = made_for->driver_version;
    return program;
  }
  return reason;
}

Result<Program> Library::State::load_baked(const std::vector<Candidate>& candidates) const {
  Status miss;
  for (const Tier tier : all_tiers) {
    if (tier == Tier::newer_driver && !options.newer_driver) continue;
    for (const Candidate& candidate : candidates) {
      Result<Program> program = load_tier(candidate, tier);
      if (program && tier != Tier::exact) explain_miss(*program, miss);
      if (program) return program;
      if (miss.ok()) miss = program.status();
    }
  }
  return miss;
}

Library::Library(std::shared_ptr<State> state) : state_(std::move(state)) {}

Result<Library> Library::create(cl_context context, cl_device_id device, const std::vector<Bundle>& bundles,
                                const Options& options) {
  return guarded([&] { return State::create(context, device, bundles, options); });
}

Result<Library> Library::State::create(cl_context context, cl_device_id device, const std::vector<Bundle>& bundles,
                                       const Options& options) {
  if (!context) return {Code::invalid_argument, "context is null"};
  Result<Target> target = identify(device);
  if (!target) return target.status();
  auto state = std::make_shared<State>();
  state->context = cl::Context(context, true);
  state->device = cl::Device(device, true);
  state->target = std::move(*target);
  state->options = options;
  for (const Bundle& bundle : bundles) state->shelves.push_back(make_shelf(bundle, state->target));
  return Library(std::move(state));
}

const Target& Library::target() const { return state_->target; }

Result<Gemm> Library::prepare(const Problem& problem, const std::string& variant) const {
  return guarded([&] { return state_->prepare(problem, variant); });
}

Result<Gemm> Library::State::prepare(const Problem& problem, const std::string& variant) {
  const Status possible = check(problem);
  if (!possible) return possible;
  const Problem rows = row_major(problem);
  const Result<std::vector<Candidate>> candidates = candidates_for(shelves, rows, variant);
  if (!candidates) return candidates.status();

  const Loaded program = loaded(*candidates, rows, variant);
  if (!program) return program.status();
  Result<Gemm> gemm = Gemm::State::create(*program, context, device, problem);
  if (gemm || gemm.status().code() != Code::out_of_memory || !variant.empty()) return gemm;
  Result<Gemm> smaller = prepare_with_less(candidates->front(), rows, problem);
  return smaller ? std::move(smaller) : std::move(gemm);
}

Library::State::Loaded Library::State::loaded(const std::vector<Candidate>& candidates, const Problem& problem,
                                              const std::string& name) {
  const std::shared_ptr<Slot> slot = slot_of({candidates.front(), !name.empty()});
  std::call_once(slot->once, [&] {
    Result<Program> program = load(candidates, problem, name);
    if (program) slot->program = std::make_shared<const Program>(std::move(*program));
    slot->failure = program.status();
  });
  if (!slot->program) return slot->failure;
  return slot->program;
}

Result<Gemm> Library::State::prepare_with_less(const Candidate& chosen, const Problem& rows, const Problem& problem) {
  const Bundle& bundle = shelves[chosen.shelf].bundle;
  for (const std::uint32_t other : capable_variants(bundle, rows)) {
    const Result<cache::Variant> variant = bundle.variant(other);
    if (other == chosen.variant || !variant) continue;
    const Loaded program = loaded({{chosen.shelf, other}}, rows, variant->name);
    if (!program) continue;
    Result<Gemm> gemm = Gemm::State::create(*program, context, device, problem);
    if (gemm) return gemm;
  }
  return Status(Code::out_of_memory, "no variant of the bundle needs less");
}

}  // namespace clbake
