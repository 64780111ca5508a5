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

__attribute__((section(".vectors"), used)) const void *const vectors[16] = {
    &stack_top, (void *)reset, (void *)fault, (void *)fault, (void *)fault, (void *)fault, (void *)fault,
};
