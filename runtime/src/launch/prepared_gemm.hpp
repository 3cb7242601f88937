// A prepared problem: its launch plan, the kernels and the memory for it, and the events of its calls. It walks the
// plan; what is launched, and in which order, is decided in plan.cpp.
#pragma once

#include "launch/arguments.hpp"
#include "launch/call_checks.hpp"
#include "launch/event_chain.hpp"
#include "launch/recorder.hpp"
#include "program/program.hpp"

#include <memory>
#include <vector>

namespace clbake {

// The scalars of a call as the caller gave them: one pair for all products, or a list with one for each.
struct ScalarList {
  explicit ScalarList(const Scalars& all) : first(&all), count(1) {}
  explicit ScalarList(const std::vector<Scalars>& each) : first(each.data()), count(each.size()), is_list(true) {}

  const Scalars* first;
  std::size_t count;
  bool is_list = false;
};

inline constexpr const char* kNoWorkspace = "no workspace: call use_workspace first";

class PreparedGemm {
 public:
  // Everything that a handle is made of.
  struct Parts {
    cl::Context context;
    cl::Device device;
    DeviceLimits limits;
    Found found;
    Problem problem;                          // row-major; as stated, so that it may be complex
    std::shared_ptr<const GroupTable> group;  // of a group; then `problem` says what its products share
    Layout layout = Layout::row_major;        // the caller's: column-major exchanges A and B
    EventUse events = EventUse::each_launch;
    bool marks_calls = false;          // see EventChain
    bool caller_workspace = false;     // use_workspace comes before the first call
    std::uint64_t epoch = 0;           // of the library's programs: PlanCache
    std::shared_ptr<CallCount> calls;  // null: not recorded
  };

  // Fails with opencl, out_of_memory, or malformed (a program for complex problems that lacks a kernel).
  static Result<std::unique_ptr<PreparedGemm>> create(std::shared_ptr<const Parts> parts);
  Result<std::unique_ptr<PreparedGemm>> clone() const;

  const Explanation& explanation() const { return parts_->found.explanation; }
  const Program& program() const { return *parts_->found.program; }
  const cl::Context& context() const { return parts_->context; }
  const cl::Device& device() const { return parts_->device; }
  const LaunchPlan& plan() const { return plan_; }
  std::size_t batch() const { return plan_.stated.batch; }

  // True when a better program may be ready since it was prepared.
  bool outdated(std::uint64_t epoch) const { return !explanation().waits_for.empty() && parts_->epoch != epoch; }
  // True when its workspace would make a call on this queue wait for one on another.
  bool runs_elsewhere(cl_command_queue queue) const { return chain_.runs_elsewhere(queue); }

  Status use_workspace(cl_mem buffer, std::size_t offset);
  // As Gemm::enqueue. counts: of a group that is counted on the device, in ints.
  Status enqueue(cl_command_queue queue, const ScalarList& scalars, Matrix a, Matrix b, Matrix c,
                 const EpilogueBuffers& more, Events events, Matrix counts = {});
  // As Gemm::record.
  Status record(_cl_command_buffer_khr* commands, const ScalarList& scalars, Matrix a, Matrix b, Matrix c,
                const EpilogueBuffers& more, const std::vector<cl_uint>& wait, cl_uint* point,
                std::shared_ptr<RecordedCommands>* recorded);
  // As RecordedGemm::update.
  Status update(const RecordedCommands& recorded, const ScalarList& scalars, Matrix a, Matrix b, Matrix c,
                const EpilogueBuffers& more);
  // A step with the arguments that its kernel has.
  cl_int launch(cl_command_queue queue, const Step& step, const Events& events);

 private:
  explicit PreparedGemm(std::shared_ptr<const Parts> parts)
      : parts_(std::move(parts)), chain_(parts_->events, parts_->marks_calls) {}
  Status create_kernel(std::size_t number, cl::Kernel& kernel) const;
  Status create_kernels();
  Status create_offsets();
  Status create_workspace(cl_mem memory, std::size_t offset);
  bool has_workspace() const;
  Status check_scalars(const ScalarList& scalars, Call& call) const;
  Call call_of(Matrix a, Matrix b, Matrix c, const EpilogueBuffers& more) const;
  Status check_call(cl_command_queue queue, const Call& call, const Events& events);
  Status check_recorded(const ScalarList& scalars, Call& call);
  const std::vector<Step>& steps_of(const ScalarList& scalars, const Call& call);
  bool selects(const Step& step, const ScalarList& scalars, Call& call) const;
  MemoryArguments memory_of(const Call& call) const;
  Status walk(cl_command_queue queue, const std::vector<Step>& steps, const ScalarList& scalars, Call& call,
              const Events& events);
  Status walk_chained(cl_command_queue queue, const std::vector<Step>& steps, const ScalarList& scalars, Call& call);
  cl_int set_arguments_of(const Step& step, const Call& call);

  std::shared_ptr<const Parts> parts_;
  LaunchPlan plan_;
  std::vector<Step> other_steps_;  // of a call that needs other steps; a member so that later calls allocate nothing
  struct Kernel {
    cl::Kernel object;
    HeldArguments held;
  };
  std::vector<Kernel> kernels_;                        // the plan's
  std::array<cl::Memory, kWorkspaceParts> workspace_;  // null where the plan has no such part, or it is not made yet
  cl::Memory offsets_;                                 // three for each product, or a group's members; null: strides
  cl::Memory complex_offsets_;                         // the same of a complex problem as stated
  OperandChecks checks_;
  EventChain chain_;
};

struct RecordedCommands {
  struct Command {
    Step step;
    void* handle = nullptr;  // cl_mutable_command_khr
  };
  PreparedGemm* gemm = nullptr;
  _cl_command_buffer_khr* buffer = nullptr;
  std::vector<Command> all;
};

// Fails with opencl.
Result<DeviceLimits> limits_of(const cl::Device& device);

}  // namespace clbake
