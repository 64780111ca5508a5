//! A folder of a device: files are brought, programs run, results come back.

use std::collections::BTreeSet;
use std::time::Duration;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_system::{Input, Invocation, Outcome, System};

use super::{DeviceFile, Shell, failure, script};

/// The folder of a recipe on a device.
pub struct DeviceFolder<'a> {
    system: &'a dyn System,
    device: &'a Shell,
    path: String,
}

/// A program to run in the folder.
#[derive(Clone, Debug, Default)]
pub struct Command {
    /// The name of the program and the arguments.
    pub words: Vec<String>,
    /// Environment variables by name.
    pub variables: Vec<(String, String)>,
    /// Files that the program writes, by name.
    pub results: Vec<String>,
    /// The most time that the run may take; unlimited if `None`.
    pub timeout: Option<Duration>,
    /// Whether the program writes to the terminal of etbuild.
    pub shows: bool,
}

impl<'a> DeviceFolder<'a> {
    /// The folder for the recipe `name`, which [`DeviceFolder::push`] makes.
    pub fn new(system: &'a dyn System, device: &'a Shell, name: &str) -> Self {
        Self { system, device, path: format!("{}/{name}", device.folder()) }
    }

    /// The path on the device.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Brings the files that the folder lacks, or has with other bytes; returns the brought files.
    ///
    /// # Errors
    /// A device that cannot be reached, or has no space.
    pub fn push<'f>(&self, files: &'f [DeviceFile]) -> Result<Vec<&'f DeviceFile>, Diagnostic> {
        let listed = self.done("a list of files", self.device.invocation(&script::list(&self.path)))?;
        let text = String::from_utf8_lossy(&listed.stdout).into_owned();
        let there: BTreeSet<String> = text.lines().map(words).collect();
        let missing: Vec<&DeviceFile> = files.iter().filter(|file| !there.contains(&file.line())).collect();
        for file in &missing {
            let mut invocation = self.device.invocation(&script::receive(&self.path, file));
            invocation.input = Input::File(file.source.clone());
            self.done(&format!("the transfer of `{}`", file.name), invocation)?;
        }
        Ok(missing)
    }

    /// Runs a program until its end; the exit status is the program's.
    ///
    /// # Errors
    /// A device that cannot be reached.
    pub fn run(&self, command: &Command) -> Result<Outcome, Diagnostic> {
        let words: Vec<String> = std::iter::once(format!("./{}", command.words.first().map_or("", String::as_str)))
            .chain(command.words.iter().skip(1).cloned())
            .collect();
        let text = script::run(&self.path, &command.variables, &words, &command.results);
        let mut invocation = self.device.invocation(&text);
        (invocation.input, invocation.timeout, invocation.shows) = (Input::Open, command.timeout, command.shows);
        let outcome = self.system.run(&invocation).map_err(|error| self.not_started(&error))?;
        match failure::known(self.device, &outcome) {
            Some(known) if !outcome.success() => Err(known),
            _ => Ok(outcome),
        }
    }

    /// The bytes of a file of the folder.
    ///
    /// # Errors
    /// A missing file, or a device that cannot be reached.
    pub fn pull(&self, name: &str) -> Result<Vec<u8>, Diagnostic> {
        let step = format!("reading `{name}`");
        self.done(&step, self.device.invocation(&script::send(&self.path, name))).map(|outcome| outcome.stdout)
    }

    /// The diagnostic for a run that did not succeed.
    pub fn failed(&self, outcome: &Outcome) -> Diagnostic {
        if outcome.timed_out {
            let message = format!("the program on device `{}` did not end in time", self.device);
            return Diagnostic::error(Code::RunTimedOut, message)
                .help("raise `verify.timeout`, or verify with fewer inputs");
        }
        failure::failed(self.device, "the program", outcome)
    }

    /// Runs a step that must succeed.
    fn done(&self, step: &str, invocation: Invocation) -> Result<Outcome, Diagnostic> {
        let outcome = self.system.run(&invocation).map_err(|error| self.not_started(&error))?;
        if outcome.success() { Ok(outcome) } else { Err(failure::failed(self.device, step, &outcome)) }
    }

    fn not_started(&self, error: &std::io::Error) -> Diagnostic {
        if self.system.is_interrupted() {
            return Diagnostic::error(Code::Interrupted, "interrupted");
        }
        failure::no_program(self.device, error)
    }
}

/// A line with single blanks: `wc` of some systems writes more.
fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}
