#include <clbake/cache/writer.hpp>
#include <clbake/clbake.hpp>
#include <clbake/exceptions_to_status.hpp>
#include <clbake/joined.hpp>
#include <clbake/platform.hpp>
#include <clbake/trust.hpp>

#include "library_state.hpp"

#include <chrono>
#include <utility>

namespace clbake {

namespace {

// The usable part of the bundle: all of it or, if it is not trusted, nothing.
Result<Bundle> admitted(const Bundle& bundle, const Options& options, Status& refused) {
  if (!options.trust || bundle.voucher() == options.trust.get()) return bundle;  // a slice of an index that it trusts
  Result<Bundle> guarded = options.trust->admit(bundle);
  if (guarded || guarded.status().code() != Code::not_trusted) return guarded;
  refused = guarded.status();
  return Bundle::nothing();
}

}  // namespace

Library::Library(std::shared_ptr<State> state) : state_(std::move(state)) {}

LoadedProgram::LoadedProgram(std::shared_ptr<const State> state) : state_(std::move(state)) {}

cl_program LoadedProgram::get() const { return state_->found.program->program(); }

const Explanation& LoadedProgram::explanation() const { return state_->found.explanation; }

Result<Library> Library::create(cl_context context, cl_device_id device, const std::vector<Bundle>& bundles,
                                const Options& options) {
  return exceptions_to_status([&] { return State::create(context, device, bundles, options); });
}

Result<Library> Library::State::create(cl_context context, cl_device_id device, const std::vector<Bundle>& bundles,
                                       const Options& options) {
  if (!context) return {Argument::context, "context is null"};
  if (Status named = identify(device).status(); !named) return named;
  const Result<cl_device_id> member = device_of_context(context, device);
  if (!member) return member.status();
  device = *member;
  Result<Target> target = identify(device);
  if (!target) return target.status();
  Setup setup{cl::Context(context, true), cl::Device(device, true), std::move(*target), options, {}, false};
  cl_device_type type = 0;
  const cl_int error = cl::info(setup.device, CL_DEVICE_TYPE, type);
  if (error != CL_SUCCESS) return opencl_status("clGetDeviceInfo", error);
  const Result<DeviceLimits> limits = limits_of(setup.device);
  if (!limits) return limits.status();
  setup.is_cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
  for (std::size_t i = 0; i < bundles.size(); ++i) {
    Status refused;
    const Result<Bundle> usable = admitted(bundles[i], options, refused);
    if (!usable) return usable.status();
    setup.bundles.push_back(bundle_for(*usable, setup.target, setup.is_cpu, static_cast<cl_uint>(limits->units)));
    DeviceBundle& made = setup.bundles.back();
    // Damage stays; memory may be there at the next attempt.
    for (const Status& found : {made.target.status(), made.choices.status(), made.defaults.status()}) {
      if (found.code() == Code::out_of_memory) return found;
      const bool damaged = found.code() == Code::checksum || found.code() == Code::malformed;
      if (damaged) setup.log(LogLevel::warning, found.within(joined({"bundle ", i})).message());
    }
    if (refused) continue;
    made.refused = refused.within(joined({"bundle ", i}));
    setup.log(LogLevel::warning, made.refused.message());
  }
  return Library(std::make_shared<State>(std::move(setup), *limits));
}

Result<Request> Library::State::request(const Problem& problem, const std::string& variant) const {
  Result<Request> made = make_request(setup.bundles, problem, variant);
  if (!made || !made->complex) return made;
  Result<Request> kernels = complex_kernels_request(setup.bundles, problem.precision, setup.is_cpu);
  if (!kernels) return kernels;
  made->kernels.push_back(std::move(*kernels));
  return made;
}

Status Library::State::fits(const Candidate& candidate, const Problem& stated) const {
  const Result<cache::Variant> variant = setup.bundles[candidate.bundle].bundle.variant(candidate.variant);
  if (!variant || !check_launchable(*variant)) return {};
  return plan_launches(stated, *variant, limits).status();
}

Result<Handle> Library::State::make(const std::shared_ptr<PreparedGemm::Parts>& parts) {
  Result<Handle> made = PreparedGemm::create(parts);
  if (made.status().code() != Code::out_of_memory || !plans.clear_workspaces()) return made;
  return PreparedGemm::create(parts);
}

std::shared_ptr<PreparedGemm::Parts> Library::State::parts_of(const Problem& row_major, Layout layout) const {
  auto parts = std::make_shared<PreparedGemm::Parts>();
  parts->context = setup.context;
  parts->device = setup.device;
  parts->limits = limits;
  parts->problem = row_major;
  parts->layout = layout;
  const bool needs_events = platform_of(setup.target).needs_events;
  parts->events = needs_events ? EventUse::each_launch : EventUse::out_of_order;
  parts->epoch = policy.epoch();
  return parts;
}

Result<Handle> Library::State::prepare(const Problem& problem, const PrepareOptions& options, bool marks_calls) {
  Result<Handle> made = exceptions_to_status([&]() -> Result<Handle> {
    const Result<Request> wanted = request(problem, options.variant);
    if (!wanted) return wanted.status();
    const auto parts = parts_of(row_major(problem), wanted->layout);
    parts->marks_calls = marks_calls;
    parts->caller_workspace = options.caller_workspace;
    if (setup.options.record) parts->calls = recorder.count_of(parts->problem);
    return try_prepare(*wanted, parts);
  });
  if (!made) policy.count_failure(made.status());
  return made;
}

Result<Handle> Library::State::try_prepare(const Request& request, const std::shared_ptr<PreparedGemm::Parts>& parts) {
  Status made = request.named ? Status() : fits(request.candidates.front(), parts->problem);
  if (made) {  // else nothing is loaded or compiled that cannot serve
    Result<Found> found = policy.find(request);
    if (!found) return found.status();
    parts->found = std::move(*found);
    Result<Handle> handle = make(parts);
    if (handle.status().code() != Code::out_of_memory || request.named) return handle;
    made = handle.status();
  }
  if (made.code() != Code::out_of_memory) return made;
  Result<Handle> smaller = prepare_with_less(request, parts);
  return smaller ? std::move(smaller) : Result<Handle>(std::move(made));
}

Result<Handle> Library::State::prepare_with_less(Request request, const std::shared_ptr<PreparedGemm::Parts>& parts) {
  // First what the other bundles choose.
  std::vector<Candidate> others(request.candidates.begin() + 1, request.candidates.end());
  for (const Candidate& other : other_variants(setup.bundles, request)) others.push_back(other);
  request.named = true;
  Request alone = request;  // without the kernels of a complex problem, which are the same for all
  alone.kernels.clear();
  // Baked ones first: a variant that nobody baked for this device may be slow on it, too.
  for (const bool compiles : {false, true}) {
    for (const Candidate& other : others) {
      request.candidates = {other};
      if (!fits(other, parts->problem)) continue;
      alone.candidates = request.candidates;
      const Result<Explanation> source = policy.explain(alone);
      if (!source || (source->origin == Origin::source) != compiles) continue;
      Result<Found> found = policy.find(request);
      if (!found) continue;
      parts->found = std::move(*found);
      parts->found.explanation.reason = "the chosen variant needs more workspace than there is";
      Result<Handle> made = make(parts);
      if (made) return made;
    }
  }
  return Status(Code::out_of_memory, "no variant of the bundles needs less workspace");
}

Status Library::State::load(const Problem& problem) {
  const Status status = exceptions_to_status([&] {
    const Result<Request> wanted = request(problem, {});
    return wanted ? policy.find(*wanted).status() : wanted.status();
  });
  if (!status) policy.count_failure(status);
  return status;
}

const Target& Library::target() const { return state_->setup.target; }

Result<Gemm> Library::prepare(const Problem& problem, const PrepareOptions& options) const {
  Result<Handle> made = state_->prepare(problem, options);
  if (!made) return made.status();
  return Gemm(std::move(*made));
}

Result<Gemm> Library::prepare(const Problem& problem, const std::string& variant) const {
  return prepare(problem, PrepareOptions{variant, false});
}

Status Library::gemm(cl_command_queue queue, const Problem& problem, std::complex<double> alpha, Matrix a, Matrix b,
                     std::complex<double> beta, Matrix c, cl_uint wait_count, const cl_event* wait_list,
                     cl_event* event) const {
  return gemm(queue, problem, alpha, a, b, beta, c, EpilogueBuffers(), wait_count, wait_list, event);
}

// With the problem's plan, which is made if there is none.
Status Library::State::gemm(cl_command_queue queue, const Problem& problem, const ScalarList& scalars, const Matrix& a,
                            const Matrix& b, const Matrix& c, const EpilogueBuffers& more, const Events& events) {
  return exceptions_to_status([&]() -> Status {
    Handle plan = plans.take(problem, policy.epoch());
    if (plan && plan->runs_elsewhere(queue)) plan.reset();  // its workspace would make this call wait for that one
    if (!plan) {
      Result<Handle> prepared = prepare(problem, {}, true);  // another queue's call asks whether it has ended
      if (!prepared) return prepared.status();
      plan = std::move(*prepared);
    }
    Status status = plan->enqueue(queue, scalars, a, b, c, more, events);
    static_cast<void>(exceptions_to_status([&] {  // failing to keep the plan does not fail the call
      plans.put_back(problem, std::move(plan));
      return Status();
    }));
    return status;
  });
}

Status Library::gemm(cl_command_queue queue, const Problem& problem, std::complex<double> alpha, Matrix a, Matrix b,
                     std::complex<double> beta, Matrix c, const EpilogueBuffers& more, cl_uint wait_count,
                     const cl_event* wait_list, cl_event* event) const {
  const Scalars scalars{alpha, beta};
  return state_->gemm(queue, problem, ScalarList(scalars), a, b, c, more, {wait_count, wait_list, event});
}

Status Library::gemm(cl_command_queue queue, const Problem& problem, const std::vector<Scalars>& each, Matrix a,
                     Matrix b, Matrix c, const EpilogueBuffers& more, cl_uint wait_count, const cl_event* wait_list,
                     cl_event* event) const {
  return state_->gemm(queue, problem, ScalarList(each), a, b, c, more, {wait_count, wait_list, event});
}

Status Library::warm(const std::vector<Problem>& problems, Progress progress, void* data) const {
  const auto start = std::chrono::steady_clock::now();
  const std::size_t total = problems.size();
  Status first;
  for (std::size_t done = 0;; ++done) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    const double seconds_left =
        done > 0 ? elapsed.count() / static_cast<double>(done) * static_cast<double>(total - done) : 0;
    const bool stopped = progress && !progress(done, total, seconds_left, data);
    if (done == total) return first;
    if (stopped && !first.ok()) return first;
    if (stopped) {
      return {Code::cancelled, joined({"warm was stopped after ", done, " of ", total, " problems"})};
    }
    Status status = state_->load(problems[done]);
    if (first.ok()) first = std::move(status);
  }
}

Result<Explanation> Library::explain(const Problem& problem) const {
  return exceptions_to_status([&]() -> Result<Explanation> {
    const Result<Request> wanted = state_->request(problem, {});
    if (!wanted) return wanted.status();
    return state_->policy.explain(*wanted);
  });
}

Result<LoadedProgram> Library::program(const std::string& name) const {
  State& s = *state_;
  Result<LoadedProgram> loaded = exceptions_to_status([&]() -> Result<LoadedProgram> {
    const Result<Request> wanted = program_request(s.setup.bundles, name);
    if (!wanted) return wanted.status();
    Result<Found> found = s.policy.find(*wanted);
    if (!found) return found.status();
    return LoadedProgram(std::make_shared<const LoadedProgram::State>(LoadedProgram::State{std::move(*found)}));
  });
  if (!loaded) s.policy.count_failure(loaded.status());
  return loaded;
}

Result<Explanation> Library::explain_program(const std::string& name) const {
  return exceptions_to_status([&]() -> Result<Explanation> {
    const Result<Request> wanted = program_request(state_->setup.bundles, name);
    if (!wanted) return wanted.status();
    return state_->policy.explain(*wanted);
  });
}

bool Library::contains(const Problem& problem) const {
  const Result<Explanation> e = explain(problem);
  return e && e->origin == Origin::native && e->miss == Code::ok;
}

Result<std::size_t> Library::workspace_bytes(const Problem& problem) const {
  PrepareOptions options;
  options.caller_workspace = true;
  const Result<Gemm> gemm = prepare(problem, options);
  if (!gemm) return gemm.status();
  return gemm->workspace_bytes();
}

Counters Library::counters() const {
  Counters counters = state_->tally.read();
  state_->plans.add_to(counters);
  return counters;
}

Status Library::write_recording(const std::string& path) const {
  return exceptions_to_status([&]() -> Status {
    if (!state_->setup.options.record) return {Argument::options, "the library was created without Options::record"};
    const std::string text = state_->recorder.text();
    return cache::write_file(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  });
}

void Library::finish() const { state_->background.finish(); }

}  // namespace clbake
