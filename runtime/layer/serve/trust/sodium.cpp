// libsodium's functions for the runtime's trust: hidden ones of the same names, which load the library at the first
// call. So a layer that needs no signatures needs no libsodium.
#include <clbake/os/libraries.hpp>

#include <sodium.h>

namespace clbake::layer::serve {
namespace {

os::LibraryHandle library() {
  static const os::LibraryHandle opened = [] {
    for (const char* name : {"libsodium.so.23", "libsodium.so.26", "libsodium-23.dll", "libsodium-26.dll"}) {
      if (const auto found = os::open_library(name)) return *found;
    }
    return os::LibraryHandle();
  }();
  return opened;
}

// The library's function; REQUIRES has_sodium(), but for one that it does not have.
template <typename Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(os::symbol(library(), name));
}

}  // namespace

bool has_sodium() {
  if (!library()) return false;
  for (const char* name :
       {"sodium_init", "crypto_generichash", "crypto_generichash_init", "crypto_generichash_update",
        "crypto_generichash_final", "crypto_sign_verify_detached", "crypto_core_ed25519_is_valid_point"}) {
    if (!os::symbol(library(), name)) return false;
  }
  return true;
}

}  // namespace clbake::layer::serve

#define CLBAKE_SODIUM(name, parameters, arguments)                                     \
  int name parameters {                                                                \
    static auto* const function = clbake::layer::serve::find<decltype(::name)>(#name); \
    return function arguments;                                                         \
  }

CLBAKE_SODIUM(sodium_init, (), ())
CLBAKE_SODIUM(crypto_generichash,
              (unsigned char* out, size_t size, const unsigned char* in, unsigned long long length,
               const unsigned char* key, size_t key_size),
              (out, size, in, length, key, key_size))
CLBAKE_SODIUM(crypto_generichash_init,
              (crypto_generichash_state * state, const unsigned char* key, size_t key_size, size_t size),
              (state, key, key_size, size))
CLBAKE_SODIUM(crypto_generichash_update,
              (crypto_generichash_state * state, const unsigned char* in, unsigned long long length),
              (state, in, length))
CLBAKE_SODIUM(crypto_generichash_final, (crypto_generichash_state * state, unsigned char* out, size_t size),
              (state, out, size))
CLBAKE_SODIUM(crypto_sign_verify_detached,
              (const unsigned char* signature, const unsigned char* message, unsigned long long length,
               const unsigned char* key),
              (signature, message, length, key))
CLBAKE_SODIUM(crypto_core_ed25519_is_valid_point, (const unsigned char* point), (point))
