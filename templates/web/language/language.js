// A language model in the thread that calls it.

import { Library, after } from "./library.js";
import { KINDS } from "./media.js";

/** The records of `etbuild.h`: the places of their fields. */
const CALL = { id: 0, name: 4, arguments: 8, size: 12 };
const BIAS = { token: 0, bias: 4, size: 8 };
const ANSWER = { newTokens: 0, ended: 4, size: 8 };
const ALTERNATIVE = { token: 0, logprob: 4, text: 8, length: 12, size: 16 };
const LIKELIHOOD = { picked: 0, alternatives: 16, count: 20 };
const PART = { kind: 0, data: 4, count: 8, width: 12, height: 16, rate: 20, size: 24 };
const TURN = { role: 0, parts: 4, count: 8, size: 12 };
const SPEECH = { language: 0, task: 4, timestamps: 8, prompt: 12, size: 16 };
const WORD_TIMESTAMPS = 256;
const TASKS = ["transcribe", "translate"];
const SEGMENT = { start: 0, end: 8, words: 24, wordCount: 28 };
const WORD = { start: 0, end: 8, text: 16, length: 20, size: 24 };
const TRANSCRIPT = { language: 0, seconds: 16, ended: 28, size: 32 };
const OPTIONS = {
  maxNewTokens: { at: 0, kind: "Uint32" },
  temperature: { at: 4, kind: "Float32" },
  topK: { at: 8, kind: "Uint32" },
  topP: { at: 12, kind: "Float32" },
  seed: { at: 16, kind: "BigUint64" },
  minP: { at: 24, kind: "Float32" },
  repetitionPenalty: { at: 28, kind: "Float32" },
  noRepeatNgramSize: { at: 32, kind: "Uint32" },
  typicalP: { at: 36, kind: "Float32" },
  frequencyPenalty: { at: 40, kind: "Float32" },
  presencePenalty: { at: 44, kind: "Float32" },
  jsonSchema: { at: 48, kind: "Text" },
  regex: { at: 52, kind: "Text" },
  grammar: { at: 56, kind: "Text" },
  stop: { at: 60, kind: "Texts" },
  logitBias: { at: 68, kind: "Biases" },
  templateVariables: { at: 76, kind: "Json" },
  tools: { at: 80, kind: "Json" },
  toolChoice: { at: 84, kind: "Text" },
  topLogprobs: { at: 96, kind: "Uint32" },
};
/** The functions of `etbuild.h` that are told thoughts, calls and probabilities. */
const APART = { think: 88, call: 92, likely: 100 };
const OPTIONS_SIZE = 104;
const ENDS = ["stop", "length", "context", "cancelled"];

export class Language {
  static async load({ lookup = false, ...files }) {
    const listener = {};
    const library = await Library.open(files, listener);
    const model = await library.with((take) => {
      const [program, data] = [library.put(take, library.program), library.putData(take)];
      const made = library.functions.et_language_load(program, data, library.data.length, library.threadCount, Number(lookup));
      return after(made, (pointer) => library.made(pointer));
    });
    return new Language(library, model, listener);
  }

  constructor(library, model, listener) {
    this.library = library;
    this.model = model;
    this.listener = listener;
  }

  /** The most tokens of a text. */
  get context() {
    return this.library.functions.et_language_context(this.model);
  }

  /**
   * Continues a text or parts of a prompt, or answers in a conversation: a list of messages. `see` is told each new text, and
   * returns whether to go on; no text asks that alone.
   */
  generate(prompt, options, see) {
    this.listener.see = (_, text) => see(text);
    return this.reply(prompt, (take) => this.putOptions(take, options));
  }

  /**
   * Continues a prompt, or answers in a conversation. `see` is told text, thoughts, calls and, where the options ask for these,
   * probabilities apart, and asked with nothing whether to go on.
   */
  pieces(prompt, options, see) {
    this.listener.see = (_, text) => see(text === "" ? undefined : { type: "text", text });
    this.listener.think = (text) => see({ type: "thoughts", text });
    this.listener.call = (call) => see({ type: "call", call: this.call(call) });
    this.listener.likely = (record) => see({ type: "likelihood", likelihood: this.likelihood(record) });
    const isLikely = options?.topLogprobs !== undefined;
    return this.reply(prompt, (take) => this.putApart(this.putOptions(take, options), isLikely));
  }

  reply(prompt, putOptions) {
    return this.library.with((take) => {
      const [given, chosen, answer] = [this.putPrompt(take, prompt), putOptions(take), take(ANSWER.size)];
      const { functions } = this.library;
      const listener = functions.et_web_see();
      const ended = functions[given.function](this.model, ...given.values, chosen, listener, 0, answer);
      return after(ended, (status) => this.answer(status, answer));
    });
  }

  /** The tokens of a text, or of a conversation up to the start of the answer. */
  encode(prompt, options) {
    const { functions } = this.library;
    return this.library.with((take) => {
      const tokens = (at, count) => Array.from({ length: count }, (_, index) => this.library.view.getUint32(at + 4 * index, true));
      if (typeof prompt === "string") {
        const text = this.library.put(take, prompt);
        return this.elements(take, 4, (...to) => functions.et_language_encode(this.model, text, 1, ...to), tokens);
      }
      const [turns, chosen] = [this.putTurns(take, prompt), this.putOptions(take, options)];
      const encode = (...to) => functions.et_language_encode_turns(this.model, turns, prompt.length, chosen, ...to);
      return this.elements(take, 4, encode, tokens);
    });
  }

  /** The text of tokens. */
  decode(tokens) {
    const { functions } = this.library;
    return this.library.with((take) => {
      const list = this.library.putBytes(take, Uint32Array.from(tokens));
      const decode = (...to) => functions.et_language_decode(this.model, list, tokens.length, ...to);
      return this.elements(take, 1, decode, (at, size) => this.library.wasi.text(at, size));
    });
  }

  /** Puts an adapter in the place of the one before. */
  useAdapter(source) {
    return this.readFile(source, this.library.functions.et_language_use_adapter);
  }

  /** The text that the model has read, with its KV cache, as the bytes of a file. */
  async save() {
    const name = "saved";
    await this.onFile(name, this.library.functions.et_language_save);
    return this.library.takeFile(name);
  }

  /** Goes on behind the text in a file of `save`. */
  restore(source) {
    return this.readFile(source, this.library.functions.et_language_restore);
  }

  /** Calls a function that reads a file. */
  async readFile(source, act) {
    const name = await this.library.addFile(source);
    try {
      await this.onFile(name, act);
    } finally {
      this.library.removeFile(name);
    }
  }

  onFile(name, act) {
    return this.library.with((take) => after(act(this.model, this.library.put(take, name)), (status) => this.library.done(status)));
  }

  /** All elements of `size` bytes that a function writes. */
  elements(take, size, write, read) {
    const count = take(4);
    const room = 4096;
    const first = take(size * room);
    this.library.done(write(first, room, count));
    const length = this.library.view.getUint32(count, true);
    if (length <= room) return read(first, length);
    // A second call tokenizes the text again.
    const list = take(size * length);
    this.library.done(write(list, length, count));
    return read(list, length);
  }

  /** A call of a tool. */
  call(record) {
    const text = (at) => this.library.get(this.library.view.getUint32(record + at, true));
    return { id: text(CALL.id), name: text(CALL.name), arguments: text(CALL.arguments) };
  }

  /** How probable a token is. */
  likelihood(record) {
    const [first, count] = [LIKELIHOOD.alternatives, LIKELIHOOD.count].map((at) => this.library.view.getUint32(record + at, true));
    const alternatives = Array.from({ length: count }, (_, index) => this.alternative(first + ALTERNATIVE.size * index));
    return { ...this.alternative(record + LIKELIHOOD.picked), alternatives };
  }

  alternative(record) {
    const { view, wasi } = this.library;
    const at = (place) => view.getUint32(record + place, true);
    const text = wasi.text(at(ALTERNATIVE.text), at(ALTERNATIVE.length));
    return { token: at(ALTERNATIVE.token), text, logprob: view.getFloat32(record + ALTERNATIVE.logprob, true) };
  }

  /** Transcribes a recording. `see` is told each segment, and returns whether to go on. */
  transcribe(recording, options, see) {
    const { functions } = this.library;
    if (!functions.et_language_transcribe) throw new Error("the model makes no transcripts");
    this.listener.see = (_, text, segment) => see({ ...this.times(segment), text, words: this.words(segment) });
    return this.library.with((take) => {
      const { language, task = "transcribe", timestamps = false, wordTimestamps = false, prompt, ...sampling } = options;
      const speech = this.putSpeech(take, { language, task, timestamps, wordTimestamps, prompt });
      const [sound, chosen] = [this.putParts(take, [recording]), this.putOptions(take, sampling)];
      const transcript = take(TRANSCRIPT.size);
      const listener = functions.et_web_hear();
      const ended = functions.et_language_transcribe(this.model, sound, speech, chosen, listener, 0, transcript);
      return after(ended, (status) => this.transcript(status, transcript));
    });
  }

  /** The record of an answer that ended with a status. */
  answer(status, answer) {
    this.library.done(status);
    const { view } = this.library;
    return {
      newTokens: view.getUint32(answer + ANSWER.newTokens, true),
      ended: ENDS[view.getInt32(answer + ANSWER.ended, true)],
    };
  }

  /** The record of a transcript that ended with a status. */
  transcript(status, transcript) {
    this.library.done(status);
    return {
      language: this.library.get(transcript + TRANSCRIPT.language) || undefined,
      seconds: this.library.view.getFloat64(transcript + TRANSCRIPT.seconds, true),
      ended: ENDS[this.library.view.getInt32(transcript + TRANSCRIPT.ended, true)],
    };
  }

  times(segment) {
    const [start, end] = [SEGMENT.start, SEGMENT.end].map((at) => this.library.view.getFloat64(segment + at, true));
    return { start, end };
  }

  words(segment) {
    const at = (place) => this.library.view.getUint32(place, true);
    const first = at(segment + SEGMENT.words);
    return Array.from({ length: at(segment + SEGMENT.wordCount) }, (_, index) => {
      const word = first + WORD.size * index;
      return { ...this.times(word), text: this.library.wasi.text(at(word + WORD.text), at(word + WORD.length)) };
    });
  }

  /** The function for a prompt, and its first arguments. */
  putPrompt(take, prompt) {
    if (typeof prompt === "string") return { function: "et_language_continue", values: [this.library.put(take, prompt)] };
    const isTalk = prompt.every((one) => "role" in one);
    const list = isTalk ? this.putTurns(take, prompt) : this.putParts(take, prompt);
    return { function: isTalk ? "et_language_answer_parts" : "et_language_continue_parts", values: [list, prompt.length] };
  }

  putOptions(take, options = {}) {
    const record = take(OPTIONS_SIZE);
    this.library.done(this.library.functions.et_language_options(this.model, record));
    for (const [name, value] of Object.entries(options)) {
      if (value === undefined) continue;
      const field = OPTIONS[name];
      if (!field) throw new TypeError(`there is no option \`${name}\`: ${Object.keys(OPTIONS).join(", ")}`);
      const put = this[`put${field.kind}`];
      if (put) {
        this.putWords(record, put.call(this, take, value, field.at));
        continue;
      }
      const number = field.kind === "BigUint64" ? BigInt(value) : value;
      this.library.view[`set${field.kind}`](record + field.at, number, true);
    }
    return record;
  }

  putText(take, text, at) {
    return { [at]: this.library.put(take, text) };
  }

  /** A JSON text, or the value that it is the text of. */
  putJson(take, value, at) {
    return this.putText(take, typeof value === "string" ? value : JSON.stringify(value), at);
  }

  /** A text or a list of texts, and their number. */
  putTexts(take, given, at) {
    const texts = typeof given === "string" ? [given] : given;
    return { [at]: this.library.putAll(take, texts), [at + 4]: texts.length };
  }

  /** Numbers by token, and their number. */
  putBiases(take, biases, at) {
    const pairs = Object.entries(biases);
    const list = take(BIAS.size * pairs.length);
    pairs.forEach(([token, bias], index) => {
      this.library.view.setUint32(list + BIAS.size * index + BIAS.token, Number(token), true);
      this.library.view.setFloat32(list + BIAS.size * index + BIAS.bias, bias, true);
    });
    return { [at]: list, [at + 4]: pairs.length };
  }

  /** Has thoughts, calls and probabilities told apart from text. */
  putApart(record, isLikely) {
    const { functions } = this.library;
    const likely = isLikely ? functions.et_web_likely() : 0;
    this.putWords(record, { [APART.think]: functions.et_web_think(), [APART.call]: functions.et_web_call(), [APART.likely]: likely });
    return record;
  }

  putTurns(take, messages) {
    const list = take(TURN.size * messages.length);
    messages.forEach(({ role, content }, index) => {
      const parts = typeof content === "string" ? [{ kind: KINDS.text, text: content }] : content;
      const [who, what] = [this.library.put(take, role), this.putParts(take, parts)];
      this.putWords(list + TURN.size * index, { [TURN.role]: who, [TURN.parts]: what, [TURN.count]: parts.length });
    });
    return list;
  }

  putParts(take, parts) {
    const list = take(PART.size * parts.length);
    parts.forEach(({ kind, text, call, bytes, samples, width = 0, height = 0, rate = 0 }, index) => {
      const data = call ? this.putCall(take, call) : this.putContent(take, text, bytes ?? samples);
      const count = (bytes ?? samples)?.length ?? 0;
      this.putWords(list + PART.size * index, {
        [PART.kind]: kind, [PART.data]: data, [PART.count]: count,
        [PART.width]: width, [PART.height]: height, [PART.rate]: rate,
      });
    });
    return list;
  }

  putContent(take, text, bytes) {
    return text === undefined ? this.library.putBytes(take, bytes) : this.library.put(take, text);
  }

  putCall(take, call) {
    const record = take(CALL.size);
    for (const name of ["id", "name", "arguments"]) this.putWords(record, this.putText(take, call[name], CALL[name]));
    return record;
  }

  putSpeech(take, { language, task, timestamps, wordTimestamps, prompt }) {
    if (!TASKS.includes(task)) throw new TypeError(`a task is ${TASKS.join(" or ")}, not ${task}`);
    const record = take(SPEECH.size);
    const [code, before] = [language, prompt].map((text) => (text === undefined ? 0 : this.library.put(take, text)));
    this.putWords(record, {
      [SPEECH.language]: code, [SPEECH.task]: TASKS.indexOf(task), [SPEECH.prompt]: before,
      // Two flags, of a byte each.
      [SPEECH.timestamps]: Number(timestamps) + WORD_TIMESTAMPS * Number(wordTimestamps),
    });
    return record;
  }

  /** Writes numbers of 32 bits to the places of a record. */
  putWords(record, words) {
    const { view } = this.library;
    Object.entries(words).forEach(([at, word]) => view.setUint32(record + Number(at), word, true));
  }
}
