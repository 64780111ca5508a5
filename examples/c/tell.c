/* Continues a text with a language model: tell MODEL.pte PROMPT */
#include <stdio.h>

#include "etbuild.h"

static bool show(void *context, uint32_t token, const char *text, size_t size) {
  (void)context;
  (void)token;
  fwrite(text, 1, size, stdout);
  return fflush(stdout) == 0;
}

int main(int count, char **arguments) {
  if (count != 3) {
    fprintf(stderr, "usage: %s MODEL.pte PROMPT\n", arguments[0]);
    return 2;
  }
  et_language *language = et_language_load(arguments[1], NULL, 0, 1, false);
  et_options options;
  if (language == NULL || et_language_options(language, &options) != 0) {
    fprintf(stderr, "%s\n", et_error_message());
    return 8;
  }
  options.max_new_tokens = 64;
  et_answer answer;
  int failed = et_language_continue(language, arguments[2], &options, show, NULL, &answer);
  if (failed) {
    fprintf(stderr, "%s\n", et_error_message());
  } else {
    printf("\n");
    fprintf(stderr, "%zu tokens\n", answer.new_tokens);
  }
  et_language_free(language);
  return failed ? 8 : 0;
}
