/* Executes a model ahead of its input: unset MODEL.pte. Prints what the library says, and executes the model on zeros. */
#include <stdio.h>

#include "etbuild.h"

int main(int count, char **arguments) {
  if (count != 2) return 2;
  et_module *module = et_module_load(arguments[1], NULL, 0, NULL, 1);
  if (module == NULL || et_module_execute(module) == 0) return 3;
  printf("%s\n", et_error_message());
  const float pixels[8 * 8] = {0};
  const int64_t shape[] = {1, 1, 8, 8};
  const et_tensor image = {ET_FLOAT32, 4, shape, pixels, sizeof pixels};
  if (et_module_set_input(module, 0, &image) || et_module_execute(module) || et_module_execute(module)) return 4;
  et_module_free(module);
  return 0;
}
