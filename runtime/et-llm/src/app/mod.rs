//! The command line of a language model: a prompt, a conversation or tokens in, text or tokens out.

mod arguments;
mod cases;
mod channels;
mod chat;
mod continuation;
mod encode;
mod files;
mod form;
mod perform;
mod perplexity;
mod prompt;
mod said;
mod transcribe;
mod writer;

use std::ffi::OsString;
use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use et_core::Kernel;
use et_module::app::{Command, Failure, ProgramSource, Tracing, end, trace_help};
use et_module::{DataFiles, Engine, FileBytes, Kernels, Observer, default_threads};

use arguments::parse;
pub use arguments::{Request, bias, task};
pub use cases::{token_rows, write_tensor};
pub use channels::Channels;
pub use encode::{answers, refuse_options as refuse_encoder_options};
pub use perform::perform;
pub use perplexity::foresee;

use crate::{Encoder, Error, Hearing, Loading, MakeCompiler, MakeText, Session, Vision};

/// The parts of a binary.
#[derive(Clone, Copy)]
pub struct AppSpec {
    /// The binary's name, for messages.
    pub name: &'static str,
    /// The producer stamp, which `--version` prints.
    pub stamp: &'static str,
    /// The program file.
    pub program: ProgramSource,
    /// The names of the operators that the program's methods call, with their kernels.
    pub kernels: &'static [(&'static str, Kernel)],
    /// The delegates of the program's blobs.
    pub engines: &'static [Engine],
    /// The function that makes the tokenizer, in a binary with a tokenizer.
    pub text: Option<MakeText>,
    /// The function that makes the compiler of constraints, in a binary with constrained output.
    pub constrain: Option<MakeCompiler>,
    /// The parts that read pictures, in a binary for a model with a vision encoder.
    pub vision: Option<Vision>,
    /// The parts that hear, in a binary for a model with an audio encoder.
    pub hearing: Option<Hearing>,
    /// The server, in a binary with a server.
    pub serve: Option<Serve>,
}

/// Serves the language model of a binary until a signal ends the process; returns a last text for the user. The arguments are those
/// behind `--serve`, messages go to the last argument.
pub type Serve =
    fn(spec: &AppSpec, arguments: &mut dyn Iterator<Item = OsString>, talk: &mut dyn Write) -> Result<String, Failure>;

/// The first argument of a command line for the server.
const SERVE: &str = "--serve";

/// Runs the process's command line; the exit code is 0 for success, 2 for a malformed command line and 8 for a failure.
pub fn main(spec: &AppSpec) -> ExitCode {
    let arguments = std::env::args_os().skip(1);
    let (mut input, mut out, mut talk) = (std::io::stdin().lock(), std::io::stdout().lock(), std::io::stderr());
    execute(spec, arguments, &mut input, &mut out, &mut talk).into()
}

/// Runs a command line: a conversation's lines come from `input`, results go to `out`, messages to `talk`.
pub fn execute(
    spec: &AppSpec,
    arguments: impl Iterator<Item = OsString>,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
    talk: &mut dyn Write,
) -> u8 {
    let mut arguments = arguments.peekable();
    if arguments.next_if(|first| first == SERVE).is_some() {
        let done = spec.serve.map_or_else(no_server, |serve| serve(spec, &mut arguments, talk));
        return end(spec.name, done, out, talk);
    }
    let done = Command::answer(parse(arguments), spec.stamp, &|| usage(spec), |request| {
        let channels = &mut Channels { input, out, talk };
        let run = |observer: Option<&Arc<dyn Observer>>| run(spec, &request, channels, observer);
        Tracing::around(request.trace.as_deref(), run).map(|()| String::new()).map_err(Failure::failed)
    });
    end(spec.name, done, out, talk)
}

fn run(
    spec: &AppSpec,
    request: &Request,
    channels: &mut Channels<'_>,
    observer: Option<&Arc<dyn Observer>>,
) -> Result<(), Error> {
    let start = Instant::now();
    let (file, beside) = spec.program.open()?;
    let data = DataFiles::open(&beside.or_named(&request.data, request.adapter.as_deref()))?;
    let data = || Ok(data.clone());
    let guesses = request.guesses();
    let loading = Loading {
        kernels: Kernels::Selected(spec.kernels),
        engines: spec.engines,
        threads: request.threads.unwrap_or_else(default_threads),
        guesses: guesses.as_ref(),
        text: spec.text,
        constrain: spec.constrain,
        vision: spec.vision,
        hearing: spec.hearing,
        observer,
    };
    let file = Rc::new(file);
    if let Some(mut encoder) = Encoder::find(&file, data, &loading)? {
        return encode::perform(&mut encoder, request, channels);
    }
    encode::refuse_options(request)?;
    let mut session = Session::load(FileBytes::shared(&file), data, &loading, start)?;
    perform(&mut session, request, channels)
}

fn no_server() -> Result<String, Failure> {
    Err(Failure::Usage(
        "this binary has no server: deploy the model with `etbuild serve`, or with `server: true`".into(),
    ))
}

/// The help text of the options of a binary with constrained output.
const FORMS: &str = "  --json-schema TEXT|FILE
                       the answer is a JSON text that this JSON schema accepts
  --regex TEXT         the answer is a text that this regular expression matches
  --grammar FILE       the answer is a text of this grammar, in Lark's syntax
";

/// The help text of the option of a binary that reads pictures.
const IMAGES: &str = "  --image FILE         a picture, PNG or JPEG, for the prompt or the first message; may be repeated. In a conversation, the line
                       `/image FILE` adds a picture to the next message
";

/// The help text of the options of a binary that hears.
const SOUNDS: &str = "  --audio FILE         a recording, WAV, for the prompt or the first message, or for a transcript; may be repeated. In a
                       conversation, the line `/audio FILE` adds a recording to the next message
  --language CODE      the language of the speech, such as en, for a transcript (the one that the model hears)
  --task TASK          transcribe or translate: the speech as it is, or in English (transcribe)
  --timestamps         the segments of a transcript with their times, a line each
  --word-timestamps    the words of a transcript with their times, a line each
  --stream             transcribe the standard input as sound comes: a WAV file of 16-bit samples, or such samples of one channel at
                       16 kHz, little-endian
";

/// The help text of the options.
fn usage(spec: &AppSpec) -> String {
    let (name, trace) = (spec.name, trace_help(20));
    let server = spec.serve.map(|_| format!("       {name} --serve [ADDRESS] | --serve --help\n")).unwrap_or_default();
    let forms = spec.constrain.map_or("", |_| FORMS);
    let images = spec.vision.map_or("", |_| IMAGES);
    let sounds = spec.hearing.map_or("", |_| SOUNDS);
    format!(
        "usage: {name} --prompt TEXT | --prompt-file FILE | --chat [--prompt TEXT] [--system TEXT] | --tokens-in FILE
       {name} --bench prefill=N,decode=N [--rounds N] [--tokens-in FILE]
       {name} --inputs FILE --outputs FILE
       {name} --perplexity FILE
{server}       {name} --version | --help

Continues a text, answers in a conversation, or measures itself. New text goes to the standard output as it comes, that of
--tokens-in as tokens.

  --prompt TEXT        the text to continue; with --chat, the one message to answer; the text of an encoder
  --prompt-file FILE   the file with this text; - for the standard input; for an encoder, a text per line
  --chat               a conversation: a line of the standard input is a message; /new begins anew
  --system TEXT        what a conversation begins with
  --template-variables JSON
                       variables of the chat template, such as {{\"enable_thinking\": false}}
{images}{sounds}  --pair TEXT          the second text of a pair, for an encoder such as a reranker
  --json               answers as JSON objects, a line each
  --tokens-in FILE     tokens to continue, numbers with blanks between them
  --max-new-tokens N   the most new tokens (256; as many as there is room for in a conversation)
  --temperature T      what logits are divided by; 0 for the most probable token each time (what the model's makers say)
  --top-k N            only so many of the most probable tokens; 0 for all
  --top-p P            only the most probable tokens that make up this share
  --min-p P            only tokens with at least this share of the largest probability
  --typical-p P        only the tokens nearest to the entropy that make up this share
  --repetition-penalty P
                       what logits of tokens in the text are divided by, if positive, or multiplied with
  --frequency-penalty P
                       what is subtracted from logits of tokens in the answer, for each time
  --presence-penalty P
                       what is subtracted from logits of tokens in the answer, once
  --logit-bias TOKEN=NUMBER
                       what is added to the logit of a token; may be repeated
  --no-repeat-ngram-size N
                       no sequence of so many tokens comes twice; 0 for any
  --n N                so many answers to one prompt, each with a seed of its own (1)
  --logprobs K         the logarithms of the probabilities of each token and of the K most probable ones, at temperature 1: a JSON
                       object for each token, on the standard error; with --json, in the objects
  --stop TEXT          the text that ends an answer, and is not part of it; may be repeated
{forms}  --seed N             the seed of the random numbers (0)
  --lookup             guess tokens from what followed the last ones before: faster where the text repeats itself, and never
                       another text
  --draft-model FILE   let the model of a program file guess tokens, a smaller one with the same tokens: likewise
  --session FILE       go on with the text or the conversation in this file, and save it there: what the file has is not read
                       again
  --tokens-out FILE    where to write the new tokens
  --logits FILE        safetensors file to write the logits to, a row for each token that is read, one after the other
  --inputs FILE        safetensors file with texts: `tokens`, int64 [cases, length]
  --outputs FILE       safetensors file to write the logits behind each to: `output_0`, float32 [cases, tokens]
  --perplexity FILE    text file, each line a text: print how well it is foreseen, as one JSON object
  --stats              say how long it took, and how much memory
  --threads N          the most threads that the program's backends use, 1 to 256 (the physical cores, at most
                       16)
  --data FILE          data file with weights that the program keeps outside itself; may be repeated (those beside the
                       program file)
  --adapter FILE       data file of an adapter (the one beside the program file)
{trace}  --bench EFFORT       measure on so many tokens, and print one JSON object
  --rounds N           how often (3)
"
    )
}
