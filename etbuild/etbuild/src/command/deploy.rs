//! `etbuild deploy`: build, verify, write.

use std::sync::Arc;

use etbuild_diagnostic::{Code, Diagnostic, Severity};
use etbuild_engine::device::Device;
use etbuild_engine::{Goal, Mode, Request, UnitReport, Verification, World};
use etbuild_recipe::Override;

use super::Outcome;
use super::cache::collect_if_due;
use super::lock::deploy_locked;
use crate::arguments;
use crate::render::deployment_table;
use crate::session::Session;

pub fn run(session: &Session, arguments: &arguments::Deploy) -> Outcome {
    let mut request = session.request(&arguments.recipes)?;
    let bench = arguments.bench.map(|executions| Override::parse(&format!("bench={executions}"))).transpose();
    request.overrides.extend(bench.map_err(|error| vec![error])?);
    let devices: Result<Vec<Device>, Diagnostic> = arguments.device.iter().map(|text| Device::parse(text)).collect();
    let world = session.world_on(Mode::Build, devices.map_err(|error| vec![error])?)?;
    let (_, diagnostics) = deployed_in(session, world, &request, Goal::Deploy, arguments.require_verify)?;
    Ok(diagnostics)
}

/// Reaches the goal for all units of a request, and shows the results. A unit that could not be verified is an error only where
/// verification is required.
///
/// # Errors
/// A mistake in the request as a whole; mistakes of units are among the diagnostics.
pub fn deployed(
    session: &Session,
    request: &Request,
    goal: Goal,
    require_verify: bool,
) -> Result<(Vec<UnitReport>, Vec<Diagnostic>), Vec<Diagnostic>> {
    deployed_in(session, session.world(Mode::Build)?, request, goal, require_verify)
}

fn deployed_in(
    session: &Session,
    world: Arc<World>,
    request: &Request,
    goal: Goal,
    require_verify: bool,
) -> Result<(Vec<UnitReport>, Vec<Diagnostic>), Vec<Diagnostic>> {
    let reports = deploy_locked(session, &world, request, goal, &session.global.out)?;
    // The world's lease on the cache would block garbage collection.
    drop(world);
    collect_if_due(session);
    let diagnostics = diagnostics(&reports, require_verify);
    show(session, &reports, &diagnostics);
    Ok((reports, diagnostics))
}

fn show(session: &Session, reports: &[UnitReport], diagnostics: &[Diagnostic]) {
    let ok = !diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let value = serde_json::json!({
        "schema": "etbuild.result/1", "ok": ok, "units": reports, "diagnostics": diagnostics,
    });
    session.terminal.present(&value, &deployment_table(reports));
    session.terminal.explain(diagnostics);
}

/// The diagnostics of all units, each diagnostic once. A unit that could not be verified is an error only where verification is
/// required, or where no unit was built.
pub fn diagnostics(reports: &[UnitReport], require_verify: bool) -> Vec<Diagnostic> {
    let mut all: Vec<Diagnostic> = Vec::new();
    let is_built = reports.iter().any(|report| !report.files.is_empty());
    for diagnostic in reports.iter().flat_map(|report| of_unit(report, require_verify, is_built)) {
        if !all.contains(&diagnostic) {
            all.push(diagnostic);
        }
    }
    all
}

/// The diagnostics of a unit. A missing tool is an error where the request built nothing at all.
fn of_unit(report: &UnitReport, require_verify: bool, is_built: bool) -> Vec<Diagnostic> {
    let mut all = report.diagnostics.clone();
    let Verification::Skipped { reason } = &report.verification else { return all };
    if is_built {
        let severity = if require_verify { Severity::Error } else { Severity::Warning };
        let message = format!("{}@{} was not verified: {}", report.recipe, report.target, reason.message);
        all.push(Diagnostic { severity, message, code: Code::NotVerified, ..(**reason).clone() });
    } else {
        all.push(Diagnostic { severity: Severity::Error, ..(**reason).clone() });
    }
    all
}
