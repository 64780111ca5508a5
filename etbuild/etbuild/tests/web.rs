//! The target `web`: binaries in Node.js, packages in Node.js and in headless Chromium. Without Node.js or Chromium a test is
//! skipped with a message, except where emulators are required.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use crate::support::chromium::{respond, respond_with_script, said_by};
use crate::support::programs::{compiler, has};
use crate::support::{Place, Ran, repository};

const DIGITS: &str = "recipes/digits.yaml --target web --set library=true --set partition=auto";
const LANGUAGE: &str = "recipes/tiny-llama.yaml --target web --set library=true";

#[test]
fn programs_in_float32_and_int8_compute_what_pytorch_computed() {
    if !has("node", &["--version"]) {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    for (deploy, accuracy) in [(DIGITS, 0.99), ("recipes/digits-int8.yaml --target web", 0.97)] {
        let result = place.json(&format!("deploy {deploy}"));
        let verified = &result["units"][0]["verification"];
        let [correct, cases] = ["correct", "cases"].map(|key| verified[key].as_f64().unwrap());
        assert!(correct / cases > accuracy, "{verified}");
    }
}

/// Calls of a program with mistakes in the inputs.
const MISTAKES: &str = r#"
const { load } = await import(process.argv[2]);
const program = await load();
const data = new Float32Array(64), shape = [1, 1, 8, 8];
const calls = [undefined, { x: { data, shape }, y: { data, shape } }, { x: { data } }, { x: { data, shape: [1, 1, 8, -8] } }];
const refused = calls.map((inputs) => { try { program.run(inputs); } catch (error) { return error.message; } });
console.log(JSON.stringify(refused));
"#;

#[test]
fn mistakes_in_the_inputs_of_a_package_are_told() {
    if !has("node", &["--version"]) {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    place.run(&format!("build {DIGITS}")).expect(0);
    let script = place.file("mistakes.mjs", MISTAKES);
    let package = place.out().join("digits/web/index.js");
    let refused = Ran::of(Command::new("node").arg(script).arg(package)).expect(0).json();
    let wanted = [
        "the input `x` is missing",
        "there is no input `y`; there are x",
        "the input `x` has no shape",
        "a tensor has no size of -8",
    ];
    for (index, wanted) in wanted.iter().enumerate() {
        assert!(refused[index].as_str().is_some_and(|said| said.starts_with(wanted)), "{refused}");
    }
}

/// `npm pack` makes the package, `npm install` installs it elsewhere, and a script of Node.js runs it there.
#[test]
fn npm_packs_and_installs_a_package_that_classifies() {
    if !has("npm", &["--version"]) {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    place.run(&format!("build {DIGITS}")).expect(0);
    let package = place.out().join("digits/web");
    let npm = |arguments: &[&str], folder: &Path| {
        Ran::of(Command::new("npm").args(arguments).args(["--offline", "--no-audit", "--no-fund"]).current_dir(folder))
            .expect(0)
    };
    let packed = npm(&["pack", "--pack-destination", place.path().to_str().unwrap()], &package);
    let archive = place.path().join(packed.stdout.trim());
    let app = place.file("app/package.json", r#"{ "type": "module" }"#).parent().unwrap().to_owned();
    npm(&["install", archive.to_str().unwrap()], &app);
    let script = place.file("app/classify.mjs", fs::read(repository().join("examples/web/classify.mjs")).unwrap());
    let cases = repository().join("examples/digits/test.safetensors");
    let said = Ran::of(Command::new("node").arg(script).arg("digits").arg(cases)).expect(0).json();
    assert!(said["right"].as_u64().unwrap() > 350 && said["difference"].as_f64().unwrap() < 1e-4, "{said}");
}

/// The compiler of TypeScript, whose path is in `ETBUILD_TEST_TSC`; `None` where it is missing.
fn typescript() -> Option<String> {
    let program = compiler("ETBUILD_TEST_TSC", "tsc");
    has(&program, &["--version"]).then_some(program)
}

/// A program in TypeScript uses the types of a package: allowed calls compile and run, refused calls do not compile.
#[test]
fn typescript_knows_the_types_of_packages() {
    let Some(compiler) = typescript() else { return };
    let place = Place::cold_with_compiled_crates();
    let said = |deploy: &str, name: &str, source: &str| {
        place.run(&format!("build {deploy}")).expect(0);
        let app = place.path().join(name);
        fs::create_dir_all(app.join("node_modules")).unwrap();
        std::os::unix::fs::symlink(place.out().join(name).join("web"), app.join("node_modules").join(name)).unwrap();
        fs::write(app.join("package.json"), r#"{ "type": "module" }"#).unwrap();
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(source);
        fs::copy(data, app.join("app.ts")).unwrap();
        let mut compile = Command::new(&compiler);
        compile.args("--strict --noUncheckedIndexedAccess --target es2022 --module nodenext app.ts".split(' '));
        Ran::of(compile.args(["--lib", "es2022,dom"]).current_dir(&app)).expect(0);
        Ran::of(Command::new("node").arg("app.js").current_dir(&app)).expect(0).json()
    };
    let classified = said(DIGITS, "digits", "classify.ts");
    let wanted = serde_json::json!({ "names": ["x"], "threads": 1, "type": "float32", "length": 10, "equal": true });
    assert_eq!(classified, wanted);
    let told = said(LANGUAGE, "tiny-llama", "chat.ts");
    assert!(told["text"].as_str().is_some_and(|text| !text.is_empty()), "{told}");
    assert_eq!((&told["ended"], &told["same"]), (&"length".into(), &told["text"]), "{told}");
}

#[test]
fn a_page_classifies_a_picture() {
    if !has("chromium", &["--version"]) {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    place.run(&format!("build {DIGITS}")).expect(0);
    assert_eq!(shown(&place, "examples/web/classify.html", ""), "2");
}

#[test]
fn a_language_model_writes_the_same_text_in_a_page_in_node_and_on_this_machine() {
    if !has("node", &["--version"]) || !has("chromium", &["--version"]) {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    let result = place.json(&format!("deploy {LANGUAGE} --target linux-x86_64"));
    for unit in result["units"].as_array().unwrap() {
        assert_eq!(unit["verification"]["same_prediction"], unit["verification"]["cases"], "{unit}");
    }
    let binary = place.out().join("tiny-llama/linux-x86_64/tiny-llama");
    let told =
        Ran::of(Command::new(binary).args(["--chat", "--prompt", "Tell me a tale about a fox.", "--temperature", "0"]));
    let told = told.expect(0).stdout;
    let script = place.file("chat.mjs", CHAT);
    let package = place.out().join("tiny-llama/web/index.js");
    let said = Ran::of(Command::new("node").arg(script).arg(package)).expect(0).json();
    assert_eq!(said["text"], told.trim_end());
    assert_eq!((&said["ended"], &said["again"]), (&"stop".into(), &said["text"]));
    assert!(said["refused"].as_str().unwrap().contains("a role is none of"), "{said}");
    assert_eq!(shown(&place, "examples/web/chat.html", SEND).trim_end(), told.trim_end());
}

/// A conversation, the same one after a text that was broken off, and a message of nobody.
const CHAT: &str = r#"
const { load } = await import(process.argv[2]);
const model = await load();
const messages = [{ role: "user", content: "Tell me a tale about a fox." }];
const answer = model.generate(messages, { temperature: 0 });
let text = "", ended;
for (let part = await answer.next(); ; part = await answer.next()) {
  if (part.done) { ended = part.value.ended; break; }
  text += part.value;
}
for await (const part of model.generate("Once there was", { maxNewTokens: 400 })) break;
const again = await model.text(messages, { temperature: 0 });
const refused = await model.text([{ role: "nobody", content: "" }]).catch((error) => error.message);
console.log(JSON.stringify({ text, ended, again, refused }));
"#;

/// Sends the message that is in the form, once the model is loaded.
const SEND: &str = r#"
const ready = () => document.querySelector("button").disabled ? setTimeout(ready, 20) : document.querySelector("form").requestSubmit();
document.querySelector("output").textContent = "";
ready();
"#;

/// Waits for the output of the page, and sends the text to the test.
const REPORT: &str = r#"
const say = (body) => fetch("/said", { method: "POST", body });
addEventListener("error", (event) => say(`error: ${event.message}`));
addEventListener("unhandledrejection", (event) => say(`error: ${event.reason}`));
const watch = () => {
  const output = document.querySelector("output");
  if (output.ariaBusy === "false" && output.textContent) say(output.textContent);
  else setTimeout(watch, 50);
};
watch();
"#;

/// The output of a page of the repository in Chromium, after a script of the test.
fn shown(place: &Place, page: &str, script: &str) -> String {
    let (out, script) = (place.out(), format!("{script}{REPORT}"));
    said_by(page, &place.path().join("chromium"), move |request, stream| answer(&request.path, stream, &out, &script))
}

/// Answers with a file: below `out` one of the folder, else one of the repository. Pages get the script.
pub fn answer(path: &str, stream: TcpStream, out: &Path, script: &str) {
    let file = path.strip_prefix("out/").map_or_else(|| repository().join(path), |rest| out.join(rest));
    match fs::read(&file) {
        Ok(bytes) if path.ends_with(".html") => respond_with_script(stream, &String::from_utf8(bytes).unwrap(), script),
        Ok(bytes) => respond(stream, "200 OK", media_type(path), &bytes),
        Err(_) => respond(stream, "404 Not Found", "text/plain", b""),
    }
}

pub fn media_type(path: &str) -> &'static str {
    match Path::new(path).extension().and_then(|ending| ending.to_str()) {
        Some("js") => "text/javascript",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}
