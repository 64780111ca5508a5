/* Asks a model about pictures: look MODEL.pte QUESTION PICTURE... PNG and JPEG files are given as files, PPM files as pixels. */
#include <stdio.h>
#include <stdlib.h>

#include "etbuild.h"

static bool show(void *context, uint32_t token, const char *text, size_t size) {
  (void)context;
  (void)token;
  fwrite(text, 1, size, stdout);
  return fflush(stdout) == 0;
}

/* The bytes of a file; NULL where it cannot be read. */
static unsigned char *contents(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    return NULL;
  }
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  unsigned char *bytes = malloc(*size + 1);
  if (bytes != NULL && fread(bytes, 1, *size, file) != *size) {
    free(bytes);
    bytes = NULL;
  }
  if (bytes != NULL) {
    bytes[*size] = 0;
  }
  fclose(file);
  return bytes;
}

/* A picture as a part. */
static et_part picture(const unsigned char *bytes, size_t size) {
  et_part part = {.kind = ET_PICTURE, .data = bytes, .size = size};
  int header = 0;
  if (sscanf((const char *)bytes, "P6 %zu %zu 255%n", &part.width, &part.height, &header) == 2 && header > 0) {
    part.kind = ET_PIXELS;
    part.data = bytes + header + 1;
    part.size = size - (size_t)header - 1;
  }
  return part;
}

static int ask(et_language *language, const char *question, char **paths, size_t count) {
  unsigned char **files = calloc(count, sizeof *files);
  et_part *parts = calloc(count + 1, sizeof *parts);
  int failed = files == NULL || parts == NULL;
  for (size_t index = 0; index < count && !failed; index++) {
    size_t size = 0;
    files[index] = contents(paths[index], &size);
    failed = files[index] == NULL;
    if (failed) {
      perror(paths[index]);
    } else {
      parts[index] = picture(files[index], size);
    }
  }
  if (!failed) {
    parts[count] = (et_part){.kind = ET_TEXT, .data = question};
    const et_turn turn = {"user", parts, count + 1};
    et_options options;
    failed = et_language_options(language, &options);
    options.max_new_tokens = 50;
    failed = failed || et_language_answer_parts(language, &turn, 1, &options, show, NULL, NULL);
    if (failed) {
      fprintf(stderr, "%s\n", et_error_message());
    } else {
      printf("\n");
    }
  }
  for (size_t index = 0; files != NULL && index < count; index++) {
    free(files[index]);
  }
  free(files);
  free(parts);
  return failed;
}

int main(int count, char **arguments) {
  if (count < 4) {
    fprintf(stderr, "usage: %s MODEL.pte QUESTION PICTURE...\n", arguments[0]);
    return 2;
  }
  et_language *language = et_language_load(arguments[1], NULL, 0, 1, false);
  if (language == NULL) {
    fprintf(stderr, "%s\n", et_error_message());
    return 8;
  }
  int failed = ask(language, arguments[2], arguments + 3, (size_t)count - 3);
  et_language_free(language);
  return failed ? 8 : 0;
}
