//! Models that hear: features, transcripts, segments, logits and greedy texts equal those of transformers, on the portable kernels and on the
//! CPU backend. `hearing.py` has the models. Needs `ETBUILD_TEST_PYTHON`, a Python with torch and transformers; without it these tests
//! fail, unless `ETBUILD_SKIP_PYTHON=1` skips them.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use et_llm::{Heard, Hearing, Loading, Session, SpokenTask, Transcript, Wanted};
use et_module::preprocess::Media;
use et_module::safetensors::SafeTensors;
use et_module::{DataFiles, FileBytes};
use etbuild_engine::Event;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::serve::Server;
use crate::support::logits::{Expected, cosine, difference, expect_no_mistake, files_with, loading};
use crate::support::talks::{Talk, cases, mistake_in_talk};
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

/// The folders of all models, written once; `None` without a Python.
pub fn models() -> Option<Vec<PathBuf>> {
    static FOLDER: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let steps = STEPS.to_string();
    let folder = FOLDER.get_or_init(|| python::written_by("hearing.py", "torch and transformers", &[&steps]));
    folder.as_ref().map(python::folders)
}

/// The folder of a model.
pub fn folder(name: &str) -> Option<PathBuf> {
    models()?.into_iter().find(|model| model.ends_with(name))
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

pub fn loaded(model: &Path, place: &Place, options: &[&str]) -> Session {
    let files = files_with(model, &place.cache(), options, Arc::new(|_: &Event| {}));
    let loading = Loading { hearing: Some(Hearing { open: et_hearing::open, read: et_media::sound }), ..loading() };
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
        words: false,
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
    let transcript =
        transcriber.transcribe(&mut session.model, &*text, Media::File(&sound), &wanted, &mut see).unwrap();
    (transcript, logits)
}

/// The mistake of a model in a transcript, if any; rows of logits may be `most` apart.
fn mistake_in_transcript(
    session: &mut Session,
    folder: &Path,
    index: usize,
    case: &Spoken,
    most: f32,
) -> Option<String> {
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

fn mistake(folder: &Path, place: &Place, partition: &str) -> Option<String> {
    if folder.ends_with("voxtral") {
        let mut session =
            loaded(&folder.join("model"), place, &[partition, "export.prefill=[8, 32]", "export.context=400"]);
        let mut cases = cases::<Talk>(folder).into_iter().enumerate();
        return cases.find_map(|(index, case)| mistake_in_talk(&mut session, folder, index, &case));
    }
    let mut session = loaded(&folder.join("model"), place, &[partition, "export.prefill=[4, 16]"]);
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
            let features = et_hearing::Mel::new(bands).features(&et_media::sound(Media::File(&file), 16_000).unwrap());
            let found = features.window(0, frames);
            let found: Vec<f32> = found.as_chunks().0.iter().copied().map(f32::from_le_bytes).collect();
            let wanted = rows(&folder.join("features.safetensors"), &format!("{sound}.{bands}")).concat();
            assert_eq!((found.len(), features.frames()), (wanted.len(), frames));
            let largest = found.iter().zip(&wanted).map(|(one, other)| (one - other).abs()).fold(0.0, f32::max);
            assert!(largest < 1e-4, "{sound}, {bands} bands: {largest:e}");
        }
    }
}

#[test]
fn quantized_models_hear_nearly_the_same() {
    let Some(folder) = folder("whisper") else { return };
    let place = Place::cold();
    let case = &cases::<Spoken>(&folder)[0];
    let first = |options: &[&str]| {
        let mut session = loaded(&folder.join("model"), &place, options);
        transcribed(&mut session, &folder, case).1.swap_remove(0)
    };
    let wanted = first(&["partition=[cpu]"]);
    for scheme in ["8da4w", "dynamic-int8", "int8-weights", "int4-weights"] {
        let found = first(&["partition=[cpu]", &format!("quantize.scheme={scheme}")]);
        let cosine = cosine(&found, &wanted);
        assert!(cosine > 0.9 && found != wanted, "{scheme}: {cosine}");
    }
}

#[test]
fn the_configuration_of_whisper_base_gives_the_logits_of_transformers() {
    let Some(python) = python::with("torch and transformers") else { return };
    let (written, place) = (tempfile::tempdir().unwrap(), Place::cold());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hearing.py");
    let mut command = Command::new(python);
    Ran::of(command.arg(script).arg("--real").arg(written.path()).arg(STEPS.to_string())).expect(0);
    let folder = written.path().join("real");
    let mut session = loaded(&folder.join("model"), &place, &["partition=[cpu]", "export.prefill=[8]"]);
    let case = &cases::<Spoken>(&folder)[0];
    assert_eq!(mistake_in_transcript(&mut session, &folder, 0, case, 1e-3), None);
}

/// The tokens of a file that the command wrote.
fn tokens(path: &Path) -> Vec<u32> {
    fs::read_to_string(path).unwrap().split_whitespace().map(|token| token.parse().unwrap()).collect()
}

/// The tokens of a case.
fn wanted(case: &Spoken) -> Vec<u32> {
    case.segments.iter().flat_map(|piece| piece.tokens.clone()).collect()
}

/// The options of a case on a command line.
fn options(case: &Spoken) -> Vec<String> {
    let valued = [("--language", &case.language), ("--task", &case.task), ("--prompt", &case.prompt)];
    let valued = valued.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value.clone()?]));
    let stamps = case.timestamps.then(|| "--timestamps".to_owned());
    let audio = ["--audio".to_owned(), format!("{}.wav", case.sound)];
    audio.into_iter().chain(valued.flatten()).chain(stamps).collect()
}

#[test]
fn the_command_transcribes() {
    let Some(folder) = folder("whisper") else { return };
    let place = Place::cold();
    let out = place.path().join("tokens.txt");
    for case in cases::<Spoken>(&folder) {
        let start =
            ["run", "model", "--max-new-tokens", &STEPS.to_string(), "--tokens-out", &out.display().to_string()]
                .map(str::to_owned);
        let told = Ran::of(place.command(start.into_iter().chain(options(&case))).current_dir(&folder)).expect(0);
        assert_eq!(tokens(&out), wanted(&case), "{}", case.sound);
        let lines = told.stdout.lines().filter(|line| line.contains(" --> ")).count();
        assert_eq!(lines, if case.timestamps { case.segments.len() } else { 0 }, "{}", told.stdout);
    }
}

#[test]
fn the_command_transcribes_sound_as_it_comes() {
    let Some(folder) = folder("whisper") else { return };
    let place = Place::cold();
    let out = place.path().join("tokens.txt");
    let streams: BTreeMap<String, Vec<Piece>> =
        serde_json::from_slice(&fs::read(folder.join("streams.json")).unwrap()).unwrap();
    let follow = |sound: &[u8]| {
        let (file, steps) = (out.display().to_string(), STEPS.to_string());
        let words = ["run", "model", "--stream", "--timestamps", "--language", "fr", "--max-new-tokens", &steps];
        let mut command = place.command(words.into_iter().chain(["--tokens-out", &file]));
        let input = place.file("sound", sound);
        let ran = Ran::of(command.current_dir(&folder).stdin(fs::File::open(input).unwrap())).expect(0);
        (tokens(&out), ran.stdout)
    };
    for (name, pieces) in streams {
        let sound = fs::read(folder.join(format!("{name}.wav"))).unwrap();
        let (found, lines) = follow(&sound);
        assert_eq!(found, pieces.iter().flat_map(|piece| piece.tokens.clone()).collect::<Vec<u32>>(), "{name}");
        let line = |piece: &Piece| format!("[00:{:06.3} --> 00:{:06.3}]", piece.start, piece.end);
        let times: Vec<&str> = lines.lines().filter_map(|line| line.get(..line.find(']')? + 1)).collect();
        assert_eq!(times, pieces.iter().map(line).collect::<Vec<String>>(), "{name}");
        assert_eq!(follow(&sound[44..]), (found, lines), "{name}");
    }
}

/// The words of a transcript, and those of transformers, which has the words of the first window.
fn mistake_in_words(folder: &Path, place: &Place, options: &[&str]) -> Option<String> {
    let options: Vec<&str> =
        options.iter().copied().chain(["export.word_timestamps=true", "export.prefill=[4, 16]"]).collect();
    let mut session = loaded(&folder.join("model"), place, &options);
    let wanted: BTreeMap<String, Vec<Word>> =
        serde_json::from_slice(&fs::read(folder.join("words.json")).unwrap()).unwrap();
    assert!(wanted.values().map(Vec::len).sum::<usize>() > 20, "{wanted:?}");
    wanted.into_iter().find_map(|(case, wanted)| {
        let (sound, language) = case.split_once(' ').unwrap();
        let bytes = fs::read(folder.join(format!("{sound}.wav"))).unwrap();
        let language = Some(language.to_owned());
        let how = Wanted { language, timestamps: true, words: true, most: Some(STEPS), ..Wanted::default() };
        let found = session.transcribe(Media::File(&bytes), &how, &mut |_| Ok(())).unwrap();
        let found: Vec<_> = found.segments.iter().flat_map(|segment| &segment.words).take(wanted.len()).collect();
        let is_same = |(word, wanted): (&&et_llm::SpokenWord, &Word)| {
            let apart = (word.start - wanted.start).abs().max((word.end - wanted.end).abs());
            word.text == wanted.text && apart < 1e-4
        };
        let fits = found.len() == wanted.len() && found.iter().zip(&wanted).all(is_same);
        (!fits).then(|| format!("{case}: {found:?}, not {wanted:?}"))
    })
}

#[derive(Debug, Deserialize)]
struct Word {
    text: String,
    start: f64,
    end: f64,
}

#[test]
fn words_have_the_times_of_transformers() {
    let Some(folder) = folder("whisper") else { return };
    let place = Place::cold();
    for options in [&["partition=portable"][..], &["partition=[cpu]"], &["partition=[cpu]", "export.cache=float16"]] {
        assert_eq!(mistake_in_words(&folder, &place, options), None, "{options:?}");
    }
}

/// A segment is told while the input is open.
#[test]
fn segments_of_a_stream_are_told_before_its_end() {
    let Some(folder) = folder("whisper") else { return };
    let place = Place::cold();
    let words = ["run", "model", "--stream", "--timestamps", "--language", "fr", "--max-new-tokens", "50"];
    let mut command = place.command(words);
    command.current_dir(&folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = command.spawn().unwrap();
    let mut input = running.stdin.take().unwrap();
    input.write_all(&fs::read(folder.join("long.wav")).unwrap()).unwrap();
    let mut lines = BufReader::new(running.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains(" --> ")));
    drop(input);
    assert!(lines.count() > 0 && running.wait().unwrap().success());
}

#[test]
fn the_command_answers_questions_about_sounds() {
    let Some(folder) = folder("voxtral") else { return };
    let place = Place::cold();
    let out = place.path().join("tokens.txt");
    let run = |more: &[&str]| {
        let (file, steps) = (out.display().to_string(), STEPS.to_string());
        let start = ["run", "model", "--max-new-tokens", &steps, "--set", "export.context=400", "--tokens-out", &file];
        let arguments = start.iter().chain(more).map(|word| (*word).to_owned());
        Ran::of(place.command(arguments).current_dir(&folder)).expect(0);
        tokens(&out)
    };
    let expected = |index: usize| {
        let expected = Expected::read(&folder.join(format!("{index}.safetensors")));
        let tokens: Vec<u32> =
            expected.steps().map(|(token, _)| token as u32).take_while(|token| *token != 2).collect();
        tokens
    };
    assert_eq!(run(&["--audio", "short.wav", "--prompt", "What is this?"]), expected(1));
    assert_eq!(run(&["--audio", "long.wav", "--audio", "other.wav", "--prompt", "Which is louder?"]), expected(2));
    assert_eq!(run(&["--chat", "--prompt", "What is this?"]), expected(0));
}

#[test]
fn mistakes_about_sounds_are_named() {
    let (Some(ears), Some(english), Some(voxtral)) = (folder("whisper"), folder("whisper-english"), folder("voxtral"))
    else {
        return;
    };
    let place = Place::cold();
    place.file("broken.wav", &fs::read(ears.join("long.wav")).unwrap()[..900]);
    place.file("text.wav", "no sound");
    let sound = ears.join("short.wav").display().to_string();
    let stories = crate::support::repository().join("examples/tiny-llama/model");
    let long = "a ".repeat(60);
    for (model, more, words) in [
        (&stories, vec!["--audio", &sound, "--prompt", "a"], ["does not hear", "docs/speech.md"]),
        (&stories, vec!["--language", "de", "--prompt", "a"], ["makes no transcripts", "docs/speech.md"]),
        (&ears.join("model"), vec!["--prompt", "a"], ["there is no sound", "--audio FILE"]),
        (&ears.join("model"), vec!["--audio", "broken.wav"], ["broken.wav: ", "WAV file"]),
        (&ears.join("model"), vec!["--audio", "text.wav"], ["not a WAV file", "ffmpeg"]),
        (&ears.join("model"), vec!["--audio", "none.wav"], ["none.wav", "error"]),
        (
            &ears.join("model"),
            vec!["--audio", &sound, "--language", "tlh"],
            ["`tlh`; known are de, en, fr", "code of a language"],
        ),
        (&ears.join("model"), vec!["--audio", &sound, "--task", "sing"], ["--task", "translate"]),
        (&ears.join("model"), vec!["--audio", &sound, "--prompt", &long], ["more than the context of 96", "error"]),
        (&ears.join("model"), vec!["--audio", &sound, "--regex", "a"], ["has no --regex", "docs/speech.md"]),
        (&ears.join("model"), vec!["--stream", "--audio", &sound], ["--stream", "--audio"]),
        (
            &ears.join("model"),
            vec!["--audio", &sound, "--word-timestamps"],
            ["no method `align`", "export.word_timestamps=true"],
        ),
        (
            &ears.join("model"),
            vec!["--audio", &sound, "--set", "export={ word_timestamps: true, cache: int8 }"],
            ["`export.word_timestamps`", "`float16`"],
        ),
        (&voxtral.join("model"), vec!["--stream", "--prompt", "a"], ["makes no transcripts", "docs/speech.md"]),
        (&english.join("model"), vec!["--audio", &sound, "--language", "de"], ["knows one language", "--language"]),
        (&voxtral.join("model"), vec!["--image", &sound, "--prompt", "a"], ["reads no pictures", "error"]),
        (&voxtral.join("model"), vec!["--audio", "text.wav", "--prompt", "a"], ["not a WAV file", "ffmpeg"]),
        (
            &voxtral.join("model"),
            vec!["--audio", &sound, "--prompt", "[AUDIO][AUDIO]"],
            ["2 times, for 1", "--audio FILE"],
        ),
        (&voxtral.join("model"), vec!["--audio", &sound], ["no token to continue", "error"]),
    ] {
        let start = ["run".to_owned(), model.display().to_string()];
        let more: Vec<String> = more.iter().map(|word| (*word).to_owned()).collect();
        let ran = Ran::of(place.command(start.into_iter().chain(more.clone())).current_dir(place.path()));
        assert!(ran.status != 0 && words.iter().all(|word| ran.stderr.contains(word)), "{more:?}: {}", ran.stderr);
    }
    let voxtral = voxtral.join("model").display().to_string();
    let check = ["check", &voxtral, "--target", "linux-x86_64", "--set", "export.word_timestamps=true"];
    let said = Ran::of(&mut place.command(check)).stderr;
    assert!(said.contains("requires a model for transcripts") && said.contains("leave the key out"), "{said}");
    let other = place.path().join("other");
    fs::create_dir_all(&other).unwrap();
    for file in fs::read_dir(ears.join("model")).unwrap() {
        let path = file.unwrap().path();
        fs::copy(&path, other.join(path.file_name().unwrap())).unwrap();
    }
    fs::remove_file(other.join("preprocessor_config.json")).unwrap();
    let run = ["run", &other.display().to_string(), "--audio", &sound];
    let ran = Ran::of(place.command(run).current_dir(place.path()));
    assert!(ran.status != 0 && ran.stderr.contains("`preprocessor_config.json`"), "{}", ran.stderr);
}

/// The binary of a model with a server.
fn deployed(place: &Place, folder: &Path) -> PathBuf {
    let target = format!("linux-{}", std::env::consts::ARCH);
    let recipe = format!(
        "etbuild: 1\nname: ears\nmodel: {{ checkpoint: {} }}\nexport: {{ word_timestamps: {} }}\ntargets: [{target}]\nserver: true\n",
        folder.join("model").display(),
        folder.ends_with("whisper")
    );
    let recipe = place.file("ears.yaml", recipe);
    Ran::of(&mut place.command(["build", &recipe.display().to_string()])).expect(0);
    place.out().join("ears").join(&target).join("ears")
}

/// OpenAI's client on recordings.
const CLIENT: &str = "
import json, openai, sys
client = openai.OpenAI(base_url=sys.argv[1], api_key='none', max_retries=0)
def of(name, **more):
    with open(name, 'rb') as file:
        return client.audio.transcriptions.create(model='ears', file=file, temperature=0, **more)
found = {kind: of('short.wav', response_format=kind) for kind in ('text', 'srt', 'vtt')}
found['json'] = of('short.wav').text
verbose = of('short.wav', response_format='verbose_json', timestamp_granularities=['segment', 'word'])
found['words'] = [[one.word, one.start, one.end] for one in verbose.words]
found['verbose'] = dict(text=verbose.text, language=verbose.language, times=[[one.start, one.end] for one in verbose.segments])
def streamed(name, **more):
    events = [event.model_dump() for event in of(name, stream=True, **more)]
    kinds = [event['type'] for event in events]
    assert kinds == ['transcript.text.delta'] * (len(kinds) - 1) + ['transcript.text.done'], kinds
    return dict(deltas=[event['delta'] for event in events[:-1]], text=events[-1]['text'])
found['streams'] = {name: streamed(name) | dict(whole=of(name).text) for name in ('short.wav', 'long.wav')}
with open('other.wav', 'rb') as file:
    found['translation'] = client.audio.translations.create(model='ears', file=file).text
for name, more in (('cases.json', {}), ('short.wav', dict(language='tlh')), ('short.wav', dict(response_format='pdf')),
                   ('short.wav', dict(stream=True, response_format='srt')), ('short.wav', dict(stream=True, language='tlh'))):
    try:
        of(name, **more)
        found[name] = 'no error'
    except openai.BadRequestError as error:
        found.setdefault('errors', []).append(error.param)
print(json.dumps(found))
";

#[test]
fn a_binary_and_its_server_transcribe() {
    let (Some(folder), Some(python)) = (folder("whisper"), python::with("openai")) else { return };
    let place = Place::cold_with_compiled_crates();
    let binary = deployed(&place, &folder);
    let out = place.path().join("tokens.txt");
    for case in &cases::<Spoken>(&folder)[..3] {
        let mut command = Command::new(&binary);
        command.args(["--max-new-tokens", &STEPS.to_string(), "--tokens-out"]).arg(&out).args(options(case));
        Ran::of(command.current_dir(&folder)).expect(0);
        assert_eq!(tokens(&out), wanted(case));
    }
    assert!(Ran::of(Command::new(&binary).arg("--help")).expect(0).stdout.contains("--audio FILE"));
    let told = |more: &[&str]| {
        let ran = Ran::of(Command::new(&binary).args(["--audio", "short.wav"]).args(more).current_dir(&folder));
        ran.expect(0).stdout.trim().to_owned()
    };
    let server = Server::of(Command::new(&binary).args(["--serve", "127.0.0.1:0"]));
    let url = format!("http://{}/v1", server.address);
    let ran = Ran::of(Command::new(python).args(["-c", CLIENT, &url]).current_dir(&folder)).expect(0);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    let plain = told(&[]);
    assert_eq!((found["json"].as_str().unwrap(), found["text"].as_str().unwrap().trim()), (&*plain, &*plain));
    assert_eq!(found["verbose"]["language"], "de");
    let lines = told(&["--timestamps"]);
    let times = found["verbose"]["times"].as_array().unwrap();
    assert_eq!(times.len(), lines.lines().filter(|line| line.starts_with('[')).count());
    let words = told(&["--word-timestamps"]);
    let texts: Vec<&str> = words.lines().filter_map(|line| Some(line.split_once("] ")?.1)).collect();
    let spoken = found["words"].as_array().unwrap();
    assert_eq!(spoken.iter().map(|word| word[0].as_str().unwrap()).collect::<Vec<&str>>(), texts);
    let srt = found["srt"].as_str().unwrap();
    assert_eq!((srt.matches(" --> ").count(), srt.starts_with("1\n00:00:00,")), (times.len(), true));
    assert!(found["vtt"].as_str().unwrap().starts_with("WEBVTT\n\n00:00:00."));
    assert!(!found["translation"].as_str().unwrap().is_empty());
    assert_eq!(found["errors"], json!(["file", "language", "response_format", "stream", "language"]));
    for (name, stream) in found["streams"].as_object().unwrap() {
        let deltas: Vec<&str> =
            stream["deltas"].as_array().unwrap().iter().map(|delta| delta.as_str().unwrap()).collect();
        assert_eq!((&stream["text"], &json!(deltas.concat())), (&stream["whole"], &stream["whole"]), "{name}");
        assert!(deltas.len() > 1, "{name}: {deltas:?}");
    }
    assert_eq!(server.post("/v1/chat/completions", &json!({})).status, 404);
}

#[test]
fn a_server_answers_questions_about_sounds() {
    let Some(folder) = folder("voxtral") else { return };
    let place = Place::cold_with_compiled_crates();
    let server = Server::of(Command::new(deployed(&place, &folder)).args(["--serve", "127.0.0.1:0"]));
    let data = |name: &str| Ran::of(Command::new("base64").arg("-w0").arg(folder.join(name))).expect(0).stdout;
    let part =
        |data: &str, format: &str| json!({ "type": "input_audio", "input_audio": { "data": data, "format": format } });
    let ask = |parts: Value| {
        let messages = json!([{ "role": "user", "content": parts }]);
        server.post("/v1/chat/completions", &json!({ "messages": messages, "temperature": 0, "max_tokens": STEPS }))
    };
    let answer = ask(json!([part(&data("short.wav"), "wav"), { "type": "text", "text": "What is this?" }])).json();
    let case = &cases::<Talk>(&folder)[1];
    assert_eq!(answer["usage"]["prompt_tokens"], case.tokens.len(), "{answer}");
    let mut command =
        Command::new(place.out().join("ears").join(format!("linux-{}", std::env::consts::ARCH)).join("ears"));
    command.args(["--max-new-tokens", &STEPS.to_string(), "--audio", "short.wav", "--prompt", "What is this?"]);
    let told = Ran::of(command.current_dir(&folder)).expect(0).stdout;
    assert_eq!(answer["choices"][0]["message"]["content"].as_str().unwrap().trim(), told.trim());
    for (part, word) in [
        (part("Zm9v", "wav"), "not a WAV file"),
        (part("!", "wav"), "not base64"),
        (part("Zm9v", "mp3"), "send wav"),
        (json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,Zm9v" } }), "reads no pictures"),
    ] {
        let refused = ask(json!([part]));
        assert!(refused.status == 400 && refused.json().to_string().contains(word), "{}", refused.json());
    }
}
