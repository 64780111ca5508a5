//! Running a binary: as a process, in an emulator.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_store::{BlobRef, KeyBuilder};
use etbuild_system::{Invocation, Outcome};

use super::Runner;
use crate::action::Keyed;
use crate::failure;
use crate::input::DataFile;
use crate::session::{Transient, World, interrupt};

/// The options of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VerifyOptions {
    /// The verification data.
    pub inputs: DataFile,
    /// The runner of the binary.
    pub runner: Runner,
    /// The binary's name.
    pub name: String,
    /// `recipe@target`, for errors.
    pub instance: String,
    /// The most time that the run may take.
    pub timeout: Duration,
}

impl Keyed for VerifyOptions {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self {
            inputs: _, // The action has the digest.
            runner,
            name: _,     // The process does not look at the name of the file.
            instance: _, // Errors name the unit.
            timeout: _,  // A run that takes longer has no result.
        } = self;
        match runner {
            Runner::Native => key.fact("runner", "native"),
            Runner::Model {
                program: _, // The digest stands for the program.
                digest,
            } => key.fact("runner", "model").tool("etbuild", *digest),
            Runner::Emulator {
                program: _, // The digest stands for the program.
                arguments,
                digest,
                twin: _, // The action has the digest of the binary.
            } => key.fact("arguments", arguments.clone()).tool("emulator", *digest),
            Runner::Drive(_) => key.fact("runner", "board"),
            Runner::Device(device) => key.fact("runner", device.to_string()),
        }
    }
}

/// A run of a unit's binary.
pub struct Process<'a> {
    /// The machine and the store.
    pub world: &'a World,
    /// The options of the run.
    pub options: &'a VerifyOptions,
}

impl Process<'_> {
    /// Runs a hosted binary with the program file and data files, by their endings, on the contents of a safetensors file and
    /// returns the contents of the file that the binary writes.
    pub fn hosted(
        &self,
        binary: &BlobRef,
        program: &BlobRef,
        data: &[(&str, BlobRef)],
        inputs: &[u8],
    ) -> Result<Vec<u8>, Vec<Diagnostic>> {
        let folder = self.folder();
        let path = folder.path().join(&self.options.name);
        self.materialise(binary, &path, true);
        self.place(folder.path(), program, data);
        self.answers(folder.path(), &path, Vec::new(), inputs)
    }

    /// Runs a program file with data files by this etbuild, whose delegates have models of the NPUs that are not here, as [`Self::hosted`] runs a
    /// binary.
    pub fn modelled(
        &self,
        program: &BlobRef,
        data: &[(&str, BlobRef)],
        inputs: &[u8],
    ) -> Result<Vec<u8>, Vec<Diagnostic>> {
        let folder = self.folder();
        let (program, data) = self.place(folder.path(), program, data);
        let data = data.into_iter().flat_map(|path| ["--data".into(), path.into()]);
        let arguments = ["run".into(), program.clone().into()].into_iter().chain(data).collect();
        self.answers(folder.path(), &program, arguments, inputs)
    }

    /// Writes a program file and its data files, by their endings, to a folder; returns the paths.
    fn place(&self, folder: &Path, program: &BlobRef, data: &[(&str, BlobRef)]) -> (PathBuf, Vec<PathBuf>) {
        let place = |ending: &str, blob: &BlobRef| {
            let path = folder.join(format!("{}.{ending}", self.options.name));
            self.materialise(blob, &path, false);
            path
        };
        (place("pte", program), data.iter().map(|(ending, blob)| place(ending, blob)).collect())
    }

    /// Runs `binary` with the arguments, on the contents of a safetensors file; returns the contents of the file with the outputs.
    fn answers(
        &self,
        folder: &Path,
        binary: &Path,
        mut arguments: Vec<OsString>,
        inputs: &[u8],
    ) -> Result<Vec<u8>, Vec<Diagnostic>> {
        let [given, outputs] = ["inputs.safetensors", "outputs.safetensors"].map(|name| folder.join(name));
        self.world.system().write(&given, inputs, false).map_err(|error| failure::unreadable(&given, &error))?;
        arguments.extend(["--inputs".into(), given.into(), "--outputs".into(), outputs.clone().into()]);
        self.checked(binary, arguments)?;
        self.world.system().read(&outputs).map_err(|error| failure::unreadable(&outputs, &error))
    }

    /// Runs firmware and returns the console's text.
    pub fn board(&self, binary: &BlobRef) -> Result<Vec<u8>, Vec<Diagnostic>> {
        let folder = self.folder();
        let path = folder.path().join(&self.options.name);
        self.materialise(binary, &path, true);
        // An emulator may put semihosting text on either stream.
        self.checked(&path, Vec::new()).map(|outcome| [outcome.stdout, outcome.stderr].concat())
    }

    fn checked(&self, binary: &Path, arguments: Vec<OsString>) -> Result<Outcome, Vec<Diagnostic>> {
        let mut invocation = self.invocation(binary).args(arguments);
        invocation.timeout = Some(self.options.timeout);
        let outcome = self.world.system().run(&invocation).map_err(|error| failure::unreadable(binary, &error))?;
        if outcome.timed_out {
            interrupt(Transient::Environment(Box::new(self.timed_out())));
        }
        if outcome.success() { Ok(outcome) } else { Err(vec![self.failed(&outcome)]) }
    }

    fn invocation(&self, binary: &Path) -> Invocation {
        match &self.options.runner {
            Runner::Native | Runner::Drive(_) | Runner::Device(_) => Invocation::new(binary),
            Runner::Model { program, .. } => Invocation::new(program),
            Runner::Emulator { program, arguments, .. } => {
                let path = binary.to_string_lossy();
                Invocation::new(program).args(arguments.iter().map(|argument| argument.replace("{binary}", &path)))
            }
        }
    }

    fn folder(&self) -> tempfile::TempDir {
        tempfile::tempdir().unwrap_or_else(|error| {
            let message = format!("there is no temporary folder to run in: {error}");
            interrupt(Transient::Environment(Box::new(Diagnostic::error(Code::OutputUnwritable, message))))
        })
    }

    fn materialise(&self, blob: &BlobRef, path: &Path, executable: bool) {
        self.world.materialise(blob, path, executable);
    }

    fn timed_out(&self) -> Diagnostic {
        let VerifyOptions { instance, timeout, .. } = self.options;
        let message = format!("{instance} did not end within {timeout:?}");
        Diagnostic::error(Code::RunTimedOut, message).help("raise `verify.timeout`, or verify with fewer inputs")
    }

    fn failed(&self, outcome: &Outcome) -> Diagnostic {
        let diagnostic =
            Diagnostic::error(Code::RunFailed, format!("{} ended {}", self.options.instance, outcome.ending()));
        let said = [&outcome.stdout, &outcome.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        said.iter().flat_map(|text| last_lines(text)).fold(diagnostic, Diagnostic::note)
    }
}

/// The last lines of what a program said.
const SHOWN: usize = 3;

/// The last lines of a text, in the order of the text.
fn last_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().skip(text.lines().count().saturating_sub(SHOWN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_text_is_shown_in_its_order() {
        let lines = |text: &'static str| last_lines(text).collect::<Vec<_>>();
        assert_eq!(lines("a\nb\nc\nd\n"), ["b", "c", "d"]);
        assert_eq!(lines("a\nb"), ["a", "b"]);
    }
}
