//! The vendor's compiler, in a process of its own for each binary.
//!
//! A context binary has numbers that the library counts through the life of a process, so that only a new process makes the same
//! binary of the same graphs. A crash of the compiler is an error of that process, and its memory is free afterwards.
//!
//! The process is this program again, with [`FLAG`]: `main` calls [`worker`] before anything else.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs, io};

use et_qnn::{Outcome, Problem};
use etbuild_backend::{Refusal, RefusalKind};
use serde::{Deserialize, Serialize};

use crate::compile::{Device, check, compile};
use crate::partition::Partition;

/// The first argument of a process that compiles; the second is a folder.
const FLAG: &str = "--compile-for-npu";

/// The file of the request in the folder.
const REQUEST: &str = "request";
/// The file of the answer in the folder.
const ANSWER: &str = "answer";

/// The file of a partition in the folder.
fn partition_file(number: usize) -> String {
    format!("partition{number}")
}

/// The message to the process, beside the files of the partitions.
#[derive(Serialize, Deserialize)]
struct Request {
    work: Work,
    partitions: usize,
    device: Device,
}

/// What the compiler does with the graphs of partitions.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub enum Work {
    /// Compiles all to one blob.
    Compile,
    /// Checks the operations; the blob is empty.
    Check,
}

/// The blob of a compilation.
#[derive(Serialize, Deserialize)]
struct Made(#[serde(with = "crate::bytes")] Vec<u8>);

/// The message of the process: a blob, or the reason of a failure.
type Answer = Result<Made, String>;

/// The exit code of a process that was started to compile; `None` for any other process.
pub fn worker() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    let folder = arguments.next().filter(|flag| flag == FLAG).and_then(|_| arguments.next())?;
    Some(match answer(&PathBuf::from(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

fn answer(folder: &Path) -> io::Result<()> {
    let Request { work, partitions, device } =
        postcard::from_bytes(&fs::read(folder.join(REQUEST))?).map_err(io::Error::other)?;
    // Each partition is read when its turn comes, as the compiler takes several times the memory of its weights.
    let mut partitions = (0..partitions).map(|number| read(&folder.join(partition_file(number))));
    let answer = match work {
        Work::Compile => compile(partitions, device),
        Work::Check => partitions.try_for_each(|partition| check(&partition?, device)).map(|()| Vec::new()),
    };
    let answer: Answer = answer.map(Made).map_err(|problem| problem.sentence);
    write(&folder.join(ANSWER), &answer)
}

fn read(path: &Path) -> Outcome<Partition> {
    let bytes = fs::read(path).map_err(|error| Problem::blob(format!("a partition cannot be read: {error}")))?;
    postcard::from_bytes(&bytes).map_err(|error| Problem::blob(format!("a partition cannot be read: {error}")))
}

fn write(path: &Path, message: &impl Serialize) -> io::Result<()> {
    let file = io::BufWriter::new(fs::File::create(path)?);
    postcard::to_io(message, file).map_err(io::Error::other)?.flush()
}

/// Lets the compiler work on partitions for a device, each in the form of messages.
///
/// # Errors
/// The reason why there is no result.
pub fn work_apart(work: Work, partitions: &[&[u8]], device: Device) -> Result<Vec<u8>, Refusal> {
    let failed = |error: io::Error| {
        Refusal::new(RefusalKind::Machine, format!("the process of the NPU's compiler failed: {error}"))
    };
    let refused = |reason: String| Refusal::new(RefusalKind::Partition, reason);
    let folder = tempfile::tempdir().map_err(failed)?;
    for (number, partition) in partitions.iter().enumerate() {
        fs::write(folder.path().join(partition_file(number)), partition).map_err(failed)?;
    }
    let request = Request { work, partitions: partitions.len(), device };
    write(&folder.path().join(REQUEST), &request).map_err(failed)?;
    let arguments = [OsString::from(FLAG), folder.path().into()];
    let mut command = Command::new(env::current_exe().map_err(failed)?);
    // The library writes about options that it does not know; its errors are in the answer.
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().map_err(failed)?;
    if !status.success() {
        return Err(refused(format!("the NPU's compiler ended with {status}")));
    }
    let answer = fs::read(folder.path().join(ANSWER)).map_err(failed)?;
    let answer: Answer = postcard::from_bytes(&answer).map_err(|error| failed(io::Error::other(error)))?;
    answer.map(|Made(blob)| blob).map_err(refused)
}
