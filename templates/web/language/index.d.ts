/** A file: its address, or its bytes. */
export type Source = URL | string | ArrayBuffer | Uint8Array;

export interface LoadOptions {
  /** Speculative decoding by prompt lookup; the program needs a method `verify`. */
  lookup?: boolean;
  /** The library, where it is elsewhere. */
  library?: Source | WebAssembly.Module;
  /** The program file, where it is elsewhere. */
  program?: Source;
  /** Data files with weights outside the program file. */
  data?: Source[];
  /**
   * The most threads that compute, of packages for the target `web-threads`: a number from 1 on. Left out, threads for the
   * processors, at most 8.
   */
  threads?: number;
  /** Is told the bytes of the program file so far, and their number where the server says so. */
  onProgress?: (loaded: number, total?: number) => void;
}

/** A picture: pixels, or a PNG or JPEG file. */
export type Picture = ImageData | { data: Uint8ClampedArray | Uint8Array; width: number; height: number } | Blob | ArrayBuffer | Uint8Array;

/** A recording: samples of one channel from -1 to 1, an AudioBuffer, or a WAV file. */
export type Recording = Float32Array | AudioBuffer | Blob | ArrayBuffer | Uint8Array;

/** A part of a message or of a prompt: a text, or for models that read pictures or hear, a picture or a sound. */
export type Part =
  | string
  | { type: "text"; text: string }
  | { type: "image"; image: Picture }
  /** `sampleRate`, in hertz, goes with a `Float32Array`. */
  | { type: "audio"; audio: Recording; sampleRate?: number };

/** A call of a tool. */
export interface Call {
  /** By which a message with the result names the call. */
  id: string;
  name: string;
  /** A JSON object. */
  arguments: string;
}

/** A token that may come next, with its text alone and the natural logarithm of its probability at temperature 1. */
export interface Alternative {
  token: number;
  text: string;
  logprob: number;
}

/** How probable a new token is, and the most probable tokens, the most probable first. */
export interface Likelihood extends Alternative {
  alternatives: Alternative[];
}

/** A piece of an answer: text, what the model thinks before the answer, a call of a tool, or with `topLogprobs` how probable the next token is. */
export type Piece =
  | { type: "text"; text: string }
  | { type: "thoughts"; text: string }
  | { type: "call"; call: Call }
  | { type: "likelihood"; likelihood: Likelihood };

/**
 * A message of a conversation. The pieces of an answer are the content of a message of the assistant; the result of a call is a
 * message of the role `tool` with the call and a text.
 */
export interface Message {
  role: "system" | "user" | "assistant" | "tool";
  content: string | readonly (Part | Piece)[];
}

/** Options of sampling; left out, those of the model. */
export interface GenerateOptions {
  maxNewTokens?: number;
  /** 0 takes the most probable token each time. */
  temperature?: number;
  topK?: number;
  topP?: number;
  minP?: number;
  seed?: number | bigint;
  repetitionPenalty?: number;
  noRepeatNgramSize?: number;
  typicalP?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  /** The answer is a JSON text that this JSON schema accepts; for recipes with `constrain: true`. */
  jsonSchema?: string;
  /** The answer matches this regular expression; for recipes with `constrain: true`. */
  regex?: string;
  /** The answer is a text of this grammar, in Lark's syntax; for recipes with `constrain: true`. */
  grammar?: string;
  /** Ends the answer, also while the model reads the prompt: the end is `cancelled`. */
  signal?: AbortSignal;
  /** Texts that end the answer, and are no part of it. */
  stop?: string | readonly string[];
  /** Numbers that are added to the logits of tokens. */
  logitBias?: Readonly<Record<number, number>>;
  /** Variables of the chat template, such as `{ enable_thinking: false }`; for conversations. */
  templateVariables?: string | object;
  /** Functions that the model may call, as OpenAI's clients send tools; for `pieces`. */
  tools?: string | readonly object[];
  /** `auto`, `required`, or the name of a tool that the answer has to call. */
  toolChoice?: string;
  /** How many of the most probable tokens come with the probability of each new token; for `pieces`. Left out, no probabilities come. */
  topLogprobs?: number;
}

export interface Generation {
  /** Left out where a signal ended the answer, and memory cannot be shared. */
  newTokens?: number;
  /** The model ended the text, enough tokens, the context is full, or the iteration ended early. */
  ended: "stop" | "length" | "context" | "cancelled";
}

/** Options of a transcript, and of sampling. */
export interface TranscribeOptions extends GenerateOptions {
  /** The rate of a `Float32Array` in hertz. */
  sampleRate?: number;
  /** The code of the language of the speech, such as "en"; left out, the one that the model hears. */
  language?: string;
  /** `translate` makes English text. */
  task?: "transcribe" | "translate";
  /** Whether the model ends segments, with times. Of a recording longer than 30 seconds the model does in any case. */
  timestamps?: boolean;
  /** Whether words have times; for recipes with `export: { word_timestamps: true }`. */
  wordTimestamps?: boolean;
  /** Text that the model takes as the text before, for names and spelling. */
  prompt?: string;
}

/** A word of a transcript, with times in seconds. */
export interface Word {
  start: number;
  end: number;
  text: string;
}

/** A part of a transcript, with times in seconds. */
export interface Segment {
  start: number;
  end: number;
  text: string;
  /** The words, with `wordTimestamps`. */
  words: Word[];
}

export interface TranscriptFacts {
  /** The code of the language; not there for a model of one language. */
  language?: string;
  /** The length of the recording. */
  seconds: number;
  /** The end of the recording, or the iteration ended early. */
  ended: "stop" | "cancelled";
}

export interface Transcript extends TranscriptFacts {
  text: string;
  segments: Segment[];
}

export interface LanguageModel {
  /** The most tokens of a text. */
  readonly context: number;
  /** The number of threads that compute: 1 where memory cannot be shared. */
  readonly threads: number;
  /**
   * The pieces of the continuation of a text or of parts, or of the answer to a conversation. Prompts wait for each other; the KV
   * cache keeps the common prefix with the previous text. Leaving the loop ends the generation in Node.js and in pages
   * that are cross-origin isolated; in other pages the model finishes the text first.
   */
  generate(prompt: string | readonly Message[] | readonly Part[], options?: GenerateOptions): AsyncGenerator<string, Generation>;
  /** The pieces of a continuation, or of the answer to a conversation: text, thoughts, calls of tools and probabilities apart. */
  pieces(prompt: string | readonly Message[] | readonly Part[], options?: GenerateOptions): AsyncGenerator<Piece, Generation>;
  /** The tokens of a text, or of a conversation up to the start of the answer. */
  encode(prompt: string | readonly Message[], options?: GenerateOptions): Promise<number[]>;
  /** The text of tokens, without special tokens. */
  decode(tokens: Iterable<number>): Promise<string>;
  /**
   * Puts an adapter in the place of the one before: a file `<name>.adapter.ptd` over the same layers with the same ranks as that of the
   * program. Nothing is loaded again, and the next text is read from its beginning.
   */
  useAdapter(adapter: Source): Promise<void>;
  /**
   * The text that the model has read, with its KV cache, as the bytes of a file, in the format of `--session` of binaries. Messages are
   * the page's own to keep; pictures, sounds and what follows them are left out.
   */
  save(): Promise<Uint8Array>;
  /**
   * Goes on behind the text in a file of `save`: the next text or conversation that begins alike reads the rest alone. A file of another
   * model, of other weights, or of another adapter than the one in use is refused.
   */
  restore(saved: Source): Promise<void>;
  /** The whole continuation or answer. */
  text(prompt: string | readonly Message[] | readonly Part[], options?: GenerateOptions): Promise<string>;
  /** The segments of the transcript of a recording, as they are found; for models for transcripts. */
  transcribe(recording: Recording, options?: TranscribeOptions): AsyncGenerator<Segment, TranscriptFacts>;
  /** The whole transcript. */
  transcript(recording: Recording, options?: TranscribeOptions): Promise<Transcript>;
  /** Ends the model's thread and frees the memory. */
  free(): void;
}

/** Loads the language model in a thread of its own. */
export function load(options?: LoadOptions): Promise<LanguageModel>;
