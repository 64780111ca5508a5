/* Conversations with tools, thoughts, stop texts and adapters: chat MODEL.pte TOOLS WEIGHTS ADAPTER OTHER_ADAPTER. Prints a line for each answer: texts and calls with
 * `|` between them, line breaks as `\n`. */
#define _POSIX_C_SOURCE 200809L /* strdup */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "etbuild.h"

static et_language *language;
static et_call kept;

static bool show(void *context, uint32_t token, const char *text, size_t size) {
  (void)context, (void)token;
  for (size_t place = 0; place < size; place++) {
    if (text[place] == '\n') {
      fputs("\\n", stdout);
    } else {
      putchar(text[place]);
    }
  }
  return true;
}

static bool think(void *context, const char *text, size_t size) {
  return show(context, UINT32_MAX, text, size);
}

static bool call(void *context, const et_call *made) {
  (void)context;
  printf("|%s%s", made->name, made->arguments);
  kept.id = strdup(made->id);
  kept.name = strdup(made->name);
  kept.arguments = strdup(made->arguments);
  return true;
}

static bool likely(void *context, const et_likelihood *likelihood) {
  (void)context;
  putchar('|');
  for (size_t index = 0; index <= likelihood->count; index++) {
    const et_alternative *one = index == 0 ? &likelihood->picked : &likelihood->alternatives[index - 1];
    if (index > 0) {
      putchar('~');
    }
    show(NULL, one->token, one->text, one->size);
    printf("%.3f", (double)one->logprob);
  }
  return true;
}

static bool never(void *context, uint32_t token, const char *text, size_t size) {
  (void)context, (void)token, (void)text, (void)size;
  return false;
}

static void check(int status) {
  if (status != 0) {
    fprintf(stderr, "%s\n", et_error_message());
    exit(8);
  }
}

static et_options usual(void) {
  et_options options;
  check(et_language_options(language, &options));
  options.max_new_tokens = 200;
  options.temperature = 0;
  options.call = call;
  return options;
}

static void answer(const char *name, const et_turn *turns, size_t count, et_options options) {
  printf("%s=", name);
  check(et_language_answer_parts(language, turns, count, &options, show, NULL, NULL));
  printf("\n");
}

static void refused(int status) {
  if (status == 0) {
    exit(3);
  }
  printf("refused=%s\n", et_error_message());
}

int main(int count, char **arguments) {
  const char *const *data = (const char *const *)arguments + 3;
  if (count != 6 || (language = et_language_load(arguments[1], data, 2, 1, false)) == NULL) {
    fprintf(stderr, "%s\n", et_error_message());
    return 2;
  }
  const et_part question = {.kind = ET_TEXT, .data = "Tell me a tale."};
  et_turn turns[3] = {{"user", &question, 1}};
  et_options options = usual();

  options.tools = arguments[2];
  options.regex = "Ho <tool_call>\\n\\{\"name\": \"tell\", \"arguments\": \\{\"words\": \"fox\", \"count\": 3\\}\\}\\n</tool_call>";
  answer("written", turns, 1, options);

  options.regex = NULL;
  options.tool_choice = "required";
  options.temperature = 1;
  options.seed = 7;
  answer("required", turns, 1, options);

  const et_part made = {.kind = ET_CALL, .data = &kept};
  const et_part result[2] = {made, {.kind = ET_TEXT, .data = "a fox"}};
  turns[1] = (et_turn){"assistant", &made, 1};
  turns[2] = (et_turn){"tool", result, 2};
  options = usual();
  options.tools = arguments[2];
  options.max_new_tokens = 20;
  answer("answer", turns, 3, options);
  size_t tokens = 0;
  check(et_language_encode_turns(language, turns, 3, &options, NULL, 0, &tokens));
  printf("prompt=%zu\n", tokens);

  options = usual();
  options.max_new_tokens = 9;
  options.template_variables = "{\"enable_thinking\": true}";
  options.think = think;
  answer("thoughts", turns, 1, options);

  options = usual();
  const char *const stop[2] = {"no such text", " a"};
  options.stop = stop;
  options.stop_count = 2;
  printf("stopped=");
  et_answer ended;
  check(et_language_continue(language, "Once", &options, show, NULL, &ended));
  printf("|%d\n", ended.ended);

  uint32_t encoded[8];
  check(et_language_encode(language, "Once there was", false, encoded, 8, &tokens));
  char text[64];
  size_t size = 0;
  check(et_language_decode(language, encoded, tokens, text, sizeof text, &size));
  printf("decoded=%.*s\n", (int)size, text);

  options = usual();
  options.max_new_tokens = 3;
  const et_bias bias = {encoded[0], 100};
  options.logit_bias = &bias;
  options.logit_bias_count = 1;
  printf("biased=");
  check(et_language_continue(language, "Once", &options, show, NULL, NULL));
  printf("\n");

  options = usual();
  options.max_new_tokens = 9;
  check(et_language_use_adapter(language, arguments[5]));
  printf("adapted=");
  check(et_language_continue(language, "Once", &options, show, NULL, NULL));
  check(et_language_use_adapter(language, arguments[4]));
  printf("\nback=");
  check(et_language_continue(language, "Once", &options, show, NULL, NULL));
  printf("\n");

  options = usual();
  options.max_new_tokens = 3;
  options.top_logprobs = 2;
  options.likely = likely;
  printf("likely=");
  check(et_language_answer_parts(language, turns, 1, &options, NULL, NULL, NULL));
  options.top_logprobs = 0;
  printf("\nrated=");
  check(et_language_continue(language, "Once", &options, NULL, NULL, NULL));

  char prompt[2000] = "", session[4096], again[4096];
  for (int word = 0; word < 40; word++) {
    strcat(prompt, "fox and ");
  }
  snprintf(session, sizeof session, "%s.session", arguments[4]);
  snprintf(again, sizeof again, "%s.again", arguments[4]);
  options.likely = NULL;
  check(et_language_continue(language, prompt, &options, NULL, NULL, NULL));
  check(et_language_save(language, session));
  check(et_language_continue(language, "Once", &options, NULL, NULL, NULL));
  check(et_language_restore(language, session));
  check(et_language_save(language, again));
  printf("\nkept=");
  check(et_language_continue(language, prompt, &options, show, NULL, NULL));
  check(et_language_use_adapter(language, arguments[5]));
  printf("\nforeign=%s\n", et_language_restore(language, session) == 0 ? "none" : strrchr(et_error_message(), ':') + 2);
  check(et_language_use_adapter(language, arguments[4]));

  for (int word = 40; word < 150; word++) {
    strcat(prompt, "fox and ");
  }
  options = usual();
  check(et_language_continue(language, prompt, &options, never, NULL, &ended));
  printf("cancelled=%d|%zu\n", ended.ended, ended.new_tokens);

  options.tools = "[{\"type\": \"function\"}]";
  refused(et_language_answer_parts(language, turns, 1, &options, NULL, NULL, NULL));
  options.tools = arguments[2];
  options.tool_choice = "dance";
  refused(et_language_answer_parts(language, turns, 1, &options, NULL, NULL, NULL));
  options.call = NULL;
  options.tool_choice = NULL;
  refused(et_language_answer_parts(language, turns, 1, &options, NULL, NULL, NULL));
  refused(et_language_continue(language, "Once", &options, NULL, NULL, NULL));
  turns[0].parts = &made;
  options.tools = NULL;
  refused(et_language_answer_parts(language, turns, 1, &options, NULL, NULL, NULL));
  refused(et_language_use_adapter(language, arguments[3]));
  et_language_free(language);
  return 0;
}
