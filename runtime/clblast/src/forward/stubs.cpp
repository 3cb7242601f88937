// One function for each routine that goes to CLBlast. It jumps to the address in its slot and leaves all arguments
// where the caller put them, so that no signature has to be known. The first address is code that looks up the routine
// and stores its address in the slot, like the dynamic linker's lazy binding.
#include <clblast.h>

#include "forward/forward.hpp"

#include <atomic>

namespace {

struct Slot {
  std::atomic<void*> target;
  const char* symbol;
};
static_assert(sizeof(Slot) == 16, "the assembler below lays them out");

// Serves every routine where there is no CLBlast: all of them return a status.
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
.macro clbake_door_save instruction, register, at
  \instruction \register, \at(%rsp)
.endm
.macro clbake_door_restore instruction, register, at
  \instruction \at(%rsp), \register
.endm
.macro clbake_door_arguments move
  \move movq, %rdi, 0
  \move movq, %rsi, 8
  \move movq, %rdx, 16
  \move movq, %rcx, 24
  \move movq, %r8, 32
  \move movq, %r9, 40
  \move movq, %rax, 48
  \move movups, %xmm0, 64
  \move movups, %xmm1, 80
  \move movups, %xmm2, 96
  \move movups, %xmm3, 112
  \move movups, %xmm4, 128
  \move movups, %xmm5, 144
  \move movups, %xmm6, 160
  \move movups, %xmm7, 176
.endm
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
  clbake_door_arguments clbake_door_save
  movq %r11, %rdi
  call clbake_door_resolve
  movq %rax, %r11
  clbake_door_arguments clbake_door_restore
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

// The registers of the arguments, and of the address of a large result (x8).
asm(R"(
.macro clbake_door_arguments pair, single
  \pair x0, x1, [sp, #16]
  \pair x2, x3, [sp, #32]
  \pair x4, x5, [sp, #48]
  \pair x6, x7, [sp, #64]
  \single x8, [sp, #80]
  \pair q0, q1, [sp, #96]
  \pair q2, q3, [sp, #128]
  \pair q4, q5, [sp, #160]
  \pair q6, q7, [sp, #192]
.endm
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
  clbake_door_arguments stp, str
  mov x0, x16
  bl clbake_door_resolve
  mov x16, x0
  clbake_door_arguments ldp, ldr
  ldp x29, x30, [sp], #224
  .cfi_def_cfa_offset 0
  .cfi_restore x29
  .cfi_restore x30
  br x16
  .cfi_endproc
.size clbake_door_first, .-clbake_door_first
)");

// x16 and x17 are the linker's own. hint 34 is "bti c".
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
