//! `etbuild serve`: deploys a language model with a server for this machine, and becomes the server.

use std::path::PathBuf;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_engine::{Goal, Request, UnitReport};
use etbuild_recipe::Override;
use etbuild_system::Invocation;

use super::Outcome;
use super::deploy::deployed;
use super::program::is_program;
use crate::arguments;
use crate::session::Session;

pub fn run(session: &Session, arguments: &arguments::Serve) -> Outcome {
    let request = request(session, arguments)?;
    let (reports, diagnostics) = deployed(session, &request, Goal::Deploy, false)?;
    let binary = match reports.as_slice() {
        [report] if report.diagnostics.is_empty() => binary(session, report),
        [_] => return Ok(diagnostics),
        several => return Err(vec![one_of(several)]),
    };
    if !session.system.stamp(&binary).is_ok_and(|stamp| stamp.size > 0) {
        let message = "the target has no server in its binaries";
        return Err(vec![Diagnostic::error(Code::Usage, message).help("leave `--target` out, or name a Linux target")]);
    }
    let server = Invocation::new(&binary).arg("--serve").args(arguments.server.clone());
    let error = session.system.become_program(&server);
    let message = format!("`{}` cannot be started: {error}", binary.display());
    Err(vec![Diagnostic::error(Code::RunFailed, message).help("start it yourself, with `--serve`")])
}

/// The model with a server, for this machine where no target is named.
fn request(session: &Session, arguments: &arguments::Serve) -> Result<Request, Vec<Diagnostic>> {
    if let [file] = arguments.recipes.recipes.as_slice()
        && is_program(session, file).is_ok_and(|is_program| is_program)
    {
        let message = format!("`{}` is a program file, which has no server", file.display());
        let help = "name the checkpoint or the recipe that the program file was made from";
        return Err(vec![Diagnostic::error(Code::Usage, message).help(help)]);
    }
    let mut request = session.request(&arguments.recipes)?;
    request.overrides.push(Override::parse(SERVER).map_err(|mistake| vec![mistake])?);
    if request.targets.is_empty() {
        request.targets.push(format!("linux-{}", std::env::consts::ARCH));
    }
    Ok(request)
}

/// The recipe option of the server.
const SERVER: &str = "server=true";

fn binary(session: &Session, report: &UnitReport) -> PathBuf {
    session.global.out.join(&report.recipe).join(&report.target).join(&report.recipe)
}

fn one_of(reports: &[UnitReport]) -> Diagnostic {
    let names: Vec<String> = reports.iter().map(|report| format!("{}@{}", report.recipe, report.target)).collect();
    let message = format!("one model is served, and these are {}: {}", names.len(), names.join(", "));
    Diagnostic::error(Code::Usage, message).help("choose one with `--only`")
}
