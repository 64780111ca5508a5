//! A build as a job for a worker: a process that needs only the job's files of this machine.

use std::collections::{BTreeMap, BTreeSet};

use etbuild_system::{Outcome, System};

use crate::build::arguments;
use crate::code::MAP;
use crate::third_party::{self, Archive};
use crate::workshop::{REMOVED, Workshop};
use crate::{Built, CompileTarget, LinkError, Project, Route, SystemFiles, Toolchain, flags, messages, system};

const SCRIPT: &str = include_str!("job.sh");

/// Where the script is, beside the project.
const SCRIPT_FILE: &str = "job.sh";

/// The folder of the project.
const FOLDER: &str = "project";

/// The folder of third-party crates, beside the project.
const REGISTRY: &str = "registry";

/// The status by which the script says that the worker is not suited.
const UNSUITED: i32 = 78;

/// The names of the binaries and the libraries in every template, of WebAssembly and of other targets.
const BINARIES: [&str; 3] = ["device-binary", "device-binary.wasm", "device-binary.exe"];
const LIBRARY: &str = "libdevice_library.a";
const SHARED: [&str; 3] = ["libdevice_library.so", "device_library.wasm", "device_library.dll"];

/// A build for a worker.
#[derive(Debug)]
pub struct BuildJob {
    /// The program with the arguments.
    pub arguments: Vec<String>,
    /// Environment variables by name.
    pub variables: BTreeMap<String, String>,
    /// The working folder, from the root of the files.
    pub folder: String,
    /// The input files, by paths from that root.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The output files, by paths from the working folder.
    pub outputs: BTreeSet<String>,
    /// The reader of the outcome.
    pub answer: JobAnswer,
}

/// Reads the outcome of a job.
#[derive(Debug)]
pub struct JobAnswer {
    release: String,
    system: Option<SystemFiles>,
}

/// The outcome of a job.
#[derive(Debug)]
pub enum JobEnd {
    /// The same as of [`crate::build`].
    Ended(Result<Built, LinkError>),
    /// The worker lacks a part of the job's key, for this reason: another worker must run the job.
    Unsuited(String),
}

impl BuildJob {
    /// The job that makes what [`crate::build`] would; `None` where that compiles the standard library, or needs crates that this
    /// machine cannot fetch.
    pub fn new(
        system: &dyn System,
        toolchain: &Toolchain,
        target: &CompileTarget,
        project: &Project,
        workshop: &Workshop<'_>,
    ) -> Option<Self> {
        if toolchain.route == Route::BuildStd {
            return None;
        }
        let archives = third_party::archives(system, toolchain, project, workshop).ok()?;
        let mut words = vec!["/bin/sh".to_owned(), format!("../{SCRIPT_FILE}")];
        words.extend(arguments(target).chain(["--offline"]).map(str::to_owned));
        let release = format!("target/{}/release", target.triple);
        let made = BINARIES.iter().chain(&SHARED).chain([&LIBRARY]).map(|file| format!("{release}/{file}"));
        let outputs: BTreeSet<String> = made.chain([MAP.to_owned()]).collect();
        Some(Self {
            arguments: words,
            variables: variables(toolchain, target, project),
            folder: FOLDER.to_owned(),
            files: files(project, archives),
            outputs,
            answer: JobAnswer { release, system: SystemFiles::of(target) },
        })
    }
}

impl JobAnswer {
    /// The results of the process, by the exit status and the output files.
    pub fn end(&self, outcome: &Outcome, mut outputs: BTreeMap<String, Vec<u8>>) -> JobEnd {
        if outcome.status == Some(UNSUITED) {
            return JobEnd::Unsuited(last_line(&outcome.stderr));
        }
        if let Err(error) = messages::made(outcome) {
            return JobEnd::ended_or_unsuited(system::explained(error, self.system));
        }
        let mut take = |name: &str| outputs.remove(&format!("{}/{name}", self.release));
        let (binary, shared) = (BINARIES.into_iter().find_map(&mut take), SHARED.into_iter().find_map(&mut take));
        let library = take(LIBRARY);
        let map = outputs.remove(MAP).unwrap_or_default();
        if binary.is_none() && library.is_none() {
            return JobEnd::Unsuited("a worker returned no output".to_owned());
        }
        JobEnd::Ended(Ok(Built::new(binary, library, shared, &map)))
    }
}

impl JobEnd {
    /// A failure that is the worker's alone is no failure of the project.
    fn ended_or_unsuited(error: LinkError) -> Self {
        if error.is_transient() { Self::Unsuited(error.to_string()) } else { Self::Ended(Err(error)) }
    }
}

fn variables(toolchain: &Toolchain, target: &CompileTarget, project: &Project) -> BTreeMap<String, String> {
    let linker = toolchain.linker_version.clone().unwrap_or_default();
    let variables = [
        ("FLAGS", flags::everywhere(target, project)),
        ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
        ("WANTED_LINKER", linker),
        ("WANTED_RUSTC", toolchain.rustc_version.trim_end().to_owned()),
        ("WANTED_TARGET", target.triple.clone()),
    ];
    variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn files(project: &Project, archives: Vec<Archive>) -> BTreeMap<String, Vec<u8>> {
    let placed = |(path, bytes): (&str, &[u8])| (format!("{FOLDER}/{path}"), bytes.to_vec());
    let script = format!("unset {}\n{SCRIPT}", REMOVED.join(" "));
    let mut files: BTreeMap<String, Vec<u8>> = project.files().map(placed).collect();
    files.insert(SCRIPT_FILE.to_owned(), script.into_bytes());
    let checksums: String = archives.iter().map(|archive| format!("{} {}\n", archive.name, archive.checksum)).collect();
    if !checksums.is_empty() {
        files.insert(format!("{REGISTRY}/checksums"), checksums.into_bytes());
    }
    files.extend(archives.into_iter().map(|archive| (format!("{REGISTRY}/{}.crate", archive.name), archive.bytes)));
    files
}

fn last_line(text: &[u8]) -> String {
    String::from_utf8_lossy(text).lines().last().unwrap_or("a worker is not suited").to_owned()
}
