//! Packages for npm of models that read pictures or hear: Node.js and headless Chromium print what the binary prints. Needs
//! `ETBUILD_TEST_PYTHON`, a Python with torch and transformers; without it these tests fail, unless `ETBUILD_SKIP_PYTHON=1` skips them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::chromium::{respond, respond_with_script, said_by};
use crate::support::programs::has;
use crate::support::{Place, Ran};
use crate::web::media_type;
use crate::{hearing, vision};

/// Builds a package, and a binary for this machine, of a checkpoint; returns the folder of both.
fn built(place: &Place, folder: &Path, context: usize) -> PathBuf {
    let recipe = format!(
        "etbuild: 1\nname: senses\nmodel: {{ checkpoint: {} }}\nexport: {{ context: {context}, word_timestamps: {} }}\ntargets: [web, {}]\nlibrary: true\n",
        folder.join("model").display(),
        folder.ends_with("whisper"),
        this_machine()
    );
    let recipe = place.file("senses.yaml", recipe);
    Ran::of(&mut place.command(["build", &recipe.display().to_string()])).expect(0);
    place.out().join("senses")
}

fn this_machine() -> String {
    format!("linux-{}", std::env::consts::ARCH)
}

/// The text of the binary for this machine.
fn told(out: &Path, folder: &Path, more: &[&str]) -> String {
    let mut binary = Command::new(out.join(this_machine()).join("senses"));
    binary.args(["--max-new-tokens", "40", "--temperature", "0"]).args(more).current_dir(folder);
    Ran::of(&mut binary).expect(0).stdout.trim_end().to_owned()
}

/// What a script of Node.js prints, of the package and a folder.
fn said(place: &Place, out: &Path, folder: &Path, script: &str) -> Value {
    let script = place.file("script.mjs", script);
    let mut node = Command::new("node");
    Ran::of(node.arg(script).arg(out.join("web/index.js")).current_dir(folder)).expect(0).json()
}

#[test]
fn a_package_reads_pictures_in_node_and_in_a_page() {
    if !has("node", &["--version"]) || !has("chromium", &["--version"]) {
        return;
    }
    let Some(folder) = vision::folder("smolvlm") else { return };
    let place = Place::cold_with_compiled_crates();
    let out = built(&place, &folder, 480);
    let wanted = told(&out, &folder, &["--image", "wide.png", "--prompt", "What is this?"]);
    let found = said(&place, &out, &folder, LOOK);
    for form in ["bytes", "blob"] {
        assert_eq!(found[form].as_str().unwrap().trim_end(), wanted, "{form}");
    }
    let text = "<s>user: Is <image> like <image>?assistant:";
    let wanted_prompt = told(&out, &folder, &["--image", "high.png", "--image", "thin.png", "--prompt", text]);
    assert_eq!(found["prompt"].as_str().unwrap().trim_end(), wanted_prompt);
    assert_eq!(
        found["plain"].as_str().unwrap().trim_end(),
        told(&out, &folder, &["--chat", "--prompt", "What is this?"])
    );
    for (refused, word) in [("broken", "neither PNG nor JPEG"), ("sound", "does not hear"), ("kind", "video")] {
        assert!(found[refused].as_str().unwrap().contains(word), "{found}");
    }
    assert!(found["transcript"].as_str().unwrap().contains("makes no transcripts"), "{found}");
    let web = out.join("web");
    let page = said_by("page.html", &place.path().join("chromium"), move |request, stream| {
        let path = request.path.as_str();
        let file = if path == "wide.png" { folder.join(path) } else { web.join(path) };
        match fs::read(file) {
            _ if path == "page.html" => respond_with_script(stream, "<!doctype html><html></html>", PAGE),
            Ok(bytes) => respond(stream, "200 OK", media_type(path), &bytes),
            Err(_) => respond(stream, "404 Not Found", "text/plain", b""),
        }
    });
    assert_eq!(page.trim_end(), wanted);
}

/// Questions about pictures, which files and blobs are.
const LOOK: &str = r#"
import { readFile } from "node:fs/promises";
const { load } = await import(process.argv[2]);
const model = await load();
const [wide, high, thin] = await Promise.all(["wide.png", "high.png", "thin.png"].map((name) => readFile(name)));
const options = { temperature: 0, maxNewTokens: 40 };
const picture = (image) => ({ type: "image", image });
const ask = (...content) => model.text([{ role: "user", content }], options);
const refused = (...content) => ask(...content).then(() => "taken", (error) => error.message);
console.log(JSON.stringify({
  bytes: await ask(picture(wide), "What is this?"),
  blob: await ask(picture(new Blob([wide])), { type: "text", text: "What is this?" }),
  prompt: await model.text(["<s>user: Is ", picture(high), " like ", picture(thin), "?assistant:"], options),
  plain: await model.text([{ role: "user", content: "What is this?" }], options),
  broken: await refused(picture(new Uint8Array([1, 2, 3]))),
  sound: await refused({ type: "audio", audio: new Float32Array(8), sampleRate: 16000 }),
  kind: await refused({ type: "video" }),
  transcript: await model.transcript(new Float32Array(8), { sampleRate: 16000 }).catch((error) => error.message),
}));
model.free();
"#;

/// A question about the pixels of a canvas.
const PAGE: &str = r#"
const say = (body) => fetch("/said", { method: "POST", body });
try {
  const { load } = await import("/index.js");
  const bitmap = await createImageBitmap(await (await fetch("/wide.png")).blob());
  const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
  context.drawImage(bitmap, 0, 0);
  const image = context.getImageData(0, 0, bitmap.width, bitmap.height);
  const model = await load();
  const content = [{ type: "image", image }, "What is this?"];
  await say(await model.text([{ role: "user", content }], { temperature: 0, maxNewTokens: 40 }));
} catch (error) {
  await say(`error: ${error}`);
}
"#;

#[test]
fn a_package_transcribes_in_node() {
    if !has("node", &["--version"]) {
        return;
    }
    let Some(folder) = hearing::folder("whisper") else { return };
    let place = Place::cold_with_compiled_crates();
    let out = built(&place, &folder, 96);
    let found = said(&place, &out, &folder, HEAR);
    let wanted = told(&out, &folder, &["--audio", "long.wav", "--timestamps", "--language", "fr"]);
    for form in ["bytes", "samples"] {
        let lines: Vec<&str> =
            found[form]["lines"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
        assert_eq!(lines.join("\n"), wanted, "{form}");
        assert_eq!(found[form]["language"], "fr");
        assert!((found[form]["seconds"].as_f64().unwrap() - 5.07).abs() < 0.01, "{found}");
    }
    assert_eq!(
        found["whole"].as_str().unwrap().trim(),
        told(&out, &folder, &["--audio", "short.wav", "--language", "de"]).trim()
    );
    let words = told(&out, &folder, &["--audio", "short.wav", "--word-timestamps", "--language", "de"]);
    let lines: Vec<&str> = found["words"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    assert_eq!(lines.join("\n"), words);
    assert_eq!((&found["first"]["count"], &found["first"]["again"]), (&1.into(), &found["whole"]));
    for (refused, word) in
        [("language", "tlh"), ("rate", "sampleRate"), ("task", "sing"), ("generate", "there is no sound")]
    {
        assert!(found[refused].as_str().unwrap().contains(word), "{found}");
    }
}

/// Transcripts of files and samples, one that is broken off, and mistakes.
const HEAR: &str = r#"
import { readFile } from "node:fs/promises";
const { load } = await import(process.argv[2]);
const model = await load();
const [long, short] = await Promise.all(["long.wav", "short.wav"].map((name) => readFile(name)));
const samples = Float32Array.from({ length: (long.length - 44) / 2 }, (_, index) => long.readInt16LE(44 + 2 * index) / 32768);
const options = { language: "fr", timestamps: true, maxNewTokens: 40, temperature: 0 };
const time = (seconds) => new Date(Math.round(seconds * 1000)).toISOString().slice(14, 23);
const line = ({ start, end, text }) => `[${time(start)} --> ${time(end)}] ${text.trim()}`;
const lines = (made) => ({ ...made, lines: made.segments.map(line) });
const german = { language: "de", maxNewTokens: 40, temperature: 0 };
const refused = (promise) => promise.then(() => "taken", (error) => error.message);
const found = {
  bytes: lines(await model.transcript(long, options)),
  samples: lines(await model.transcript(samples, { ...options, sampleRate: 16000 })),
  whole: (await model.transcript(short, german)).text,
  words: (await model.transcript(short, { ...german, wordTimestamps: true })).segments.flatMap(({ words }) => words.map(line)),
  language: await refused(model.transcript(short, { language: "tlh" })),
  rate: await refused(model.transcript(samples)),
  task: await refused(model.transcript(short, { task: "sing" })),
  generate: await refused(model.text("a")),
};
let count = 0;
for await (const segment of model.transcribe(long, options)) { count++; break; }
found.first = { count, again: (await model.transcript(new Blob([short]), german)).text };
console.log(JSON.stringify(found));
model.free();
"#;
