// The parts that the copies of a Library share.
#pragma once

#include "launch/call_checks.hpp"
#include "launch/plan_cache.hpp"
#include "launch/prepared_gemm.hpp"
#include "launch/recorder.hpp"
#include "load/policy.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace clbake {

class ContentPrograms;
struct GroupProducts;

using Handle = std::unique_ptr<PreparedGemm>;

struct Library::State {
  State(Setup created, const DeviceLimits& of_device)
      : setup(std::move(created)), limits(of_device), policy(setup, background, tally) {}

  PlanCache plans;
  Recorder recorder;
  const Setup setup;
  const DeviceLimits limits;
  Tally tally;
  Policy policy;
  // The ContentPrograms. Of no type here, so that the linker drops them from an application that asks for
  // no program by its content.
  std::mutex contents_mutex;
  std::shared_ptr<void> contents;
  Background background;  // last, so that it stops first: its work uses all of the above

  std::shared_ptr<ContentPrograms> content_programs();  // made by the first call

  static Result<Library> create(cl_context context, cl_device_id device, const std::vector<Bundle>& bundles,
                                const Options& options);
  Result<Request> request(const Problem& problem, const std::string& variant) const;
  // Counts and logs every failure.
  Result<Handle> prepare(const Problem& problem, const PrepareOptions& options, bool marks_calls = false);
  std::shared_ptr<PreparedGemm::Parts> parts_of(const Problem& row_major, Layout layout) const;
  // Counts and logs every failure.
  Result<GemmGroup> prepare_group(const GroupProducts& group, const std::string& variant);
  // For all products in one launch. Fails with no_variant also where that would have to be compiled, and need not be.
  Result<Handle> make_group_handle(const GroupProducts& group, const std::string& variant);
  Result<Handle> try_prepare(const Request& request, const std::shared_ptr<PreparedGemm::Parts>& parts);
  // With a variant other than the chosen one, whose workspace does not fit.
  Result<Handle> prepare_with_less(Request request, const std::shared_ptr<PreparedGemm::Parts>& parts);
  // Gives up workspaces of earlier calls where that takes them.
  Result<Handle> make(const std::shared_ptr<PreparedGemm::Parts>& parts);
  // Checks that the device can hold the candidate's workspace. Ok also where that cannot be told.
  Status fits(const Candidate& candidate, const Problem& stated) const;
  Status load(const Problem& problem);
  Status gemm(cl_command_queue queue, const Problem& problem, const ScalarList& scalars, const Matrix& a,
              const Matrix& b, const Matrix& c, const EpilogueBuffers& more, const Events& events);
};

struct LoadedProgram::State {
  Found found;
};

}  // namespace clbake
