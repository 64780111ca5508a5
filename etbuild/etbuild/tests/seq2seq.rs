//! Encoder-decoder models (T5, mT5): logits and greedy texts equal those of transformers, on the portable kernels and on the CPU backend.
//! `seq2seq.py` has the models. Needs `ETBUILD_TEST_PYTHON`, a Python with torch and transformers; without it these tests fail, unless
//! `ETBUILD_SKIP_PYTHON=1` skips them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use et_llm::Session;
use et_module::{DataFiles, FileBytes};
use etbuild_engine::Event;
use serde::Deserialize;
use serde_json::json;

use crate::serve::Server;
use crate::support::logits::{cosine, difference, expect_no_mistake, files_with, loading};
use crate::support::talks::cases;
use crate::support::{Place, Ran, python};

/// The new tokens of a case.
const STEPS: usize = 60;

#[derive(Deserialize)]
struct Case {
    text: String,
    tokens: Vec<u32>,
    new: Vec<u32>,
    told: String,
    logits: Vec<Vec<f32>>,
}

/// The folders of all models, written once; `None` without a Python.
pub fn models() -> Option<Vec<PathBuf>> {
    static FOLDER: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let steps = STEPS.to_string();
    let folder = FOLDER.get_or_init(|| python::written_by("seq2seq.py", "torch and transformers", &[&steps]));
    folder.as_ref().map(python::folders)
}

fn folder(name: &str) -> Option<PathBuf> {
    models()?.into_iter().find(|model| model.ends_with(name))
}

fn loaded(folder: &Path, place: &Place, options: &[&str]) -> Session {
    let files = files_with(&folder.join("model"), &place.cache(), options, Arc::new(|_: &Event| {}));
    let file = FileBytes::copied(&files.program);
    Session::load(file, || Ok(DataFiles::default()), &loading(), Instant::now()).unwrap()
}

/// The logits of each step of a case, whose tokens are those of transformers.
fn logits(session: &mut Session, case: &Case) -> Vec<Vec<f32>> {
    let mut next = session.model.open(case.tokens.clone()).unwrap();
    let mut rows = Vec::new();
    for token in &case.new {
        rows.push(session.model.read(&next).unwrap().to_vec());
        next = vec![*token];
    }
    rows
}

/// The mistake of a model in a case, if any; rows of logits may be `most` apart.
fn mistake_in_case(session: &mut Session, case: &Case, most: f32) -> Option<String> {
    let tokens = session.text().unwrap().encode(&case.text, true).unwrap();
    if tokens != case.tokens {
        return Some(format!("{}: the tokens are {tokens:?}", case.text));
    }
    let rows = logits(session, case);
    let largest = rows.iter().zip(&case.logits).map(|(found, wanted)| difference(wanted, found)).fold(0.0, f32::max);
    let best = |row: &Vec<f32>| (0..).zip(row).max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(at, _)| at);
    let greedy: Vec<u32> = rows.iter().filter_map(best).collect();
    let is_wrong = rows.len() < 50 || largest.is_nan() || largest > most || greedy != case.new;
    is_wrong.then(|| format!("{}: {largest:e}", case.text))
}

#[test]
fn every_model_tells_what_transformers_tells() {
    let Some(models) = models() else { return };
    expect_no_mistake(models, |folder, place, partition| {
        let mut session = loaded(folder, place, &[partition, "export.prefill=[4, 16]", "export.context=100"]);
        cases::<Case>(folder).iter().find_map(|case| mistake_in_case(&mut session, case, 1e-4))
    });
}

#[test]
fn the_cpu_backend_has_the_attention_of_the_decoder() {
    let Some(folder) = folder("t5") else { return };
    let model = folder.join("model").display().to_string();
    let place = Place::cold();
    let told = Ran::of(&mut place.command(["explain", &model, "--target", "linux-x86_64", "--partition=cpu"]))
        .expect(0)
        .stdout;
    let attention: Vec<&str> = told.lines().filter(|line| line.contains("etbuild.attend_cache.default")).collect();
    // Two layers of two methods, each with attention to the text and to the prompt.
    assert!(attention.len() >= 8 && attention.iter().all(|line| line.contains("cpu ")), "{told}");
}

#[test]
fn quantized_models_tell_nearly_the_same() {
    let Some(folder) = folder("t5-v1_1") else { return };
    let (place, case) = (Place::cold(), &cases::<Case>(&folder)[1]);
    let first = |options: &[&str]| logits(&mut loaded(&folder, &place, options), case).swap_remove(0);
    let wanted = first(&["partition=[cpu]"]);
    for scheme in ["8da4w", "dynamic-int8", "int8-weights", "int4-weights"] {
        let found = first(&["partition=[cpu]", &format!("quantize.scheme={scheme}"), "quantize.group_size=4"]);
        let cosine = cosine(&found, &wanted);
        assert!(cosine > 0.9 && found != wanted, "{scheme}: {cosine}");
    }
}

#[test]
fn the_command_continues_behind_the_text_encoder() {
    let Some(folder) = folder("mt5") else { return };
    let place = Place::cold();
    let run = |more: &[&str]| {
        Ran::of(place.command(["run", "model"].into_iter().chain(more.iter().copied())).current_dir(&folder))
    };
    for case in cases::<Case>(&folder) {
        let steps = STEPS.to_string();
        let told = run(&["--prompt", &case.text, "--max-new-tokens", &steps]).expect(0).stdout;
        assert_eq!(told.trim(), case.told.trim(), "{}", case.text);
    }
    let long = "a ".repeat(600);
    for (arguments, part) in [
        (["--prompt", long.as_str()].as_slice(), "are more than the context of 512"),
        (&["--chat", "--prompt", "a"], "no chat template"),
        (&["--prompt", "a", "--image", "a.png"], "reads no pictures"),
    ] {
        let ran = run(arguments);
        assert!(ran.status != 0 && ran.stderr.contains(part) && ran.stderr.contains("ETB"), "{}", ran.stderr);
    }
}

/// The binary of a model with a server.
fn deployed(place: &Place, folder: &Path) -> PathBuf {
    let target = format!("linux-{}", std::env::consts::ARCH);
    let recipe = format!(
        "etbuild: 1\nname: seq2seq\nmodel: {{ checkpoint: {} }}\ntargets: [{target}]\nserver: true\n",
        folder.join("model").display()
    );
    let recipe = place.file("seq2seq.yaml", recipe);
    Ran::of(&mut place.command(["build", &recipe.display().to_string()])).expect(0);
    place.out().join("seq2seq").join(&target).join("seq2seq")
}

#[test]
fn the_binary_and_the_server_continue_behind_the_text_encoder() {
    let Some(folder) = folder("t5-v1_1") else { return };
    let place = Place::cold_with_compiled_crates();
    let binary = deployed(&place, &folder);
    let server = Server::of(Command::new(&binary).args(["--serve", "127.0.0.1:0"]));
    for case in cases::<Case>(&folder) {
        let arguments = ["--prompt", &case.text, "--max-new-tokens", &STEPS.to_string()];
        let told = Ran::of(Command::new(&binary).args(arguments)).expect(0).stdout;
        assert_eq!(told.trim(), case.told.trim());
        let body = json!({ "prompt": case.text, "max_tokens": STEPS, "temperature": 0 });
        let answer = server.post("/v1/completions", &body).json();
        assert_eq!(answer["choices"][0]["text"].as_str().map(str::trim), Some(case.told.trim()), "{answer}");
    }
    let long = json!({ "prompt": "a ".repeat(600), "max_tokens": STEPS });
    assert_eq!(server.post("/v1/completions", &long).status, 400);
    let chat = json!({ "messages": [{ "role": "user", "content": "a" }] });
    let refused = server.post("/v1/chat/completions", &chat);
    assert!(refused.status == 400 && refused.json().to_string().contains("template"), "{}", refused.json());
}

#[test]
fn the_configuration_of_flan_t5_small_gives_the_logits_of_transformers() {
    let Some(python) = python::with("torch and transformers") else { return };
    let (written, place) = (tempfile::tempdir().unwrap(), Place::cold());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/seq2seq.py");
    let mut command = Command::new(python);
    Ran::of(command.arg(script).arg("--real").arg(written.path()).arg(STEPS.to_string())).expect(0);
    let folder = written.path().join("real");
    let mut session = loaded(&folder, &place, &["partition=[cpu]", "export.prefill=[8]"]);
    assert_eq!(mistake_in_case(&mut session, &cases::<Case>(&folder)[0], 1e-3), None);
}
