// The thread of a language model: requests in, texts out.

import { Language } from "./language.js";

const isNode = typeof globalThis.postMessage !== "function";
const port = isNode
  ? (await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:worker_threads")).parentPort
  : globalThis;

let model;

const requests = {
  async load({ files }, send) {
    model = await Language.load({ ...files, onProgress: (loaded, total) => send({ kind: "progress", loaded, total }) });
    return { context: model.context };
  },
  async generate({ prompt, options, stopped }, send) {
    const see = (text) => {
      if (text) send({ kind: "text", text });
      return !stopped || Atomics.load(stopped, 0) === 0;
    };
    return model.generate(prompt, options, see);
  },
};

async function answer(request) {
  const send = (message) => port.postMessage({ ...message, id: request.id });
  try {
    send({ kind: "end", result: await requests[request.kind](request, send) });
  } catch (error) {
    send({ kind: "error", message: error.message });
  }
}

if (isNode) port.on("message", answer);
else port.addEventListener("message", ({ data }) => answer(data));
