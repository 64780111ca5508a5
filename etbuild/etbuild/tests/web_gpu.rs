//! Partitions on the GPU in pages: headless Chromium, whose WebGPU computes on the CPU of this machine. Without Chromium a test is
//! skipped with a message, except where emulators are required.

use serde_json::Value;

use crate::support::chromium::said_by;
use crate::support::programs::has;
use crate::support::{Place, Ran};
use crate::web::answer;

const DIGITS: &str = "recipes/digits.yaml --target web --set library=true --set partition=[gpu,cpu]";
const LANGUAGE: &str = "recipes/tiny-llama.yaml --target web --set library=true --set partition=[gpu,cpu]";

/// What a script says in a page, as JSON: the last value.
fn said(place: &Place, script: &str) -> Value {
    let page = place.file(
        "out/page.html",
        format!(
            "<html><script type=module>\nconst say = (body) => fetch('/said', {{ method: 'POST', body }});\n\
             try {{ say(JSON.stringify(await (async () => {{ {script} }})())); }}\n\
             catch (error) {{ say(JSON.stringify({{ error: error.stack }})); }}\n</script></html>"
        ),
    );
    assert!(page.starts_with(place.out()));
    let out = place.out();
    let site = move |request: &crate::support::http::Request, stream| answer(&request.path, stream, &out, "");
    let text = said_by("out/page.html", &place.path().join("chromium"), site);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

#[test]
fn a_page_computes_on_the_gpu_what_pytorch_computed() {
    if !has("chromium", &["--version"]) {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    let result = place.json(&format!("deploy {DIGITS}"));
    let verification = &result["units"][0]["verification"];
    assert_eq!(verification["state"], "skipped", "{result}");
    assert!(verification.to_string().contains("need a page with WebGPU, and `node` has none"), "{verification}");

    let found = said(&place, CLASSIFY);
    assert_eq!(found["count"], 360, "{found}");
    assert!(found["relative"].as_f64().unwrap() < 1e-4, "{found}");
    assert_eq!(found["together"], found["alone"], "{found}");
}

/// All cases of the digits, and two runs that a page begins at once.
const CLASSIFY: &str = r#"
const { load } = await import("/out/digits/web/index.js");
const bytes = await (await fetch("/examples/digits/test.safetensors")).arrayBuffer();
const size = Number(new DataView(bytes).getBigUint64(0, true));
const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, size)));
const tensor = (key) => new Float32Array(bytes.slice(...header[key].data_offsets.map((at) => 8 + size + at)));
const [images, wanted, program] = [tensor("x"), tensor("output_0"), await load()];
const input = (index) => ({ x: { data: images.slice(64 * index, 64 * (index + 1)), shape: [1, 1, 8, 8] } });
const [count, classes] = [images.length / 64, wanted.length / (images.length / 64)];
let [difference, most] = [0, 0];
for (let index = 0; index < count; index++) {
  (await program.run(input(index))).output_0.data.forEach((score, at) => {
    difference = Math.max(difference, Math.abs(score - wanted[classes * index + at]));
    most = Math.max(most, Math.abs(wanted[classes * index + at]));
  });
}
const scores = ({ output_0 }) => [...output_0.data];
const together = (await Promise.all([program.run(input(0)), program.run(input(1))])).map(scores);
const alone = [scores(await program.run(input(0))), scores(await program.run(input(1)))];
await program.free();
return { count, relative: difference / most, together, alone };
"#;

#[test]
fn what_a_page_lacks_or_loses_is_an_error_in_a_sentence() {
    if !has("chromium", &["--version"]) {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    place.run(&format!("build {DIGITS}")).expect(0);
    let found = said(&place, FAIL);
    let cases = [
        ("lost", "the GPU was lost: "),
        ("damaged", "delegate 0: the GPU program is damaged"),
        (
            "few",
            "delegate 0: kernel 0 of the GPU program: there are too many bindings for the GPU (google swiftshader)",
        ),
        ("absent", "delegate 0: there is no WebGPU: the browser found no GPU"),
        ("none", "delegate 0: there is no WebGPU: navigator.gpu is missing"),
        (
            "old",
            "the program computes on the GPU, and WebAssembly.Suspending (JavaScript Promise Integration) is missing",
        ),
    ];
    for (case, sentence) in cases {
        assert!(found[case].as_str().unwrap().contains(sentence), "{case}: {found}");
    }
    assert_eq!(found["again"], 10, "{found}");
}

/// A device that is destroyed between two runs, and what the program says then; a program with other kernels; a GPU with few bindings;
/// browsers without a GPU, without WebGPU, and without promise integration.
const FAIL: &str = r#"
const { load } = await import("/out/digits/web/index.js");
const failure = async (work) => work().then(() => "nothing", ({ message }) => message);
const input = { x: { data: new Float32Array(64), shape: [1, 1, 8, 8] } };
const found = {};

let device;
const { requestDevice } = GPUAdapter.prototype;
GPUAdapter.prototype.requestDevice = async function (wanted) { return (device = await requestDevice.call(this, wanted)); };
const program = await load();
await program.run(input);
device.destroy();
found.lost = await failure(() => program.run(input));
found.again = (await (await load()).run(input)).output_0.data.length;

const bytes = new Uint8Array(await (await fetch("/out/digits/web/digits.pte")).arrayBuffer());
const kernel = [...new TextEncoder().encode("@compute")];
for (let at = 0; at < bytes.length; at++) {
  if (kernel.every((letter, index) => bytes[at + index] === letter)) bytes[at] = 32;
}
found.damaged = await failure(() => load({ program: bytes }));

// Every load opens the GPU anew while no other program has it.
device.destroy();
const limits = Object.getOwnPropertyDescriptor(GPUDevice.prototype, "limits");
const few = function () { return new Proxy(limits.get.call(this), { get: (all, name) => name === "maxStorageBuffersPerShaderStage" ? 1 : all[name] }); };
Object.defineProperty(GPUDevice.prototype, "limits", { ...limits, get: few });
found.few = await failure(load);
Object.defineProperty(GPUDevice.prototype, "limits", limits);

GPU.prototype.requestAdapter = async () => null;
found.absent = await failure(load);
Object.defineProperty(navigator, "gpu", { value: undefined });
found.none = await failure(load);
WebAssembly.Suspending = undefined;
found.old = await failure(load);
return found;
"#;

#[test]
fn a_language_model_writes_on_the_gpu_of_a_page_what_the_cpu_writes() {
    if !has("chromium", &["--version"]) {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    place.run(&format!("build {LANGUAGE}")).expect(0);
    let script = "const { load } = await import('/out/tiny-llama/web/index.js');\n\
         const model = await load();\n\
         const options = { maxNewTokens: 50, temperature: 0 };\n\
         const texts = [await model.text('Once', options), await model.text('Once', options)];\n\
         return [...texts, await model.text('In the morning', options)];";
    let found = said(&place, script);
    let told = |prompt: &str| {
        let mut command = place.command(["run", "recipes/tiny-llama.yaml", "--partition", "cpu", "--temperature", "0"]);
        Ran::of(command.args(["--max-new-tokens", "50", "--prompt", prompt])).expect(0).stdout
    };
    let [once, morning] = ["Once", "In the morning"].map(told);
    for (text, wanted) in found.as_array().unwrap_or_else(|| panic!("{found}")).iter().zip([&once, &once, &morning]) {
        assert!(text.as_str().unwrap().len() > 80, "{found}");
        assert_eq!(text.as_str().unwrap().trim_end(), wanted.trim_end());
    }
}
