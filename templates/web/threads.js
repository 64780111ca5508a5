// The threads of a library with shared memory: workers that run the module of the library on the same memory.
//
// A worker starts by events of the thread that makes the worker, and a thread that waits in the library takes no events: the
// workers are started before the library is called.

/** A library imports a memory: pages of 64 KiB at first, and the most that a browser gives of 4 GiB. */
const FIRST_PAGES = 256;
const MOST_PAGES = [65536, 32768, 16384, 8192];

/** The most threads where the caller names no number: each more costs a call more than a small model gains. */
const MOST_THREADS = 8;

/** The most threads that the library takes. */
const LARGEST = 256;

/** The states of a worker. */
export const FREE = 0, BUSY = 1, FAILED = 2;

const isNode = typeof process === "object" && process.versions?.node !== undefined;

/** Whether threads may share memory with this thread, and this thread may wait for them: a page's own thread may not. */
function mayShare() {
  if (typeof SharedArrayBuffer !== "function") return false;
  return isNode || (globalThis.crossOriginIsolated === true && typeof WorkerGlobalScope === "function");
}

/** Threads for the processors. Where there are many, two are of one core or of different speeds. */
async function processors() {
  const count = isNode
    ? (await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:os")).availableParallelism()
    : (globalThis.navigator?.hardwareConcurrency ?? 1);
  return Math.min(Math.max(Math.min(count, 4), count >> 1), MOST_THREADS);
}

/** Memory with as many addresses as the browser grants. */
function sharedMemory() {
  let refused;
  for (const maximum of MOST_PAGES) {
    try {
      return new WebAssembly.Memory({ initial: FIRST_PAGES, maximum, shared: true });
    } catch (error) {
      refused = error;
    }
  }
  throw refused;
}

/** A worker that has made the functions of the module. */
async function startWorker(data) {
  if (typeof Worker === "function") {
    const worker = new Worker(new URL("./thread.js", import.meta.url), { type: "module" });
    await new Promise((resolve, reject) => {
      worker.addEventListener("message", resolve, { once: true });
      worker.addEventListener("error", (event) => reject(new Error(event.message ?? "a thread failed")), { once: true });
      worker.postMessage(data);
    });
    return worker;
  }
  const { Worker: Thread } = await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:worker_threads");
  const worker = new Thread(new URL("./thread.js", import.meta.url));
  await new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.postMessage(data);
  });
  // A process ends while threads wait for work.
  worker.unref();
  return worker;
}

export class Threads {
  /** The threads of a module, whose system is `wasi`. */
  constructor(module, wasi) {
    this.module = module;
    this.memory = sharedMemory();
    this.workers = [];
    this.last = 0;
    wasi.onYield = () => this.check();
  }

  /** The modules of memory and threads that the library imports. */
  imports() {
    return { env: { memory: this.memory }, wasi: { "thread-spawn": (argument) => this.spawn(argument) } };
  }

  /** Starts the library, and workers for `wanted` threads, of which the calling thread is one. */
  async start(functions, wanted) {
    if (wanted !== undefined && !(Number.isInteger(wanted) && wanted >= 1 && wanted <= LARGEST)) {
      throw new RangeError(`threads: a number from 1 to ${LARGEST} is wanted, ${wanted} was given`);
    }
    functions.__wasi_init_tp();
    functions.__wasm_call_ctors();
    if (!mayShare()) return;
    const others = (wanted ?? (await processors())) - 1;
    this.states = new Int32Array(new SharedArrayBuffer(4 * others));
    const { module, memory, states } = this;
    const start = (_, index) => startWorker({ module, memory, states, index });
    this.workers = await Promise.all(Array.from({ length: others }, start));
  }

  /** The number of threads that the library may use. */
  get count() {
    return this.workers.length + 1;
  }

  /** Gives a new thread to a free worker; a negative number where none is free. */
  spawn(argument) {
    const isTaken = (_, index) => Atomics.compareExchange(this.states, index, FREE, BUSY) === FREE;
    const index = this.workers.findIndex(isTaken);
    if (index < 0) return -1;
    this.last += 1;
    this.workers[index].postMessage({ thread: this.last, argument });
    return this.last;
  }

  /** The failure of a thread, after which the library computes no more. */
  get failure() {
    return this.states?.includes(FAILED) ? new Error("a thread of the library failed: load the program again") : undefined;
  }

  /** Throws where a thread failed: whoever waits for the thread would wait for ever. */
  check() {
    const { failure } = this;
    if (failure) throw failure;
  }

  /** Ends the workers. */
  end() {
    this.workers.forEach((worker) => worker.terminate());
  }
}
