//! Models that hear: features, transcripts, segments, logits and greedy texts equal those of transformers, on the portable kernels and on the
//! CPU backend. `hearing.py` has the models. Needs `ETBUILD_TEST_PYTHON`, a Python with torch and transformers; without it these tests
//! fail, unless `ETBUILD_SKIP_PYTHON=1` skips them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use et_llm::{Heard, Hearing, Loading, Message, Part, Picture, Prompt, Session, SpokenTask, Transcript, Wanted, is_image};
use et_module::safetensors::SafeTensors;
use et_module::{DataFiles, FileBytes, Kernels};
use etbuild_engine::Event;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::logits::{ENGINES, Expected, difference, expect_no_mistake, files_with, kernel};
use crate::support::{Place, Ran, python};

/// The tokens of a window, or behind a prompt.
const STEPS: usize = 50;

/// A transcript.
#[derive(Deserialize)]
struct Spoken {
    sound: String,
    language: Option<String>,
    task: Option<String>,
    #[serde(default)]
    timestamps: bool,
    prompt: Option<String>,
    /// The language that the model hears.
    heard: Option<String>,
    segments: Vec<Piece>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Piece {
    start: f64,
    end: f64,
    tokens: Vec<u32>,
}

/// A conversation, and the tokens of its prompt.
#[derive(Deserialize)]
struct Talk {
    messages: Vec<Said>,
    tokens: Vec<u32>,
}

#[derive(Deserialize)]
struct Said {
    role: String,
    parts: Vec<SaidPart>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum SaidPart {
    Text(String),
    Sound(String),
}

/// The folders of all models, written once; `None` without a Python.
pub fn models() -> Option<Vec<PathBuf>> {
    static FOLDER: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let steps = STEPS.to_string();
    let folder = FOLDER.get_or_init(|| python::written_by("hearing.py", "torch and transformers", &[&steps]));
    let entries = fs::read_dir(folder.as_ref()?.path()).unwrap();
    let mut models: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    models.sort();
    Some(models)
}

/// The folder of a model.
fn folder(name: &str) -> Option<PathBuf> {
    models()?.into_iter().find(|model| model.ends_with(name))
}

fn cases<T: for<'de> Deserialize<'de>>(folder: &Path) -> Vec<T> {
    serde_json::from_slice(&fs::read(folder.join("cases.json")).unwrap()).unwrap()
}

/// The rows of a tensor of numbers in a file.
fn rows(file: &Path, name: &str) -> Vec<Vec<f32>> {
    let bytes = fs::read(file).unwrap();
    let file = SafeTensors::parse(&bytes).unwrap();
    let tensor = file.tensors.get(name).unwrap();
    let width = *tensor.shape.last().unwrap();
    let numbers: Vec<f32> = tensor.bytes.as_chunks().0.iter().copied().map(f32::from_le_bytes).collect();
    numbers.chunks(width).map(<[f32]>::to_vec).collect()
}

fn loaded(folder: &Path, place: &Place, options: &[&str]) -> Session {
    let files = files_with(&folder.join("model"), &place.cache(), options, Arc::new(|_: &Event| {}));
    let loading = Loading {
        kernels: Kernels::Lookup(&kernel),
        engines: ENGINES,
        threads: 2,
        guesses: None,
        text: Some(et_text::make),
        constrain: None,
        vision: None,
        hearing: Some(Hearing { open: et_hearing::open, read: et_media::sound }),
        observer: None,
    };
    let file = FileBytes::copied(&files.program);
    Session::load(file, || Ok(DataFiles::default()), &loading, Instant::now()).unwrap()
}

/// The transcript of a case, and the logits of each step.
fn transcribed(session: &mut Session, folder: &Path, case: &Spoken) -> (Transcript, Vec<Vec<f32>>) {
    let sound = fs::read(folder.join(format!("{}.wav", case.sound))).unwrap();
    let wanted = Wanted {
        language: case.language.clone(),
        task: case.task.as_deref().and_then(SpokenTask::of).unwrap_or_default(),
        timestamps: case.timestamps,
        prompt: case.prompt.clone(),
        sampling: session.sampling(),
        most: Some(STEPS),
    };
    let (text, mut logits) = (session.text().unwrap(), Vec::new());
    let mut see = |heard: Heard<'_>| {
        if let Heard::Token(_, row) = heard {
            logits.push(row.to_vec());
        }
        Ok(())
    };
    let transcriber = session.transcriber.as_mut().unwrap();
    let transcript = transcriber.transcribe(&mut session.model, &*text, &sound, &wanted, &mut see).unwrap();
    (transcript, logits)
}

/// The mistake of a model in a transcript, if any; rows of logits may be `most` apart.
fn mistake_in_transcript(session: &mut Session, folder: &Path, index: usize, case: &Spoken, most: f32) -> Option<String> {
    let (found, logits) = transcribed(session, folder, case);
    if found.language != case.heard {
        return Some(format!("{index}: the language is {:?}, not {:?}", found.language, case.heard));
    }
    let tokens = |pieces: &mut dyn Iterator<Item = &Vec<u32>>| pieces.cloned().collect::<Vec<Vec<u32>>>();
    let [found_tokens, wanted] = [
        tokens(&mut found.segments.iter().map(|segment| &segment.tokens)),
        tokens(&mut case.segments.iter().map(|piece| &piece.tokens)),
    ];
    if found_tokens != wanted {
        return Some(format!("{index}: {found_tokens:?}, not {wanted:?}"));
    }
    let apart = |(segment, piece): (&et_llm::Segment, &Piece)| {
        (segment.start - piece.start).abs().max((segment.end - piece.end).abs()) > 1e-6
    };
    if case.timestamps && found.segments.iter().zip(&case.segments).any(apart) {
        return Some(format!("{index}: other times: {:?}, not {:?}", found.segments, case.segments));
    }
    if index > 0 {
        return None;
    }
    let expected = rows(&folder.join("logits.safetensors"), "logits");
    let largest = expected.iter().zip(&logits).map(|(wanted, found)| difference(wanted, found)).fold(0.0, f32::max);
    let is_wrong = expected.len() < STEPS || logits.len() < STEPS || largest.is_nan() || largest > most;
    is_wrong.then(|| format!("{index}: {largest:e} in {} steps", expected.len()))
}

/// The prompt of a conversation.
fn prompt(session: &Session, folder: &Path, case: &Talk) -> Prompt {
    let (viewer, text) = (session.viewer().unwrap(), session.text().unwrap());
    let sound =
        |name: &str| -> Arc<Picture> { Arc::new(viewer.picture(&fs::read(folder.join(name)).unwrap()).unwrap()) };
    let part = |part: &SaidPart| match part {
        SaidPart::Text(text) => Part::Text(text.clone()),
        SaidPart::Sound(name) => Part::Picture(sound(name)),
    };
    let role = |name: &str| ["system", "user", "assistant"].into_iter().find(|role| *role == name).unwrap();
    let message = |said: &Said| Message::of_parts(role(&said.role), said.parts.iter().map(part).collect());
    let messages: Vec<Message> = case.messages.iter().map(message).collect();
    let rendered = text.conversation(&messages).unwrap();
    viewer.prompt(&*text, &rendered, false, &Message::pictures(&messages)).unwrap()
}

/// The mistake of a model in a conversation, if any. The KV cache has what the conversation before left.
fn mistake_in_talk(session: &mut Session, folder: &Path, index: usize, case: &Talk) -> Option<String> {
    let prompt = prompt(session, folder, case);
    let audio = case.tokens.iter().zip(&prompt.tokens).find(|(_, found)| is_image(**found)).map(|(token, _)| *token);
    let found: Vec<u32> =
        prompt.tokens.iter().map(|token| if is_image(*token) { audio.unwrap_or(*token) } else { *token }).collect();
    if found != case.tokens {
        return Some(format!("{index}: other tokens: {found:?}, not {:?}", case.tokens));
    }
    let expected = Expected::read(&folder.join(format!("{index}.safetensors")));
    let model = &mut session.model;
    let known = model.rewind(&prompt.tokens);
    model.show(&prompt.tiles);
    let mut most = difference(&expected.prompt_logits, model.read(&prompt.tokens[known..]).unwrap());
    for (step, (token, wanted)) in expected.steps().enumerate() {
        let largest = (0..).zip(model.logits()).max_by(|left, right| left.1.total_cmp(right.1)).unwrap();
        if largest.0 != token {
            return Some(format!("{index}: another token at {step}"));
        }
        most = most.max(difference(wanted, model.read(&[token as u32]).unwrap()));
    }
    (most.is_nan() || most > 1e-4).then(|| format!("{index}: {most:e}"))
}

fn mistake(folder: &Path, place: &Place, partition: &str) -> Option<String> {
    if folder.ends_with("voxtral") {
        let mut session = loaded(folder, place, &[partition, "export.prefill=[8, 32]", "export.context=400"]);
        let mut cases = cases::<Talk>(folder).into_iter().enumerate();
        return cases.find_map(|(index, case)| mistake_in_talk(&mut session, folder, index, &case));
    }
    let mut session = loaded(folder, place, &[partition, "export.prefill=[4, 16]"]);
    let mut cases = cases::<Spoken>(folder).into_iter().enumerate();
    cases.find_map(|(index, case)| mistake_in_transcript(&mut session, folder, index, &case, 1e-4))
}

#[test]
fn every_model_hears_what_transformers_hears() {
    let Some(models) = models() else { return };
    expect_no_mistake(models, mistake);
}

#[test]
fn features_are_those_of_transformers() {
    let Some(folder) = folder("whisper") else { return };
    for bands in [80, 128] {
        for (sound, frames) in [("short", 130), ("long", 507)] {
            let file = fs::read(folder.join(format!("{sound}.wav"))).unwrap();
            let features = et_hearing::Mel::new(bands).features(&et_media::sound(&file, 16_000).unwrap());
            let found = features.window(0, frames);
            let found: Vec<f32> = found.as_chunks().0.iter().copied().map(f32::from_le_bytes).collect();
            let wanted = rows(&folder.join("features.safetensors"), &format!("{sound}.{bands}")).concat();
            assert_eq!((found.len(), features.frames()), (wanted.len(), frames));
            let largest = found.iter().zip(&wanted).map(|(one, other)| (one - other).abs()).fold(0.0, f32::max);
            assert!(largest < 1e-4, "{sound}, {bands} bands: {largest:e}");
        }
    }
}
