//! Running a binary: as a process, in an emulator.

use std::ffi::OsString;
use std::path::Path;
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
        let path = folder.path();
        let name = &self.options.name;
        self.materialise(binary, &path.join(name), true);
        self.materialise(program, &path.join(format!("{name}.pte")), false);
        for (ending, data) in data {
            self.materialise(data, &path.join(format!("{name}.{ending}")), false);
        }
        let files = [path.join("inputs.safetensors"), path.join("outputs.safetensors")];
        let [given, outputs] = &files;
        self.world.system().write(given, inputs, false).map_err(|error| failure::unreadable(given, &error))?;
        let arguments = ["--inputs".into(), given.into(), "--outputs".into(), outputs.into()];
        self.checked(&path.join(name), arguments.to_vec())?;
        self.world.system().read(outputs).map_err(|error| failure::unreadable(outputs, &error))
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
        let at = |ending: &str| folder.path().join(format!("{}.{ending}", self.options.name));
        self.materialise(program, &at("pte"), false);
        let [given, outputs] = ["inputs.safetensors", "outputs.safetensors"].map(|name| folder.path().join(name));
        self.world.system().write(&given, inputs, false).map_err(|error| failure::unreadable(&given, &error))?;
        let mut arguments: Vec<OsString> = vec!["run".into(), at("pte").into()];
        for (ending, data) in data {
            self.materialise(data, &at(ending), false);
            arguments.extend(["--data".into(), at(ending).into()]);
        }
        arguments.extend(["--inputs".into(), given.into(), "--outputs".into(), outputs.clone().into()]);
        self.checked(&at("pte"), arguments)?;
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
        let how = outcome.status.map_or("by a signal".to_owned(), |status| format!("with status {status}"));
        let diagnostic = Diagnostic::error(Code::RunFailed, format!("{} ended {how}", self.options.instance));
        let said = [&outcome.stdout, &outcome.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        said.iter().flat_map(|text| text.lines().rev().take(3)).fold(diagnostic, Diagnostic::note)
    }
}
