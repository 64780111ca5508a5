/* Two tasks of FreeRTOS: one brings an image a millisecond, as a camera would, and the other classifies the images. */
#include <FreeRTOS.h>
#include <queue.h>
#include <task.h>

#include "cases.h"
#include "digits.h"
#include "semihosting.h"

/* Words: what a call of the model takes, and what the task, its hook and its saved registers do. */
#define STACK ((DIGITS_STACK_BYTES + 640) / sizeof(StackType_t))
#define IMAGES (sizeof CASES / sizeof CASES[0])

static uint8_t memory[DIGITS_MEMORY_SIZE] __attribute__((aligned(DIGITS_MEMORY_ALIGNMENT)));
static QueueHandle_t waiting;

static void sense(void *unused) {
  (void)unused;
  for (size_t index = 0; index < IMAGES; index++) {
    xQueueSend(waiting, CASES[index], portMAX_DELAY);
    vTaskDelay(pdMS_TO_TICKS(1));
  }
  vTaskSuspend(NULL);
}

/* Called between operators: other tasks of the same priority run, and a watchdog could be fed. */
static void alive(void *unused) {
  (void)unused;
  taskYIELD();
}

static void classify(void *unused) {
  (void)unused;
  static float image[DIGITS_INPUT_0_SIZE / sizeof(float)];
  digits_model *model;
  if (digits_init(memory, sizeof memory, &model) != 0) stop(1);
  digits_set_hooks(model, &(digits_hooks){.alive = alive});
  for (size_t count = 0; count < IMAGES; count++) {
    float scores[DIGITS_OUTPUT_0_SIZE / sizeof(float)];
    int best = 0;
    xQueueReceive(waiting, image, portMAX_DELAY);
    if (digits_set_input(model, 0, image, sizeof image) != 0) stop(2);
    if (digits_run(model) != 0) stop(3);
    if (digits_get_output(model, 0, scores, sizeof scores) != 0) stop(4);
    for (int digit = 1; digit < (int)(sizeof scores / sizeof scores[0]); digit++) {
      if (scores[digit] > scores[best]) best = digit;
    }
    print((char[]){(char)('0' + best), '\n', 0});
  }
  stop(0);
}

void vApplicationStackOverflowHook(TaskHandle_t task, char *name) {
  (void)task, (void)name;
  stop(97);
}

int main(void) {
  static StaticTask_t tasks[2];
  static StackType_t stacks[2][STACK];
  static StaticQueue_t queue;
  static uint8_t items[2 * DIGITS_INPUT_0_SIZE];
  waiting = xQueueCreateStatic(2, DIGITS_INPUT_0_SIZE, items, &queue);
  xTaskCreateStatic(sense, "sense", STACK, NULL, 2, stacks[0], &tasks[0]);
  xTaskCreateStatic(classify, "classify", STACK, NULL, 1, stacks[1], &tasks[1]);
  vTaskStartScheduler();
  return 96;
}
