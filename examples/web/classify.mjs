// Classifies the digits of a safetensors file: node classify.mjs PACKAGE FILE
import { readFile } from "node:fs/promises";

const [name, file] = process.argv.slice(2);
const { load } = await import(name);
const bytes = await readFile(file);
const headerSize = Number(bytes.readBigUInt64LE(0));
const header = JSON.parse(bytes.subarray(8, 8 + headerSize));

function tensor(key, array) {
  const { shape, data_offsets: [start, end] } = header[key];
  const begin = bytes.byteOffset + 8 + headerSize;
  return { shape, data: new array(bytes.buffer.slice(begin + start, begin + end)) };
}

const [images, labels, wanted] = [tensor("x", Float32Array), tensor("labels", BigInt64Array), tensor("output_0", Float32Array)];
const program = await load();
const [count, size, classes] = [images.shape[0], 64, wanted.shape[1]];
let right = 0;
let difference = 0;
for (let index = 0; index < count; index++) {
  const data = images.data.subarray(size * index, size * (index + 1));
  const scores = program.run({ x: { data, shape: [1, 1, 8, 8] } }).output_0.data;
  right += Number(BigInt(scores.indexOf(Math.max(...scores))) === labels.data[index]);
  scores.forEach((score, at) => (difference = Math.max(difference, Math.abs(score - wanted.data[classes * index + at]))));
}
program.free();
console.log(JSON.stringify({ count, right, difference }));
