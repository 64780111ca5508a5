// A thread of a library with shared memory.

import { listen, port } from "./port.js";
import { FAILED, FREE } from "./threads.js";
import { Wasi, randomSource } from "./wasi.js";

let run;

/** Makes the functions of the module for this worker, and a function that runs a thread of the library. */
async function prepare({ module, memory, states, index }) {
  const wasi = new Wasi(new Map(), await randomSource());
  wasi.memory = memory;
  const instance = await WebAssembly.instantiate(module, {
    env: { memory },
    wasi: { "thread-spawn": () => -1 },
    wasi_snapshot_preview1: wasi.imports(module),
    etbuild: { see: () => 0, think: () => 0, call: () => 0, likely: () => 0 },
  });
  run = ({ thread, argument }) => {
    try {
      instance.exports.wasi_thread_start(thread, argument);
      Atomics.store(states, index, FREE);
    } catch (error) {
      Atomics.store(states, index, FAILED);
      console.error(error);
    }
  };
  port.postMessage("ready");
}

async function hear(message) {
  if (run) run(message);
  else await prepare(message);
}

listen(hear);
