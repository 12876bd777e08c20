//===- FiberSwitchX86.S - Fiber switch for x86-64 System V ----------------===//
//
// Only the registers that a call must preserve are saved: rbx, rbp, r12-r15.
// MXCSR and the x87 control word are the same in every fiber, so they are not.
//
//===----------------------------------------------------------------------===//

#if defined(__x86_64__) && !defined(TESSERA_FIBER_UCONTEXT)

#if defined(__CET__) && (__CET__ & 1)
#define ENTRY endbr64
#else
#define ENTRY
#endif

        .text
        .globl  tessera_fiber_switch_x86
        .hidden tessera_fiber_switch_x86
        .type   tessera_fiber_switch_x86, @function
        .p2align 4
// void tessera_fiber_switch_x86(void **save, void *to)
tessera_fiber_switch_x86:
        ENTRY
        pushq   %rbp
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        movq    %rsp, (%rdi)
        movq    %rsi, %rsp
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbx
        popq    %rbp
        retq
        .size   tessera_fiber_switch_x86, .-tessera_fiber_switch_x86

        .globl  tessera_fiber_start_x86
        .hidden tessera_fiber_start_x86
        .type   tessera_fiber_start_x86, @function
        .p2align 4
// First frame of a fiber: r12 holds the entry function, r13 its argument. The
// stack is 16-byte aligned here, as a call needs it.
tessera_fiber_start_x86:
        .cfi_startproc
        .cfi_undefined rip
        ENTRY
        movq    %r13, %rdi
        callq   *%r12
        ud2
        .cfi_endproc
        .size   tessera_fiber_start_x86, .-tessera_fiber_start_x86

#endif

#if defined(__linux__) && defined(__ELF__)
        .section .note.GNU-stack, "", %progbits
#endif
