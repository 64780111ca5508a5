// Pictures and recordings as bytes, pixels and samples, which threads can exchange.

/** The kinds of parts in `etbuild.h`. */
export const KINDS = { text: 0, picture: 1, pixels: 2, sound: 3, samples: 4, call: 5 };

/** The prompt of a request: a text, or messages or parts whose pictures and recordings are in memory. */
export async function exchangedPrompt(prompt) {
  if (typeof prompt === "string") return prompt;
  return Promise.all(prompt.map((one) => ("role" in Object(one) ? exchangedMessage(one) : exchangedPart(one))));
}

async function exchangedMessage({ role, content }) {
  if (typeof content === "string") return { role, content };
  // A template has no thoughts of earlier answers.
  const said = content.filter(({ type }) => type !== "thoughts" && type !== "likelihood");
  return { role, content: joined(await Promise.all(said.map(exchangedPart))) };
}

/** Parts in which a text follows no text: the pieces of an answer are one text. */
function joined(parts) {
  const all = [];
  for (const part of parts) {
    const last = all.at(-1);
    if (part.kind === KINDS.text && last?.kind === KINDS.text) all[all.length - 1] = { ...last, text: last.text + part.text };
    else all.push(part);
  }
  return all;
}

async function exchangedPart(part) {
  if (typeof part === "string") return { kind: KINDS.text, text: part };
  switch (part.type) {
    case "text":
      return { kind: KINDS.text, text: part.text };
    case "image":
      return picture(part.image);
    case "audio":
      return recording(part.audio, part.sampleRate);
    case "call":
      return { kind: KINDS.call, call: part.call };
    default:
      throw new TypeError(`there are no parts of type ${part.type}: a part is text, image, audio or call`);
  }
}

async function picture(image) {
  const file = await bytesOf(image);
  if (file) return { kind: KINDS.picture, bytes: file };
  const { data, width, height } = Object(image);
  if (!ArrayBuffer.isView(data)) throw new TypeError("an image is an ImageData, or a PNG or JPEG file as a Blob or bytes");
  return { kind: KINDS.pixels, bytes: rgb(data), width, height };
}

/** Red, green and blue of pixels with an opacity, on white. */
function rgb(data) {
  const pixels = new Uint8Array((data.length / 4) * 3);
  for (let from = 0, to = 0; from < data.length; from += 4, to += 3) {
    const opacity = data[from + 3];
    for (let channel = 0; channel < 3; channel += 1) {
      pixels[to + channel] = (data[from + channel] * opacity + 255 * (255 - opacity) + 127) / 255;
    }
  }
  return pixels;
}

/** A recording: samples with their rate, an AudioBuffer, or a WAV file. */
export async function recording(audio, sampleRate) {
  if (typeof audio?.getChannelData === "function") return { kind: KINDS.samples, ...mixed(audio) };
  if (audio instanceof Float32Array) {
    if (!(sampleRate > 0)) throw new TypeError("samples need a `sampleRate` in hertz");
    return { kind: KINDS.samples, samples: audio, rate: sampleRate };
  }
  const file = await bytesOf(audio);
  if (!file) throw new TypeError("audio is a Float32Array, an AudioBuffer, or a WAV file as a Blob or bytes");
  return { kind: KINDS.sound, bytes: file };
}

/** The mean of the channels of an AudioBuffer. */
function mixed(audio) {
  const samples = new Float32Array(audio.length);
  for (let channel = 0; channel < audio.numberOfChannels; channel++) {
    audio.getChannelData(channel).forEach((sample, index) => (samples[index] += sample / audio.numberOfChannels));
  }
  return { samples, rate: audio.sampleRate };
}

/** The bytes of a file; `undefined` for what is no file. */
async function bytesOf(value) {
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return value instanceof Blob ? new Uint8Array(await value.arrayBuffer()) : undefined;
}
