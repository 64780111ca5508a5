/* Gives a model parts that it has to refuse: parts MODEL.pte. A line of the standard output for each message; status 3 if the
 * library takes a part. */
#include <stdio.h>
#include <stdlib.h>

#include "etbuild.h"

static et_language *language;
static et_options options;

static void refused(int status) {
  if (status == 0) {
    fprintf(stderr, "a wrong part was taken\n");
    exit(3);
  }
  printf("%s\n", et_error_message());
}

static void give(et_part part) {
  const et_turn turn = {"user", &part, 1};
  refused(et_language_answer_parts(language, &turn, 1, &options, NULL, NULL, NULL));
  refused(et_language_continue_parts(language, &part, 1, &options, NULL, NULL, NULL));
}

#ifdef HEARS
static void hear(et_part part, et_speech speech) {
  refused(et_language_transcribe(language, &part, &speech, &options, NULL, NULL, NULL));
}

static void transcribe(void) {
  static const float silence[16] = {0};
  const et_part sound = {.kind = ET_SAMPLES, .data = silence, .size = 16, .rate = 16000};
  hear(sound, (et_speech){.language = "tlh"});
  hear(sound, (et_speech){.task = 7});
  hear((et_part){.kind = ET_TEXT, .data = "a"}, (et_speech){.task = ET_TRANSCRIBE});
  options.regex = "a";
  hear(sound, (et_speech){.task = ET_TRANSCRIBE});
  options.regex = NULL;
}
#endif

int main(int count, char **arguments) {
  static const float samples[2] = {0};
  static const unsigned char pixels[3] = {0};
  if (count != 2) {
    return 2;
  }
  language = et_language_load(arguments[1], NULL, 0, 1, false);
  if (language == NULL || et_language_options(language, &options) != 0) {
    fprintf(stderr, "%s\n", et_error_message());
    return 8;
  }
#ifdef HEARS
  transcribe();
#endif
  give((et_part){.kind = 9});
  give((et_part){.kind = ET_TEXT});
  give((et_part){.kind = ET_PICTURE, .data = pixels, .size = 3});
  give((et_part){.kind = ET_PIXELS, .data = pixels, .size = 3, .width = 2, .height = 1});
  give((et_part){.kind = ET_SOUND, .data = pixels, .size = 3});
  give((et_part){.kind = ET_SAMPLES, .data = samples, .size = 2, .rate = 0});
  give((et_part){.kind = ET_SAMPLES, .data = (const char *)samples + 1, .size = 1, .rate = 16000});
  et_language_free(language);
  return 0;
}
