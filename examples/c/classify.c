/* Says which digit an image shows: classify MODEL.pte < IMAGE
 * The image is what the first input of the model takes, float32 in row-major order. */
#include <stdio.h>

#include "etbuild.h"

static int failed(void) {
  fprintf(stderr, "%s\n", et_error_message());
  return 8;
}

static size_t largest(const float *elements, size_t count) {
  size_t best = 0;
  for (size_t index = 1; index < count; index++) {
    if (elements[index] > elements[best]) best = index;
  }
  return best;
}

int main(int count, char **arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: %s MODEL.pte < IMAGE\n", arguments[0]);
    return 2;
  }
  float pixels[8 * 8];
  size_t bytes = fread(pixels, 1, sizeof pixels, stdin);
  et_module *module = et_module_load(arguments[1], NULL, 0, NULL, 1);
  if (module == NULL) return failed();
  const int64_t shape[] = {1, 1, 8, 8};
  const et_tensor image = {ET_FLOAT32, 4, shape, pixels, bytes};
  et_tensor logits;
  if (et_module_set_input(module, 0, &image) || et_module_execute(module) || et_module_output(module, 0, &logits)) {
    return failed();
  }
  printf("%zu\n", largest(logits.data, logits.bytes / sizeof(float)));
  et_module_free(module);
  return 0;
}
