// CLBlast itself, for calls that clbake does not serve: opened when first needed.
#pragma once

namespace clbake::door {

// The address of a function of CLBlast by its symbol; null without CLBlast, or where its version lacks the function.
// Opens the library at the first call: CLBAKE_CLBLAST_LIBRARY, or else libclblast.so.1, libclblast.so. Any thread.
void* original(const char* symbol) noexcept;

// True once the library was opened.
bool original_is_open() noexcept;

}  // namespace clbake::door
