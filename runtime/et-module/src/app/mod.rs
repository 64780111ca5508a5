//! The command line of a generated binary: one program with kernels, tensors in, tensors out.

mod appendix;
mod arguments;
mod beside;
mod outcome;
mod run;
mod trace;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use et_core::Kernel;

use crate::{Engine, FileBytes, ReadMedia};
pub use appendix::{Appendix, CommandLine, Prebuilt};
pub use arguments::{Command, number, read};
use arguments::{Request, parse};
pub use beside::Beside;
pub use outcome::{Failure, end};
pub use trace::{Tracing, trace_help};

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
    /// The method that runs where the command line names no method.
    pub method: &'static str,
    /// The names of the method's inputs, in order.
    pub input_names: &'static [&'static str],
    /// The reader of pictures and recordings, in a binary whose program states preprocessing.
    pub media: Option<ReadMedia>,
}

/// Where the program file is.
#[derive(Clone, Copy, Debug)]
pub enum ProgramSource {
    /// In the binary.
    Embedded(&'static [u8]),
    /// Behind the binary, in its file: from byte `start` to byte `end`.
    Appended {
        /// The first byte of the program file.
        start: usize,
        /// The byte behind the last one.
        end: usize,
    },
    /// A file of this name in the folder of the binary, mapped, and the data files (`.ptd`) of this name, if present.
    Beside(&'static str),
}

impl ProgramSource {
    /// The bytes of the program file, and the data files.
    ///
    /// # Errors
    /// [`Error::File`](crate::Error::File) where the file cannot be read.
    pub fn open(self) -> Result<(FileBytes, Beside), crate::Error> {
        match self {
            Self::Embedded(bytes) => Ok((FileBytes::embedded(bytes), Beside::default())),
            Self::Appended { start, end } => Ok((appendix::own_part(start..end)?, Beside::default())),
            Self::Beside(name) => {
                let path = own_path().with_file_name(name);
                Ok((FileBytes::open(&path)?, Beside::of(&path)))
            }
        }
    }
}

/// The file of the binary: WebAssembly knows the first argument only.
fn own_path() -> PathBuf {
    let named = || std::env::args_os().next().map(PathBuf::from);
    std::env::current_exe().ok().or_else(named).unwrap_or_default()
}

/// Runs the process's command line; the exit code is 0 for success, 2 for a malformed command line and 8 for a failure.
pub fn main(spec: &AppSpec) -> ExitCode {
    let arguments = std::env::args_os().skip(1);
    execute(spec, arguments, &mut std::io::stdout(), &mut std::io::stderr()).into()
}

/// Runs a command line: results go to `out`, messages to `talk`.
pub fn execute(
    spec: &AppSpec,
    arguments: impl Iterator<Item = OsString>,
    out: &mut dyn Write,
    talk: &mut dyn Write,
) -> u8 {
    let run = |Request { subject, bench, effort, trace }| match (Tracing::of(trace.as_deref()), bench) {
        (Some(_), true) => Err(Failure::Usage("--trace and --bench do not go together".to_owned())),
        (Some(tracing), false) => run::trace(spec, &subject, effort, tracing).map_err(Failure::failed),
        (None, false) => run::run(spec, &subject).map_err(|failure| with_usage(spec, failure)),
        (None, true) => run::bench(spec, &subject, effort).map_err(Failure::failed),
    };
    let done = Command::answer(parse(arguments), spec.stamp, &|| usage(spec), run);
    end(spec.name, done, out, talk)
}

/// A mistake in the command line that shows once the program is known.
fn with_usage(spec: &AppSpec, failure: Failure) -> Failure {
    match failure {
        Failure::Usage(problem) => Failure::Usage(format!("{problem}\n\n{}", usage(spec))),
        failed => failed,
    }
}

fn usage(spec: &AppSpec) -> String {
    let inputs = spec.input_names.join(", ");
    format!(
        "usage: {name} --inputs FILE [--outputs FILE] [--top-k N]
       {name} --bench [--inputs FILE] [--outputs FILE] [--warmup N] [--iters N] [--min-seconds S]
       {name} --version | --help

Runs the model on the tensors {inputs} of a safetensors file, and writes output_0, output_1, ...
Inputs may hold many cases, stacked along the first dimension. A file `.npy` of NumPy is the one input, or the one output.
{media}
  --inputs FILE      {formats} to read; zeros in a benchmark without one
  --outputs FILE     safetensors or .npy file to write
  --top-k N          print the N most probable classes; {top_k} where no file takes the outputs and the program has labels
  --method NAME      the method to run ({method})
  --data FILE        data file with weights that the program keeps outside itself; may be repeated (those beside the
                     program file)
  --adapter FILE     data file of an adapter (the one beside the program file)
  --threads N        the most threads that the program's backends use, 1 to 256 (the physical cores, at most
                     16)
  --bench            measure, and print one JSON object
{trace}  --warmup N         executions before the measured ones (3)
  --iters N          the least number of measured executions (10)
  --min-seconds S    the least time that they take together (0)
",
        media = if spec.media.is_some() { MEDIA } else { "" },
        formats = if spec.media.is_some() { "safetensors, .npy, PNG, JPEG or WAV file" } else { "safetensors or .npy file" },
        top_k = crate::DEFAULT_TOP_K,
        trace = trace_help(18),
        name = spec.name,
        method = spec.method
    )
}

const MEDIA: &str =
    "A picture (PNG, JPEG) or a recording (WAV) is the one input, with the preprocessing that the program states.\n";
