// Counting, faults, hooks, and the list of all objects.
#include "fake_opencl/objects.hpp"
#include "fake_opencl/scheduler.hpp"

#include <cstring>
#include <string_view>
#include <utility>

namespace fake {
namespace {

constexpr auto kFunctions = static_cast<std::size_t>(Function::count);
constexpr auto kKinds = static_cast<std::size_t>(Kind::count);
constexpr const char* kKindNames[kKinds] = {"device", "context", "queue", "memory", "program", "kernel", "event"};

std::atomic<std::size_t> total{0};
std::atomic<std::size_t> by_function[kFunctions];
std::atomic<int> living[kKinds];
std::atomic<Object*> objects{nullptr};

struct Fault {
  Function function = Function::count;
  std::size_t at = 0;  // number of the call since the counts began
  cl_int error = CL_SUCCESS;
};
Fault fault;
std::atomic<int> failed_function{static_cast<int>(Function::count)};
std::function<void(Function)> hook;
thread_local int depth = 0;  // of the calls that this thread is inside of
std::function<void(const std::string&)> witness;

std::mutex complaints_mutex;
std::vector<std::string>& complaint_list() {
  static std::vector<std::string> list;
  return list;
}

}  // namespace

const char* name(Function function) {
#define FAKE_OPENCL_NAME(f) #f,
  static const char* const names[] = {FAKE_OPENCL_FUNCTIONS(FAKE_OPENCL_NAME) "any"};
#undef FAKE_OPENCL_NAME
  return names[static_cast<std::size_t>(function)];
}

void enrol(Object* object) {
  living[static_cast<std::size_t>(object->kind)].fetch_add(1, std::memory_order_relaxed);
  if (object->parent) retain(object->parent);
  object->next = objects.load(std::memory_order_relaxed);
  while (!objects.compare_exchange_weak(object->next, object, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

void retain(Object* object) {
  object->references.fetch_add(1, std::memory_order_relaxed);
  if (object->kind == Kind::device) living[0].fetch_add(1, std::memory_order_relaxed);
}

bool drop(Object* object) {
  int before = object->references.load(std::memory_order_relaxed);
  do {
    if (before <= 0) return false;
  } while (!object->references.compare_exchange_weak(before, before - 1, std::memory_order_acq_rel,
                                                     std::memory_order_relaxed));
  if (object->kind == Kind::device || before == 1) {
    living[static_cast<std::size_t>(object->kind)].fetch_sub(1, std::memory_order_relaxed);
  }
  if (before == 1 && object->parent) drop(object->parent);
  return true;
}

bool inside() { return depth > 0; }

Call::~Call() { --depth; }

Call::Call(Function function) : function_(function) {
  ++depth;
  const std::size_t number = total.fetch_add(1, std::memory_order_relaxed);
  const std::size_t its_number =
      by_function[static_cast<std::size_t>(function)].fetch_add(1, std::memory_order_relaxed);
  if (fault.error != CL_SUCCESS && (fault.function == Function::count || fault.function == function)) {
    const std::size_t counted = fault.function == function ? its_number : number;
    if (fault.at == kEvery || fault.at == counted) {
      error = fault.error;
      failed_function.store(static_cast<int>(function), std::memory_order_relaxed);
    }
  }
  if (error == kLie) {
    const std::string_view text = fake::name(function);
    lies = text == "clBuildProgram" || text.substr(0, 9) == "clEnqueue";
    if (lies || text.substr(0, 8) != "clCreate") error = CL_SUCCESS;
  }
  if (hook) hook(function);
}

bool Call::check(const Object* object, Kind kind) const {
  if (!object) return false;
  const bool right = object->kind == kind;
  const bool live = object->references.load(std::memory_order_relaxed) > 0;
  if (right && live) return true;
  complain(std::string(fake::name(function_)) + ": a " + kKindNames[static_cast<std::size_t>(object->kind)] +
           (live ? " in the place of a " : " that was released, in the place of a ") +
           kKindNames[static_cast<std::size_t>(kind)]);
  return false;
}

cl_int Answer::bytes(const void* data, std::size_t count) const {
  if (size_ret) *size_ret = count;
  if (!value) return CL_SUCCESS;
  if (size < count) return CL_INVALID_VALUE;
  if (count > 0) std::memcpy(value, data, count);
  return CL_SUCCESS;
}

void complain(const std::string& line) {
  const std::lock_guard<std::mutex> lock(complaints_mutex);
  complaint_list().push_back(line);
}

std::vector<std::string> complaints() {
  const std::lock_guard<std::mutex> lock(complaints_mutex);
  return complaint_list();
}

void reset() {
  finish_reports();
  set_reports_in_threads(false);
  reset_scheduler();
  Object* object = objects.exchange(nullptr, std::memory_order_acquire);
  while (object) delete std::exchange(object, object->next);
  for (auto& count : living) count = 0;
  for (int i = 0; i < kDevices; ++i) device(i).references = 1;
  set_build_time(0);
  set_twins(false);
  set_hook(nullptr);
  set_witness(nullptr);
  fail_nothing();
  forget_calls();
  const std::lock_guard<std::mutex> lock(complaints_mutex);
  complaint_list().clear();
}

std::size_t calls() { return total; }
std::size_t calls(Function function) { return by_function[static_cast<std::size_t>(function)]; }

void forget_calls() {
  total = 0;
  forget_compilations();
  for (auto& count : by_function) count = 0;
}

int alive(Kind kind) { return living[static_cast<std::size_t>(kind)]; }

std::string leaks() {
  std::string text;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    if (living[kind] == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(living[kind]) + " " + kKindNames[kind];
  }
  return text;
}

void fail(Function function, std::size_t nth, cl_int error) {
  const std::size_t before = function == Function::count ? calls() : calls(function);
  fault = {function, nth == kEvery ? kEvery : before + nth, error};
  failed_function = static_cast<int>(Function::count);
}

void fail_nothing() {
  fault = {};
  failed_function = static_cast<int>(Function::count);
}

Function failed() { return static_cast<Function>(failed_function.load()); }

void set_witness(std::function<void(const std::string&)> called) { witness = std::move(called); }

void show(const std::string& bytes) {
  if (witness) witness(bytes);
}

void set_hook(std::function<void(Function)> new_hook) { hook = std::move(new_hook); }

}  // namespace fake
