//! The commands, a file each. A command returns the diagnostics that decide the exit code.

mod apply;
mod attest;
mod build;
mod bundle;
mod bundled;
mod bundles;
mod cache;
mod check;
mod compile;
mod completions;
mod debug;
mod delta;
mod deploy;
mod doctor;
mod explain;
mod gpu;
mod init;
mod inputs;
mod inspect;
mod language;
mod lock;
mod man;
mod matrix;
mod npu;
mod on_device;
mod pictures;
mod plan;
mod prebuild;
mod program;
mod report;
mod run;
mod schema;
mod serve;
mod simulation;
mod targets;
mod trace;
mod verify;
mod watch;

use std::process::ExitCode;

use etbuild_diagnostic::{Code, Diagnostic, Failure, exit_code};

use crate::arguments::{Arguments, Command};
use crate::session::Session;

/// The end of a command: `Ok` holds diagnostics that have been shown, `Err` diagnostics to show.
type Outcome = Result<Vec<Diagnostic>, Vec<Diagnostic>>;

/// Runs the command and returns the exit code.
pub fn run(arguments: &Arguments) -> ExitCode {
    let session = Session::new(&arguments.global);
    let outcome = session.enter_folder().and_then(|()| check_locked(&session, &arguments.command));
    let outcome = outcome.and_then(|()| dispatch(&session, &arguments.command));
    let mut diagnostics = outcome.unwrap_or_else(|diagnostics| {
        session.terminal.report(&diagnostics);
        diagnostics
    });
    if let Some(lost) = session.terminal.lost() {
        session.terminal.warn(&lost);
        diagnostics.push(lost);
    }
    let interrupted = session.system.is_interrupted().then(|| Failure::Interrupted.exit_code());
    ExitCode::from(interrupted.unwrap_or_else(|| exit_code(&diagnostics)))
}

/// Refuses `--locked` for a command that compares nothing with the lock file: its success would say nothing about the file.
fn check_locked(session: &Session, command: &Command) -> Result<(), Vec<Diagnostic>> {
    let compares = match command {
        Command::Deploy(_) | Command::Build(_) | Command::Attest(_) | Command::Verify(_) | Command::Report(_) => true,
        Command::Run(arguments) => arguments.device.is_some(),
        Command::Trace(arguments) => arguments.run.device.is_some(),
        _ => false,
    };
    if !session.global.locked || compares {
        return Ok(());
    }
    let message = "this command compares nothing with `etbuild.lock`, and `--locked` was given";
    let help = "`deploy`, `build`, `verify`, `report` and `attest` compare; leave `--locked` out here";
    Err(vec![Diagnostic::error(Code::Usage, message).help(help)])
}

fn dispatch(session: &Session, command: &Command) -> Outcome {
    match command {
        Command::Deploy(arguments) => deploy::run(session, arguments),
        Command::Build(recipes) => build::run(session, recipes),
        Command::Compile(arguments) => compile::run(session, arguments),
        Command::Run(arguments) => run::run(session, arguments),
        Command::Trace(arguments) => trace::run(session, arguments),
        Command::Debug(arguments) => debug::run(session, arguments),
        Command::Serve(arguments) => serve::run(session, arguments),
        Command::Check(recipes) => check::run(session, recipes),
        Command::Plan(recipes) => plan::run(session, recipes),
        Command::Lock(arguments) => lock::run(session, arguments),
        Command::Matrix(arguments) => matrix::run(session, arguments),
        Command::Explain(arguments) => explain::run(session, arguments),
        Command::Inspect(arguments) => inspect::run(session, arguments),
        Command::Report(arguments) => report::run(session, arguments),
        Command::Watch(arguments) => watch::run(session, arguments),
        Command::Attest(recipes) => attest::run(session, recipes),
        Command::Delta(arguments) => delta::run(session, arguments),
        Command::Apply(arguments) => apply::run(session, arguments),
        Command::Bundle(command) => bundles::run(session, command),
        Command::Verify(arguments) => verify::run(session, arguments),
        Command::Cache(command) => cache::run(session, command),
        Command::Targets(command) => targets::run(session, command),
        Command::Schema(arguments) => schema::run(session, arguments),
        Command::Doctor => doctor::run(session),
        Command::Init(arguments) => init::run(session, arguments),
        Command::Prebuild(arguments) => prebuild::run(session, arguments),
        Command::Man { folder } => man::run(session, folder),
        Command::Completions { shell } => completions::run(session, *shell),
    }
}
