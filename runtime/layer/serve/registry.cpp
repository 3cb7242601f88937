#include "serve/registry.hpp"

#include "down.hpp"

#include <cstddef>
#include <utility>

namespace clbake::layer::serve {
namespace {

std::size_t slot_of(cl_kernel handle, std::size_t slots) {
  return reinterpret_cast<std::uintptr_t>(handle) / alignof(std::max_align_t) % slots;
}

}  // namespace

Baked::~Baked() {
  if (program && !is_the_applications) down().clReleaseProgram(program);
}

Program::~Program() {
  if (source && source != handle) down().clReleaseProgram(source);
}

Registry& registry() {
  static auto& all = *new Registry;
  return all;
}

std::shared_ptr<Program> Registry::find(cl_program handle) const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  const auto found = programs_.find(handle);
  return found == programs_.end() ? nullptr : found->second;
}

std::shared_ptr<Program> Registry::program_of(cl_kernel kernel) const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  const auto found = kernels_.find(kernel);
  return found == kernels_.end() ? nullptr : found->second.program;
}

void Registry::add(const std::shared_ptr<Program>& program) {
  std::shared_ptr<Program> stale = program;  // destroyed outside of the lock
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  given_.erase(program->handle);
  std::swap(programs_[program->handle], stale);
}

void Registry::forget(cl_program handle) {
  std::shared_ptr<Program> stale;
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  given_.erase(handle);
  const auto found = programs_.find(handle);
  if (found == programs_.end()) return;
  stale = std::move(found->second);
  programs_.erase(found);
}

void Registry::give(cl_program handle, GivenBinaries binaries) {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  given_[handle] = {std::move(binaries), 1};
}

GivenBinaries Registry::given(cl_program handle) const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  const auto found = given_.find(handle);
  return found == given_.end() ? nullptr : found->second.binaries;
}

void Registry::add(cl_kernel handle, const std::shared_ptr<Program>& program, bool holds,
                   std::shared_ptr<Launched> launched) {
  Kernel stale;
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  generations_[slot_of(handle, generations_.size())].fetch_add(1, std::memory_order_relaxed);
  Kernel& kernel = kernels_[handle];
  stale = std::exchange(kernel, {program, holds, 1, std::move(launched)});
  ++program->kernels;
  program->holds += holds ? 1 : 0;
}

void Registry::retain(cl_program handle) {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  const auto found = programs_.find(handle);
  if (found != programs_.end()) ++found->second->references;
  const auto given = given_.find(handle);
  if (given != given_.end()) ++given->second.references;
}

void Registry::retain(cl_kernel handle) {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  const auto found = kernels_.find(handle);
  if (found != kernels_.end()) ++found->second.references;
}

void Registry::erase_if_unused(const Program& program) {
  const auto found = programs_.find(program.handle);
  const bool same = found != programs_.end() && found->second.get() == &program;
  if (same && program.references == 0 && program.kernels == 0) programs_.erase(found);
}

std::shared_ptr<Program> Registry::release(cl_program handle) {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  const auto given = given_.find(handle);
  if (given != given_.end() && --given->second.references == 0) given_.erase(given);
  const auto found = programs_.find(handle);
  if (found == programs_.end()) return nullptr;
  std::shared_ptr<Program> program = found->second;
  if (program->references > 0) --program->references;
  erase_if_unused(*program);
  return program;
}

std::unique_ptr<Kernel> Registry::release(cl_kernel handle) {
  auto last = std::make_unique<Kernel>();
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  const auto found = kernels_.find(handle);
  if (found == kernels_.end() || --found->second.references > 0) return nullptr;
  *last = std::move(found->second);
  kernels_.erase(found);
  Program& program = *last->program;
  --program.kernels;
  program.holds -= last->holds ? 1 : 0;
  erase_if_unused(program);
  return last;
}

std::optional<Kernel> Registry::is_new(cl_kernel kernel, std::uint64_t shape) const {
  // Launches that this thread made lately, so that most need no lock. A new kernel may have the handle of an old one.
  struct Recent {
    cl_kernel kernel;
    std::uint64_t shape;
    std::uint64_t generation;
  };
  static thread_local std::array<Recent, std::tuple_size_v<decltype(generations_)>> all_recent;
  const std::size_t slot = slot_of(kernel, all_recent.size());
  Recent& recent = all_recent[slot];
  const std::uint64_t generation = generations_[slot].load(std::memory_order_relaxed);
  if (recent.kernel == kernel && recent.shape == shape && recent.generation == generation) return std::nullopt;
  recent = {kernel, shape, generation};

  Kernel known;
  {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    const auto found = kernels_.find(kernel);
    if (found != kernels_.end()) known = found->second;
  }
  if (!known.launched) return std::nullopt;
  const std::lock_guard<std::mutex> lock(known.launched->mutex);
  return known.launched->shapes.insert(shape).second ? std::optional<Kernel>(known) : std::nullopt;
}

Registry::Counts Registry::counts(const Program& program) const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  return {program.kernels, program.holds};
}

}  // namespace clbake::layer::serve
