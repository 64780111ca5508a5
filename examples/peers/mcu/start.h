// The start of the peers' firmware for Cortex-M and RISC-V, and its calls of semihosting.
#pragma once

#include <cstdint>

extern "C" {
extern uint32_t data_load[], data_start[], data_end[], zero_start[], zero_end[], stack_top[];
extern void (*init_start[])(), (*init_end[])();
int main();

static void semihosting(int operation, const void* block) {
#ifdef __riscv
  // The three instructions of a call, which must lie on one page.
  register int a0 __asm__("a0") = operation;
  register const void* a1 __asm__("a1") = block;
  __asm__ volatile(
      ".balign 16\n.option push\n.option norvc\nslli zero, zero, 0x1f\nebreak\nsrai zero, zero, 7\n.option pop"
      : "+r"(a0) : "r"(a1) : "memory");
#else
  register int r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = block;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
#endif
}

[[noreturn]] static void leave(uint32_t code) {
  const uint32_t block[] = {0x20026, code};
  for (;;) semihosting(0x20, block);
}

void _exit(int code) { leave(code); }
[[noreturn]] void fault() { leave(254); }

extern "C" [[noreturn]] void reset() {
#if __FPU_PRESENT || defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  *reinterpret_cast<volatile uint32_t*>(0xe000ed88) |= 0xfu << 20;
  __asm__ volatile("dsb\nisb" ::: "memory");
#endif
  for (uint32_t *to = data_start, *from = data_load; to < data_end;) *to++ = *from++;
  for (uint32_t* to = zero_start; to < zero_end;) *to++ = 0;
  for (auto call = init_start; call < init_end; ++call) (*call)();
  leave(main());
}

#ifdef __riscv
// picolibc's raises a signal, for which this image has no system.
void abort() { leave(255); }

// The first instructions of the image.
__asm__(".section .vectors,\"ax\",%progbits\n.global enter\nenter: la sp, stack_top\nj reset\n.text\n");
#else
__attribute__((section(".vectors"), used)) void (*const vectors[])() = {
    reinterpret_cast<void (*)()>(stack_top), reset, fault, fault, fault, fault, fault, fault,
    nullptr, nullptr, nullptr, fault, fault, nullptr, fault, fault};
#endif
}

static void write(const char* text) { semihosting(4, text); }
