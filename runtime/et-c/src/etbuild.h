/* The C interface of programs and language models that etbuild made.
 *
 * A recipe with `library: true` makes `lib<name>.a` beside its binary: link it with this header. It has the functions of
 * programs (`et_module_*`) or those of language models (`et_language_*`), with the kernels of that recipe's program and
 * with no other. One such library fits into a process. The function for transcripts is in libraries of models that hear, and
 * functions for updates in libraries of recipes with `updates:`.
 *
 * An object is used by one thread at a time; different objects by different threads at once. Functions that return `int`
 * return 0, or another number where something went wrong: et_error_message() says what. Texts are UTF-8. No function keeps a
 * pointer that it is given.
 */
#ifndef ETBUILD_H
#define ETBUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What went wrong last on this thread: there until something else goes wrong on it. */
const char *et_error_message(void);

/* ---- programs ------------------------------------------------------------------------------------------------------ */

/* A method of a program. */
typedef struct et_module et_module;

/* Types of elements, numbered as in ExecuTorch's program files. */
enum {
  ET_UINT8 = 0,
  ET_INT8 = 1,
  ET_INT16 = 2,
  ET_INT32 = 3,
  ET_INT64 = 4,
  ET_FLOAT16 = 5,
  ET_FLOAT32 = 6,
  ET_FLOAT64 = 7,
  ET_BOOL = 11,
  ET_BFLOAT16 = 15
};

/* A tensor in somebody's memory. */
typedef struct et_tensor {
  uint8_t type;         /* ET_FLOAT32, ... */
  size_t rank;          /* how many dimensions there are */
  const int64_t *shape; /* their sizes, outermost first */
  const void *data;     /* the elements in row-major order */
  size_t bytes;         /* how many bytes they take */
} et_tensor;

/* Loads a method of a program file, the binary's own where `method` is NULL. `data` are the files with weights that the
 * program keeps outside itself, `data_count` of them. Backends use at most `threads` threads, 1 to 256; 0: the physical cores, at most 16. NULL where it
 * fails. */
et_module *et_module_load(const char *program, const char *const *data, size_t data_count, const char *method,
                          size_t threads);
/* As et_module_load(), from the `size` bytes of a program file, which are copied. */
et_module *et_module_load_bytes(const void *program, size_t size, const char *const *data, size_t data_count,
                                const char *method, size_t threads);
void et_module_free(et_module *module);

size_t et_module_input_count(et_module *module);
/* NULL where there is no such input. */
const char *et_module_input_name(et_module *module, size_t index);
/* Copies a tensor into an input. */
int et_module_set_input(et_module *module, size_t index, const et_tensor *tensor);
/* Each input was set before. What outputs pointed to before is gone. */
int et_module_execute(et_module *module);
/* How many outputs the last execution gave. */
size_t et_module_output_count(et_module *module);
/* Points to an output, until the next execution. */
int et_module_output(et_module *module, size_t index, et_tensor *tensor);

/* ---- language models ----------------------------------------------------------------------------------------------- */

/* A language model and the text that it has read. */
typedef struct et_language et_language;

/* What is added to the logit of a token. */
typedef struct et_bias {
  uint32_t token;
  float bias;
} et_bias;

/* A call of a tool. */
typedef struct et_call {
  const char *id;        /* by which a message of the role "tool" names the call */
  const char *name;      /* of the tool */
  const char *arguments; /* a JSON object; NULL for none, and in a message of the role "tool" */
} et_call;

/* Is told a text of `size` bytes, which is not terminated. False ends the answer. */
typedef bool (*et_text_function)(void *context, const char *text, size_t size);
/* Is told a call of a tool. Its texts are there until the function returns. False ends the answer. */
typedef bool (*et_call_function)(void *context, const et_call *call);

/* A token that may come next, with the natural logarithm of its probability at temperature 1. */
typedef struct et_alternative {
  uint32_t token;
  float logprob;
  const char *text; /* of the token alone: `size` bytes, not terminated; none where the prompt is tokens */
  size_t size;
} et_alternative;

/* How probable a new token is, and the most probable tokens, the most probable first. */
typedef struct et_likelihood {
  et_alternative picked;
  const et_alternative *alternatives; /* `count` tokens */
  size_t count;
} et_likelihood;

/* Is told the probability of each new token ahead of the token itself; what it points to is there until the function returns. False
 * ends the answer. */
typedef bool (*et_likelihood_function)(void *context, const et_likelihood *likelihood);

/* How an answer is made. et_language_options() writes the values of the program file. */
typedef struct et_options {
  size_t max_new_tokens;
  float temperature; /* what logits are divided by; 0 takes the most probable token each time */
  size_t top_k;      /* only so many of the most probable tokens; 0 for all */
  float top_p;       /* only the most probable tokens that make up this share; 1 for all */
  uint64_t seed;     /* of the random numbers */
  float min_p;       /* only tokens with at least this share of the largest probability; 0 for all */
  float repetition_penalty;    /* divides positive logits, and multiplies negative logits, of tokens in the text; 1 for none */
  size_t no_repeat_ngram_size; /* no sequence of so many tokens comes twice; 0 for any */
  float typical_p;             /* only the tokens nearest to the entropy that make up this share; 1 for all */
  float frequency_penalty;     /* is subtracted from logits of tokens in the answer, for each time; 0 for none */
  float presence_penalty;      /* is subtracted from logits of tokens in the answer, once; 0 for none */
  const char *json_schema; /* the answer is a JSON text that this JSON schema accepts; NULL for any answer */
  const char *regex;       /* the answer matches this regular expression; NULL for any answer */
  const char *grammar;     /* the answer is a text of this grammar, in Lark's syntax; NULL for any answer */
  const char *const *stop; /* texts that end the answer, and are no part of it: `stop_count` of them */
  size_t stop_count;
  const et_bias *logit_bias; /* numbers that are added to logits: `logit_bias_count` of them */
  size_t logit_bias_count;

  /* Of conversations. */
  const char *template_variables; /* variables of the chat template, a JSON object such as {"enable_thinking": false}; NULL for none */
  const char *tools;       /* functions that the model may call: a JSON list, as OpenAI's clients send tools; NULL for none */
  const char *tool_choice; /* "auto", "required", or the name of a tool that the answer has to call; NULL for "auto" */
  et_text_function think;  /* is told what the model thinks before the answer; NULL: thoughts are a part of the answer's text */
  et_call_function call;   /* is told each call of a tool when it is complete; `tools` need it */

  size_t top_logprobs;           /* how many of the most probable tokens `likely` is told with each new token */
  et_likelihood_function likely; /* is told how probable the new tokens are; NULL for nobody */
} et_options;

/* What somebody says in a conversation. */
typedef struct et_message {
  const char *role; /* "system", "user", "assistant" or "tool" */
  const char *content;
} et_message;

/* Why an answer ended. */
enum {
  ET_STOPPED = 0,      /* the model ended it, it has a stop text, or it is complete by its form */
  ET_ENOUGH = 1,       /* as many tokens as were asked for */
  ET_CONTEXT_FULL = 2, /* the text has as many tokens as the program can */
  ET_BROKEN_OFF = 3    /* the function that saw it returned false */
};

/* What came of it. */
typedef struct et_answer {
  size_t new_tokens;
  int ended; /* ET_STOPPED, ... */
} et_answer;

/* Is told each new token as it comes, and the text that it makes certain: `size` bytes, not terminated. Text that is left at
 * the end comes with the token UINT32_MAX. Between the chunks of a long prompt the function is asked whether to go on, with the
 * token UINT32_MAX and no text. False ends the answer. The function, and those of the options, which get the same `context`,
 * must not call functions of the same model: they fail, et_language_context() gives 0, and et_language_free() frees nothing. */
typedef bool (*et_token_function)(void *context, uint32_t token, const char *text, size_t size);

/* Loads a language model from its program file. `data` and `threads` are as for et_module_load(). `lookup` guesses tokens from
 * what the text said before, which is faster and changes nothing; the program needs a method `verify` for it. NULL where it
 * fails. */
et_language *et_language_load(const char *program, const char *const *data, size_t data_count, size_t threads,
                              bool lookup);
/* As et_language_load(), from the `size` bytes of a program file, which are copied. */
et_language *et_language_load_bytes(const void *program, size_t size, const char *const *data, size_t data_count,
                                    size_t threads, bool lookup);
void et_language_free(et_language *language);

/* What the model's makers say about how tokens are picked. */
int et_language_options(et_language *language, et_options *options);
/* The most tokens of a text; 0 where nobody knows. */
size_t et_language_context(et_language *language);

/* Continue a text, or answer in a conversation. What a text has in common with the one before it is not read again: several answers
 * to one prompt, with a `seed` each, read the prompt once. `see` may
 * be NULL, `answer` too. Text needs a program that holds a tokenizer, a conversation one that holds a chat template. */
int et_language_continue(et_language *language, const char *prompt, const et_options *options, et_token_function see,
                         void *context, et_answer *answer);
int et_language_continue_tokens(et_language *language, const uint32_t *tokens, size_t count, const et_options *options,
                                et_token_function see, void *context, et_answer *answer);
int et_language_answer(et_language *language, const et_message *messages, size_t count, const et_options *options,
                       et_token_function see, void *context, et_answer *answer);

/* ---- conversations with tools, pictures and sounds ------------------------------------------------------------------ */

/* Kinds of parts. */
enum {
  ET_TEXT = 0,    /* `data` is a text that ends with a zero byte */
  ET_PICTURE = 1, /* `data` is a PNG or JPEG file of `size` bytes */
  ET_PIXELS = 2,  /* `data` are `width` times `height` pixels, row by row from the top, with a byte each of red, green and blue:
                     `size` is 3 * width * height */
  ET_SOUND = 3,   /* `data` is a WAV file of `size` bytes */
  ET_SAMPLES = 4, /* `data` are `size` samples of one channel, `float` from -1 to 1, at `rate` hertz */
  ET_CALL = 5     /* `data` is an et_call: in a message of the role "assistant" a call that it makes, in one of the role "tool" the
                     call whose result it has */
};

/* A part of a prompt or of a message. What `data` points to is read during the call that gets the part, and may be freed or
 * changed after it, also where a later turn repeats the picture: the model knows pictures by their pixels, and does not read
 * one again that its text still has. Fields that a kind does not name are ignored. */
typedef struct et_part {
  int kind; /* ET_TEXT, ... */
  const void *data;
  size_t size;
  size_t width;
  size_t height;
  uint32_t rate;
} et_part;

/* What somebody says in a conversation, in parts. */
typedef struct et_turn {
  const char *role; /* "system", "user", "assistant" or "tool" */
  const et_part *parts;
  size_t count;
} et_turn;

/* As et_language_continue() and et_language_answer(), with calls of tools, and for models that read pictures or hear with
 * pictures and sounds in the order of the parts. */
int et_language_continue_parts(et_language *language, const et_part *parts, size_t count, const et_options *options,
                               et_token_function see, void *context, et_answer *answer);
int et_language_answer_parts(et_language *language, const et_turn *turns, size_t count, const et_options *options,
                             et_token_function see, void *context, et_answer *answer);

/* The tokens of a text, where `begins` with those that begin every text; of a conversation up to the start of the answer; and
 * the text of tokens, without special tokens and not terminated. At most `capacity` tokens or bytes are written, and `count`
 * or `size` is how many there are: with a capacity of 0, the number alone. */
int et_language_encode(et_language *language, const char *text, bool begins, uint32_t *tokens, size_t capacity, size_t *count);
int et_language_encode_turns(et_language *language, const et_turn *turns, size_t turn_count, const et_options *options,
                             uint32_t *tokens, size_t capacity, size_t *count);
int et_language_decode(et_language *language, const uint32_t *tokens, size_t token_count, char *text, size_t capacity,
                       size_t *size);

/* Puts an adapter in the place of the one before: a file `<name>.adapter.ptd` over the same layers with the same ranks as that of
 * the program. Nothing is loaded again, and the next text is read from its beginning. After an error the adapter before stays. */
int et_language_use_adapter(et_language *language, const char *path);

/* Writes the text that the model has read, with its KV cache, to a file, in the format of `--session` of binaries; and goes on behind the
 * text of such a file, also one of a binary: the next text or conversation that begins alike reads the rest alone, in another process
 * too. Messages are the app's own to keep; pictures, sounds and what follows them are left out. A file of another model, of other
 * weights, or of another adapter than the one in use is refused. An earlier file stays until the new one is complete. */
int et_language_save(et_language *language, const char *path);
int et_language_restore(et_language *language, const char *path);

/* What becomes of speech. */
enum {
  ET_TRANSCRIBE = 0, /* text in the language of the speech */
  ET_TRANSLATE = 1   /* English text */
};

/* What a transcript should be. All zeros are a transcript in the language that the model hears. */
typedef struct et_speech {
  const char *language; /* the code of the language of the speech, such as "en"; NULL for the one that the model hears */
  int task;             /* ET_TRANSCRIBE or ET_TRANSLATE */
  bool timestamps;      /* whether the model ends segments, with times. Of a recording longer than 30 seconds it does in any case */
  bool word_timestamps; /* whether words have times; for programs with `export.word_timestamps` */
  const char *prompt;   /* text that the model takes as the text before, for names and spelling; NULL for none */
} et_speech;

/* A word of a transcript, with spaces and punctuation around. */
typedef struct et_word {
  double start; /* seconds */
  double end;
  const char *text; /* `size` bytes, not terminated */
  size_t size;
} et_word;

/* A part of a transcript. Texts and words are there until the function that is told the segment returns. */
typedef struct et_segment {
  double start; /* seconds */
  double end;
  const char *text; /* `size` bytes, not terminated */
  size_t size;
  const et_word *words; /* `word_count` words where these have times */
  size_t word_count;
} et_segment;

/* Is told each segment as it is found. False ends the transcript. Calls of functions of the same model fail, as from an
 * et_token_function. */
typedef bool (*et_segment_function)(void *context, const et_segment *segment);

/* What came of it. */
typedef struct et_transcript {
  char language[16]; /* the code of the language; empty for a model of one language, and where the transcript was broken off */
  double seconds;    /* the length of the recording; 0 where the transcript was broken off */
  size_t segments;
  int ended; /* ET_STOPPED or ET_BROKEN_OFF */
} et_transcript;

/* Makes the transcript of a recording, a part of kind ET_SOUND or ET_SAMPLES, with a model for transcripts. `options` are as for
 * et_language_continue(), of each 30 seconds, without a form of the answer and without stop texts. `see` may be NULL, `transcript` too. */
int et_language_transcribe(et_language *language, const et_part *sound, const et_speech *speech, const et_options *options,
                           et_segment_function see, void *context, et_transcript *transcript);

/* ---- updates ------------------------------------------------------------------------------------------------------- */

/* In libraries of recipes with `updates:`. `deployed` is a program file, or the folder of a version: on Windows
 * one that no method and no model of any process has loaded. Loaded ones stay what they are: load them again after the call. */

/* Brings the new version to the place of the deployed version: `update` is a file of `etbuild delta`. With a key in the recipe, an
 * update that the key did not sign is refused. The deployed version is unchanged after a failure, and after a power cut the old or
 * the new version is there. The earlier version is kept. An update that is in place already is a success. */
int et_update_apply(const char *deployed, const char *update);
/* Completes the switches of several files that a power cut stopped; without one, does nothing. Call it before the first load. */
int et_update_recover(const char *deployed);
/* Returns to the version before the last update. */
int et_update_rollback(const char *deployed);
/* Removes the version before the last update, whose bytes are free then: there is no way back. */
int et_update_confirm(const char *deployed);

#ifdef __cplusplus
}
#endif

#endif
