// The other end of a worker: of a page or of Node.js.

const isNode = typeof globalThis.postMessage !== "function";

export const port = isNode
  ? (await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:worker_threads")).parentPort
  : globalThis;

/** Calls `hear` with each message. */
export function listen(hear) {
  if (isNode) port.on("message", hear);
  else port.addEventListener("message", ({ data }) => hear(data));
}
