// As chat.c, with the package for JavaScript: PACKAGE TOOLS WEIGHTS ADAPTER OTHER_ADAPTER.
import { readFile, writeFile } from "node:fs/promises";

const [, , library, tools, weights, adapter, other] = process.argv;
const { load } = await import(library);
const written = String.raw`Ho <tool_call>\n\{"name": "tell", "arguments": \{"words": "fox", "count": 3\}\}\n</tool_call>`;
const model = await load();
const usual = { maxNewTokens: 200, temperature: 0 };
const line = (text) => text.replaceAll("\n", "\\n");
const shown = ({ type, text, call }) => (type === "call" ? `|${call.name}${call.arguments}` : line(text));

async function pieces(name, conversation, options) {
  const all = [];
  for await (const piece of model.pieces(conversation, { ...usual, ...options })) all.push(piece);
  console.log(`${name}=${all.map(shown).join("")}`);
  return all;
}

const question = { role: "user", content: "Tell me a tale." };
await pieces("written", [question], { tools, regex: written });
const required = await pieces("required", [question], { tools: JSON.parse(tools), toolChoice: "required", temperature: 1, seed: 7 });
const results = required.filter(({ type }) => type === "call").map((made) => ({ role: "tool", content: [made, "a fox"] }));
const conversation = [question, { role: "assistant", content: required }, ...results];
await pieces("answer", conversation, { tools, maxNewTokens: 20 });
console.log(`prompt=${(await model.encode(conversation, { tools })).length}`);
await pieces("thoughts", [question], { maxNewTokens: 9, templateVariables: { enable_thinking: true } });

const stopping = model.generate("Once", { ...usual, stop: ["no such text", " a"] });
let [stopped, ended] = ["", undefined];
for (let part = await stopping.next(); ; part = await stopping.next()) {
  if (part.done) {
    ended = part.value.ended;
    break;
  }
  stopped += part.value;
}
console.log(`stopped=${line(stopped)}|${["stop", "length", "context", "cancelled"].indexOf(ended)}`);
const encoded = await model.encode("Once there was");
console.log(`decoded=${await model.decode(encoded.slice(-3))}`);
console.log(`biased=${line(await model.text("Once", { ...usual, maxNewTokens: 3, logitBias: { [encoded.at(-3)]: 100 } }))}`);

for (const [name, file] of [["adapted", other], ["back", adapter]]) {
  await model.useAdapter(await readFile(file));
  console.log(`${name}=${line(await model.text("Once", { ...usual, maxNewTokens: 9 }))}`);
}

const number = (logprob) => logprob.toFixed(3);
const rated = ({ likelihood }) => `|${[likelihood, ...likelihood.alternatives].map(({ text, logprob }) => line(text) + number(logprob)).join("~")}`;
async function likely(name, prompt, options) {
  const all = [];
  for await (const piece of model.pieces(prompt, { ...usual, maxNewTokens: 3, ...options })) if (piece.type === "likelihood") all.push(piece);
  console.log(`${name}=${all.map(rated).join("")}`);
}
await likely("likely", [question], { topLogprobs: 2 });
await likely("rated", "Once", { topLogprobs: 0 });

const [long, few] = ["fox and ".repeat(40), { ...usual, maxNewTokens: 3 }];
await model.text(long, few);
const session = await model.save();
await writeFile(`${adapter}.session`, session);
await model.text("Once", few);
await model.restore(session);
await writeFile(`${adapter}.again`, await model.save());
console.log(`kept=${line(await model.text(long, few))}`);
await model.useAdapter(await readFile(other));
const foreign = await model.restore(session).then(() => "none", (error) => error.message);
console.log(`foreign=${foreign.split(": ").at(-1)}`);
await model.useAdapter(await readFile(adapter));

// A signal ends the reading of a prompt.
const controller = new AbortController();
controller.abort();
const left = await model.generate("fox and ".repeat(150), { ...usual, signal: controller.signal }).next();
console.log(`cancelled=${left.done && left.value.ended === "cancelled" ? 3 : left.value}|${left.value.newTokens}`);
for (const attempt of [
  () => model.pieces([question], { tools: [{ type: "function" }] }),
  () => model.pieces([question], { tools, toolChoice: "dance" }),
  () => model.generate([question], { tools }),
  () => model.generate("Once", { tools }),
  () => model.pieces([{ role: "user", content: [{ type: "call", call: { id: "a", name: "b", arguments: "{}" } }] }]),
]) {
  const refused = await attempt().next().then(() => "nothing", (error) => error.message);
  console.log(`refused=${refused}`);
}
const refused = await model.useAdapter(await readFile(weights)).then(() => "nothing", (error) => error.message);
console.log(`refused=${refused}`);
model.free();
