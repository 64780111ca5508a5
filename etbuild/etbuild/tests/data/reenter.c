/* Continues a text: reenter MODEL.pte enter|leave. With `enter`, the token function calls each function of the model that
 * generates. Status 3 if the library takes such a call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "etbuild.h"

struct watch {
  et_language *language;
  const et_options *options;
  bool enters;
};

static void refused(bool was_refused, const char *function) {
  if (!was_refused || strstr(et_error_message(), "generating") == NULL) {
    fprintf(stderr, "%s was taken inside the token function\n", function);
    exit(3);
  }
}

static void enter(const struct watch *watch) {
  const uint32_t token = 1;
  const et_message message = {"user", "hello"};
  et_language *language = watch->language;
  et_options options;
  refused(et_language_options(language, &options) != 0, "et_language_options");
  refused(et_language_context(language) == 0, "et_language_context");
  refused(et_language_continue(language, "a", watch->options, NULL, NULL, NULL) != 0, "et_language_continue");
  refused(et_language_continue_tokens(language, &token, 1, watch->options, NULL, NULL, NULL) != 0,
          "et_language_continue_tokens");
  refused(et_language_answer(language, &message, 1, watch->options, NULL, NULL, NULL) != 0, "et_language_answer");
  et_language_free(language);
}

static bool show(void *context, uint32_t token, const char *text, size_t size) {
  const struct watch *watch = context;
  (void)token;
  if (watch->enters) {
    enter(watch);
  }
  fwrite(text, 1, size, stdout);
  return true;
}

int main(int count, char **arguments) {
  if (count != 3) {
    return 2;
  }
  et_language *language = et_language_load(arguments[1], NULL, 0, 1, false);
  et_options options;
  if (language == NULL || et_language_options(language, &options) != 0) {
    fprintf(stderr, "%s\n", et_error_message());
    return 8;
  }
  options.max_new_tokens = 16;
  struct watch watch = {language, &options, strcmp(arguments[2], "enter") == 0};
  int failed = et_language_continue(language, "Once there was a fox", &options, show, &watch, NULL);
  if (failed || et_language_context(language) == 0) {
    fprintf(stderr, "%s\n", et_error_message());
    return 8;
  }
  et_language_free(language);
  return 0;
}
