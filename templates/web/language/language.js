// A language model in the thread that calls it.

import { Library } from "./library.js";

/** The records of `etbuild.h`: the places of their fields. */
const MESSAGE = { role: 0, content: 4, size: 8 };
const ANSWER = { newTokens: 0, ended: 4, size: 8 };
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
    const library = await Library.open(files, (token, text) => see(token, text));
    const model = library.with((take) => {
      const [program, data] = [library.put(take, library.program), library.putData(take)];
      return library.made(library.functions.et_language_load(program, data, library.data.length, 1, Number(lookup)));
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
   * Continues a text, or answers in a conversation: a list of messages. `see` is told each new text, and returns whether
   * to go on.
   */
  generate(prompt, options, see) {
    this.listen((_, text) => see(text));
    return this.library.with((take) => {
      const { functions, view } = this.library;
      const [chosen, answer] = [this.putOptions(take, options), take(ANSWER.size)];
      const listener = functions.et_web_see();
      const status = Array.isArray(prompt)
        ? functions.et_language_answer(this.model, this.putMessages(take, prompt), prompt.length, chosen, listener, 0, answer)
        : functions.et_language_continue(this.model, this.library.put(take, prompt), chosen, listener, 0, answer);
      this.library.done(status);
      const after = this.library.view;
      return {
        newTokens: after.getUint32(answer + ANSWER.newTokens, true),
        ended: ENDS[after.getInt32(answer + ANSWER.ended, true)],
      };
    });
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
}
