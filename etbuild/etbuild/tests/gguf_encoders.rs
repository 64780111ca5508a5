//! Models in GGUF that read pictures or hear, with the encoder in a file `mmproj` beside: prompts, logits and greedy texts equal those of
//! transformers, for every model of `gguf_encoders.py`, on the portable kernels and on the CPU backend. Needs `ETBUILD_TEST_PYTHON`, a Python
//! with torch, transformers and gguf; without it these tests fail, unless `ETBUILD_SKIP_PYTHON=1` skips them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::support::logits::{Expected, expect_no_mistake};
use crate::support::talks::{Talk, cases, mistake_in_talk};
use crate::support::{Place, Ran, python};
use crate::{hearing, vision};

/// The tokens behind each prompt.
const STEPS: &str = "50";

/// The folders of all models, written once; `None` without a Python.
fn models() -> Option<Vec<PathBuf>> {
    static FOLDER: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let packages = "torch, transformers and gguf";
    let folder = FOLDER.get_or_init(|| python::written_by("gguf_encoders.py", packages, &[STEPS]));
    folder.as_ref().map(python::folders)
}

fn folder(name: &str) -> Option<PathBuf> {
    models()?.into_iter().find(|model| model.ends_with(name))
}

fn mistake(folder: &Path, place: &Place, partition: &str) -> Option<String> {
    let model = folder.join("model.gguf");
    let mut session = match folder.ends_with("voxtral") {
        true => hearing::loaded(&model, place, &[partition, "export.prefill=[8, 32]", "export.context=400"]),
        false => vision::loaded(&model, place, &[partition]),
    };
    let mut cases = cases::<Talk>(folder).into_iter().enumerate();
    cases.find_map(|(index, case)| mistake_in_talk(&mut session, folder, index, &case))
}

#[test]
fn every_encoder_beside_a_model_in_gguf_gives_what_transformers_gives() {
    let Some(models) = models() else { return };
    expect_no_mistake(models, mistake);
}

/// A folder with the files of a model in GGUF, and what the command says about a picture.
fn run(place: &Place, folder: &Path, more: &[&str]) -> Ran {
    let out = place.path().join("tokens.txt").display().to_string();
    let start = ["run", "model.gguf", "--max-new-tokens", STEPS, "--set", "export.context=480", "--tokens-out", &out];
    let arguments = start.iter().chain(more).map(|word| (*word).to_owned());
    Ran::of(place.command(arguments).current_dir(folder))
}

#[test]
fn the_command_finds_the_encoder_beside_the_file() {
    let Some(folder) = folder("gemma3") else { return };
    let place = Place::cold();
    let ask = ["--image", "wide.png", "--prompt", "What is this?"];
    run(&place, &folder, &ask).expect(0);
    let tokens = fs::read_to_string(place.path().join("tokens.txt")).unwrap();
    let tokens: Vec<i64> = tokens.split_whitespace().map(|token| token.parse().unwrap()).collect();
    let expected = Expected::read(&folder.join("1.safetensors"));
    assert_eq!(tokens, expected.steps().map(|(token, _)| token).take_while(|token| *token != 2).collect::<Vec<i64>>());
    // Without the encoder, or with two that may be meant, the model reads texts.
    let alone = place.path().join("alone");
    fs::create_dir(&alone).unwrap();
    for name in ["model.gguf", "wide.png"] {
        fs::copy(folder.join(name), alone.join(name)).unwrap();
    }
    let said = run(&place, &alone, &ask).expect(2).stderr;
    assert!(said.contains("reads no pictures") || said.contains("no picture"), "{said}");
    run(&place, &alone, &["--prompt", "What is this?"]).expect(0);
}

#[test]
fn an_encoder_of_another_model_is_refused() {
    let Some([gemma, qwen, voxtral]) =
        folder("gemma3").and_then(|gemma| Some([gemma, folder("qwen2-vl")?, folder("voxtral")?]))
    else {
        return;
    };
    let place = Place::cold();
    let mixed = place.path().join("mixed");
    fs::create_dir(&mixed).unwrap();
    fs::copy(gemma.join("model.gguf"), mixed.join("model.gguf")).unwrap();
    for (other, supported) in [(&qwen, "`gemma3` beside `gemma3`"), (&voxtral, "`gemma3` beside `gemma3`")] {
        fs::copy(other.join("mmproj.gguf"), mixed.join("mmproj.gguf")).unwrap();
        let said = run(&place, &mixed, &["--prompt", "a"]).expect(4).stderr;
        assert!(said.contains("clip.projector_type") && said.contains(supported), "{said}");
    }
}
