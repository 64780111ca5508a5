// The thread of a language model: requests in, texts out.

import { Language } from "./language.js";
import { listen, port } from "./port.js";

let model;

const requests = {
  async load({ files }, send) {
    model = await Language.load({ ...files, onProgress: (loaded, total) => send({ kind: "progress", loaded, total }) });
    return { context: model.context, threads: model.library.threadCount };
  },
  async generate({ prompt, options, stopped }, send) {
    return model.generate(prompt, options, teller(stopped, send));
  },
  async pieces({ prompt, options, stopped }, send) {
    return model.pieces(prompt, options, teller(stopped, send));
  },
  async encode({ prompt, options }) {
    return model.encode(prompt, options);
  },
  async decode({ tokens }) {
    return model.decode(tokens);
  },
  async useAdapter({ source }) {
    return model.useAdapter(source);
  },
  async save() {
    return model.save();
  },
  async restore({ source }) {
    return model.restore(source);
  },
  async transcribe({ recording, options, stopped }, send) {
    return model.transcribe(recording, options, teller(stopped, send));
  },
};

/** Sends pieces of an answer, and returns whether to go on. */
function teller(stopped, send) {
  return (piece) => {
    if (piece) send({ kind: "piece", piece });
    return !stopped || Atomics.load(stopped, 0) === 0;
  };
}

async function answer(request) {
  const send = (message) => port.postMessage({ ...message, id: request.id });
  try {
    send({ kind: "end", result: await requests[request.kind](request, send) });
  } catch (error) {
    send({ kind: "error", message: error.message });
  }
}

listen(answer);
