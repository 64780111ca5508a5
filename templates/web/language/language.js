// A language model in the thread that calls it.

import { Library, after } from "./library.js";
import { KINDS } from "./media.js";

/** The records of `etbuild.h`: the places of their fields. */
const MESSAGE = { role: 0, content: 4, size: 8 };
const ANSWER = { newTokens: 0, ended: 4, size: 8 };
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
};
const OPTIONS_SIZE = 64;
const ENDS = ["stop", "length", "context", "cancelled"];

export class Language {
  static async load({ lookup = false, ...files }) {
    let see = () => true;
    const library = await Library.open(files, (token, text, segment) => see(token, text, segment));
    const model = await library.with((take) => {
      const [program, data] = [library.put(take, library.program), library.putData(take)];
      const made = library.functions.et_language_load(program, data, library.data.length, library.threadCount, Number(lookup));
      return after(made, (pointer) => library.made(pointer));
    });
    return new Language(library, model, (seer) => (see = seer));
  }

  constructor(library, model, listen) {
    this.library = library;
    this.model = model;
    this.listen = listen;
  }

  /** The most tokens of a text. */
  get context() {
    return this.library.functions.et_language_context(this.model);
  }

  /**
   * Continues a text or parts of a prompt, or answers in a conversation: a list of messages. `see` is told each new text, and
   * returns whether to go on.
   */
  generate(prompt, options, see) {
    this.listen((_, text) => see(text));
    return this.library.with((take) => {
      const [given, chosen, answer] = [this.putPrompt(take, prompt), this.putOptions(take, options), take(ANSWER.size)];
      const { functions } = this.library;
      const listener = functions.et_web_see();
      const ended = functions[given.function](this.model, ...given.values, chosen, listener, 0, answer);
      return after(ended, (status) => this.answer(status, answer));
    });
  }

  /** Transcribes a recording. `see` is told each segment, and returns whether to go on. */
  transcribe(recording, options, see) {
    const { functions } = this.library;
    if (!functions.et_language_transcribe) throw new Error("the model makes no transcripts");
    this.listen((_, text, segment) => see({ ...this.times(segment), text, words: this.words(segment) }));
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
    if (isTalk && prompt.every(({ content }) => typeof content === "string")) {
      return { function: "et_language_answer", values: [this.putMessages(take, prompt), prompt.length] };
    }
    const name = isTalk ? "et_language_answer_parts" : "et_language_continue_parts";
    if (!this.library.functions[name]) return this.putTexts(take, prompt, isTalk);
    const list = isTalk ? this.putTurns(take, prompt) : this.putParts(take, prompt);
    return { function: name, values: [list, prompt.length] };
  }

  /** The parts of a prompt as texts, for a model of texts. */
  putTexts(take, prompt, isTalk) {
    const joined = (parts) => {
      if (typeof parts === "string") return parts;
      const other = parts.find(({ kind }) => kind !== KINDS.text);
      if (other) throw new Error(other.bytes && other.kind < KINDS.sound ? "the model reads no pictures" : "the model does not hear");
      return parts.map(({ text }) => text).join("");
    };
    return this.putPrompt(take, isTalk ? prompt.map(({ role, content }) => ({ role, content: joined(content) })) : joined(prompt));
  }

  putOptions(take, options = {}) {
    const record = take(OPTIONS_SIZE);
    this.library.done(this.library.functions.et_language_options(this.model, record));
    for (const [name, value] of Object.entries(options)) {
      if (value === undefined) continue;
      const field = OPTIONS[name];
      if (!field) throw new TypeError(`there is no option \`${name}\`: ${Object.keys(OPTIONS).join(", ")}`);
      if (field.kind === "Text") {
        const text = this.library.put(take, value);
        this.library.view.setUint32(record + field.at, text, true);
        continue;
      }
      const number = field.kind === "BigUint64" ? BigInt(value) : value;
      this.library.view[`set${field.kind}`](record + field.at, number, true);
    }
    return record;
  }

  putMessages(take, messages) {
    const list = take(MESSAGE.size * messages.length);
    messages.forEach(({ role, content }, index) => {
      const [who, what] = [this.library.put(take, role), this.library.put(take, content)];
      const { view } = this.library;
      view.setUint32(list + MESSAGE.size * index + MESSAGE.role, who, true);
      view.setUint32(list + MESSAGE.size * index + MESSAGE.content, what, true);
    });
    return list;
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
    parts.forEach(({ kind, text, bytes, samples, width = 0, height = 0, rate = 0 }, index) => {
      const data = text === undefined ? this.library.putBytes(take, bytes ?? samples) : this.library.put(take, text);
      const count = (bytes ?? samples)?.length ?? 0;
      this.putWords(list + PART.size * index, {
        [PART.kind]: kind, [PART.data]: data, [PART.count]: count,
        [PART.width]: width, [PART.height]: height, [PART.rate]: rate,
      });
    });
    return list;
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
