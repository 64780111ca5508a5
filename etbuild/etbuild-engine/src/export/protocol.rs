//! The requests to the embedded script and the answers. `export.py` is the other side.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_system::{Invocation, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure;
use crate::session::{Transient, World, interrupt};

const SCRIPT: &str = include_str!("export.py");

/// The variables that the script gets from the environment. The variables name paths; results do not depend on the variables.
const VARIABLES: [&str; 21] = [
    "PATH",
    "HOME",
    "USERPROFILE",
    "USER",
    "USERNAME",
    "LOGNAME",
    "TMPDIR",
    "TEMP",
    "TMP",
    "LD_LIBRARY_PATH",
    "VIRTUAL_ENV",
    "XDG_CACHE_HOME",
    "TORCH_HOME",
    "HF_HOME",
    "HF_TOKEN",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "SYSTEMROOT",
];

/// The number of last lines of the script's standard error that a diagnostic shows.
const SHOWN_LINES: usize = 40;

/// The facts of an interpreter.
#[derive(Deserialize)]
pub struct Probe {
    /// Implementation and version.
    pub version: String,
    /// Versions of the installed packages, by name.
    pub distributions: BTreeMap<String, String>,
    /// The files and folders that change when any of this does.
    pub watched: Vec<PathBuf>,
}

#[derive(Serialize)]
struct Request<'a> {
    script: &'a Path,
    function: &'a str,
    arguments: &'a BTreeMap<String, Value>,
    folder: &'a Path,
}

/// The files that an export read.
#[derive(Deserialize)]
pub struct Answer {
    /// The project's modules.
    pub modules: Vec<Module>,
    /// Files that were opened for reading.
    pub files: Vec<OpenedFile>,
    /// The distributions of the imported modules.
    pub distributions: Vec<String>,
}

/// A module of the project.
#[derive(Deserialize)]
pub struct Module {
    /// The path from the script's folder.
    pub name: String,
    /// The file in the answer's folder that holds the compiled bytes.
    pub copy: String,
}

/// A file that was opened for reading.
#[derive(Deserialize)]
pub struct OpenedFile {
    /// The path from the script's folder, or from the root for a file outside the project.
    pub name: String,
    /// The size at the time of opening, in bytes.
    pub size: u64,
    /// The modification time at the time of opening, in nanoseconds since 1970.
    pub modified_ns: i128,
}

/// Asks an interpreter about itself.
pub fn probe(world: &World, program: &Path) -> Result<Probe, Box<Diagnostic>> {
    let folder = temporary();
    let answer = folder.path().join("probe.json");
    let outcome = start(world, program, folder.path(), ["probe".into(), answer.clone().into()])?;
    let said = world.system().read(&answer).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    said.ok_or_else(|| {
        let message = format!("`{}` does not work as a Python interpreter", program.display());
        Box::new(last_lines(&outcome).fold(Diagnostic::error(Code::ToolMissing, message), Diagnostic::note))
    })
}

/// Calls the function and exports the module into `folder`, as `model.pt2`.
pub fn ask(
    world: &World,
    program: &Path,
    (script, function): (&Path, &str),
    arguments: &BTreeMap<String, Value>,
    folder: &Path,
) -> Result<Answer, Vec<Diagnostic>> {
    let request = folder.join("request.json");
    let text = failure::json(&Request { script, function, arguments, folder })?;
    world.system().write(&request, &text, false).map_err(|error| failure::unreadable(&request, &error))?;
    let started = start(world, program, folder, ["export".into(), request.into()]);
    let outcome = started.unwrap_or_else(|missing| interrupt(Transient::Environment(missing)));
    if !outcome.success() {
        return Err(vec![failed(program, function, &outcome)]);
    }
    let answer = folder.join("answer.json");
    let text = world.system().read(&answer).map_err(|error| failure::unreadable(&answer, &error))?;
    serde_json::from_slice(&text).map_err(|error| failure::internal(&format!("export.py answered badly: {error}")))
}

/// Runs the embedded script, with an environment that does not influence results.
fn start(world: &World, program: &Path, folder: &Path, arguments: [OsString; 2]) -> Result<Outcome, Box<Diagnostic>> {
    let script = folder.join("export.py");
    let cannot = |error: std::io::Error| {
        let message = format!("`{}` cannot be started: {error}", program.display());
        Box::new(Diagnostic::error(Code::ToolMissing, message))
    };
    world.system().write(&script, SCRIPT.as_bytes(), false).map_err(cannot)?;
    let mut invocation = Invocation::new(program).arg(script).args(arguments);
    invocation.only_variables = Some(VARIABLES.map(OsString::from).to_vec());
    let invocation = invocation.env("PYTHONHASHSEED", "0").env("PYTHONIOENCODING", "utf-8").env("LC_ALL", "C.UTF-8");
    world.system().run(&invocation).map_err(cannot)
}

fn failed(program: &Path, function: &str, outcome: &Outcome) -> Diagnostic {
    let program = program.display();
    let (code, message, help) = match outcome.status {
        Some(10) => (
            Code::ExportFailed,
            format!("`{function}` raised an exception"),
            Some("correct the line of the script that the notes name, or the arguments in `export.arguments`"),
        ),
        Some(11) => (
            Code::ExportFailed,
            format!("there is no function `{function}`"),
            Some("name a function of the script behind the colon of `model.python`"),
        ),
        Some(12) => (
            Code::ExportFailed,
            format!("`{function}` returned no model"),
            Some(
                "return `(model, args)`, also with `kwargs` and `dynamic_shapes`, or what `torch.export.export` returned",
            ),
        ),
        Some(13) => {
            let message = format!("`{program}` has no torch");
            let missing = last_lines(outcome).fold(Diagnostic::error(Code::ToolMissing, message), Diagnostic::note);
            let help = "install torch there, or name another interpreter in `export.interpreter`";
            interrupt(Transient::Environment(Box::new(missing.help(help))))
        }
        Some(14) => (
            Code::ExportFailed,
            format!("`torch.export` does not take the model of `{function}`"),
            Some(
                "change the model or `dynamic_shapes` as the notes say, until `torch.export.export` takes both in Python",
            ),
        ),
        Some(status) => {
            let message = format!("`{program}` ended with status {status}");
            (
                Code::ExportFailed,
                message,
                Some("call the function in Python, without etbuild, to see where the process ends"),
            )
        }
        None => {
            let message = format!("`{program}` was ended by a signal");
            let help =
                "call the function in Python, without etbuild: the process may lack memory, or a library may crash";
            (Code::ExportFailed, message, Some(help))
        }
    };
    let diagnostic = last_lines(outcome).fold(Diagnostic::error(code, message), Diagnostic::note);
    help.map_or(diagnostic.clone(), |help| diagnostic.help(help))
}

/// The end of the script's standard error.
fn last_lines(outcome: &Outcome) -> impl Iterator<Item = String> {
    let text = String::from_utf8_lossy(&outcome.stderr).into_owned();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let skipped = lines.len().saturating_sub(SHOWN_LINES);
    lines.into_iter().skip(skipped)
}

/// A folder to exchange files in.
pub fn temporary() -> tempfile::TempDir {
    tempfile::tempdir().unwrap_or_else(|error| {
        let message = format!("there is no temporary folder to export in: {error}");
        interrupt(Transient::Environment(Box::new(Diagnostic::error(Code::OutputUnwritable, message))))
    })
}
