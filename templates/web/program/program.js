// A method of a program: tensors in, tensors out.

import { Library, after } from "./library.js";

/** Types of elements, by the numbers of ExecuTorch's program files. */
const TYPES = new Map([
  [0, { type: "uint8", array: Uint8Array }],
  [1, { type: "int8", array: Int8Array }],
  [2, { type: "int16", array: Int16Array }],
  [3, { type: "int32", array: Int32Array }],
  [4, { type: "int64", array: BigInt64Array }],
  [5, { type: "float16", array: Uint16Array }],
  [6, { type: "float32", array: Float32Array }],
  [7, { type: "float64", array: Float64Array }],
  [11, { type: "bool", array: Uint8Array }],
  [15, { type: "bfloat16", array: Uint16Array }],
]);

/** `et_tensor` of `etbuild.h`: the places of its fields. */
const TENSOR = { type: 0, rank: 4, shape: 8, data: 12, bytes: 16, size: 20 };

function typeOf({ type, data }) {
  if (!type && data instanceof Uint16Array) throw new TypeError("a Uint16Array needs a type: float16 or bfloat16");
  const fits = ([, known]) => (type ? known.type === type : data instanceof known.array);
  const found = [...TYPES].find(fits);
  if (!found || !(data instanceof found[1].array)) {
    throw new TypeError(`a tensor of ${type ?? "elements"} is not made from a ${data?.constructor?.name ?? typeof data}`);
  }
  return found[0];
}

/** Inputs whose elements nobody else writes. */
function copied(inputs) {
  const copy = (tensor) => (tensor?.data?.slice ? { ...tensor, data: tensor.data.slice() } : tensor);
  if (Array.isArray(inputs)) return inputs.map(copy);
  return Object.fromEntries(Object.entries(inputs ?? {}).map(([name, tensor]) => [name, copy(tensor)]));
}

export class Program {
  /** Loads a method. */
  static async load({ method, ...files }) {
    const library = await Library.open(files);
    try {
      return new Program(library, await Program.open(library, method));
    } catch (error) {
      library.end();
      throw error;
    }
  }

  /** The module of a method. */
  static open(library, method) {
    return library.with((take) => {
      const [program, name] = [library.put(take, library.program), method ? library.put(take, method) : 0];
      const data = library.putData(take);
      const made = library.functions.et_module_load(program, data, library.data.length, name, library.threadCount);
      return after(made, (pointer) => library.made(pointer));
    });
  }

  constructor(library, module) {
    this.library = library;
    this.module = module;
    const { et_module_input_count, et_module_input_name } = library.functions;
    const count = et_module_input_count(module);
    this.inputNames = Array.from({ length: count }, (_, index) => library.get(et_module_input_name(module, index)));
  }

  /** The number of threads that compute. */
  get threads() {
    return this.library.threadCount;
  }

  /** Runs the method on tensors by name, or in order; returns `output_0`, `output_1`, ..., or on a GPU a promise of these. */
  run(inputs) {
    // A run that waits computes what the inputs are now.
    const given = this.library.waits ? copied(inputs) : inputs;
    return this.library.inTurn(() => {
      this.setInputs(given);
      return after(this.library.functions.et_module_execute(this.module), (status) => this.outputs(status));
    });
  }

  setInputs(inputs) {
    const given = inputs ?? {};
    const unknown = Array.isArray(given) ? [] : Object.keys(given).filter((name) => !this.inputNames.includes(name));
    if (unknown.length > 0) throw new TypeError(`there is no input \`${unknown[0]}\`; there are ${this.inputNames.join(", ")}`);
    this.inputNames.forEach((name, index) => {
      const tensor = Array.isArray(given) ? given[index] : given[name];
      if (tensor === undefined) throw new TypeError(`the input \`${name}\` is missing`);
      if (typeof tensor.shape?.length !== "number") throw new TypeError(`the input \`${name}\` has no shape: a tensor is { data, shape }`);
      this.library.with((take) => this.setInput(take, index, tensor));
    });
  }

  /** The outputs of an execution that ended with a status. */
  outputs(status) {
    this.library.done(status);
    const count = this.library.functions.et_module_output_count(this.module);
    return Object.fromEntries(Array.from({ length: count }, (_, index) => [`output_${index}`, this.output(index)]));
  }

  setInput(take, index, tensor) {
    const { library } = this;
    const type = typeOf(tensor);
    const { data, shape } = tensor;
    const [record, sizes, elements] = [take(TENSOR.size), take(8 * shape.length), take(data.byteLength)];
    library.bytes(elements, data.byteLength).set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    const { view } = library;
    shape.forEach((size, dimension) => view.setBigInt64(sizes + 8 * dimension, BigInt(size), true));
    view.setUint8(record + TENSOR.type, type);
    view.setUint32(record + TENSOR.rank, shape.length, true);
    view.setUint32(record + TENSOR.shape, sizes, true);
    view.setUint32(record + TENSOR.data, elements, true);
    view.setUint32(record + TENSOR.bytes, data.byteLength, true);
    library.done(library.functions.et_module_set_input(this.module, index, record));
  }

  /** A copy of an output. */
  output(index) {
    const { library } = this;
    return library.with((take) => {
      const record = take(TENSOR.size);
      library.done(library.functions.et_module_output(this.module, index, record));
      const { view } = library;
      const word = (field) => view.getUint32(record + field, true);
      const { type, array } = TYPES.get(view.getUint8(record + TENSOR.type));
      const size = (_, dimension) => Number(view.getBigInt64(word(TENSOR.shape) + 8 * dimension, true));
      const bytes = library.bytes(word(TENSOR.data), word(TENSOR.bytes)).slice();
      return { type, shape: Array.from({ length: word(TENSOR.rank) }, size), data: new array(bytes.buffer) };
    });
  }

  /** Frees the memory of the method, and ends the other threads. */
  free() {
    const { library, module } = this;
    return library.inTurn(() => {
      this.module = 0;
      // A library whose thread failed would wait for the thread.
      const freed = library.threads?.failure ? undefined : library.functions.et_module_free(module);
      return after(freed, () => library.end());
    });
  }
}
