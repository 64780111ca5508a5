// Firmware that computes the features of a second of sound with TensorFlow Lite Micro's front end, twice. Calls of semihosting around the
// second time mark it for `count.c`.

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "start.h"
#include "tensorflow/lite/experimental/microfrontend/lib/frontend.h"
#include "tensorflow/lite/experimental/microfrontend/lib/frontend_util.h"

#ifdef __riscv
// Messages of the front end's start, which succeeds.
FILE* const stderr = nullptr;
#endif

extern "C" {
extern const int16_t samples_start[], samples_end[];
extern char heap[HEAP] __attribute__((section(".arena"), aligned(16)));
char heap[HEAP];
static size_t used;

// The front end allocates its tables once; what it frees is for the start alone.
void* malloc(size_t size) {
  void* memory = heap + used;
  used += (size + 7) & ~size_t{7};
  return used <= sizeof heap ? memory : nullptr;
}
void* calloc(size_t count, size_t size) { return malloc(count * size); }
void free(void*) {}
}

__asm__(
    ".section .verify,\"a\",%progbits\n.balign 4\n.global samples_start\n.global samples_end\n"
    "samples_start: .incbin \"" SAMPLES "\"\nsamples_end:\n.text\n");

static FrontendState state;

static unsigned run() {
  unsigned frames = 0;
  size_t left = samples_end - samples_start;
  for (const int16_t* samples = samples_start; left > 0;) {
    size_t read = 0;
    frames += FrontendProcessSamples(&state, samples, left, &read).values != nullptr;
    samples += read;
    left -= read;
  }
  return frames;
}

int main() {
  FrontendConfig config;
  FrontendFillConfigWithDefaults(&config);
  config.window.size_ms = 30;
  config.window.step_size_ms = 20;
  config.filterbank.num_channels = 40;
  config.filterbank.lower_band_limit = 20;
  config.filterbank.upper_band_limit = 4000;
  config.pcan_gain_control.enable_pcan = 0;
  config.log_scale.enable_log = 1;
  if (!FrontendPopulateState(&config, &state, 16000)) return 1;
  run();
  FrontendReset(&state);
  write("start\n");
  const unsigned frames = run();
  write("end\n");
  const char text[] = {'f', 'r', 'a', 'm', 'e', 's', ' ', char('0' + frames / 10), char('0' + frames % 10), '\n', 0};
  write(text);
  return 0;
}
