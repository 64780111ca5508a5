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
  /** Is told the bytes of the program file so far, and their number where the server says so. */
  onProgress?: (loaded: number, total?: number) => void;
}

/** A message of a conversation. */
export interface Message {
  role: "system" | "user" | "assistant";
  content: string;
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
}

export interface Generation {
  newTokens: number;
  /** The model ended the text, enough tokens, the context is full, or the iteration ended early. */
  ended: "stop" | "length" | "context" | "cancelled";
}

export interface LanguageModel {
  /** The most tokens of a text. */
  readonly context: number;
  /**
   * The pieces of the continuation of a text, or of the answer to a conversation. Prompts wait for each other; the KV
   * cache keeps the common prefix with the previous text. Leaving the loop ends the generation in Node.js and in pages
   * that are cross-origin isolated; in other pages the model finishes the text first.
   */
  generate(prompt: string | readonly Message[], options?: GenerateOptions): AsyncGenerator<string, Generation>;
  /** The whole continuation or answer. */
  text(prompt: string | readonly Message[], options?: GenerateOptions): Promise<string>;
  /** Ends the model's thread and frees the memory. */
  free(): void;
}

/** Loads the language model in a thread of its own. */
export function load(options?: LoadOptions): Promise<LanguageModel>;
