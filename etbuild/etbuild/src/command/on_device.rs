//! `etbuild run --device` and `etbuild trace --device`: the binary of a model on a device, with the files of the arguments.

use std::path::{Path, PathBuf};

use et_llm::SpokenTask;
use et_module::app::CommandLine;
use etbuild_diagnostic::{Code, Diagnostic, Severity, unwritable};
use etbuild_engine::device::{Command, Device, DeviceFile, DeviceFolder, Shell};
use etbuild_engine::{EngineDatabase, Goal, Mode, Request, UnitReport, resolve};
use etbuild_store::Digest;

use super::deploy::diagnostics;
use super::lock::deploy_locked;
use super::program::speculation;
use super::{Outcome, language};
use crate::arguments::{self, Output};
use crate::engines::BACKENDS;
use crate::session::{Session, shorthands};

pub fn run(session: &Session, arguments: &arguments::Run, device: &Shell) -> Outcome {
    let call = Call::new(arguments).map_err(one)?;
    let report = built(session, &request(session, arguments, None)?, device, &session.global.out)?;
    perform(session, device, &report, &call)?;
    Ok(Vec::new())
}

/// The name on the device of a recording.
const RECORDING: &str = "recording.ettrace";

/// The recording that the binary of a model makes on a device. The files of an earlier deploy stay as they are: a binary that records
/// is another one.
pub fn record(session: &Session, arguments: &arguments::Trace, device: &Shell) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let run = &arguments.run;
    let mut call = Call::new(run).map_err(one)?;
    let request = request(session, run, Some("trace=true"))?;
    if !language::is_asked(&run.language) && takes_prompt(session, &request)? {
        let message = format!("`{}` needs a prompt: a trace is of one request", run.file.display());
        let help = "give `--prompt TEXT`, `--tokens-in FILE` or, for a model that hears, `--audio FILE`";
        return Err(one(Diagnostic::error(Code::Usage, message).help(help)));
    }
    call.text("--trace", &Some(RECORDING));
    call.unread.push(RECORDING.to_owned());
    if !language::is_asked(&run.language) {
        call.text("--warmup", &Some(arguments.warmup));
        call.text("--iters", &Some(arguments.iters));
    }
    let out = tempfile::tempdir().map_err(|error| one(no_folder(&error)))?;
    let report = built(session, &request, device, out.path())?;
    perform(session, device, &report, &call)?.pull(RECORDING).map_err(one)
}

/// Whether a binary of the request is one of a language model or of a pipeline.
fn takes_prompt(session: &Session, request: &Request) -> Result<bool, Vec<Diagnostic>> {
    let db = EngineDatabase::new(session.world(Mode::Plan)?);
    Ok(resolve(&db, request)?.iter().any(|unit| unit.link.command_line != CommandLine::Tensors))
}

/// Brings the binary and the files of a call to a device, runs the binary, and brings back the results that the call names.
fn perform<'a>(
    session: &'a Session,
    device: &'a Shell,
    report: &UnitReport,
    call: &Call,
) -> Result<DeviceFolder<'a>, Vec<Diagnostic>> {
    let mut files = binary_files(report);
    for (name, source) in &call.given {
        files.push(given(session, name, source)?);
    }
    let folder = DeviceFolder::new(&*session.system, device, &format!("{}@{}", report.recipe, report.target));
    let brought = folder.push(&files).map_err(one)?;
    if !brought.is_empty() {
        session.terminal.say(&format!("{} files brought to `{}` on device `{device}`", brought.len(), folder.path()));
    }
    let is_text = session.global.output == Output::Human;
    let variables = BACKENDS.iter().flat_map(|backend| backend.device_variables());
    let outcome = folder.run(&Command {
        words: std::iter::once(&report.recipe).chain(&call.words).cloned().collect(),
        variables: variables.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        results: call.new_results().cloned().collect(),
        timeout: None,
        shows: is_text,
    });
    let outcome = outcome.map_err(one)?;
    if !is_text {
        session.terminal.say(&String::from_utf8_lossy(&outcome.stdout));
    }
    if !outcome.success() {
        return Err(one(folder.failed(&outcome)));
    }
    for (name, path) in &call.results {
        let written = session.system.write(path, &folder.pull(name).map_err(one)?, false);
        written.map_err(|error| one(unwritable(path, &error)))?;
    }
    Ok(folder)
}

fn one(error: Diagnostic) -> Vec<Diagnostic> {
    vec![error]
}

fn no_folder(error: &std::io::Error) -> Diagnostic {
    Diagnostic::error(Code::OutputUnwritable, format!("failed to create a temporary folder: {error}"))
        .help("set TMPDIR to a writable folder")
}

/// What the binary gets and gives.
#[derive(Default)]
struct Call {
    words: Vec<String>,
    /// Names on the device, with the files here.
    given: Vec<(String, PathBuf)>,
    results: Vec<(String, PathBuf)>,
    /// Names of results that stay on the device.
    unread: Vec<String>,
}

impl Call {
    fn new(arguments: &arguments::Run) -> Result<Self, Diagnostic> {
        let language = &arguments.language;
        if language.chat && language.prompt.is_none() {
            let message = "a conversation on a device has one message";
            return Err(Diagnostic::error(Code::Usage, message).help("write the message: `--chat --prompt TEXT`"));
        }
        if language.speech.stream {
            let message = "a device hears no standard input";
            return Err(Diagnostic::error(Code::Usage, message).help("give a recording: `--audio FILE`"));
        }
        let mut call = Self::default();
        call.take_files(arguments);
        call.take_texts(arguments);
        let flags = [
            ("--chat", language.chat),
            ("--lookup", language.lookup),
            ("--stats", language.stats),
            ("--timestamps", language.speech.timestamps),
            ("--word-timestamps", language.speech.word_timestamps),
        ];
        call.words.extend(flags.into_iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag.to_owned()));
        Ok(call)
    }

    fn take_files(&mut self, arguments: &arguments::Run) {
        let language = &arguments.language;
        let given = [
            ("--inputs", &arguments.inputs),
            ("--tokens-in", &language.tokens_in),
            ("--perplexity", &language.perplexity),
            ("--prompt-file", &language.prompt_file),
            ("--grammar", &language.grammar),
            ("--draft-model", &language.draft_model),
        ];
        let results = [
            ("--outputs", &arguments.outputs),
            ("--tokens-out", &language.tokens_out),
            ("--logits", &language.logits),
            ("--session", &language.session),
        ];
        self.given = self.files(&given);
        self.results = self.files(&results);
        // A session that exists goes on.
        let session = self.results.iter().filter(|(name, path)| name.starts_with("session") && path.exists());
        self.given.extend(session.cloned().collect::<Vec<_>>());
        for (option, paths) in [("--image", &language.image), ("--audio", &language.speech.audio)] {
            for (index, path) in paths.iter().enumerate() {
                let name = name_there(&format!("{option}-{index}"), path);
                self.words.extend([option.to_owned(), name.clone()]);
                self.given.push((name, path.clone()));
            }
        }
    }

    fn take_texts(&mut self, arguments: &arguments::Run) {
        let language = &arguments.language;
        self.text("--prompt", &language.prompt);
        self.text("--pair", &language.pair);
        self.text("--system", &language.system);
        self.text("--template-variables", &language.template_variables);
        self.text("--language", &language.speech.language);
        self.text("--task", &language.speech.task.map(SpokenTask::name));
        self.text("--max-new-tokens", &language.max_new_tokens);
        self.text("--temperature", &language.temperature);
        self.text("--top-k", &language.top_k);
        self.text("--top-p", &language.top_p);
        self.text("--min-p", &language.min_p);
        self.text("--typical-p", &language.typical_p);
        self.text("--repetition-penalty", &language.repetition_penalty);
        self.text("--frequency-penalty", &language.frequency_penalty);
        self.text("--presence-penalty", &language.presence_penalty);
        self.text("--no-repeat-ngram-size", &language.no_repeat_ngram_size);
        self.text("--regex", &language.regex);
        self.text("--seed", &language.seed);
        self.text("--negative", &arguments.pictures.negative);
        self.text("--steps", &arguments.pictures.steps);
        self.text("--guidance", &arguments.pictures.guidance);
        self.text("--threads", &arguments.threads);
        language.stop.iter().for_each(|stop| self.text("--stop", &Some(stop)));
        language
            .logit_bias
            .iter()
            .for_each(|(token, bias)| self.text("--logit-bias", &Some(format!("{token}={bias}"))));
    }

    /// The results that the binary makes anew.
    fn new_results(&self) -> impl Iterator<Item = &String> {
        let names = self.results.iter().map(|(name, _)| name).chain(&self.unread);
        names.filter(|name| !self.given.iter().any(|(given, _)| given == *name))
    }

    fn text(&mut self, option: &str, value: &Option<impl ToString>) {
        self.words.extend(value.iter().flat_map(|value| [option.to_owned(), value.to_string()]));
    }

    /// Adds options with files under names on the device: `outputs.safetensors` for `--outputs`.
    fn files(&mut self, options: &[(&str, &Option<PathBuf>)]) -> Vec<(String, PathBuf)> {
        let present = options.iter().filter_map(|(option, path)| Some((*option, path.as_ref()?)));
        let named = present.map(|(option, path)| (option, name_there(option, path), path.clone()));
        let files: Vec<(&str, String, PathBuf)> = named.collect();
        self.words.extend(files.iter().flat_map(|(option, name, _)| [(*option).to_owned(), name.clone()]));
        files.into_iter().map(|(_, name, path)| (name, path)).collect()
    }
}

fn name_there(option: &str, path: &Path) -> String {
    let ending = path.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
    format!("{}{ending}", option.trim_start_matches('-'))
}

/// The units that the arguments ask for, with a further option of the recipe.
pub(super) fn request(
    session: &Session,
    arguments: &arguments::Run,
    option: Option<&str>,
) -> Result<Request, Vec<Diagnostic>> {
    let options = speculation(&arguments.language).chain(shorthands(&arguments.options));
    let options = options.chain(option.map(str::to_owned)).collect();
    Ok(Request {
        recipes: vec![arguments.file.clone()],
        overrides: session.overrides(options)?,
        targets: session.global.targets.clone(),
        only: Vec::new(),
    })
}

/// The one unit of a request, built.
fn built(session: &Session, request: &Request, device: &Shell, out: &Path) -> Result<UnitReport, Vec<Diagnostic>> {
    let world = session.world_on(Mode::Build, vec![Device::Shell(device.clone())])?;
    let mut reports = deploy_locked(session, &world, request, Goal::Build, out)?;
    let found = diagnostics(&reports, false);
    if found.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Err(found);
    }
    match (reports.pop(), reports.is_empty()) {
        (Some(report), true) => Ok(report),
        _ => Err(vec![not_one_target("a device runs the binary of one target")]),
    }
}

/// The diagnostic for a request of no unit or of several units.
pub(super) fn not_one_target(message: &str) -> Diagnostic {
    Diagnostic::error(Code::Usage, message).help("name the device's target: `--target android-arm64`")
}

/// The binary with the files that the binary reads.
fn binary_files(report: &UnitReport) -> Vec<DeviceFile> {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_binary = |name: &str| name == report.recipe;
    let is_read = |name: &str| [".pte", ".ptd"].iter().any(|ending| name.ends_with(ending));
    let named = report.files.iter().map(|file| (name(&file.path), file));
    let wanted = named.filter(|(name, _)| is_binary(name) || is_read(name));
    let file = |(name, file): (String, &etbuild_engine::OutputFile)| DeviceFile {
        executable: is_binary(&name),
        source: file.path.clone(),
        digest: file.digest.clone(),
        size: file.size,
        name,
    };
    wanted.map(file).collect()
}

/// A file that the arguments name.
fn given(session: &Session, name: &str, source: &Path) -> Result<DeviceFile, Vec<Diagnostic>> {
    let unreadable = |error| {
        let message = format!("`{}` cannot be read: {error}", source.display());
        vec![Diagnostic::error(Code::FileUnreadable, message)]
    };
    let bytes = session.system.read(source).map_err(unreadable)?;
    let (digest, size) = (Digest::of(&bytes).to_string(), bytes.len() as u64);
    Ok(DeviceFile { name: name.to_owned(), source: source.to_owned(), digest, size, executable: false })
}
