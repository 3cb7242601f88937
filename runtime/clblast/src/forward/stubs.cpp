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

#if defined(__x86_64__)

// clbake_door_first saves the registers of the arguments, and how many vector registers variadic functions have (al).
asm(R"(
.macro clbake_save instruction, register, at
  \instruction \register, \at(%rsp)
.endm
.macro clbake_restore instruction, register, at
  \instruction \at(%rsp), \register
.endm
.macro clbake_arguments move
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
  clbake_arguments clbake_save
  movq %r11, %rdi
  call clbake_door_resolve
  movq %rax, %r11
  clbake_arguments clbake_restore
  leave
  .cfi_def_cfa %rsp, 8
  jmp *%r11
  .cfi_endproc
.size clbake_door_first, .-clbake_door_first

.macro clbake_jump name
  endbr64
  jmp *.Lslot_\name(%rip)
.Lfirst_\name:
  endbr64
  leaq .Lslot_\name(%rip), %r11
  jmp clbake_door_first
.endm
)");

#elif defined(__aarch64__)

// clbake_door_first saves the registers of the arguments, and of the address of a large result (x8). In clbake_jump,
// x16 and x17 are the linker's own, and hint 34 is "bti c".
asm(R"(
.macro clbake_arguments pair, single
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
  clbake_arguments stp, str
  mov x0, x16
  bl clbake_door_resolve
  mov x16, x0
  clbake_arguments ldp, ldr
  ldp x29, x30, [sp], #224
  .cfi_def_cfa_offset 0
  .cfi_restore x29
  .cfi_restore x30
  br x16
  .cfi_endproc
.size clbake_door_first, .-clbake_door_first

.macro clbake_jump name
  hint #34
  adrp x16, .Lslot_\name
  ldr x17, [x16, #:lo12:.Lslot_\name]
  br x17
.Lfirst_\name:
  hint #34
  adrp x16, .Lslot_\name
  add x16, x16, #:lo12:.Lslot_\name
  b clbake_door_first
.endm
)");

#else
#error "the door from CLBlast knows x86-64 and AArch64"
#endif

// clbake_forward: the function, its slot, whose first target is the lookup, and its name.
// clbake_routines: functions of C++ by their mangled names. They are templates of one type, or two; most take a queue
// and an event after other arguments.
asm(R"(
.macro clbake_forward name
  .section .data.rel,"aw"
  .balign 16
.Lslot_\name: .quad .Lfirst_\name, .Lname_\name
  .section .rodata.str1.1,"aMS",%progbits,1
.Lname_\name: .string "\name"
  .text
  .balign 16
  .globl \name
  .type \name, %function
\name:
  clbake_jump \name
  .size \name, .-\name
.endm
.macro clbake_template name, type, arguments
  clbake_forward _ZN7clblast\name\()I\type\()EENS_10StatusCodeE\arguments
.endm
.macro clbake_routines type, arguments, names:vararg
  .irp name, \names
    clbake_template \name, \type, \arguments\()PP17_cl_command_queuePP9_cl_event
  .endr
.endm
.macro clbake_tuners type, size_t, string, names:vararg
  .irp name, \names
    clbake_template \name, \type, PP17_cl_command_queue\size_t\()dRSt13unordered_mapINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEmSt4hashI\string\()ESt8equal_toI\string\()ESaISt4pairIK\string\()mEEE
  .endr
.endm
)");

// Every routine of CLBlast 1.5 to 1.7 that clbake does not serve. S and D are single and double precision, C and Z
// their complex numbers, H half.
asm(R"(
.irp letter, S, D, C, Z, H
  .irp name, axpy, axpyBatched, col2im, copy, gbmv, gemv, had, im2col, omatcopy, scal, swap, symm, syr2k, syrk, tbmv
    clbake_forward CLBlast\letter\name
  .endr
  .irp name, tpmv, trmm, trmv
    clbake_forward CLBlast\letter\name
  .endr
  .irp name, amax, amin, max, min
    clbake_forward CLBlasti\letter\name
  .endr
.endr
.irp letter, S, D, C, Z
  .irp name, tbsv, tpsv, trsm, trsv
    clbake_forward CLBlast\letter\name
  .endr
.endr
.irp letter, C, Z
  .irp name, dotc, dotu, gerc, geru, hbmv, hemm, hemv, her, her2, her2k, herk, hpmv, hpr, hpr2
    clbake_forward CLBlast\letter\name
  .endr
.endr
.irp letter, S, D, H
  .irp name, convgemm, dot, ger, sbmv, spmv, spr, spr2, symv, syr, syr2
    clbake_forward CLBlast\letter\name
  .endr
.endr
.irp letter, S, D
  .irp name, rot, rotg, rotm, rotmg
    clbake_forward CLBlast\letter\name
  .endr
.endr
.irp letter, S, D, H, Sc, Dz
  .irp name, asum, nrm2, sum
    clbake_forward CLBlast\letter\name
  .endr
.endr
clbake_forward CLBlastOverrideParameters
)");

// The same for C++. A mangled name refers to its earlier parts by numbers (S3_ ...), which are 2 more after a complex
// type: they are arguments here.
asm(R"(
.macro clbake_any_type type, s2, s3, s4, s5, s6, s7, s8, s9, sb
  clbake_routines \type, mT_P7_cl_memmm, 4Scal
  clbake_routines \type, mT_P7_cl_memmm\s4\()mm, 4Axpy
  clbake_routines \type, mT_P7_cl_memmm\s4\()mm\s2\s4\()mm, 3Had
  clbake_routines \type, mPKT_P7_cl_memPKmm\s6\s8\()mm, 11AxpyBatched
  clbake_routines \type, mP7_cl_memm\s3\()mm, 3Max, 3Min, 3Sum, 4Amax, 4Amin, 4Asum, 4Nrm2
  clbake_routines \type, mP7_cl_memmm\s3\()mm, 4Copy, 4Swap
  clbake_routines \type, NS_6LayoutENS_9TransposeEmmmmT_P7_cl_memmm\s6\()mm\s4\s6\()mm, 4Gbmv
  clbake_routines \type, NS_6LayoutENS_9TransposeEmmT_P7_cl_memmm\s6\()mm\s4\s6\()mm, 4Gemv
  clbake_routines \type, NS_6LayoutENS_9TransposeEmmT_P7_cl_memmm\s6\()mm, 8Omatcopy
  clbake_routines \type, NS_6LayoutENS_4SideENS_8TriangleEmmT_P7_cl_memmm\s7\()mm\s5\s7\()mm, 4Symm
  clbake_routines \type, NS_6LayoutENS_8TriangleENS_9TransposeEmmT_P7_cl_memmm\s5\s7\()mm, 4Syrk
  clbake_routines \type, NS_6LayoutENS_8TriangleENS_9TransposeEmmT_P7_cl_memmm\s7\()mm\s5\s7\()mm, 5Syr2k
  clbake_routines \type, NS_6LayoutENS_8TriangleENS_9TransposeENS_8DiagonalEmmP7_cl_memmm\s7\()mm, 4Tbmv
  clbake_routines \type, NS_6LayoutENS_8TriangleENS_9TransposeENS_8DiagonalEmP7_cl_memm\s7\()mm, 4Tpmv
  clbake_routines \type, NS_6LayoutENS_8TriangleENS_9TransposeENS_8DiagonalEmP7_cl_memmm\s7\()mm, 4Trmv
  clbake_routines \type, NS_6LayoutENS_4SideENS_8TriangleENS_9TransposeENS_8DiagonalEmmT_P7_cl_memmm\s9\()mm, 4Trmm
  clbake_routines \type, NS_10KernelModeEmmmmmmmmmmmP7_cl_memm\s4\()m, 6Col2im, 6Im2col
  .ifnc \type, t
  clbake_routines \type, NS_6LayoutENS_8TriangleENS_9TransposeENS_8DiagonalEmmP7_cl_memmm\s7\()mm, 4Tbsv
  clbake_routines \type, NS_6LayoutENS_8TriangleENS_9TransposeENS_8DiagonalEmP7_cl_memm\s7\()mm, 4Tpsv
  clbake_routines \type, NS_6LayoutENS_8TriangleENS_9TransposeENS_8DiagonalEmP7_cl_memmm\s7\()mm, 4Trsv
  clbake_routines \type, NS_6LayoutENS_4SideENS_8TriangleENS_9TransposeENS_8DiagonalEmmT_P7_cl_memmm\s9\()mm, 4Trsm
  .endif
  clbake_tuners \type, m, \sb, 8TuneXdot, 9TuneXaxpy
  clbake_tuners \type, mm, \sb, 7TunePad, 8TuneCopy, 8TuneXger, 9TuneXgemv, 13TuneTranspose, 16TunePadtranspose
  clbake_tuners \type, mmm, \sb, 9TuneXgemm, 10TuneInvert, 15TuneXgemmDirect
.endm
.irp real, f, d, t
  clbake_any_type \real, S2_, S3_, S4_, S5_, S6_, S7_, S8_, S9_, SB_
  clbake_routines \real, mP7_cl_memmS3_mmS3_mm, 3Dot
  clbake_routines \real, NS_6LayoutEmmT_P7_cl_memmmS5_mmS5_mm, 3Ger
  clbake_routines \real, NS_6LayoutENS_8TriangleEmT_P7_cl_memmmS6_m, 3Spr
  clbake_routines \real, NS_6LayoutENS_8TriangleEmT_P7_cl_memmmS6_mm, 3Syr
  clbake_routines \real, NS_6LayoutENS_8TriangleEmmT_P7_cl_memmmS6_mmS4_S6_mm, 4Sbmv
  clbake_routines \real, NS_6LayoutENS_8TriangleEmT_P7_cl_memmS6_mmS4_S6_mm, 4Spmv
  clbake_routines \real, NS_6LayoutENS_8TriangleEmT_P7_cl_memmmS6_mmS6_m, 4Spr2
  clbake_routines \real, NS_6LayoutENS_8TriangleEmT_P7_cl_memmmS6_mmS4_S6_mm, 4Symv
  clbake_routines \real, NS_6LayoutENS_8TriangleEmT_P7_cl_memmmS6_mmS6_mm, 4Syr2
  clbake_routines \real, NS_10KernelModeEmmmmmmmmmmmmmP7_cl_memmS4_mS4_m, 8Convgemm
.endr
.irp real, f, d
  clbake_routines \real, NS_6LayoutENS_8TriangleEmT_P7_cl_memmmS6_mm, 3Her
  clbake_routines \real, NS_6LayoutENS_8TriangleEmT_P7_cl_memmmS6_m, 3Hpr
  clbake_routines \real, NS_6LayoutENS_8TriangleENS_9TransposeEmmT_P7_cl_memmmS5_S7_mm, 4Herk
  clbake_routines \real, mP7_cl_memmmS3_mmT_S4_, 3Rot
  clbake_routines \real, mP7_cl_memmmS3_mmS3_m, 4Rotm
  clbake_routines \real, P7_cl_memmS3_mS3_mS3_m, 4Rotg
  clbake_routines \real, P7_cl_memmS3_mS3_mS3_mS3_m, 5Rotmg
.endr
.irp complex, St7complexIfE, St7complexIdE
  clbake_any_type \complex, S4_, S5_, S6_, S7_, S8_, S9_, SA_, SB_, SD_
  clbake_routines \complex, mP7_cl_memmS5_mmS5_mm, 4Dotc, 4Dotu
  clbake_routines \complex, NS_6LayoutEmmT_P7_cl_memmmS7_mmS7_mm, 4Gerc, 4Geru
  clbake_routines \complex, NS_6LayoutENS_8TriangleEmmT_P7_cl_memmmS8_mmS6_S8_mm, 4Hbmv
  clbake_routines \complex, NS_6LayoutENS_4SideENS_8TriangleEmmT_P7_cl_memmmS9_mmS7_S9_mm, 4Hemm
  clbake_routines \complex, NS_6LayoutENS_8TriangleEmT_P7_cl_memmmS8_mmS6_S8_mm, 4Hemv
  clbake_routines \complex, NS_6LayoutENS_8TriangleEmT_P7_cl_memmmS8_mmS8_mm, 4Her2
  clbake_routines \complex, NS_6LayoutENS_8TriangleEmT_P7_cl_memmS8_mmS6_S8_mm, 4Hpmv
  clbake_routines \complex, NS_6LayoutENS_8TriangleEmT_P7_cl_memmmS8_mmS8_m, 4Hpr2
.endr
.irp types, St7complexIfEf, St7complexIdEd
  clbake_routines \types, NS_6LayoutENS_8TriangleENS_9TransposeEmmT_P7_cl_memmmS9_mmT0_S9_mm, 5Her2k
.endr
.macro clbake_parameters name, reference
  clbake_forward _ZN7clblast18\name\()EP13_cl_device_idRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEENS_9PrecisionER\reference\()St13unordered_mapIS7_mSt4hashIS7_ESt8equal_toIS7_ESaISt4pairIS8_mEEE
.endm
clbake_parameters OverrideParameters, K
clbake_parameters RetrieveParameters
)");
