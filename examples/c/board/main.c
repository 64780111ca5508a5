/* Two models side by side, each in memory of its own: they classify the same images in turns, and must agree. */
#include "cases.h"
#include "digits.h"
#include "semihosting.h"

static uint8_t first_memory[DIGITS_MEMORY_SIZE] __attribute__((aligned(DIGITS_MEMORY_ALIGNMENT)));
static uint8_t second_memory[DIGITS_MEMORY_SIZE] __attribute__((aligned(DIGITS_MEMORY_ALIGNMENT)));

/* What the hooks of the first model have seen. */
struct watch {
  unsigned alive, operators;
  uint32_t cycles;
};

/* Called between operators: a place to feed a watchdog. */
static void feed(void *context) { ((struct watch *)context)->alive++; }

/* The system timer counts 24 bits down; a processor's cycle counter has 32 bits. */
static uint32_t now(void *context) {
  (void)context;
  return -*(volatile uint32_t *)0xe000e018;
}

static void executed(void *context, uint32_t operator_number, uint32_t cycles) {
  struct watch *watch = context;
  if (operator_number == 0) watch->operators = 0;
  watch->operators++;
  watch->cycles += cycles & 0xffffff;
}

/* The position of the largest output; stops at an error. */
static int classify(digits_model *model) {
  float scores[DIGITS_OUTPUT_0_SIZE / sizeof(float)];
  int best = 0;
  if (digits_run(model) != 0 || digits_get_output(model, 0, scores, sizeof scores) != 0) stop(2);
  for (int digit = 1; digit < (int)(sizeof scores / sizeof scores[0]); digit++) {
    if (scores[digit] > scores[best]) best = digit;
  }
  return best;
}

int main(void) {
  digits_model *first, *second;
  if (digits_init(first_memory, sizeof first_memory - 1, &first) != 0x21) return 3;
  if (digits_init(first_memory + 1, sizeof first_memory, &first) != 0x12) return 4;
  if (digits_init(first_memory, sizeof first_memory, &first) != 0) return 5;
  if (digits_init(second_memory, sizeof second_memory, &second) != 0) return 6;
  if (digits_set_input(first, 1, CASES[0], sizeof CASES[0]) != 0x20) return 7;
  if (digits_set_input(first, 0, CASES[0], 4) != 0x12) return 8;
  struct watch watch = {0};
  digits_set_hooks(first, &(digits_hooks){&watch, feed, now, executed});
  ((volatile uint32_t *)0xe000e010)[1] = 0xffffff;
  ((volatile uint32_t *)0xe000e010)[0] = 5;
  for (size_t index = 0; index < sizeof CASES / sizeof CASES[0]; index++) {
    /* The second model gets its input before the first one runs. */
    if (digits_set_input(first, 0, CASES[index], sizeof CASES[index]) != 0) return 9;
    if (digits_set_input(second, 0, CASES[index], sizeof CASES[index]) != 0) return 10;
    const int digit = classify(first);
    if (classify(second) != digit) return 11;
    print((char[]){(char)('0' + digit), '\n', 0});
  }
  if (watch.operators == 0 || watch.cycles == 0) return 12;
  if (watch.alive < sizeof CASES / sizeof CASES[0] * watch.operators) return 13;
  return 0;
}
