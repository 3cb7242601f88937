// The programs and kernels that the application has, as far as the layer may answer for them.
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/program_text.hpp>

#include <CL/cl.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace clbake::layer::serve {

// A program that the overlay serves on PoCL, which compiles for launches that it does not have machine code for.
struct OverlayProgram {
  ContentDigest digest{};
  std::set<std::string> functions;  // machine code for a kernel and a shape of launches
  std::set<std::string> launched;   // names of kernels that were launched before the learner made the program
};

// A device that a program was built for.
struct DeviceBuild {
  cl_device_id device = nullptr;
  std::string options;                            // that the application built with
  std::optional<ContentDigest> digest;            // of the program with these options; none where it cannot be told
  std::string log;                                // that the driver's compiler wrote when the program was baked
  std::shared_ptr<const OverlayProgram> overlay;  // null where nothing can be learned
};

// A program of the driver that was made from baked binaries. Never changes once others can see it.
struct Baked {
  Baked() = default;
  Baked(const Baked&) = delete;
  Baked& operator=(const Baked&) = delete;
  ~Baked();  // releases the program, unless it is the application's own

  cl_program program = nullptr;
  bool is_the_applications = false;  // of clLinkProgram: its handle is this program
  std::vector<DeviceBuild> builds;   // one for each of its devices
  mutable std::mutex mutex;          // guards `binaries`
  // One for each of its devices, once the application asks for them. Empty: a build from source answers.
  mutable std::optional<std::vector<cache::Bytes>> binaries;

  const DeviceBuild* find(cl_device_id device) const {
    for (const DeviceBuild& build : builds) {
      if (build.device == device) return &build;
    }
    return nullptr;
  }
};

// A compilation of clCompileProgram.
struct Compilation {
  ProgramText text;     // what the compiler saw, with the files that it could include, as they may change
  std::string options;  // as the application gave them
  std::vector<cl_device_id> devices;
  bool deferred = false;  // the driver has not compiled it
};

// The kinds of launches of a kernel that were seen.
struct Launched {
  std::string name;  // of the kernel
  std::mutex mutex;  // guards `shapes`
  std::set<std::uint64_t> shapes;
};

// A program by the application's handle, which stays the driver's.
struct Program {
  Program(cl_program its_handle, cl_context its_context, ProgramText its_text)
      : handle(its_handle), context(its_context), text(std::move(its_text)) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  const cl_program handle;
  const cl_context context;  // not retained: the driver's program retains it
  const ProgramText text;    // as it was created, without options. Of clLinkProgram: with parts and options

  std::mutex mutex;  // guards what follows; held across no call of a driver
  std::shared_ptr<const Baked> baked;
  std::shared_ptr<const Compilation> compilation;
  bool is_specialized = false;               // by clSetProgramSpecializationConstant
  std::vector<DeviceBuild> built_by_driver;  // the handle's, at the application's calls; one for each device
  std::map<std::string, std::shared_ptr<Launched>> launched;  // of the last build, by the names of kernels

  std::mutex source_mutex;      // held while the driver builds what the bundle's program cannot answer
  cl_program source = nullptr;  // built from source for that: the handle, or a second link; owned if it is the latter

  // Guarded by the registry.
  unsigned references = 1;  // that the application holds
  unsigned kernels = 0;     // alive, of the baked program and of the driver's
  unsigned holds = 0;       // references to the handle that kernels of the baked program hold, as it does not know them

  std::shared_ptr<const Baked> served() {
    const std::lock_guard<std::mutex> lock(mutex);
    return baked;
  }
  bool specialized() {
    const std::lock_guard<std::mutex> lock(mutex);
    return is_specialized;
  }
  std::shared_ptr<const Compilation> part() {
    const std::lock_guard<std::mutex> lock(mutex);
    return compilation;
  }
};

struct Kernel {
  std::shared_ptr<Program> program;
  bool holds = false;  // a reference to the program's handle, which is not the program that the kernel is of
  unsigned references = 1;
  std::shared_ptr<Launched> launched;  // null if nobody asks
};

// Binaries that the application has loaded as a program, one for each device.
using GivenBinaries = std::shared_ptr<const std::vector<cache::Bytes>>;

// Any thread. No member calls a driver.
class Registry {
 public:
  // Null for a program that the layer leaves to the driver.
  std::shared_ptr<Program> find(cl_program handle) const;
  std::shared_ptr<Program> program_of(cl_kernel kernel) const;

  // Replaces what was known of the handle.
  void add(const std::shared_ptr<Program>& program);
  void forget(cl_program handle);
  // For a program that the layer leaves to the driver: kept until the application's last release of it. Null if none
  // were given.
  void give(cl_program handle, GivenBinaries binaries);
  GivenBinaries given(cl_program handle) const;
  void add(cl_kernel handle, const std::shared_ptr<Program>& program, bool holds, std::shared_ptr<Launched> launched);

  // One reference more or less of the application's.
  void retain(cl_program handle);
  void retain(cl_kernel handle);
  // The program, to be destroyed outside of the lock and before the driver can give its handle to another one.
  std::shared_ptr<Program> release(cl_program handle);
  // The kernel, if that was its last reference; what is to be released next is the caller's.
  std::unique_ptr<Kernel> release(cl_kernel handle);

  // The kernel, if this kind of launches of it was not seen before; `shape` is a number of that kind.
  std::optional<Kernel> is_new(cl_kernel kernel, std::uint64_t shape) const;

  struct Counts {
    unsigned kernels = 0;
    unsigned holds = 0;
  };
  Counts counts(const Program& program) const;

 private:
  void erase_if_unused(const Program& program);

  mutable std::shared_mutex mutex_;
  std::unordered_map<cl_program, std::shared_ptr<Program>> programs_;
  std::unordered_map<cl_kernel, Kernel> kernels_;
  struct Given {
    GivenBinaries binaries;
    unsigned references = 1;  // that the application holds
  };
  std::unordered_map<cl_program, Given> given_;
  // By slot_of(): grows when a kernel is added, so that threads notice a handle that is used again.
  std::array<std::atomic<std::uint64_t>, 64> generations_{};
};

// The only one of the process; never destroyed, as programs call OpenCL until their very end.
Registry& registry();

}  // namespace clbake::layer::serve
