//! `etbuild run` on a language model: a prompt, a conversation or tokens in, text or tokens out.

use std::io::{self, Write};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use et_llm::app::{Channels, Request, answers, perform, refuse_encoder_options};
use et_llm::{Answer, Encoder, Error, Loading, Session as Model};
use et_module::{DataFiles, FileBytes, Kernels, Observer, default_threads};
use etbuild_diagnostic::{Code, Diagnostic};
use serde_json::{Value, json};

use super::program::failed;
use super::{Outcome, pictures};
use crate::arguments::{self, Language, Output};
use crate::engines::{ENGINES, kernel};
use crate::feature::{Feature, HEARING, MAKE_COMPILER, MAKE_TEXT, VISION};
use crate::session::Session;

/// Whether arguments are about a language model.
pub const fn is_asked(language: &Language) -> bool {
    language.prompt.is_some()
        || language.prompt_file.is_some()
        || language.chat
        || language.tokens_in.is_some()
        || language.perplexity.is_some()
        || !language.image.is_empty()
        || !language.speech.audio.is_empty()
        || language.speech.stream
}

/// Runs the language model of a program file, or the pipeline; `observer` hears of the executions.
pub fn run(
    session: &Session,
    arguments: &arguments::Run,
    bytes: FileBytes,
    observer: Option<&Arc<dyn Observer>>,
) -> Outcome {
    if pictures::is_pipeline(&bytes) {
        return pictures::run(session, arguments, bytes, observer);
    }
    pictures::refuse_options(&arguments.pictures)?;
    if arguments.inputs.is_some() || arguments.outputs.is_some() {
        let message = "`--inputs` and `--outputs` are for tensors, and the other options ask for text or tokens";
        let help =
            "leave them out, or write `--tokens-in`, `--tokens-out` and `--logits` for the tensors of a language model";
        return Err(vec![Diagnostic::error(Code::Usage, message).help(help)]);
    }
    if reads_text(&arguments.language) {
        Feature::Text.require("a prompt, a conversation or a perplexity")?;
    }
    if has_form(&arguments.language) {
        Feature::Constrain.require("the form of an answer")?;
    }
    if !arguments.language.image.is_empty() {
        Feature::Media.require("a picture")?;
    }
    if !arguments.language.speech.audio.is_empty() || arguments.language.speech.stream {
        Feature::Media.require("a recording")?;
    }
    let mut request = request(&arguments.language);
    let is_several = request.count.is_some() || request.logprobs.is_some();
    request.json = is_several && session.global.output == Output::Json;
    request.check().map_err(|mistake| vec![Diagnostic::error(Code::Usage, mistake)])?;
    let threads = arguments.threads.unwrap_or_else(default_threads);
    let (guesses, text, constrain, vision) = (request.guesses(), MAKE_TEXT, MAKE_COMPILER, VISION);
    let guesses = guesses.as_ref();
    let loading = Loading {
        kernels: Kernels::Lookup(&kernel),
        engines: ENGINES,
        threads,
        guesses,
        text,
        constrain,
        vision,
        hearing: HEARING,
        observer,
    };
    let refused = |error: Error| vec![refusal(arguments, &error)];
    // A trace for programs is a result of its own.
    let has_result = observer.is_none() || session.global.output == Output::Human;
    let data = DataFiles::open(&arguments.data).map_err(|error| refused(error.into()))?;
    let data = || Ok(data.clone());
    let file = Rc::new(bytes);
    if let Some(mut encoder) = Encoder::find(&file, data, &loading).map_err(refused)? {
        let (value, text) = encode(&mut encoder, &request).map_err(refused)?;
        if has_result {
            session.terminal.succeed("texts", value, &text);
        }
        return Ok(Vec::new());
    }
    refuse_encoder_options(&request).map_err(refused)?;
    let mut model = Model::load(FileBytes::shared(&file), data, &loading, Instant::now()).map_err(refused)?;
    let (mut input, mut talk) = (io::stdin().lock(), io::stderr());
    if session.global.output == Output::Human {
        let channels = &mut Channels { input: &mut input, out: &mut io::stdout().lock(), talk: &mut talk };
        perform(&mut model, &request, channels).map_err(refused)?;
        return Ok(Vec::new());
    }
    let mut out = Copied::default();
    let channels = &mut Channels { input: &mut input, out: &mut out, talk: &mut talk };
    perform(&mut model, &request, channels).map_err(refused)?;
    // The text is on standard error already.
    if session.global.output == Output::Json && has_result {
        session.terminal.succeed("text", told(&String::from_utf8_lossy(&out.text), request.json), "");
    }
    Ok(Vec::new())
}

/// What a model has told, for programs: all of the text, or each answer where the lines are objects.
fn told(text: &str, has_objects: bool) -> Value {
    if !has_objects {
        return json!({ "text": text });
    }
    let answers: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap_or_default()).collect();
    let texts: Vec<&str> = answers.iter().filter_map(|answer| answer["text"].as_str()).collect();
    json!({ "text": texts.join("\n"), "answers": answers })
}

/// The text of a model beside machine-readable results: on standard error as the model finds it, and kept.
#[derive(Default)]
struct Copied {
    text: Vec<u8>,
}

impl Write for Copied {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Nobody can be told that messages are lost.
        let _ = io::stderr().write_all(bytes);
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// What an encoder answers to the texts of a request: for programs, and as lines.
fn encode(encoder: &mut Encoder, request: &Request) -> Result<(Value, String), Error> {
    let (mut input, mut talk, mut out) = (io::stdin().lock(), io::stderr(), io::sink());
    let channels = &mut Channels { input: &mut input, out: &mut out, talk: &mut talk };
    let answers = answers(encoder, request, channels)?;
    let values = answers.iter().map(|answer| serde_json::from_str(&answer.json()).unwrap_or_default());
    let all = json!({ "answers": values.collect::<Vec<Value>>() });
    Ok((all, answers.iter().map(Answer::lines).collect::<String>().trim_end().to_owned()))
}

/// Whether tokens are made from text.
fn reads_text(language: &Language) -> bool {
    language.prompt.is_some() || language.prompt_file.is_some() || language.chat || language.perplexity.is_some()
}

/// Whether answers have a form.
const fn has_form(language: &Language) -> bool {
    language.json_schema.is_some() || language.regex.is_some() || language.grammar.is_some()
}

fn request(language: &Language) -> Request {
    let language = language.clone();
    Request {
        prompt: language.prompt,
        prompt_file: language.prompt_file,
        pair: language.pair,
        images: language.image,
        sounds: language.speech.audio,
        language: language.speech.language,
        task: language.speech.task,
        timestamps: language.speech.timestamps,
        word_timestamps: language.speech.word_timestamps,
        stream: language.speech.stream,
        tokens_in: language.tokens_in,
        chat: language.chat,
        system: language.system,
        template_variables: language.template_variables,
        max_new_tokens: language.max_new_tokens,
        temperature: language.temperature,
        top_k: language.top_k,
        top_p: language.top_p,
        min_p: language.min_p,
        typical_p: language.typical_p,
        repetition_penalty: language.repetition_penalty,
        frequency_penalty: language.frequency_penalty,
        presence_penalty: language.presence_penalty,
        logit_bias: language.logit_bias,
        stops: language.stop,
        json_schema: language.json_schema,
        regex: language.regex,
        grammar: language.grammar,
        no_repeat_ngram_size: language.no_repeat_ngram_size,
        seed: language.seed,
        count: language.n,
        logprobs: language.logprobs,
        lookup: language.lookup,
        draft_model: language.draft_model,
        session: language.session,
        tokens_out: language.tokens_out,
        logits: language.logits,
        perplexity: language.perplexity,
        stats: language.stats,
        ..Request::default()
    }
}

fn refusal(arguments: &arguments::Run, error: &Error) -> Diagnostic {
    if let Error::Module(error) = error {
        return failed(&arguments.file, error);
    }
    let code = match error {
        Error::ContextFull { .. }
        | Error::UnknownToken { .. }
        | Error::NoTokens
        | Error::Picture(_)
        | Error::Sound(_)
        | Error::Saved(_) => Code::InputsMismatch,
        Error::NoPair(_) | Error::NotForEncoders(_) | Error::NotAnEncoder(_) => Code::Usage,
        Error::NoVision | Error::Marks { .. } => Code::Usage,
        Error::NoWords | Error::NoHearing | Error::NoSound | Error::NoTranscripts | Error::NotForTranscripts(_) => {
            Code::Usage
        }
        Error::NotBehindTextEncoder(_) => Code::Usage,
        Error::OneLanguage | Error::UnknownLanguage { .. } => Code::Usage,
        Error::NotALanguageModel(_) | Error::NoTokenizer | Error::NoTemplate | Error::NoVerify => Code::Usage,
        Error::Draft { .. } | Error::Constraint { .. } | Error::NoTokenBytes | Error::NoConstraints => Code::Usage,
        Error::Sampling { .. } => Code::Usage,
        Error::File { path, .. } if !path.exists() => Code::FileMissing,
        _ => Code::RunFailed,
    };
    let diagnostic = Diagnostic::error(code, format!("`{}`: {error}", arguments.file.display()));
    match error {
        Error::ContextFull { .. } => diagnostic.help("raise `export.context`: `--set export.context=N`"),
        Error::Saved(_) => diagnostic.help("name another file, or remove this one: the session begins anew"),
        Error::NoPair("needs") => diagnostic.help("give the second text with `--pair TEXT`"),
        Error::Picture(_) => diagnostic.help("a picture is a PNG or a JPEG file"),
        Error::Sound(_) => diagnostic.help("a recording is a WAV file: `ffmpeg -i SOUND sound.wav` converts others"),
        Error::NotBehindTextEncoder(_) => diagnostic.help("docs/encoder-decoder.md lists what these models do"),
        Error::NoSound => diagnostic.help("give a recording with `--audio FILE`"),
        Error::NoHearing | Error::NoTranscripts => diagnostic.help("docs/speech.md lists the models that hear"),
        Error::NotForTranscripts(_) => diagnostic.help("docs/speech.md has the options of transcripts"),
        Error::OneLanguage => diagnostic.help("leave `--language` and `--task` out"),
        Error::UnknownLanguage { .. } => {
            diagnostic.help("give the code of a language, or none for the one that the model hears")
        }
        Error::NoVision => diagnostic.help("docs/vision-language.md lists the models that read pictures"),
        Error::Marks { .. } => {
            diagnostic.help("give `--image FILE` or `--audio FILE` for each mark, in the order of the marks")
        }
        Error::NoWords => diagnostic.help("build the model with `--set export.word_timestamps=true`"),
        Error::NoVerify => diagnostic.help("build the model with `--set export.speculate=8`"),
        Error::NotALanguageModel(_) => diagnostic.help("run other models with `--inputs FILE --outputs FILE`"),
        Error::Constraint { .. } => diagnostic.help("docs/structured-output.md has the supported keywords and syntax"),
        Error::Draft { .. } => diagnostic.help("name the program file of a smaller model with the same tokenizer"),
        _ => diagnostic,
    }
}
