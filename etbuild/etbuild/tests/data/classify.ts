// A program with the package of the digits: what the types allow, and, behind `@ts-expect-error`, what they refuse.
import { load, type ElementType, type Outputs, type Program, type Tensor } from "digits";

const program: Program = await load({ threads: 2, onProgress: (loaded, total) => void (loaded + (total ?? 0)) });
const names: readonly string[] = program.inputNames;
const x: Tensor = { data: new Float32Array(64), shape: [1, 1, 8, 8] };
const outputs: Outputs = program.run({ x });
const inOrder: Outputs = program.run([x]);
const scores = outputs.output_0.data;
const threads: number = program.threads;
const type: ElementType = outputs.output_0.type;

// Called by nobody: the compiler alone reads these lines.
export function refused(): void {
  // @ts-expect-error: the model has no input of this name
  program.run({ y: x });
  // @ts-expect-error: an array of numbers is no typed array
  program.run({ x: { data: [0], shape: [1] } });
  // @ts-expect-error: no element has this type
  program.run({ x: { ...x, type: "float8" } });
  // @ts-expect-error: a tensor has a shape
  program.run([{ data: new Float32Array(64) }]);
  // @ts-expect-error: there is no such option
  void load({ workers: 2 });
}

program.free();
const equal = scores.every((score, index) => score === inOrder.output_0.data[index]);
console.log(JSON.stringify({ names, threads, type, length: scores.length, equal }));
