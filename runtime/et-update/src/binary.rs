//! The part of a binary that takes updates and bundles: options, and a look at the record in front of every run.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Duration;

use crate::first_start::{Taken, first_start, from_bundle};
use crate::{
    Applied, Binary, Delta, Disk, Error, Place, PublicKey, SystemDisk, Trial, apply, begin_trial, confirm, end_trial,
    rollback,
};

/// The exit code of a failed update.
const FAILED: u8 = 8;
/// The exit code of a wrong command line.
const USAGE: u8 = 2;
/// A run of a new version that lasts so long is a success: servers do not end.
const LASTING: Duration = Duration::from_secs(60);

/// Follows an option of updates, or looks at the record and runs the binary.
pub fn main(binary: &Binary, run: impl FnOnce() -> ExitCode) -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(|word| word.to_str().unwrap_or_default()).collect();
    let own = std::env::current_exe().unwrap_or_default();
    let Some(folder) = own.parent() else { return run() };
    let place = Place::folder(folder, binary.name);
    let done = match words[..] {
        ["--update", _] => update(binary, &place, arguments.get(1).map_or(OsStr::new(""), OsString::as_os_str)),
        ["--rollback"] => rollback(&SystemDisk, &place).map(|()| "the earlier version is back".to_owned()),
        ["--confirm"] => confirm(&SystemDisk, &place).map(|()| "the earlier version is removed".to_owned()),
        ["--bundle", file] => from_bundle(binary, &place, file.as_ref(), None).map(|taken| taken.text),
        ["--bundle", file, "--chip", chip] => {
            from_bundle(binary, &place, file.as_ref(), Some(chip)).map(|taken| taken.text)
        }
        ["--update" | "--rollback" | "--confirm" | "--bundle", ..] | ["--chip"] => {
            say(&mut io::stderr(), binary, &format!("a wrong use of {}\n\n{USAGE_TEXT}", words.first().unwrap_or(&"")));
            return ExitCode::from(USAGE);
        }
        ["--help" | "-h", ..] => {
            let code = run();
            // A reader that went away gets no text.
            let _ = write!(io::stdout(), "\n{USAGE_TEXT}");
            return code;
        }
        ["--chip", chip, ..] => {
            let rest = arguments.get(2..).unwrap_or_default();
            return started(binary, &place, &own, rest, Some(chip), |own| again(binary, own, rest));
        }
        _ => {
            return started(binary, &place, &own, &arguments, None, |_| {
                tried(binary, place.clone(), &own, &arguments, run)
            });
        }
    };
    match done {
        Ok(text) => {
            say(&mut io::stdout(), binary, &text);
            ExitCode::SUCCESS
        }
        Err(error) => failed(binary, &error),
    }
}

/// The help text of the options.
const USAGE_TEXT: &str = "Updates of this binary and its model:
  --update FILE      apply an update, which `etbuild delta` makes
  --rollback         return to the version before the last update
  --confirm          remove the version before the last update
  --bundle FILE      install the files for this machine from a bundle, which `etbuild bundle` makes; with `--chip NAME`, the files of a chip or target
  --chip NAME ...    in front of other options: install those of a chip or target from the bundle beside the binary, then run
";

fn update(binary: &Binary, place: &Place, file: &OsStr) -> Result<String, Error> {
    let path = PathBuf::from(file);
    let file = SystemDisk.open(&path).and_then(|file| file.ok_or_else(|| io::ErrorKind::NotFound.into()));
    let delta = Delta::open(file.map_err(Error::at(&path))?)?;
    if delta.header.name != binary.name {
        return Err(Error::WrongBase { file: delta.header.name, problem: "is another model" });
    }
    Ok(match apply(&SystemDisk, place, delta, binary.key.map(PublicKey).as_ref())? {
        Applied::Installed => "the update is installed; --rollback returns to the version before",
        Applied::AlreadyInstalled => "the update was installed before",
    }
    .to_owned())
}

/// Installs from the bundle beside the binary where that is due, and goes on.
fn started(
    binary: &Binary,
    place: &Place,
    own: &std::path::Path,
    arguments: &[OsString],
    chip: Option<&str>,
    go_on: impl FnOnce(&std::path::Path) -> ExitCode,
) -> ExitCode {
    match first_start(binary, place, chip) {
        Ok(Some(Taken { is_changed: true, text })) => {
            say(&mut io::stderr(), binary, &text);
            again(binary, own, arguments)
        }
        Ok(_) => go_on(own),
        Err(error) => failed(binary, &error),
    }
}

/// Runs the binary, after a switch that was cut and within a trial.
fn tried(
    binary: &Binary,
    place: Place,
    own: &std::path::Path,
    arguments: &[OsString],
    run: impl FnOnce() -> ExitCode,
) -> ExitCode {
    match begin_trial(&SystemDisk, &place) {
        Ok(Trial::None) => run(),
        Ok(Trial::Counted) => {
            let lasting = place.clone();
            thread::spawn(move || {
                thread::sleep(LASTING);
                let _ = end_trial(&SystemDisk, &lasting);
            });
            let code = run();
            if code == ExitCode::SUCCESS
                && let Err(error) = end_trial(&SystemDisk, &place)
            {
                say(&mut io::stderr(), binary, &error.to_string());
            }
            code
        }
        Ok(Trial::Switched) => again(binary, own, arguments),
        Ok(Trial::RolledBack) => {
            say(&mut io::stderr(), binary, "the new version never ran with success; the earlier version is back");
            again(binary, own, arguments)
        }
        Err(error) => failed(binary, &error),
    }
}

/// Starts the binary again: the file is another one than this process runs.
#[cfg(unix)]
fn again(binary: &Binary, own: &std::path::Path, arguments: &[OsString]) -> ExitCode {
    use std::os::unix::process::CommandExt;
    let source = Command::new(own).args(arguments).exec();
    failed(binary, &Error::File { path: own.to_owned(), source })
}

#[cfg(not(unix))]
fn again(binary: &Binary, own: &std::path::Path, arguments: &[OsString]) -> ExitCode {
    match Command::new(own).args(arguments).status() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED)),
        Err(source) => failed(binary, &Error::File { path: own.to_owned(), source }),
    }
}

fn failed(binary: &Binary, error: &Error) -> ExitCode {
    say(&mut io::stderr(), binary, &format!("error[{}]: {error}\nhelp: {}", error.code(), error.hint()));
    ExitCode::from(FAILED)
}

/// A reader that went away gets no message.
fn say(out: &mut dyn Write, binary: &Binary, text: &str) {
    let _ = writeln!(out, "{}: {text}", binary.name);
}
