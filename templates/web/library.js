// The library of WebAssembly: its memory, its texts, its errors, and the files that it reads.

import { File, Wasi, randomSource } from "./wasi.js";

/**
 * The chunks of a file: of a URL, or of bytes that are in memory already. `onProgress` is told the bytes so far, and
 * their final number where the server says so.
 */
async function chunksOf(source, onProgress) {
  if (source instanceof ArrayBuffer) return [new Uint8Array(source)];
  if (ArrayBuffer.isView(source)) return [new Uint8Array(source.buffer, source.byteOffset, source.byteLength)];
  const url = new URL(source, globalThis.location?.href);
  if (url.protocol === "file:") {
    const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:fs/promises");
    return [await readFile(url)];
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} cannot be loaded: status ${response.status}`);
  const total = Number(response.headers.get("content-length")) || undefined;
  const chunks = [];
  let loaded = 0;
  const reader = response.body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    chunks.push(part.value);
    onProgress?.((loaded += part.value.length), total);
  }
  return chunks;
}

async function compiled(source) {
  if (source instanceof WebAssembly.Module) return source;
  return WebAssembly.compile(await new Blob(await chunksOf(source)).arrayBuffer());
}

/** What follows a value, now or once the value is there. */
export function after(value, next) {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** The GPU of a library that asks for one. */
async function gpuOf(module) {
  const isAsked = WebAssembly.Module.imports(module).some((wanted) => wanted.module === "etbuild_gpu");
  return isAsked ? new (await import("./gpu.js")).Gpu() : undefined;
}

/** The threads of a library whose memory can be shared. */
async function threadsOf(module, wasi) {
  const isShared = WebAssembly.Module.imports(module).some(({ kind }) => kind === "memory");
  return isShared ? new (await import("./threads.js")).Threads(module, wasi) : undefined;
}

/** The library with the files of a program. */
export class Library {
  /**
   * `listener` is told the answer of a language model, and returns whether to go on: `see` each new token with its text, or the
   * text of a segment with the address of the segment, `think` thoughts, `call` calls of tools, and `likely` how probable tokens are.
   */
  static async open({ library, program, data = [], threads: wanted, onProgress }, listener = {}) {
    const sources = [program, ...data];
    const [module, ...chunks] = await Promise.all([
      compiled(library),
      ...sources.map((source, index) => chunksOf(source, index === 0 ? onProgress : undefined)),
    ]);
    const names = sources.map((_, index) => (index === 0 ? "program.pte" : `data-${index}.ptd`));
    const files = new Map(names.map((name, index) => [name, new File(chunks[index])]));
    const [wasi, gpu] = [new Wasi(files, await randomSource()), await gpuOf(module)];
    const threads = await threadsOf(module, wasi);
    const instance = await WebAssembly.instantiate(module, {
      wasi_snapshot_preview1: wasi.imports(module),
      etbuild: {
        see: (context, token, text, size) => Number(listener.see(token >>> 0, wasi.text(text, size), context >>> 0)),
        think: (_, text, size) => Number(listener.think(wasi.text(text, size))),
        call: (_, call) => Number(listener.call(call >>> 0)),
        likely: (_, likelihood) => Number(listener.likely(likelihood >>> 0)),
      },
      ...gpu?.imports(),
      ...threads?.imports(),
    });
    wasi.memory = instance.exports.memory;
    if (gpu) gpu.memory = wasi.memory;
    await threads?.start(instance.exports, wanted);
    return new Library(wasi, gpu, threads, instance.exports, names);
  }

  constructor(wasi, gpu, threads, functions, [program, ...data]) {
    this.wasi = wasi;
    this.threads = threads;
    this.functions = gpu?.exports(functions) ?? functions;
    this.waits = gpu !== undefined;
    this.last = Promise.resolve();
    this.program = program;
    this.data = data;
    this.added = 0;
  }

  /** A file that the library can open; returns its name. */
  async addFile(source) {
    const name = `added-${this.added++}`;
    this.wasi.files.set(name, new File(await chunksOf(source)));
    return name;
  }

  removeFile(name) {
    this.wasi.files.delete(name);
  }

  /** The bytes of a file that the library wrote, which is gone then. */
  takeFile(name) {
    const file = this.wasi.files.get(name);
    this.removeFile(name);
    const bytes = new Uint8Array(file.size);
    file.read(bytes);
    return bytes;
  }

  get view() {
    return this.wasi.view;
  }

  /** The number of threads that compute. */
  get threadCount() {
    return this.threads?.count ?? 1;
  }

  /** Ends the other threads. */
  end() {
    this.threads?.end();
  }

  bytes(pointer, size) {
    return this.wasi.bytes(pointer, size);
  }

  /** Does work now; on a GPU once the work before has ended, because a library that waits for a GPU takes no other call. */
  inTurn(work) {
    if (!this.waits) return work();
    const turn = this.last.then(work);
    this.last = turn.catch(() => {});
    return turn;
  }

  /** Memory until the end of `use`, which is called with a function that gives out zeroed pieces of it. */
  with(use) {
    this.threads?.check();
    const pieces = [];
    const take = (size) => {
      const pointer = this.functions.malloc(Math.max(size, 1)) >>> 0;
      if (pointer === 0) throw new RangeError(`${size} bytes do not fit into the memory of the library`);
      pieces.push(pointer);
      this.bytes(pointer, size).fill(0);
      return pointer;
    };
    const end = () => {
      // The allocator may wait for a thread that failed.
      if (!this.threads?.failure) pieces.forEach((pointer) => this.functions.free(pointer));
    };
    let result;
    try {
      result = use(take);
    } catch (error) {
      end();
      throw error;
    }
    if (result instanceof Promise) return result.finally(end);
    end();
    return result;
  }

  /** A copy of a text in the library's memory. */
  put(take, text) {
    const bytes = new TextEncoder().encode(text);
    const pointer = take(bytes.length + 1);
    this.bytes(pointer, bytes.length).set(bytes);
    return pointer;
  }

  /** A copy of bytes in the library's memory. */
  putBytes(take, bytes) {
    const pointer = take(bytes.byteLength);
    this.bytes(pointer, bytes.byteLength).set(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return pointer;
  }

  /** Texts as an array of pointers. */
  putAll(take, texts) {
    const list = take(4 * texts.length);
    texts.forEach((one, index) => {
      // The memory may grow, and the view be another, with each piece.
      const text = this.put(take, one);
      this.view.setUint32(list + 4 * index, text, true);
    });
    return list;
  }

  /** The names of the data files as an array of pointers. */
  putData(take) {
    return this.putAll(take, this.data);
  }

  /** A text that ends with a zero byte. */
  get(address) {
    const pointer = address >>> 0;
    const end = new Uint8Array(this.wasi.buffer(0)).indexOf(0, pointer);
    return this.wasi.text(pointer, end - pointer);
  }

  /** An object that a function made. */
  made(pointer) {
    if (pointer === 0) throw this.failure();
    return pointer;
  }

  /** The end of a function that tells by a number whether it worked. */
  done(status) {
    if (status !== 0) throw this.failure();
  }

  failure() {
    return new Error(this.get(this.functions.et_error_message()));
  }
}
