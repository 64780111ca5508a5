/* From reset to main on a Cortex-M whose memory the emulator has filled with zeros; a board's own code takes its place. */
#include <stdint.h>

#include "semihosting.h"

extern uint32_t stack_top;
int main(void);

static void reset(void) {
  /* The floating-point unit, where there is one. */
  *(volatile uint32_t *)0xe000ed88 |= 0xf00000;
  stop(main());
}

static void fault(void) { stop(99); }

/* The handlers of an operating system, where there is one. */
__attribute__((weak)) void SVC_Handler(void) { fault(); }
__attribute__((weak)) void PendSV_Handler(void) { fault(); }
__attribute__((weak)) void SysTick_Handler(void) { fault(); }

__attribute__((section(".vectors"), used)) const void *const vectors[16] = {
    &stack_top,
    (void *)reset,
    [2 ... 10] = (void *)fault,
    (void *)SVC_Handler,
    (void *)fault,
    (void *)fault,
    (void *)PendSV_Handler,
    (void *)SysTick_Handler,
};
