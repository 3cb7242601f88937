// Libraries that are opened by their names when they are asked for, and the constants of their C interfaces.
#pragma once

#include <clbake/os/libraries.hpp>

#include "cli/cli.hpp"

#include <memory>
#include <string>
#include <vector>

namespace clbake::tool {

// The first of some libraries that can be opened. It stays open.
class SharedLibrary {
 public:
  // Throws Failure when none can be opened.
  explicit SharedLibrary(const std::vector<const char*>& names) : name_(names.front()) {
    for (const char* name : names) {
      const Result<os::LibraryHandle> library = handle_ ? handle_ : os::open_library(name);
      if (library) handle_ = *library;
    }
    if (!handle_) throw Failure("--peer: " + name_ + " cannot be opened");
  }

  bool has(const std::string& function) const { return os::symbol(handle_, function) != nullptr; }

  // A function of any type.
  struct Function {
    void* address;
    template <typename Pointer>
    operator Pointer() const {
      return reinterpret_cast<Pointer>(address);
    }
  };

  // Throws Failure when the library has no function of this name.
  Function operator[](const std::string& function) const {
    if (void* address = os::symbol(handle_, function)) return {address};
    throw Failure("--peer: " + name_ + " has no function " + function);
  }

 private:
  std::string name_;
  os::LibraryHandle handle_ = nullptr;
};

// A handle that a function of a library made, and the function that destroys it.
struct Destroy {
  int (*destroy)(void*) = nullptr;
  void operator()(void* handle) const { destroy(handle); }
};
using Handle = std::unique_ptr<void, Destroy>;

// The constants of BLAS (cblas.h) and CLBlast (clblast_c.h): row-major; not transposed, transposed, or conjugate
// transposed.
constexpr int kRowMajor = 101;
constexpr int blas_operation(bool transposed, bool conjugated) { return !transposed ? 111 : conjugated ? 113 : 112; }

}  // namespace clbake::tool
