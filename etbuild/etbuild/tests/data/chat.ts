// A program with the package of a language model: what the types allow, and, behind `@ts-expect-error`, what they refuse.
import { load, type Generation, type LanguageModel, type Message, type Transcript } from "tiny-llama";

const model: LanguageModel = await load({ lookup: false, threads: 2 });
const messages: Message[] = [{ role: "user", content: "Tell me a tale about a fox." }];
const pieces = model.generate(messages, { temperature: 0, maxNewTokens: 4 });
let [text, ended]: [string, Generation["ended"] | undefined] = ["", undefined];
for (let part = await pieces.next(); ; part = await pieces.next()) {
  if (part.done) {
    ended = part.value.ended;
    break;
  }
  text += part.value;
}
const same: string = await model.text(messages, { temperature: 0, maxNewTokens: 4, seed: 1n });

// Called by nobody: the compiler alone reads these lines.
export async function unread(picture: ImageData, sound: AudioBuffer): Promise<Transcript> {
  await model.text([{ type: "image", image: picture }, "What is it?"]);
  const { signal } = new AbortController();
  for await (const piece of model.pieces(messages, { tools: [{ type: "function" }], stop: "END", logitBias: { 7: 1 }, signal })) {
    if (piece.type === "call") messages.push({ role: "tool", content: [piece, piece.call.arguments] });
    // @ts-expect-error: text and thoughts have no call
    else void piece.call;
  }
  for await (const piece of model.pieces("Hello", { topLogprobs: 2 })) {
    if (piece.type === "likelihood") void piece.likelihood.alternatives[0]?.logprob.toFixed(2);
  }
  await model.restore(await model.save());
  const tokens: number[] = await model.encode(messages);
  void (await model.decode(tokens)).length;
  for await (const segment of model.transcribe(sound, { wordTimestamps: true })) void segment.words[0]?.start.toFixed(2);
  // @ts-expect-error: a message has a role
  await model.text([{ content: "Hello" }]);
  // @ts-expect-error: nobody speaks in this role
  await model.text([{ role: "nobody", content: "Hello" }]);
  // @ts-expect-error: a temperature is a number
  await model.text("Hello", { temperature: "0" });
  // @ts-expect-error: a task is one of two
  return await model.transcript(sound, { task: "sing" });
}

model.free();
console.log(JSON.stringify({ text, ended, same, threads: model.threads }));
