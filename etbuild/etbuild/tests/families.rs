//! Families of language models: logits equal those of transformers and greedy texts are the same, for a prompt in prefill chunks and
//! then for single tokens, on the portable kernels and on the CPU backend. `families.py` has the table of models. Needs
//! `ETBUILD_TEST_PYTHON`, a Python with torch and transformers; without it these tests fail, unless `ETBUILD_SKIP_PYTHON=1` skips
//! them. `ETBUILD_TEST_TOKENS` is the length of the greedy texts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use etbuild_engine::Event;

use crate::support::logits::{self, Expected, Model, difference, expect_no_mistake};
use crate::support::{self, Place};

/// The tokens of a prefill chunk.
const PIECE: usize = 16;

/// How many tokens follow each prompt.
fn tokens() -> usize {
    std::env::var("ETBUILD_TEST_TOKENS").map_or(24, |count| count.parse().unwrap())
}

/// The folders of all models, written once; `None` without a Python.
fn models() -> Option<Vec<PathBuf>> {
    static FOLDER: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let count = tokens().to_string();
    let folder = FOLDER.get_or_init(|| support::python::written_by("families.py", "torch and transformers", &[&count]));
    folder.as_ref().map(support::python::folders)
}

/// The difference that is too far: both sides sum in `float32`, and the order of PyTorch's sums depends on the processor.
const TOLERANCE: f32 = 2e-4;

/// The difference of the logits from the logits of transformers, if any is too large, or the place where the texts differ.
fn mistake(model: &Path, place: &Place, partition: &str) -> Option<String> {
    let context = format!("export.context={}", tokens() + 40);
    let options = [partition, &context, &format!("export.prefill={PIECE}")];
    let files = logits::files_with(&model.join("model"), &place.cache(), &options, Arc::new(|_: &Event| {}));
    let (mut model, expected) = (Model::load(&files, PIECE), Expected::read(&model.join("expected.safetensors")));
    let mut logits = model.logits(&expected.prompt);
    let mut most = difference(&expected.prompt_logits, &logits);
    for (index, (token, expected)) in expected.steps().enumerate() {
        if likeliest(&logits) != token {
            return Some(format!("another token at {index}"));
        }
        logits = model.logits(&[token]);
        most = most.max(difference(expected, &logits));
    }
    (most.is_nan() || most > TOLERANCE).then(|| format!("{most:e}"))
}

fn likeliest(logits: &[f32]) -> i64 {
    let most = (0..).zip(logits).max_by(|left, right| left.1.total_cmp(right.1));
    most.map_or(-1, |(token, _)| token)
}

#[test]
fn every_family_gives_the_logits_and_the_text_of_transformers() {
    let Some(models) = models() else { return };
    expect_no_mistake(models, mistake);
}

#[test]
fn every_known_architecture_is_tested() {
    let others =
        [crate::encoders::models(), crate::vision::models(), crate::hearing::models(), crate::seq2seq::models()];
    let (Some(models), [Some(encoders), Some(eyes), Some(ears), Some(pairs)]) = (models(), others) else { return };
    let architecture = |model: PathBuf| {
        let config = fs::read(model.join("model/config.json")).unwrap();
        let config: serde_json::Value = serde_json::from_slice(&config).unwrap();
        config["architectures"][0].as_str().unwrap().to_owned()
    };
    let tested: BTreeSet<String> =
        [models, encoders, eyes, ears, pairs].into_iter().flatten().map(architecture).collect();
    let others =
        ["Mistral", "Qwen2", "Qwen3", "Phi3", "PhiMoE", "Gemma2", "Gemma3"].map(|name| format!("{name}ForCausalLM"));
    // The encoder of pictures of Gemma 3n needs a package that the tests lack.
    let others: Vec<String> = others.into_iter().chain(["Gemma3nForConditionalGeneration".to_owned()]).collect();
    let place = Place::cold();
    let folder = place.path().join("unknown");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("config.json"), r#"{"architectures": ["Unknown"]}"#).unwrap();
    fs::write(folder.join("model.safetensors"), [2, 0, 0, 0, 0, 0, 0, 0, b'{', b'}']).unwrap();
    let said = place.run(&format!("build {} --target linux-x86_64", folder.display())).stderr;
    let missing = r#"{"architectures": ["Unknown"], "index_topk": 8, "torch_dtype": "float16", "hidden_size": 8, "index_n_heads": 2,
        "layer_types": ["wave_attention", "full_attention"]}"#;
    fs::write(folder.join("config.json"), missing).unwrap();
    let told = place.run(&format!("build {} --target linux-x86_64", folder.display())).stderr;
    assert!(
        told.contains("no family has its `index_topk`, `index_n_heads`, `layer_types: wave_attention`; known"),
        "{told}"
    );
    let (_, known) = said.split_once("known are ").unwrap();
    let known = known.lines().next().unwrap().split(", ");
    let untested = known.filter(|name| !tested.contains(*name) && !others.iter().any(|other| other == name));
    assert_eq!(untested.collect::<Vec<_>>(), [""; 0]);
}
