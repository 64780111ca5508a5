/* Brings an update to a program file: update MODEL.pte UPDATE.etd
 * Keeps the new version if the new version computes something, and returns to the version before if not. */
#include <stdio.h>

#include "etbuild.h"

static int failed(const char *what) {
  fprintf(stderr, "%s: %s\n", what, et_error_message());
  return 8;
}

/* Whether a program file executes on zeros. */
static bool works(const char *model) {
  static const float zeros[8 * 8];
  static const int64_t shape[] = {1, 1, 8, 8};
  const et_tensor image = {ET_FLOAT32, 4, shape, zeros, sizeof zeros};
  et_module *module = et_module_load(model, NULL, 0, NULL, 1);
  bool executes = module != NULL && et_module_set_input(module, 0, &image) == 0 && et_module_execute(module) == 0;
  et_module_free(module);
  return executes;
}

int main(int count, char **arguments) {
  if (count != 3) {
    fprintf(stderr, "usage: %s MODEL.pte UPDATE.etd\n", arguments[0]);
    return 2;
  }
  const char *model = arguments[1];
  if (et_update_recover(model)) return failed("a power cut");
  if (et_update_apply(model, arguments[2])) return failed("the update");
  if (!works(model)) {
    failed("the new version");
    if (et_update_rollback(model)) return failed("the way back");
    puts("the earlier version is back");
    return 0;
  }
  if (et_update_confirm(model)) return failed("the earlier version");
  puts("the new version works");
  return 0;
}
