// The part of WASI (preview 1) that the library calls: files that are read or written once, a clock, random bytes, lines of messages.

const SUCCESS = 0, BAD_DESCRIPTOR = 8, NOT_FOUND = 44, NO_SYSTEM_CALL = 52, NOT_SEEKABLE = 70;
const DIRECTORY = 3, REGULAR_FILE = 4;
const STANDARD_OUTPUT = 1, STANDARD_ERROR = 2, ROOT = 3, FIRST_FILE = 4;
const EVERY_RIGHT = 0xffff_ffff_ffff_ffffn;
const MOST_RANDOM_BYTES = 65536;
const CURRENT = 1;
const CREATE = 1;

/** Random bytes: a module of Node.js 18 has no global `crypto`. */
export async function randomSource() {
  return globalThis.crypto ?? (await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:crypto")).webcrypto;
}

/** A file in memory as a list of chunks. A chunk is let go when it has been read, so no file is in memory twice. */
export class File {
  constructor(chunks) {
    this.chunks = chunks;
    this.size = chunks.reduce((size, chunk) => size + chunk.length, 0);
    this.position = 0;
  }

  /** Fills `bytes` from the front of the file, and returns how many there were. */
  read(bytes) {
    let count = 0;
    while (count < bytes.length && this.chunks.length > 0) {
      const part = this.chunks[0].subarray(0, bytes.length - count);
      bytes.set(part, count);
      count += part.length;
      if (part.length === this.chunks[0].length) this.chunks.shift();
      else this.chunks[0] = this.chunks[0].subarray(part.length);
    }
    this.position += count;
    return count;
  }

  /** Appends a copy of bytes. */
  write(bytes) {
    this.chunks.push(bytes.slice());
    this.size += bytes.length;
  }
}

/** The system that a module sees. */
export class Wasi {
  /** `files`: a Map from names to `File`; `random`: the web's `crypto`. */
  constructor(files, random) {
    this.files = files;
    this.random = random;
    this.opened = new Map();
    this.memory = undefined;
    this.onYield = () => {};
    this.lines = new Map();
  }

  /** The functions for `wasi_snapshot_preview1`; the ones that are missing here fail, as a system may. */
  imports(module) {
    const named = WebAssembly.Module.imports(module).filter((wanted) => wanted.module === "wasi_snapshot_preview1");
    const of = ({ name }) => (this[name] ? this[name].bind(this) : () => NO_SYSTEM_CALL);
    return Object.fromEntries(named.map((wanted) => [wanted.name, of(wanted)]));
  }

  get view() {
    return new DataView(this.buffer(0));
  }

  /** The memory up to `end` at least. Where another thread made the memory larger, this thread sees that once it asks. */
  buffer(end) {
    if (end > this.memory.buffer.byteLength) this.memory.grow(0);
    return this.memory.buffer;
  }

  /** Writes a number of 32 bits. */
  put(address, number) {
    this.view.setUint32(address >>> 0, number, true);
    return SUCCESS;
  }

  /** Writes a number of 64 bits. */
  putLong(address, number) {
    this.view.setBigUint64(address >>> 0, number, true);
    return SUCCESS;
  }

  /** A part of memory. JavaScript reads addresses from 2 GiB on as negative numbers. */
  bytes(pointer, size) {
    const [start, count] = [pointer >>> 0, size >>> 0];
    return new Uint8Array(this.buffer(start + count), start, count);
  }

  text(pointer, size) {
    const bytes = this.bytes(pointer, size);
    // A decoder takes no memory that threads share.
    return new TextDecoder().decode(bytes.buffer instanceof ArrayBuffer ? bytes : bytes.slice());
  }

  /** The parts of memory that a list of pointers and sizes names. */
  buffers(list, count) {
    const { view } = this;
    const first = list >>> 0;
    const part = (at) => this.bytes(view.getUint32(at, true), view.getUint32(at + 4, true));
    return Array.from({ length: count }, (_, index) => part(first + 8 * index));
  }

  environ_sizes_get(count, size) {
    this.put(count, 0);
    return this.put(size, 0);
  }

  environ_get() {
    return SUCCESS;
  }

  args_sizes_get(count, size) {
    return this.environ_sizes_get(count, size);
  }

  args_get() {
    return SUCCESS;
  }

  clock_time_get(clock, precision, time) {
    const milliseconds = clock === 0 ? Date.now() : performance.now();
    return this.putLong(time, BigInt(Math.round(milliseconds * 1e6)));
  }

  random_get(pointer, size) {
    for (let at = 0; at < size; at += MOST_RANDOM_BYTES) {
      // Nor does this function.
      const values = this.random.getRandomValues(new Uint8Array(Math.min(MOST_RANDOM_BYTES, size - at)));
      this.bytes(pointer + at, values.length).set(values);
    }
    return SUCCESS;
  }

  /** A thread that waits for others yields again and again. */
  sched_yield() {
    this.onYield();
    return SUCCESS;
  }

  proc_exit(status) {
    throw new Error(`the library ended with status ${status}`);
  }

  fd_prestat_get(descriptor, result) {
    if (descriptor !== ROOT) return BAD_DESCRIPTOR;
    this.put(result, 0);
    return this.put(result + 4, 1);
  }

  fd_prestat_dir_name(descriptor, pointer) {
    if (descriptor !== ROOT) return BAD_DESCRIPTOR;
    this.bytes(pointer, 1)[0] = "/".charCodeAt(0);
    return SUCCESS;
  }

  fd_fdstat_get(descriptor, result) {
    this.put(result, descriptor === ROOT ? DIRECTORY : REGULAR_FILE);
    this.putLong(result + 8, EVERY_RIGHT);
    return this.putLong(result + 16, EVERY_RIGHT);
  }

  path_open(folder, flags, pointer, size, creation, rights, inherited, mode, result) {
    const name = this.text(pointer, size);
    if (creation & CREATE) this.files.set(name, new File([]));
    const file = this.files.get(name);
    if (!file) return NOT_FOUND;
    const descriptor = Math.max(FIRST_FILE - 1, ...this.opened.keys()) + 1;
    this.opened.set(descriptor, file);
    return this.put(result, descriptor);
  }

  path_filestat_get(folder, flags, pointer, size, result) {
    const file = this.files.get(this.text(pointer, size));
    return file ? this.describe(file, result) : NOT_FOUND;
  }

  path_rename(folder, pointer, size, target, newPointer, newSize) {
    const name = this.text(pointer, size);
    const file = this.files.get(name);
    if (!file) return NOT_FOUND;
    this.files.delete(name);
    this.files.set(this.text(newPointer, newSize), file);
    return SUCCESS;
  }

  path_unlink_file(folder, pointer, size) {
    return this.files.delete(this.text(pointer, size)) ? SUCCESS : NOT_FOUND;
  }

  fd_filestat_get(descriptor, result) {
    const file = this.opened.get(descriptor);
    return file ? this.describe(file, result) : BAD_DESCRIPTOR;
  }

  describe(file, result) {
    this.bytes(result, 64).fill(0);
    this.put(result + 16, REGULAR_FILE);
    return this.putLong(result + 32, BigInt(file.size));
  }

  fd_read(descriptor, list, count, result) {
    const file = this.opened.get(descriptor);
    if (!file) return BAD_DESCRIPTOR;
    const read = this.buffers(list, count).reduce((sum, bytes) => sum + file.read(bytes), 0);
    return this.put(result, read);
  }

  /** Answers where the file is; a file that is read once goes nowhere else. */
  fd_seek(descriptor, offset, from, result) {
    const file = this.opened.get(descriptor);
    if (!file) return BAD_DESCRIPTOR;
    if (from !== CURRENT || offset !== 0n) return NOT_SEEKABLE;
    return this.putLong(result, BigInt(file.position));
  }

  fd_close(descriptor) {
    return this.opened.delete(descriptor) ? SUCCESS : BAD_DESCRIPTOR;
  }

  /** Bytes go to their file; messages go to the console, a line at a time. */
  fd_write(descriptor, list, count, result) {
    const file = this.opened.get(descriptor);
    if (file) {
      const parts = this.buffers(list, count);
      parts.forEach((bytes) => file.write(bytes));
      return this.put(result, parts.reduce((sum, bytes) => sum + bytes.length, 0));
    }
    if (descriptor !== STANDARD_OUTPUT && descriptor !== STANDARD_ERROR) return BAD_DESCRIPTOR;
    let written = 0;
    let text = this.lines.get(descriptor) ?? "";
    for (const bytes of this.buffers(list, count)) {
      text += this.text(bytes.byteOffset, bytes.length);
      written += bytes.length;
    }
    const lines = text.split("\n");
    this.lines.set(descriptor, lines.pop());
    lines.forEach((line) => (descriptor === STANDARD_ERROR ? console.error(line) : console.log(line)));
    return this.put(result, written);
  }
}
