//! The target `web-threads`: packages whose cpu backend computes on several threads, in Node.js and in workers of headless
//! Chromium. Without Node.js or Chromium a test is skipped with a message, except where emulators are required.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::chromium::{respond, said_by};
use crate::support::programs::has;
use crate::support::{Place, Ran, http, repository};
use crate::web::media_type;

const DIGITS: &str = "recipes/digits.yaml --target web-threads --set library=true --set partition=cpu";
const LANGUAGE: &str = "recipes/tiny-llama.yaml --target web-threads --set library=true";

fn node(place: &Place, script: &str, arguments: &[&Path]) -> Ran {
    let script = place.file("script.mjs", script);
    Ran::of(Command::new("node").arg(script).args(arguments))
}

/// What a module of JavaScript says to `say` in a page, or in a worker of the page, as JSON.
fn said(place: &Place, script: &str, is_worker: bool, is_isolated: bool) -> Value {
    let say = "const say = (said) => fetch('/said', { method: 'POST', body: JSON.stringify(said) });";
    place.file("out/script.js", format!("{say}\ntry {{ {script} }} catch (error) {{ say(error.stack); }}"));
    let start =
        if is_worker { "new Worker('/out/script.js', { type: 'module' });" } else { "import '/out/script.js';" };
    place.file("out/page.html", format!("<!doctype html><script type=module>{start}</script>"));
    let out = place.out();
    let site = move |request: &http::Request, stream| answer(&request.path, stream, &out, is_isolated);
    let text = said_by("out/page.html", &place.path().join("chromium"), site);
    serde_json::from_str(&text).unwrap()
}

/// Answers with a file, with the headers of an isolated page or without.
fn answer(path: &str, stream: TcpStream, out: &Path, is_isolated: bool) {
    let file = path.strip_prefix("out/").map_or_else(|| repository().join(path), |rest| out.join(rest));
    let kind = if path.ends_with(".html") { "text/html" } else { media_type(path) };
    let (status, bytes) = fs::read(file).map_or(("404 Not Found", Vec::new()), |bytes| ("200 OK", bytes));
    match is_isolated {
        true => respond(stream, status, kind, &bytes),
        false => http::respond(stream, status, &[format!("Content-Type: {kind}")], &bytes),
    }
}

#[test]
fn threads_compute_the_bits_that_one_thread_computes() {
    if !has("node", &["--version"]) || !has("chromium", &["--version"]) {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    // The binary has one thread.
    let result = place.json(&format!("deploy {DIGITS}"));
    let verified = &result["units"][0]["verification"];
    let [correct, cases] = ["correct", "cases"].map(|key| verified[key].as_f64().unwrap());
    assert!(correct / cases > 0.99, "{verified}");

    let package = place.out().join("digits/web-threads/index.js");
    let found = node(&place, COMPARE, &[&package]).expect(0).json();
    assert_eq!(found["threads"], json!([1, 2, 3]), "{found}");
    // A thread is in the library from the load of a program to its end.
    assert_eq!(found["states"], json!([[], [1], [1, 1]]), "{found}");
    let outputs = found["outputs"].as_array().unwrap();
    assert!(outputs.iter().all(|output| output == &outputs[0]), "{found}");
    assert_eq!(found["refused"], "threads: a number from 1 to 256 is wanted, 0 was given");

    let shown = |is_worker, is_isolated, threads| {
        let shown = said(&place, IN_PAGE, is_worker, is_isolated);
        assert_eq!(shown, json!({ "threads": threads, "output": outputs[0] }), "{is_worker} {is_isolated}");
    };
    shown(true, true, 2);
    shown(true, false, 1);
    shown(false, true, 1);
}

/// The same input on one thread, on two and on three.
const COMPARE: &str = r#"
const { load } = await import(process.argv[2]);
const x = { data: Float32Array.from({ length: 64 }, (_, index) => Math.sin(index)), shape: [1, 1, 8, 8] };
const programs = await Promise.all([1, 2, 3].map((threads) => load({ threads })));
const outputs = programs.map((program) => [...program.run({ x }).output_0.data]);
const states = programs.map(({ library }) => [...(library.threads.states ?? [])]);
const refused = await load({ threads: 0 }).catch((error) => error.message);
console.log(JSON.stringify({ threads: programs.map(({ threads }) => threads), outputs, states, refused }));
programs[0].free();
programs[1].free();
"#;

const IN_PAGE: &str = r#"
const { load } = await import("/out/digits/web-threads/index.js");
const x = { data: Float32Array.from({ length: 64 }, (_, index) => Math.sin(index)), shape: [1, 1, 8, 8] };
const program = await load({ threads: 2 });
const output = [...program.run({ x }).output_0.data];
const { threads } = program;
program.free();
say({ threads, output });
"#;

#[test]
fn a_language_model_writes_the_same_text_on_every_number_of_threads() {
    if !has("node", &["--version"]) || !has("chromium", &["--version"]) {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    let result = place.json(&format!("deploy {LANGUAGE}"));
    let verified = &result["units"][0]["verification"];
    assert_eq!(verified["same_prediction"], verified["cases"], "{verified}");
    let package = place.out().join("tiny-llama/web-threads/index.js");
    let found = node(&place, CHAT, &[&package]).expect(0).json();
    assert_eq!(found[0]["threads"], 1, "{found}");
    assert_eq!(found[1]["threads"], 2, "{found}");
    assert!(!found[0]["text"].as_str().unwrap().is_empty() && found[0]["text"] == found[1]["text"], "{found}");
    // The page's own thread starts the model's, which starts the others.
    assert_eq!(said(&place, CHAT_IN_PAGE, false, true), found[1]);
    assert_eq!(said(&place, CHAT_IN_PAGE, false, false), found[0]);
}

const CHAT: &str = r#"
const { load } = await import(process.argv[2]);
const said = [];
for (const threads of [1, 2]) {
  const model = await load({ threads });
  const text = await model.text([{ role: "user", content: "Tell me a tale about a fox." }], { temperature: 0 });
  said.push({ threads: model.threads, text });
  model.free();
}
console.log(JSON.stringify(said));
"#;

const CHAT_IN_PAGE: &str = r#"
const { load } = await import("/out/tiny-llama/web-threads/index.js");
const model = await load({ threads: 2 });
const text = await model.text([{ role: "user", content: "Tell me a tale about a fox." }], { temperature: 0 });
say({ threads: model.threads, text });
"#;

/// A library over the pool of threads of the backends. Each of the two tasks of `meet` waits for the other, so that one thread alone would end
/// neither. The second thread of `fail` fails, while the first waits as a pool waits.
const LIBRARY: &str = r#"
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::yield_now;

use et_runtime::Workers;

#[unsafe(no_mangle)]
pub extern "C" fn meet() -> usize {
    let (pool, arrived, met) = (et_module::Pool::new(2), AtomicUsize::new(0), AtomicUsize::new(0));
    pool.run(2, &|_| {
        arrived.fetch_add(1, Ordering::SeqCst);
        let is_met = (0..10_000_000).any(|_| {
            yield_now();
            arrived.load(Ordering::SeqCst) == 2
        });
        met.fetch_add(usize::from(is_met), Ordering::SeqCst);
    });
    met.into_inner()
}

#[unsafe(no_mangle)]
pub extern "C" fn fail() {
    std::thread::spawn(|| panic!("a fault"));
    loop {
        yield_now();
    }
}
"#;

/// The call that waits fails, and so does each call that follows.
const CALLS: &str = r#"
const [folder, library] = process.argv.slice(2);
const { Library } = await import(`${folder}/library.js`);
const bytes = await (await import("node:fs/promises")).readFile(library);
const open = () => Library.open({ library: bytes, program: new Uint8Array(0), threads: 2 });
const caught = (call) => { try { return call(); } catch (error) { return error.message; } };
const [meeting, failing] = [await open(), await open()];
const met = meeting.functions.meet();
const [first, second] = [() => failing.functions.fail(), () => failing.with(() => 0)].map(caught);
for (const library of [meeting, failing]) library.end();
console.log(JSON.stringify({ met, first, second }));
"#;

/// The library as WebAssembly, and the package's scripts for libraries.
fn library(place: &Place) -> [PathBuf; 2] {
    let crates = ["module", "runtime"].map(|name| {
        let folder = repository().join(format!("runtime/et-{name}"));
        format!("et-{name} = {{ path = {folder:?} }}\n")
    });
    let manifest = format!(
        "[package]\nname = \"meeting\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\"]\n[dependencies]\n{}[workspace]\n",
        crates.concat()
    );
    let manifest = place.file("meeting/Cargo.toml", manifest);
    place.file("meeting/src/lib.rs", LIBRARY);
    place.file("meeting/Cargo.lock", fs::read(repository().join("Cargo.lock")).unwrap());
    let target = place.path().join("meeting/target");
    let exported =
        ["__wasi_init_tp", "__wasm_call_ctors", "malloc", "free"].map(|name| format!(" -Clink-arg=--export={name}"));
    let flags = format!("-Clinker=rust-lld -Clink-arg=--max-memory=4294967296{}", exported.concat());
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--target", "wasm32-wasip1-threads", "--manifest-path"]).arg(manifest);
    Ran::of(cargo.env("CARGO_TARGET_DIR", &target).env("RUSTFLAGS", flags)).expect(0);
    let folder = place.file("package/package.json", r#"{ "type": "module" }"#).parent().unwrap().to_owned();
    for name in ["library.js", "port.js", "thread.js", "threads.js", "wasi.js"] {
        fs::copy(repository().join("templates/web").join(name), folder.join(name)).unwrap();
    }
    [folder, target.join("wasm32-wasip1-threads/debug/meeting.wasm")]
}

#[test]
fn two_threads_share_tasks_and_one_that_fails_ends_the_call_that_waits() {
    if !has("node", &["--version"]) {
        return;
    }
    let place = Place::cold();
    let [folder, library] = library(&place);
    let said = node(&place, CALLS, &[&folder, &library]).expect(0).json();
    let failed = "a thread of the library failed: load the program again";
    assert_eq!(said, json!({ "met": 2, "first": failed, "second": failed }));
}
