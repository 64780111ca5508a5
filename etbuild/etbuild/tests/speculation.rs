//! Speculative decoding never changes the text: logits of verified tokens equal logits of single tokens, bit for bit,
//! and texts with `--lookup` or `--draft-model` equal texts without. Small models with random weights need
//! `ETBUILD_TEST_PYTHON`, a Python with torch and transformers; without it these tests fail, unless
//! `ETBUILD_SKIP_PYTHON=1` skips them.

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use et_llm::Model;
use et_module::{DataFiles, Engines, FileBytes, Kernels};
use etbuild_engine::{Event, Mode, World, program_file};
use etbuild_recipe::Override;
use etbuild_system::RealSystem;

use crate::support::logits::{BACKENDS, ENGINES, kernel};
use crate::support::{self, Place, Ran, repository};

/// A family per kind of attention: full attention; sliding window in some or all layers; soft-capping.
const FAMILIES: [&str; 4] = ["qwen3", "mistral", "gemma2", "gemma3"];
/// Tokens of a text that goes around windows of 9 and pieces of 16 many times.
const LENGTH: usize = 230;

/// The folder of the families, written once; `None` without a Python.
fn checkpoints() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let folder =
        FOLDER.get_or_init(|| support::python::written_by("checkpoints.py", "torch and transformers", &FAMILIES));
    folder.as_ref().map(tempfile::TempDir::path)
}

/// The program file of a checkpoint with these options.
fn built(place: &Place, folder: &Path, options: &[&str]) -> Vec<u8> {
    let world = World::open(Arc::new(RealSystem::default()), &place.cache(), Arc::new(|_: &Event| {}), Mode::Build, 1);
    let world = world.unwrap().backends(BACKENDS);
    let options: Vec<Override> = options.iter().map(|text| Override::parse(text).unwrap()).collect();
    program_file(&Arc::new(world), folder, &options).unwrap().to_vec()
}

fn loaded(file: &[u8]) -> Model {
    let (file, engines) = (Rc::new(FileBytes::copied(file)), Engines::new(ENGINES, 2));
    let kernels = Kernels::Lookup(&kernel);
    let mut model = Model::load(&file, || Ok(DataFiles::default()), kernels, &engines).unwrap();
    model.load_verify(&file, DataFiles::default(), kernels, &engines).unwrap();
    model
}

fn bits(logits: &[f32]) -> Vec<u32> {
    logits.iter().map(|logit| logit.to_bits()).collect()
}

/// The logits after each token, with correct, wrong or no draft tokens in turns, and the number of accepted tokens.
fn read_ahead(model: &mut Model, text: &[u32]) -> (Vec<Vec<u32>>, usize) {
    let (mut rows, mut right) = (Vec::new(), 0);
    for (index, token) in text.iter().enumerate() {
        if model.expects(*token) {
            right += 1;
            rows.push(bits(model.read(&[*token]).unwrap()));
            continue;
        }
        let mut guesses: Vec<u32> = text[index + 1..].iter().take(index * 7 % 11).copied().collect();
        if let Some(wrong) = guesses.get_mut(index * 5 % 9) {
            *wrong = 210 - *wrong;
        }
        rows.push(bits(model.read_ahead(*token, &guesses).unwrap()));
    }
    (rows, right)
}

/// A text without a pattern.
fn text() -> Vec<u32> {
    (0..LENGTH as u32).map(|index| 3 + index * index * 31 % 197).collect()
}

#[test]
fn verified_tokens_have_the_bits_of_decoded_tokens() {
    let Some(folder) = checkpoints() else { return };
    let (place, text) = (Place::cold(), text());
    for (family, scheme) in FAMILIES.into_iter().flat_map(|family| {
        ["float", "8da4w", "int8-weights"].map(|scheme| (family, format!("quantize.scheme={scheme}")))
    }) {
        for partition in ["partition=[cpu]", "partition=[portable]"] {
            if partition == "partition=[portable]" && scheme != "quantize.scheme=float" {
                continue;
            }
            let sizes = ["export.context=256", "export.prefill=16", "export.speculate=8"];
            let options = [&sizes[..], &[&scheme, "quantize.group_size=16", partition]].concat();
            let file = built(&place, &folder.join(family).join("model"), &options);
            let (mut plain, mut ahead) = (loaded(&file), loaded(&file));
            let one_by_one: Vec<Vec<u32>> = text.iter().map(|token| bits(plain.read(&[*token]).unwrap())).collect();
            let (rows, right) = read_ahead(&mut ahead, &text);
            let differs = rows.iter().zip(&one_by_one).position(|(one, other)| one != other);
            assert_eq!((differs, rows.len()), (None, LENGTH), "{family} {scheme} {partition}");
            assert!(right > LENGTH / 4, "{right}");
            assert_eq!(ahead.tokens(), text);
        }
    }
}

#[test]
fn a_text_continues_from_any_position_after_rejected_tokens() {
    let Some(folder) = checkpoints() else { return };
    let (place, text) = (Place::cold(), text());
    let sizes = ["export.context=256", "export.prefill=8", "export.speculate=8", "partition=[cpu]"];
    let file = built(&place, &folder.join("mistral").join("model"), &sizes);
    let wrong: Vec<u32> = (0..7).map(|index| 200 - index).collect();
    for back in 1..10 {
        let mut model = loaded(&file);
        model.read(&text[..100]).unwrap();
        model.read_ahead(text[100], &wrong).unwrap();
        let known = model.rewind(&text[..101 - back]);
        assert!(known == 100 - back || known == 0, "{known}");
        let logits = bits(model.read(&text[known..101 - back]).unwrap());
        let mut fresh = loaded(&file);
        assert_eq!(logits, bits(fresh.read(&text[..101 - back]).unwrap()), "{back} back, {known} known");
    }
}

#[test]
fn the_context_is_used_up_to_its_end() {
    let Some(folder) = checkpoints() else { return };
    let place = Place::cold();
    let sizes = ["export.context=24", "export.prefill=16", "export.speculate=8"];
    let mut model = loaded(&built(&place, &folder.join("qwen3").join("model"), &sizes));
    model.limit(Some(24));
    model.read(&[5; 20]).unwrap();
    assert_eq!(model.room_ahead(), 3);
    model.read_ahead(5, &[5; 7]).unwrap();
    assert!((0..3).all(|_| model.expects(5) && model.read(&[5]).is_ok()));
    assert_eq!((model.room_ahead(), model.tokens().len()), (0, 24));
    assert!(model.read_ahead(5, &[5]).is_err());
}

/// Texts that `etbuild run` continues.
struct Continued {
    tokens: String,
    logits: Vec<u8>,
    stats: String,
}

fn continued(place: &Place, program: &Path, more: &[&str]) -> Continued {
    let prompt = place.file("prompt.txt", "3 9 100 7 9 100");
    let (tokens, logits) = (place.path().join("tokens.txt"), place.path().join("logits.safetensors"));
    let files = [("--tokens-in", &prompt), ("--tokens-out", &tokens), ("--logits", &logits)];
    let mut command = place.command(["run"]);
    command.arg(program).args(["--max-new-tokens", "210", "--stats"]).args(more);
    files.into_iter().for_each(|(name, path)| {
        command.arg(name).arg(path);
    });
    let stats = Ran::of(&mut command).expect(0).stderr;
    Continued { tokens: fs::read_to_string(tokens).unwrap(), logits: fs::read(logits).unwrap(), stats }
}

/// The numbers of proposed and accepted tokens in the output of `--stats`.
fn accepted(stats: &str) -> [usize; 2] {
    let (right, rest) =
        stats.split_once(" draft tokens accepted").unwrap().0.rsplit_once("; ").unwrap().1.split_once(" of ").unwrap();
    [rest.parse().unwrap(), right.parse().unwrap()]
}

/// A program file of a family with this end token.
fn program(place: &Place, family: &str, end: u32, options: &[&str]) -> Option<PathBuf> {
    let sizes = ["export.context=220", "export.prefill=16"];
    let (from, name) = (checkpoints()?.join(family).join("model"), format!("{family}-{end}-{}", options.len()));
    for file in fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        let bytes = fs::read(file.path()).unwrap();
        let name = format!("{name}/{}", file.file_name().to_str().unwrap());
        if !name.ends_with(".json") {
            place.file(&name, bytes);
            continue;
        }
        let text = String::from_utf8(bytes).unwrap();
        place.file(&name, text.replace("\"eos_token_id\": 2", &format!("\"eos_token_id\": {end}")));
    }
    let file = built(place, &place.path().join(&name), &[&sizes[..], options].concat());
    Some(place.file(&format!("{name}.pte"), file))
}

/// No token.
const NEVER: u32 = 5000;

#[test]
fn every_draft_gives_the_same_text() {
    let place = Place::cold();
    for (family, other, partition) in
        [("qwen3", "gemma3", "partition=[cpu]"), ("gemma3", "qwen3", "partition=[portable]")]
    {
        let Some(model) = program(&place, family, NEVER, &[partition, "export.speculate=6"]) else { return };
        let same = program(&place, family, NEVER, &[partition]).unwrap();
        let other = program(&place, other, NEVER, &[partition]).unwrap();
        let [same, other] = [&same, &other].map(|path| path.to_str().unwrap());
        for sampling in [&["--temperature", "0"][..], &["--temperature", "0.7", "--seed", "3", "--top-k", "20"]] {
            let say = |more: &[&str]| continued(&place, &model, &[sampling, more].concat());
            let plain = say(&[]);
            assert_eq!(plain.tokens.split_whitespace().count(), 210, "{}", plain.stats);
            for draft in [&["--lookup"][..], &["--draft-model", same], &["--draft-model", other]] {
                let guessed = say(draft);
                assert_eq!(guessed.tokens, plain.tokens, "{family} {sampling:?} {draft:?}");
                assert!(guessed.logits == plain.logits, "{family} {sampling:?} {draft:?}");
                let [proposed, right] = accepted(&guessed.stats);
                let is_same = draft.last() == Some(&same) && sampling[1] == "0";
                assert!(if is_same { proposed == right && right > 150 } else { proposed > 0 }, "{}", guessed.stats);
            }
        }
    }
}

#[test]
fn an_end_token_among_accepted_tokens_ends_the_text() {
    let place = Place::cold();
    let Some(never) = program(&place, "qwen3", NEVER, &[]) else { return };
    let tokens: Vec<u32> =
        continued(&place, &never, &[]).tokens.split(' ').map(|word| word.trim().parse().unwrap()).collect();
    // A token that comes late for the first time.
    let is_first = |index: &usize| !tokens[..*index].contains(&tokens[*index]);
    let end = (0..tokens.len()).rfind(is_first).unwrap();
    let model = program(&place, "qwen3", tokens[end], &["export.speculate=8"]).unwrap();
    let draft = never.to_str().unwrap();
    for draft in [&[][..], &["--lookup"], &["--draft-model", draft]] {
        let said = continued(&place, &model, draft).tokens;
        let said: Vec<u32> = said.split_whitespace().map(|word| word.parse().unwrap()).collect();
        assert_eq!(said, tokens[..end], "{draft:?}");
    }
}

#[test]
fn impossible_speculation_is_refused_with_a_hint() {
    let place = Place::cold();
    let Some(without) = program(&place, "qwen3", NEVER, &[]) else { return };
    let refused = |program: &Path, words: &[&str], code: &str, hint: &str| {
        let prompt = place.file("prompt.txt", "3 9 100");
        let mut command = place.command(["run"]);
        command.arg(program).arg("--tokens-in").arg(prompt).args(words);
        let said = Ran::of(&mut command).expect(2).stderr;
        assert!(said.contains(code) && said.contains(hint), "{said}");
    };
    refused(&without, &["--lookup"], "no method `verify`", "export.speculate=8");
    let with = program(&place, "qwen3", NEVER, &["export.speculate=6"]).unwrap();
    let tiny = place.file("tiny.pte", built(&place, &repository().join("examples/tiny-llama/model"), &[]));
    refused(&with, &["--draft-model", tiny.to_str().unwrap()], "673 tokens", "smaller model");
    refused(&with, &["--draft-model", "nowhere.pte"], "nowhere.pte", "smaller model");
    refused(&with, &["--lookup", "--draft-model", "x.pte"], "--draft-model", "");
}

#[test]
fn the_method_costs_no_weights() {
    let Some(folder) = checkpoints() else { return };
    let place = Place::cold();
    let size = |options: &[&str]| {
        built(&place, &folder.join("mistral").join("model"), &[&["partition=[cpu]"], options].concat()).len()
    };
    let (without, with) = (size(&[]), size(&["export.speculate=8"]));
    // Weights are more than 300 thousand bytes.
    assert!(without > 300_000 && without < with && with < without + 50_000, "{without} {with}");
    assert_eq!(size(&["export.speculate=0"]), without);
}
