// A language model in a thread of its own.

import { exchangedPrompt, recording } from "./media.js";

const isShared = typeof SharedArrayBuffer === "function" && globalThis.crossOriginIsolated !== false;

async function startWorker(onMessage, onFailure) {
  if (typeof Worker === "function") {
    const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }) => onMessage(data));
    worker.addEventListener("error", (event) => onFailure(new Error(event.message ?? "the worker failed")));
    return worker;
  }
  const { Worker: Thread } = await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:worker_threads");
  const worker = new Thread(new URL("./worker.js", import.meta.url));
  worker.on("message", onMessage);
  worker.on("error", onFailure);
  return worker;
}

/** A source that threads can exchange: addresses as whole texts. */
function exchanged(source) {
  const isAddress = source instanceof URL || typeof source === "string";
  return isAddress ? new URL(source, globalThis.location?.href).href : source;
}

export class LanguageModel {
  static async load({ onProgress, library, program, data = [], lookup, threads }) {
    const files = { lookup, threads, library: exchanged(library), program: exchanged(program), data: data.map(exchanged) };
    const model = new LanguageModel();
    model.worker = await startWorker((message) => model.receive(message), (error) => model.fail(error));
    const heard = ({ kind, loaded, total }) => kind === "progress" && onProgress?.(loaded, total);
    try {
      Object.assign(model, await model.request({ kind: "load", files }, heard));
    } catch (error) {
      model.free();
      throw error;
    }
    model.rest();
    return model;
  }

  constructor() {
    this.pending = new Map();
    this.count = 0;
    this.last = Promise.resolve();
  }

  /** Sends a request; `hear` is told the messages before its end. */
  request(message, hear) {
    if (this.failure) return Promise.reject(this.failure);
    const id = this.count++;
    this.worker.ref?.();
    return new Promise((resolve, reject) => {
      this.worker.postMessage({ ...message, id });
      this.pending.set(id, { resolve, reject, hear });
    });
  }

  receive(message) {
    const waiting = this.pending.get(message.id);
    if (!waiting) return;
    const { resolve, reject, hear } = waiting;
    if (message.kind === "end" || message.kind === "error") this.pending.delete(message.id);
    if (message.kind === "end") resolve(message.result);
    else if (message.kind === "error") reject(new Error(message.message));
    else hear(message);
  }

  /** Ends every request, now and later. */
  fail(error) {
    this.failure ??= error;
    this.pending.forEach(({ reject }) => reject(error));
    this.pending.clear();
  }

  /** Lets a process of Node.js end while the model does nothing. */
  rest() {
    if (this.pending.size === 0) this.worker.unref?.();
  }

  /**
   * The pieces of the continuation of a text, or of the answer to a list of messages. Prompts wait for the one before.
   */
  async *generate(prompt, { signal, ...options } = {}) {
    return yield* this.stream(async () => ({ kind: "generate", prompt: await exchangedPrompt(prompt), options }), signal);
  }

  /** The pieces of a continuation or of an answer: text, thoughts, calls of tools and probabilities. */
  async *pieces(prompt, { signal, ...options } = {}) {
    return yield* this.stream(async () => ({ kind: "pieces", prompt: await exchangedPrompt(prompt), options }), signal);
  }

  /** The tokens of a text, or of a list of messages up to the start of the answer. */
  encode(prompt, { signal, ...options } = {}) {
    return this.inTurn(async () => ({ kind: "encode", prompt: await exchangedPrompt(prompt), options }));
  }

  /** The text of tokens, without special tokens. */
  decode(tokens) {
    return this.inTurn(async () => ({ kind: "decode", tokens: Array.from(tokens) }));
  }

  /** Puts an adapter in the place of the one before. */
  useAdapter(source) {
    return this.inTurn(async () => ({ kind: "useAdapter", source: exchanged(source) }));
  }

  /** The text that the model has read, with its KV cache, as the bytes of a file. */
  save() {
    return this.inTurn(async () => ({ kind: "save" }));
  }

  /** Goes on behind the text in a file of `save`. */
  restore(source) {
    return this.inTurn(async () => ({ kind: "restore", source: exchanged(source) }));
  }

  /** The result of a request without pieces. */
  async inTurn(make) {
    return (await this.stream(make).next()).value;
  }

  /** The segments of the transcript of a recording, as they are found. */
  async *transcribe(audio, { sampleRate, signal, ...options } = {}) {
    return yield* this.stream(async () => ({ kind: "transcribe", recording: await recording(audio, sampleRate), options }), signal);
  }

  /** The pieces of the answer to a request, which `make` makes once the one before has ended. A signal ends the answer. */
  async *stream(make, signal) {
    const before = this.last;
    let release;
    this.last = new Promise((resolve) => (release = resolve));
    await before;
    const message = await make().catch((error) => (release(), Promise.reject(error)));
    const stopped = isShared ? new Int32Array(new SharedArrayBuffer(4)) : undefined;
    const pieces = [];
    let wake = () => {};
    const hear = ({ piece }) => (pieces.push(piece), wake());
    const stop = () => (stopped && Atomics.store(stopped, 0, 1), wake());
    signal?.addEventListener("abort", stop);
    if (signal?.aborted) stop();
    let failure, result, isEnded;
    const request = this.request({ ...message, stopped }, hear);
    request.then((made) => (result = made), (error) => (failure = error)).then(() => {
      isEnded = true;
      wake();
      this.rest();
      release();
    });
    try {
      while (true) {
        while (pieces.length > 0) yield pieces.shift();
        if (failure) throw failure;
        if (isEnded) return result;
        // The thread of a page without shared memory goes on with the text, which nobody waits for.
        if (signal?.aborted && !stopped) return { ended: "cancelled" };
        await new Promise((resolve) => (wake = resolve));
      }
    } finally {
      stop();
      signal?.removeEventListener("abort", stop);
    }
  }

  /** The whole continuation or answer. */
  async text(prompt, options) {
    let whole = "";
    for await (const text of this.generate(prompt, options)) whole += text;
    return whole;
  }

  /** The whole transcript of a recording. */
  async transcript(audio, options) {
    const segments = [];
    const pieces = this.transcribe(audio, options);
    for (let next = await pieces.next(); ; next = await pieces.next()) {
      if (next.done) return { ...next.value, segments, text: segments.map(({ text }) => text).join("") };
      segments.push(next.value);
    }
  }

  /** Ends the thread, and so frees the memory. */
  free() {
    this.fail(new Error("the model was freed"));
    this.worker.terminate();
  }
}
