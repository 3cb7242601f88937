// One function for each routine that goes to CLBlast. It jumps to where its slot says, with all arguments where the
// caller put them, so that no signature has to be known. At first that is a piece of code that has the address looked
// up and stored in the slot, as the dynamic linker does for lazy binding.
#include <clblast.h>

#include "forward/forward.hpp"

#include <atomic>

namespace {

struct Slot {
  std::atomic<void*> target;
  const char* symbol;
};
static_assert(sizeof(Slot) == 16, "the assembler below lays them out");

// What serves a routine without CLBlast. All of them return a status.
clblast::StatusCode not_implemented() { return clblast::StatusCode::kNotImplemented; }

}  // namespace

// Called by the code below only.
extern "C" __attribute__((visibility("hidden"), used)) void* clbake_door_resolve(Slot* slot) noexcept {
  void* function = clbake::door::original(slot->symbol);
  if (!function) function = reinterpret_cast<void*>(&not_implemented);
  slot->target.store(function, std::memory_order_release);
  return function;
}

// The slot and the name; the slot's first target is the lookup.
#define CLBAKE_SLOT(name)                                    \
  ".section .data.rel,\"aw\"\n"                              \
  ".balign 16\n"                                             \
  ".Lslot_" #name ": .quad .Lfirst_" #name ", .Lname_" #name \
  "\n"                                                       \
  ".section .rodata.str1.1,\"aMS\",%progbits,1\n"            \
  ".Lname_" #name ": .string \"" #name                       \
  "\"\n"                                                     \
  ".text\n"

#define CLBAKE_FUNCTION(name, code) \
  asm(".text\n"                     \
      ".balign 16\n"                \
      ".globl " #name               \
      "\n"                          \
      ".type " #name ", %function\n" #name ":\n" code ".size " #name ", .-" #name "\n" CLBAKE_SLOT(name));

#if defined(__x86_64__)

// The registers of the arguments, and how many vector registers there are (al) of variadic functions.
asm(R"(
.text
.balign 16
.type clbake_door_first, %function
clbake_door_first:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $192, %rsp
  movq %rdi, 0(%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movq %rax, 48(%rsp)
  movups %xmm0, 64(%rsp)
  movups %xmm1, 80(%rsp)
  movups %xmm2, 96(%rsp)
  movups %xmm3, 112(%rsp)
  movups %xmm4, 128(%rsp)
  movups %xmm5, 144(%rsp)
  movups %xmm6, 160(%rsp)
  movups %xmm7, 176(%rsp)
  movq %r11, %rdi
  call clbake_door_resolve
  movq %rax, %r11
  movq 0(%rsp), %rdi
  movq 8(%rsp), %rsi
  movq 16(%rsp), %rdx
  movq 24(%rsp), %rcx
  movq 32(%rsp), %r8
  movq 40(%rsp), %r9
  movq 48(%rsp), %rax
  movups 64(%rsp), %xmm0
  movups 80(%rsp), %xmm1
  movups 96(%rsp), %xmm2
  movups 112(%rsp), %xmm3
  movups 128(%rsp), %xmm4
  movups 144(%rsp), %xmm5
  movups 160(%rsp), %xmm6
  movups 176(%rsp), %xmm7
  leave
  .cfi_def_cfa %rsp, 8
  jmp *%r11
  .cfi_endproc
.size clbake_door_first, .-clbake_door_first
)");

#define CLBAKE_FORWARD(name)           \
  CLBAKE_FUNCTION(name,                \
                  "endbr64\n"          \
                  "jmp *.Lslot_" #name \
                  "(%rip)\n"           \
                  ".Lfirst_" #name     \
                  ":\n"                \
                  "endbr64\n"          \
                  "leaq .Lslot_" #name \
                  "(%rip), %r11\n"     \
                  "jmp clbake_door_first\n")

#elif defined(__aarch64__)

// x16 and x17 are the linker's own. hint 34 is "bti c".
asm(R"(
.text
.balign 16
.type clbake_door_first, %function
clbake_door_first:
  .cfi_startproc
  stp x29, x30, [sp, #-224]!
  .cfi_def_cfa_offset 224
  .cfi_offset x29, -224
  .cfi_offset x30, -216
  mov x29, sp
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  stp q0, q1, [sp, #96]
  stp q2, q3, [sp, #128]
  stp q4, q5, [sp, #160]
  stp q6, q7, [sp, #192]
  mov x0, x16
  bl clbake_door_resolve
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldr x8, [sp, #80]
  ldp q0, q1, [sp, #96]
  ldp q2, q3, [sp, #128]
  ldp q4, q5, [sp, #160]
  ldp q6, q7, [sp, #192]
  ldp x29, x30, [sp], #224
  .cfi_def_cfa_offset 0
  .cfi_restore x29
  .cfi_restore x30
  br x16
  .cfi_endproc
.size clbake_door_first, .-clbake_door_first
)");

#define CLBAKE_FORWARD(name)                            \
  CLBAKE_FUNCTION(name,                                 \
                  "hint #34\n"                          \
                  "adrp x16, .Lslot_" #name             \
                  "\n"                                  \
                  "ldr x17, [x16, #:lo12:.Lslot_" #name \
                  "]\n"                                 \
                  "br x17\n"                            \
                  ".Lfirst_" #name                      \
                  ":\n"                                 \
                  "hint #34\n"                          \
                  "adrp x16, .Lslot_" #name             \
                  "\n"                                  \
                  "add x16, x16, #:lo12:.Lslot_" #name  \
                  "\n"                                  \
                  "b clbake_door_first\n")

#else
#error "the door from CLBlast knows x86-64 and AArch64"
#endif

#include "forward/routines.inc"
