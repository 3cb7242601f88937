// The driver's internals: the objects behind its handles, and what every call begins with.
#pragma once

#include "fake_opencl/fake_opencl.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

namespace fake {

// Memory of an object stays until reset(), so that use after release is detected. It does not come from operator
// new: tests count what the library allocates with that.
struct Object {
  explicit Object(Kind of_kind, Object* of_parent = nullptr) : kind(of_kind), parent(of_parent) {}
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  static void* operator new(std::size_t size) { return std::malloc(size); }
  static void operator delete(void* memory) { std::free(memory); }

  const Kind kind;
  Object* const parent;  // holds a reference to it; null: none
  std::atomic<int> references{1};
  Object* next = nullptr;
};

struct Device : Object {
  using Handle = cl_device_id;
  static constexpr Kind kKind = Kind::device;
  static constexpr cl_int kInvalid = CL_INVALID_DEVICE;
  Device(const char* its_name, int its_index) : Object(kKind), name(its_name), index(its_index) {}
  const char* name;
  int index;
};
constexpr int kDevices = 2;
Device& device(int index);

struct Context : Object {
  using Handle = cl_context;
  static constexpr Kind kKind = Kind::context;
  static constexpr cl_int kInvalid = CL_INVALID_CONTEXT;
  Context() : Object(kKind) {}
  std::vector<cl_device_id> devices;
};

struct Memory : Object {
  using Handle = cl_mem;
  static constexpr Kind kKind = Kind::memory;
  static constexpr cl_int kInvalid = CL_INVALID_MEM_OBJECT;
  Memory(Object* of_parent, Context* of_context, std::size_t size)
      : Object(kKind, of_parent), context(of_context), bytes(size) {}
  ~Memory() override { std::free(owned); }
  Context* context;
  std::size_t bytes;
  unsigned char* data = nullptr;
  void* owned = nullptr;
  cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
};

// Macros of common.cl with which a program was compiled.
struct Macros {
  int precision = 32, bfloat16 = 0, trans_a = 0, trans_b = 0, split_k = 1, ml = 1, nl = 1, kl = 1, items = 0;
  bool packed_a = false, packed_b = false;
};

struct Program : Object {
  using Handle = cl_program;
  static constexpr Kind kKind = Kind::program;
  static constexpr cl_int kInvalid = CL_INVALID_PROGRAM;
  explicit Program(Context* of_context) : Object(kKind, of_context), context(of_context) {}
  // One thread at a time builds a program; no other uses it meanwhile.
  struct Build {
    cl_build_status status = CL_BUILD_NONE;
    std::string options;
    std::string log;
    std::string refused;  // what a build that failed leaves as the program's binary
    bool from_binary = false;
  };
  Context* context;
  std::string source;
  std::string compile_options;  // of clCompileProgram
  bool is_compiled = false;     // by clCompileProgram
  std::atomic<int> kernels{0};  // alive
  Build builds[kDevices];
};

enum class Role { gemm, pack_a, pack_b, reduce, complex_a, complex_b, complex_c };

// The struct of kernels/KERNELS.md.
struct Numbers {
  cl_ulong a_offset, b_offset, c_offset;
  cl_ulong a_stride, b_stride, c_stride;
  cl_ulong bias_offset, bias_stride, d_offset, d_stride;
  cl_int m, n, k;
  cl_int lda, ldb, ldc, ldd;
  cl_int first_product;
  cl_int steps;
  cl_int unused;
};

struct Arguments {
  static constexpr std::size_t kMost = 14;
  unsigned char bytes[kMost][sizeof(Numbers)] = {};
  bool set[kMost] = {};
};

struct Kernel : Object {
  using Handle = cl_kernel;
  static constexpr Kind kKind = Kind::kernel;
  static constexpr cl_int kInvalid = CL_INVALID_KERNEL;
  Kernel(Program* of_program, Role its_role) : Object(kKind, of_program), program(of_program), role(its_role) {}
  Program* program;
  Role role;
  Macros macros;
  Arguments arguments;
};

struct Queue : Object {
  using Handle = cl_command_queue;
  static constexpr Kind kKind = Kind::queue;
  static constexpr cl_int kInvalid = CL_INVALID_COMMAND_QUEUE;
  Queue(Context* of_context, cl_device_id of_device, cl_command_queue_properties with)
      : Object(kKind, of_context), context(of_context), on(of_device), properties(with) {}
  Context* context;
  cl_device_id on;
  cl_command_queue_properties properties;
  std::mutex order;             // held while a command of an in-order queue runs in the enqueuing thread
  std::atomic<int> waiting{0};  // commands that did not run when they were enqueued
  int busy = 0;                 // how many of these run now; guarded by the scheduler
};

struct Event : Object {
  using Handle = cl_event;
  static constexpr Kind kKind = Kind::event;
  static constexpr cl_int kInvalid = CL_INVALID_EVENT;
  Event(Object* of_parent, Queue* of_queue, cl_command_type its_type)
      : Object(kKind, of_parent), queue(of_queue), type(its_type) {}
  Queue* queue;  // null: a user event
  cl_command_type type;
  std::atomic<cl_int> status{CL_QUEUED};
  std::mutex callbacks_mutex;
  std::vector<std::function<void(cl_int status)>> callbacks;  // for its end
};

template <typename T>
T* object(typename T::Handle handle) {
  return reinterpret_cast<T*>(handle);
}
template <typename T>
typename T::Handle handle(T* object) {
  return reinterpret_cast<typename T::Handle>(object);
}

void complain(const std::string& line);
void enrol(Object* object);
void retain(Object* object);
// Takes a reference away, if there is one left.
bool drop(Object* object);

// Begin of every call: counts it, calls the hook, and says whether it has to fail.
class Call {
 public:
  explicit Call(Function function);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  cl_int error = CL_SUCCESS;  // on demand
  bool lies = false;          // on demand: success, with nothing built and a null event

  // True when the handle is alive and of this kind; complains about one that was released.
  template <typename T>
  bool valid(T* object) const {
    return check(object, T::kKind);
  }
  // Stands against using the object: an error on demand, or that it is not alive.
  template <typename T>
  cl_int refusal(T* object) const {
    return error != CL_SUCCESS ? error : valid(object) ? CL_SUCCESS : T::kInvalid;
  }
  template <typename T>
  cl_int retain(T* object) const {
    if (!valid(object)) return T::kInvalid;
    fake::retain(object);
    return error;
  }
  template <typename T>
  cl_int release(T* object) const {
    return valid(object) && drop(object) ? error : T::kInvalid;
  }

 private:
  bool check(const Object* object, Kind kind) const;
  Function function_;
};

// The functions that count references to the objects of one kind.
#define FAKE_OPENCL_REFERENCES(Type, retaining, releasing) \
  cl_int retaining(Type::Handle id) {                      \
    const Call call(Function::retaining);                  \
    return call.retain(object<Type>(id));                  \
  }                                                        \
  cl_int releasing(Type::Handle id) {                      \
    const Call call(Function::releasing);                  \
    return call.release(object<Type>(id));                 \
  }

// Builds the program for the device from its source or binary.
void build(Program& program, const Device& device, const char* options);
void forget_compilations();
// Reports a build, in a thread of its own if the tests want that.
void report(void(CL_CALLBACK* notify)(cl_program, void*), cl_program program, void* data);
bool in_context(const Context& context, cl_device_id device);

// A new object's handle, or the failure.
template <typename Make>
auto create(cl_int* error_ret, cl_int error, Make make) -> decltype(handle(make())) {
  if (error_ret) *error_ret = error == kLie ? CL_SUCCESS : error;
  if (error != CL_SUCCESS) return nullptr;
  auto* made = make();
  enrol(made);
  return handle(made);
}

// Answers of clGet*Info.
struct Answer {
  std::size_t size;  // of the caller's memory
  void* value;
  std::size_t* size_ret;

  cl_int bytes(const void* data, std::size_t count) const;
  cl_int text(const std::string& text) const { return bytes(text.c_str(), text.size() + 1); }
  template <typename T>
  cl_int number(const T& number) const {
    return bytes(&number, sizeof number);
  }
};

// The launch of a kernel with `groups` work-groups.
void compute(Role role, const Macros& macros, const Arguments& arguments, const std::size_t* groups);
// One letter for each argument of a role: i int, R real, L ulong, M memory object, O the same or null.
const char* signature(Role role);
const char* kernel_name(Role role);
// Those that a program of these build options has, with semicolons between them.
std::string kernel_names(const std::string& build_options);

}  // namespace fake
