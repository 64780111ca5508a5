//! The command line of a pipeline: a prompt in, a picture out.

mod arguments;
mod cases;
mod perform;
mod progress;

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;

use et_core::Kernel;
use et_llm::MakeText;
use et_module::app::{Command, Failure, ProgramSource, Tracing, end, trace_help};
use et_module::{Engine, Kernels, Observer, default_threads};

pub use arguments::Request;
use arguments::parse;
pub use perform::{Done, picture};
pub use progress::Progress;

use crate::{Error, Loading, Pipeline, WritePicture};

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
    /// The function that makes the tokenizer.
    pub text: MakeText,
    /// The function that encodes pictures.
    pub picture: WritePicture,
}

/// Runs the process's command line; the exit code is 0 for success, 2 for a malformed command line and 8 for a failure.
pub fn main(spec: &AppSpec) -> ExitCode {
    let (arguments, talk) = (std::env::args_os().skip(1), std::io::stderr());
    let has_bar = talk.is_terminal();
    execute(spec, arguments, &mut std::io::stdout().lock(), (&mut talk.lock(), has_bar)).into()
}

/// Runs a command line: results go to `out`, messages to `talk`, with a bar for the progress or with lines.
pub fn execute(
    spec: &AppSpec,
    arguments: impl Iterator<Item = OsString>,
    out: &mut dyn Write,
    (talk, has_bar): (&mut dyn Write, bool),
) -> u8 {
    let done = Command::answer(parse(arguments), spec.stamp, &|| usage(spec), |request| {
        let run = |observer: Option<&Arc<dyn Observer>>| run(spec, &request, (talk, has_bar), observer);
        Tracing::around(request.trace.as_deref(), run).map_err(Failure::failed)
    });
    end(spec.name, done, out, talk)
}

fn run(
    spec: &AppSpec,
    request: &Request,
    (talk, has_bar): (&mut dyn Write, bool),
    observer: Option<&Arc<dyn Observer>>,
) -> Result<String, Error> {
    let (file, beside) = spec.program.open()?;
    let data = beside.or_named(&request.data, None);
    let loading = Loading {
        kernels: Kernels::Selected(spec.kernels),
        engines: spec.engines,
        threads: request.threads.unwrap_or_else(default_threads),
        text: Some(spec.text),
        data: &data,
        observer,
    };
    let pipeline = Pipeline::find(&Rc::new(file), loading)?;
    let pipeline = pipeline.ok_or_else(|| Error::NotAPipeline("the program file states no pipeline".to_owned()))?;
    if let (Some(inputs), Some(outputs)) = (&request.inputs, &request.outputs) {
        return cases::run(&pipeline, inputs, outputs).map(|()| String::new());
    }
    let done = picture(&pipeline, request, spec.picture, &mut Progress::new(talk, has_bar))?;
    Ok(if request.json { done.json() } else { String::new() })
}

/// The help text of the options.
fn usage(spec: &AppSpec) -> String {
    let (name, trace) = (spec.name, trace_help(20));
    format!(
        "usage: {name} --prompt TEXT -o FILE [--negative TEXT] [--steps N] [--guidance G] [--seed N]
       {name} --inputs FILE --outputs FILE
       {name} --version | --help

Makes a picture of a text. The same seed gives the same picture.

  --prompt TEXT        what is in the picture
  --negative TEXT      what is not in the picture
  -o, --outputs FILE   PNG file to write, not needed with --trace; with --inputs, safetensors file with `output_0`, float32 [cases, 3, height, width]
  --steps N            the number of steps (the recipe's)
  --guidance G         how closely the picture follows the prompt; 1 or less leaves the negative prompt out (the recipe's)
  --seed N             the seed of the noise (the recipe's)
  --json               print the settings and the times of the stages as one JSON object
  --inputs FILE        safetensors file with pictures to make: `tokens` and, with guidance, `negative`, int64 [cases, tokens],
                       and `noise`, float32 [cases, channels, height, width] of the latents
  --data FILE          data file with weights that the program keeps outside itself; may be repeated (those beside the
                       program file)
  --threads N          the most threads that the program's backends use, 1 to 256 (the physical cores, at most
                       16)
{trace}"
    )
}
