/* Counts what hooks hear in a run, and compares the outputs with those of a run without hooks. */
#include "cases.h"
#include "digits.h"
#include "semihosting.h"

static uint8_t memory[DIGITS_MEMORY_SIZE] __attribute__((aligned(DIGITS_MEMORY_ALIGNMENT)));

static struct {
  unsigned alive, operators, next, time;
} heard;

static void alive(void *context) { *(unsigned *)context += 1; }

static uint32_t cycles(void *context) {
  (void)context;
  return 10 * ++heard.time - 15; /* The first number wraps to the next. */
}

static void executed(void *context, uint32_t operator_number, uint32_t cycles) {
  (void)context;
  if (operator_number != heard.next++ || cycles != 10) stop(20);
  heard.operators++;
}

static void number(unsigned value) {
  char text[12] = {0};
  int place = 10;
  text[place] = '\n';
  do text[--place] = (char)('0' + value % 10);
  while (value /= 10);
  print(text + place);
}

int main(void) {
  float scores[2][DIGITS_OUTPUT_0_SIZE / sizeof(float)];
  digits_model *model;
  if (digits_init(memory, sizeof memory, &model) != 0) return 1;
  for (int run = 0; run < 2; run++) {
    if (digits_set_input(model, 0, CASES[0], sizeof CASES[0]) != 0) return 2;
    if (digits_run(model) != 0 || digits_get_output(model, 0, scores[run], sizeof scores[run]) != 0) return 3;
    if (run == 0 && (heard.alive != 0 || heard.operators != 0)) return 4;
    digits_set_hooks(model, &(digits_hooks){&heard.alive, alive, cycles, executed});
  }
  for (size_t index = 0; index < DIGITS_OUTPUT_0_SIZE / sizeof(float); index++) {
    if (scores[0][index] != scores[1][index]) return 5;
  }
  number(heard.operators);
  number(heard.alive);
  digits_set_hooks(model, 0);
  const unsigned before = heard.alive;
  if (digits_run(model) != 0 || heard.alive != before) return 6;
  return 0;
}
