// The browser's WebGPU for the library. Objects are numbers above 0. The library's calls are synchronous and the browser's are
// not: functions that wait for the browser suspend the library (JavaScript Promise Integration).

/** The statuses that the library knows. */
const DONE = 0, LOST = 1, NO_MEMORY = 2, REFUSED = 3;
const MOST_BYTES = 0xffff_ff00;

/** The library's functions that may wait for the browser: each returns a promise. */
const WAITING = /^et_(module_(load|execute|free)|language_(load|free|answer|continue|transcribe|save|restore)\w*)$/;

/** A failure for the library. */
const failure = (status, sentence) => ({ status, sentence });

export class Gpu {
  constructor() {
    if (!WebAssembly.Suspending) {
      const missing = "WebAssembly.Suspending (JavaScript Promise Integration) is missing";
      throw new Error(`the program computes on the GPU, and ${missing}: load a package that computes on the CPU`);
    }
    this.memory = undefined;
    this.objects = new Map();
    this.count = 0;
    this.answer = "";
  }

  /** The module of functions that the library imports. */
  imports() {
    const waiting = (call) => new WebAssembly.Suspending(call.bind(this));
    const calls = { open: waiting(this.open), fetch: waiting(this.fetch), finish: waiting(this.finish) };
    for (const name of ["text", "is_lost", "buffer", "write", "read", "pipeline", "bindings", "submit", "release"]) {
      calls[name] = this[name].bind(this);
    }
    return { etbuild_gpu: calls };
  }

  /** The functions of the library, of which some return promises. */
  exports(functions) {
    const wrapped = ([name, value]) => [name, WAITING.test(name) ? WebAssembly.promising(value) : value];
    return Object.fromEntries(Object.entries(functions).map(wrapped));
  }

  add(object) {
    this.count += 1;
    this.objects.set(this.count, object);
    return this.count;
  }

  bytes(start, size) {
    return new Uint8Array(this.memory.buffer, start >>> 0, size >>> 0);
  }

  words(start, count) {
    return new Uint32Array(this.memory.buffer, start >>> 0, count >>> 0);
  }

  /** Remembers a failure for `text`, and returns the status. */
  status(found) {
    if (found) this.answer = found.sentence;
    return found ? found.status : DONE;
  }

  text(start, size) {
    return new TextEncoder().encodeInto(this.answer, this.bytes(start, size)).written;
  }

  /** Opens the GPU that the browser prefers; 0 where there is none. */
  async open(numbers) {
    try {
      const gpu = globalThis.navigator?.gpu;
      if (!gpu) throw new Error("there is no WebGPU: navigator.gpu is missing");
      const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
      if (!adapter) throw new Error("there is no WebGPU: the browser found no GPU");
      const { device, values } = await opened(adapter);
      this.words(numbers, values.length).set(values);
      const owner = { device, pending: [], lost: undefined };
      device.lost.then(({ message }) => (owner.lost = `the GPU was lost: ${message || "the browser reset it"}`));
      this.answer = nameOf(adapter.info);
      return this.add(owner);
    } catch (error) {
      this.answer = error.message;
      return 0;
    }
  }

  is_lost(device) {
    return Number(this.objects.get(device).lost !== undefined);
  }

  /** Does work whose failure `finish` and `fetch` find. */
  watch(owner, work) {
    const { device, pending } = owner;
    const scopes = [["out-of-memory", NO_MEMORY], ["internal", REFUSED], ["validation", REFUSED]];
    scopes.forEach(([kind]) => device.pushErrorScope(kind));
    const catches = ([, status]) => {
      const found = device.popErrorScope().then((error) => error && failure(status, `the GPU failed: ${error.message}`));
      // A lost device pops nothing.
      pending.push(found.catch(() => undefined));
    };
    try {
      return work(device);
    } catch (error) {
      pending.push(Promise.resolve(failure(REFUSED, `the GPU failed: ${error.message}`)));
    } finally {
      scopes.reverse().forEach(catches);
    }
  }

  /** The first failure of all work so far. */
  async settled(owner) {
    const found = await Promise.all(owner.pending.splice(0));
    return owner.lost ? failure(LOST, owner.lost) : found.find(Boolean);
  }

  async finish(device) {
    return this.status(await this.settled(this.objects.get(device)));
  }

  buffer(number, size) {
    const owner = this.objects.get(number);
    const { STORAGE, COPY_SRC, COPY_DST } = GPUBufferUsage;
    const raw = this.watch(owner, (device) => device.createBuffer({ size: size >>> 0, usage: STORAGE | COPY_SRC | COPY_DST }));
    return this.add({ owner, raw });
  }

  /** Copies bytes to a buffer, and zeros up to a multiple of 4. */
  write(number, offset, start, size) {
    const { owner, raw } = this.objects.get(number);
    const [bytes, whole] = [this.bytes(start, size), (size >>> 2) << 2];
    this.watch(owner, ({ queue }) => {
      if (whole >>> 0) queue.writeBuffer(raw, offset >>> 0, bytes, 0, whole >>> 0);
      if (whole === size) return;
      const rest = new Uint8Array(4);
      rest.set(bytes.subarray(whole >>> 0));
      queue.writeBuffer(raw, (offset >>> 0) + (whole >>> 0), rest);
    });
  }

  /** Waits for all work, and maps a copy of bytes of a buffer. */
  async fetch(number, offset, size) {
    const buffer = this.objects.get(number);
    try {
      return await this.mapped(buffer, offset, size);
    } catch (error) {
      // The browser says that a GPU is lost after what it refuses for that.
      await new Promise((later) => setTimeout(later, 0));
      const { lost } = buffer.owner;
      return this.status(lost ? failure(LOST, lost) : failure(REFUSED, `the GPU failed: ${error.message}`));
    }
  }

  async mapped(buffer, offset, size) {
    const { owner, raw } = buffer;
    const [from, count] = [offset >>> 0, Math.ceil((size >>> 0) / 4) * 4];
    this.watch(owner, (device) => {
      buffer.mapped = undefined;
      if (buffer.copy?.size >= count) buffer.copy.unmap();
      else buffer.copy = this.replaced(buffer.copy, device, count);
      const encoder = device.createCommandEncoder();
      encoder.copyBufferToBuffer(raw, from, buffer.copy, 0, count);
      device.queue.submit([encoder.finish()]);
    });
    // A refusal is looked at behind the failures of the work before.
    const map = buffer.copy.mapAsync(GPUMapMode.READ, 0, count).then(() => undefined, (error) => error);
    const [found, refused] = [await this.settled(owner), await map];
    if (found) return this.status(found);
    if (refused) throw refused;
    buffer.mapped = { from, bytes: new Uint8Array(buffer.copy.getMappedRange(0, count)) };
    return DONE;
  }

  replaced(old, device, size) {
    old?.destroy();
    return device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  }

  /** Copies mapped bytes to memory. */
  read(number, offset, start, size) {
    const { from, bytes } = this.objects.get(number).mapped;
    const first = (offset >>> 0) - from;
    this.bytes(start, size).set(bytes.subarray(first, first + (size >>> 0)));
  }

  /** Begins to compile a kernel. */
  pipeline(number, start, size) {
    const owner = this.objects.get(number);
    const code = new TextDecoder().decode(this.bytes(start, size));
    const pipeline = {};
    this.watch(owner, (device) => {
      const compute = { module: device.createShaderModule({ code }), entryPoint: "main" };
      const made = device.createComputePipelineAsync({ layout: "auto", compute });
      const refused = ({ message }) => failure(REFUSED, `the browser refused a kernel: ${message}`);
      owner.pending.push(made.then((raw) => void (pipeline.raw = raw), refused));
    });
    return this.add(pipeline);
  }

  bindings(number, pipeline, list, count) {
    const owner = this.objects.get(number);
    const words = this.words(list, 3 * count);
    const entries = Array.from({ length: count }, (_, binding) => {
      const [buffer, offset, size] = words.subarray(3 * binding, 3 * binding + 3);
      return { binding, resource: { buffer: this.objects.get(buffer).raw, offset, size } };
    });
    const layout = () => this.objects.get(pipeline).raw.getBindGroupLayout(0);
    const raw = this.watch(owner, (device) => device.createBindGroup({ layout: layout(), entries }));
    return this.add({ raw });
  }

  /** Begins to execute dispatches in order. */
  submit(number, list, count) {
    const words = this.words(list, 5 * count);
    this.watch(this.objects.get(number), (device) => {
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      for (let at = 0; at < words.length; at += 5) {
        pass.setPipeline(this.objects.get(words[at]).raw);
        pass.setBindGroup(0, this.objects.get(words[at + 1]).raw);
        pass.dispatchWorkgroups(words[at + 2], words[at + 3], words[at + 4]);
      }
      pass.end();
      device.queue.submit([encoder.finish()]);
    });
  }

  /** Ends an object; what the GPU still uses ends later. */
  release(number) {
    const { device, owner, raw, copy } = this.objects.get(number);
    device?.destroy();
    if (owner) raw?.destroy();
    copy?.destroy();
    this.objects.delete(number);
  }
}

/** The limits that the library asks for as far as the GPU allows, in the order of the library's numbers. */
const LIMITS = [
  "maxComputeWorkgroupsPerDimension", "maxComputeWorkgroupSizeX", "maxComputeWorkgroupSizeY", "maxComputeWorkgroupSizeZ",
  "maxComputeInvocationsPerWorkgroup", "maxStorageBufferBindingSize", "maxBufferSize", "maxStorageBuffersPerShaderStage",
];

/** A device with what its GPU allows, and the numbers for the library. */
async function opened(adapter) {
  const requiredLimits = Object.fromEntries(LIMITS.map((name) => [name, adapter.limits[name]]));
  const device = await adapter.requestDevice({ requiredLimits });
  const isOnCpu = Number(adapter.info.isFallbackAdapter ?? false);
  const most = LIMITS.map((name) => Math.min(device.limits[name], MOST_BYTES));
  return { device, values: [isOnCpu, ...most, device.limits.minStorageBufferOffsetAlignment] };
}

function nameOf({ vendor, architecture, description }) {
  return description || [vendor, architecture].filter(Boolean).join(" ") || "WebGPU";
}
