//! Encoders: tokens, embeddings and logits equal those of transformers, for texts, pairs and lengths from one token to more than the most,
//! on the portable kernels and on the CPU backend. `encoders.py` has the table of models. Needs `ETBUILD_TEST_PYTHON`, a Python with
//! torch and transformers; without it these tests fail, unless `ETBUILD_SKIP_PYTHON=1` skips them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use et_llm::Encoder;
use et_module::{DataFiles, FileBytes};
use etbuild_engine::Event;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::serve::Server;
use crate::support::logits::{expect_no_mistake, files_with, loading};
use crate::support::{Place, Ran, files, python, repository};

/// A text or tokens, and the output of transformers for this input.
#[derive(Deserialize)]
struct Expected {
    text: Option<String>,
    pair: Option<String>,
    tokens: Vec<u32>,
    types: Vec<u32>,
    output: Vec<f32>,
}

/// The folders of all models, written once; `None` without a Python.
pub fn models() -> Option<Vec<PathBuf>> {
    static FOLDER: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| python::written_by("encoders.py", "torch and transformers", &[]));
    folder.as_ref().map(python::folders)
}

fn model(name: &str) -> Option<PathBuf> {
    models()?.into_iter().find(|model| model.ends_with(name)).map(|model| model.join("model"))
}

fn loaded(model: &Path, place: &Place, options: &[&str]) -> Encoder {
    let files = files_with(model, &place.cache(), options, Arc::new(|_: &Event| {}));
    let loading = loading();
    let file = Rc::new(FileBytes::copied(&files.program));
    Encoder::find(&file, || Ok(DataFiles::default()), &loading).unwrap().unwrap()
}

/// The mistake of a model, if any.
fn mistake(model: &Path, place: &Place, partition: &str) -> Option<String> {
    let mut encoder = loaded(&model.join("model"), place, &[partition]);
    let expected: Vec<Expected> = serde_json::from_slice(&fs::read(model.join("expected.json")).unwrap()).unwrap();
    let mut most = 0.0_f32;
    for Expected { text, pair, tokens, types, output } in expected {
        if let Some(text) = &text {
            let reading = encoder.read(text, pair.as_deref()).unwrap();
            if (&reading.tokens, &reading.types) != (&tokens, &types) {
                return Some(format!("other tokens of {text:?}: {:?}, not {tokens:?}", reading.tokens));
            }
        }
        let found = encoder.run(&tokens, &types).unwrap();
        assert_eq!(found.len(), output.len());
        most = found.iter().zip(&output).map(|(found, wanted)| (found - wanted).abs()).fold(most, f32::max);
    }
    (most.is_nan() || most > 1e-4).then(|| format!("{most:e}"))
}

#[test]
fn every_family_gives_the_numbers_of_transformers() {
    let Some(models) = models() else { return };
    expect_no_mistake(models, mistake);
}

#[test]
fn quantized_embeddings_are_near() {
    let Some(model) = model("bert-wide") else { return };
    let place = Place::cold();
    let mut float = loaded(&model, &place, &[]);
    let tokens = [1, 9, 30, 40, 2];
    let wanted = float.run(&tokens, &[]).unwrap();
    for scheme in ["quantize.scheme=8da4w", "quantize.scheme=dynamic-int8", "quantize.scheme=int8-weights"] {
        let mut encoder = loaded(&model, &place, &[scheme, "partition=[cpu]"]);
        let found = encoder.run(&tokens, &[]).unwrap();
        let cosine: f32 = found.iter().zip(&wanted).map(|(found, wanted)| found * wanted).sum();
        assert!(cosine > 0.98 && found != wanted, "{scheme}: {cosine}");
    }
}

#[test]
fn the_command_answers_texts() {
    let names = ["bert", "bert-classes", "bert-words"].map(model);
    let [Some(bert), Some(classes), Some(words)] = names else { return };
    let place = Place::cold();
    let run = |model: &Path, more: &[&str]| {
        let model = model.display().to_string();
        Ran::of(&mut place.command(["run", &model].into_iter().chain(more.iter().copied())))
    };
    let answers = |ran: Ran| ran.expect(0).json()["answers"].clone();
    let file = place.file("texts.txt", "the cat\n\u{fc}ber z\u{fc}rich\n").display().to_string();
    let found = answers(run(&bert, &["--prompt-file", &file, "--output", "json"]));
    assert_eq!(
        found
            .as_array()
            .unwrap()
            .iter()
            .map(|answer| answer["embedding"].as_array().unwrap().len())
            .collect::<Vec<_>>(),
        [48, 48]
    );
    let found = answers(run(&classes, &["--prompt", "a cat", "--pair", "a dog", "--output", "json"]));
    let scores: f64 =
        found[0]["classes"].as_array().unwrap().iter().map(|class| class["score"].as_f64().unwrap()).sum();
    assert!((scores - 1.0).abs() < 1e-5, "{found}");
    let found = answers(run(&words, &["--prompt", "Cats in Z\u{fc}rich!", "--output", "json"]));
    let spans: Vec<(&Value, &Value)> =
        found[0]["words"].as_array().unwrap().iter().map(|word| (&word["start"], &word["text"])).collect();
    assert_eq!(
        spans,
        [
            (&0.into(), &"Cats".into()),
            (&5.into(), &"in".into()),
            (&8.into(), &"Z\u{fc}rich".into()),
            (&14.into(), &"!".into())
        ]
    );
}

#[test]
fn a_decoder_with_another_pooling_is_refused() {
    let (place, types) = (Place::cold(), ["Transformer", "Pooling", "Normalize"]);
    let folder = place.path().join("embedder");
    files::copy(&repository().join("examples/tiny-llama/model"), &folder);
    let module = |kind: &str| json!({"type": format!("sentence_transformers.models.{kind}"), "path": ""});
    let write = |types: &[&str]| {
        let modules: Vec<Value> = types.iter().map(|kind| module(kind)).collect();
        fs::write(folder.join("modules.json"), json!(modules).to_string()).unwrap();
        Ran::of(&mut place.command(["run", &folder.display().to_string(), "--prompt", "a", "--max-new-tokens", "1"]))
    };
    let ran = write(&types);
    assert!(ran.status != 0 && ran.stderr.contains("ETB0304") && ran.stderr.contains("says `mean`"), "{}", ran.stderr);
    write(&types[..1]).expect(0);
}

#[test]
fn options_that_a_model_lacks_are_refused_by_name() {
    let (Some(bert), Some(classes)) = (model("bert"), model("bert-classes")) else { return };
    let place = Place::cold();
    let refusal = |command: &str, model: &Path, more: &str| {
        let model = model.display().to_string();
        let ran = Ran::of(&mut place.command([command, &model].into_iter().chain(more.split(' '))));
        assert_ne!(ran.status, 0, "{more}: {}", ran.stdout);
        ran.stderr
    };
    for (command, model, more, word) in [
        ("run", &bert, "--prompt a --pair b", "second text"),
        ("run", &bert, "--prompt a --temperature 1", "--temperature"),
        ("run", &bert, "--prompt a --image x.png", "--image"),
        ("run", &bert, "--threads 1", "`--prompt TEXT`"),
        ("run", &bert, "--prompt a --set export.context=9", "`export.context`"),
        ("check", &bert, "--target linux-x86_64 --set constrain=true", "`constrain`"),
        ("check", &bert, "--target linux-x86_64 --set export.context=9", "`export.context`"),
        (
            "check",
            &bert,
            "--target linux-x86_64 --set quantize.rotate=hadamard --set quantize.scheme=8da4w",
            "`quantize.rotate`",
        ),
        ("run", &bert, "--prompt a --set text.max_tokens=900", "900 tokens"),
        ("run", &classes, "--prompt a --set text.pooling=cls", "`text.pooling`"),
    ] {
        let found = refusal(command, model, more);
        assert!(found.contains(word), "{more}: {found}");
    }
}

#[test]
fn a_binary_is_verified_and_answers_texts() {
    let Some(model) = model("bert-max") else { return };
    let place = Place::warm();
    let name = format!("encoder-{}", std::process::id());
    let case = model.with_file_name("case.safetensors");
    let recipe = format!(
        "etbuild: 1\nname: {name}\nmodel: {{ checkpoint: {} }}\ntargets: [linux-{}]\nverify: {{ inputs: {}, tolerance: 1e-4 }}\n",
        model.display(),
        std::env::consts::ARCH,
        case.display()
    );
    let recipe = place.file("encoder.yaml", recipe);
    Ran::of(&mut place.command(["deploy", &recipe.display().to_string()])).expect(0);
    let binary = place.out().join(&name).join(format!("linux-{}", std::env::consts::ARCH)).join(&name);
    let run = |arguments: &[&str]| Ran::of(Command::new(&binary).args(arguments));
    let answer = run(&["--json", "--prompt", "The cat sat."]).expect(0).json();
    let vector: Vec<f64> =
        answer["embedding"].as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect();
    let length: f64 = vector.iter().map(|number| number * number).sum();
    assert!(vector.len() == 48 && (length - 1.0).abs() < 1e-5, "{length}");
    let cut = run(&["--prompt", &"the ".repeat(40)]).expect(0);
    assert!(cut.stderr.contains("cut to 24 tokens"), "{}", cut.stderr);
    assert!(run(&["--chat"]).expect(8).stderr.contains("--chat"));
}

/// The binary of a model with a server.
fn served(place: &Place, model: &Path, name: &str) -> PathBuf {
    let target = format!("linux-{}", std::env::consts::ARCH);
    let recipe = format!(
        "etbuild: 1\nname: {name}\nmodel: {{ checkpoint: {} }}\ntargets: [{target}]\nserver: true\n",
        model.display()
    );
    let recipe = place.file(&format!("{name}.yaml"), recipe);
    Ran::of(&mut place.command(["build", &recipe.display().to_string()])).expect(0);
    place.out().join(name).join(target).join(name)
}

fn serving(binary: &Path) -> Server {
    Server::of(Command::new(binary).args(["--serve", "127.0.0.1:0"]))
}

/// The numbers of a list.
fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[test]
fn the_client_of_openai_gets_the_embeddings_of_the_command_line() {
    let (Some(model), Some(python)) = (model("bert-max"), python::with("openai")) else { return };
    let place = Place::cold_with_compiled_crates();
    let binary = served(&place, &model, "embeddings");
    let server = serving(&binary);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/embeddings.py");
    let texts = ["The cat sat.", "z\u{fc}rich is a city"];
    let base = format!("http://{}/v1", server.address);
    let got = Ran::of(Command::new(python).arg(script).arg(&base).args(texts)).expect(0).json();
    let told = |text: &str| {
        let answer = Ran::of(Command::new(&binary).args(["--json", "--prompt", text])).expect(0).json();
        numbers(&answer["embedding"])
    };
    // Both print the shortest decimals of the same float32 numbers.
    let narrow = |vector: Vec<f64>| vector.into_iter().map(|number| number as f32).collect::<Vec<_>>();
    for (index, text) in texts.iter().enumerate() {
        let found = &got["several"]["data"][index];
        assert_eq!((&found["object"], &found["index"]), (&json!("embedding"), &json!(index)));
        assert_eq!(narrow(numbers(&found["embedding"])), narrow(told(text)));
    }
    assert_eq!(narrow(numbers(&got["float"]["data"][0]["embedding"])), narrow(told(texts[0])));
    assert_eq!((&got["several"]["object"], &got["several"]["model"]), (&json!("list"), &json!("embeddings")));
    let usage = &got["tokens"]["usage"];
    assert_eq!((&usage["prompt_tokens"], &usage["total_tokens"]), (&json!(6), &json!(6)));
    assert_eq!(got["cut"]["usage"]["prompt_tokens"], 24);
    let refused: Vec<_> = got["refused"].as_array().unwrap().iter().map(|one| &one["status"]).collect();
    assert_eq!(refused, [400, 400, 400, 400, 404, 404], "{got}");
    assert!(got["refused"][0]["message"].as_str().unwrap().contains("the model reads 24"), "{got}");
    assert!(got["refused"][5]["message"].as_str().unwrap().contains("/v1/embeddings"), "{got}");
}

#[test]
fn a_decoder_for_embeddings_is_served_as_an_encoder() {
    let (Some(model), Some(tied)) = (model("qwen3-embedding"), model("qwen3-tied")) else { return };
    let place = Place::cold_with_compiled_crates();
    let binary = served(&place, &model, "decoded");
    let server = serving(&binary);
    let texts = ["The cat sat.", "z\u{fc}rich is a city", "The cat sat."];
    let got = server.post("/v1/embeddings", &json!({ "input": texts })).json();
    let vectors: Vec<Vec<f64>> = (0..3).map(|index| numbers(&got["data"][index]["embedding"])).collect();
    assert!(vectors[0] == vectors[2] && vectors[0] != vectors[1], "the numbers of a text do not depend on other texts");
    for (text, vector) in texts.iter().zip(&vectors) {
        let told = Ran::of(Command::new(&binary).args(["--json", "--prompt", text])).expect(0).json();
        // Both print the shortest decimals of the same float32 numbers.
        assert!(
            numbers(&told["embedding"]).iter().zip(vector).all(|(told, got)| *told as f32 == *got as f32),
            "{text}"
        );
        assert!((vector.iter().map(|number| number * number).sum::<f64>() - 1.0).abs() < 1e-5);
    }
    assert_eq!(server.post("/v1/completions", &json!({ "prompt": "a" })).status, 404);
    let refused = Ran::of(Command::new(&binary).args(["--prompt", "a", "--max-new-tokens", "3"]));
    assert!(refused.status != 0 && refused.stderr.contains("--max-new-tokens"), "{}", refused.stderr);

    // What the recipe says is stronger than the files.
    let mut plain = loaded(&tied, &place, &["text.normalize=false"]);
    let mut unit = loaded(&tied, &place, &["text.normalize=true", "text.max_tokens=9"]);
    let [plain, unit_of] = [plain.run(&[4, 7, 9], &[]).unwrap(), unit.run(&[4, 7, 9], &[]).unwrap()];
    let length = plain.iter().map(|number| number * number).sum::<f32>().sqrt();
    assert!((length - 1.0).abs() > 0.1);
    assert!(plain.iter().zip(&unit_of).all(|(plain, unit)| (plain / length - unit).abs() < 1e-5));
    assert!(unit.run(&[4; 10], &[]).is_err());
}

#[test]
fn a_reranker_is_served_and_other_encoders_are_refused() {
    let names = ["xlm-roberta-score", "bert-classes"].map(model);
    let [Some(model), Some(classes)] = names else { return };
    let place = Place::cold_with_compiled_crates();
    let binary = served(&place, &model, "rerank");
    let server = serving(&binary);
    let documents = ["the dog", "z\u{fc}rich is a city of cats", "a mat"];
    let told = |document: &str| {
        let command = ["--json", "--prompt", "a city ?", "--pair", document];
        Ran::of(Command::new(&binary).args(command)).expect(0).json()["score"].as_f64().unwrap()
    };
    let mut wanted: Vec<(usize, f64)> = documents.iter().map(|document| told(document)).enumerate().collect();
    wanted.sort_by(|left, right| right.1.total_cmp(&left.1));
    let ask = |more: Value| {
        let mut body = json!({ "model": "rerank", "query": "a city ?", "documents": documents });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post("/v1/rerank", &body)
    };
    let got = ask(json!({ "return_documents": true })).json();
    let results = got["results"].as_array().unwrap();
    let found =
        results.iter().map(|one| (one["index"].as_u64().unwrap() as usize, one["relevance_score"].as_f64().unwrap()));
    for (found, wanted) in found.zip(&wanted) {
        assert!(found.0 == wanted.0 && (found.1 - wanted.1).abs() < 1e-6, "{found:?} {wanted:?}");
    }
    assert!(results.iter().all(|one| one["document"]["text"] == documents[one["index"].as_u64().unwrap() as usize]));
    assert!(got["usage"]["total_tokens"].as_u64() > Some(9), "{got}");
    let best = ask(json!({ "top_n": 1 })).json();
    assert_eq!(best["results"].as_array().unwrap().len(), 1);
    assert_eq!((&best["results"][0]["index"], &best["results"][0]["document"]), (&json!(wanted[0].0), &Value::Null));
    assert_eq!(ask(json!({ "documents": [] })).status, 400);
    assert_eq!(server.post("/v1/embeddings", &json!({ "input": "a" })).status, 404);

    let binary = served(&place, &classes, "classes");
    let refused = Ran::of(Command::new(binary).args(["--serve", "127.0.0.1:0"])).expect(8);
    assert!(refused.stderr.contains("this encoder gives labels"), "{}", refused.stderr);
}
