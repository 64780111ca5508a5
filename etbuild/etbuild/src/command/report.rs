//! `etbuild report`: deploys, and writes a page for every target about the result.

use std::path::{Path, PathBuf};

use etbuild_diagnostic::{Code, Diagnostic, Severity, unwritable};
use etbuild_engine::{Goal, Mode, UnitReport, unit_folders};
use etbuild_inspect::{ProgramLosses, UnitAnatomy, anatomy, quantization};

use super::Outcome;
use super::deploy::diagnostics;
use super::lock::deploy_locked;
use crate::arguments;
use crate::page;
use crate::report::{Before, DeployReport, NOTE, Sizes, measure, note, previous};
use crate::session::Session;

pub fn run(session: &Session, arguments: &arguments::Report) -> Outcome {
    let request = session.request(&arguments.recipes)?;
    let world = session.world(Mode::Build)?;
    let (system, out) = (&*session.system, &session.global.out);
    let folders: Vec<(String, PathBuf)> =
        unit_folders(&world, &request)?.into_iter().map(|(name, folder)| (name, out.join(folder))).collect();
    let before: Vec<Before> = folders.iter().map(|(name, folder)| previous(system, folder, name)).collect();
    let deployed = deploy_locked(session, &world, &request, Goal::Deploy, out)?;
    let found = diagnostics(&deployed, false);
    let looked = look(session, &request, deployed)?;
    let mut reports = Vec::new();
    for (((name, folder), before), (deploy, anatomy, accuracy)) in folders.iter().zip(before).zip(looked) {
        let sizes = Sizes::of(folder, name, Some(&anatomy));
        let sizes = sizes.filter(|_| !deploy.files.is_empty());
        let page = folder.join("report.html");
        let mut report = DeployReport::new(page, deploy, anatomy, accuracy, (sizes, before));
        if arguments.latency && report.sizes.is_some() {
            session.terminal.say("measuring the latency of each layer");
            report.latency = Some(measure(folder, &report.anatomy));
        }
        write(session, folder, &report)?;
        reports.push(report);
    }
    let mut pages: Vec<PathBuf> = reports.iter().map(|report| report.page.clone()).collect();
    if reports.len() > 1 {
        let index = out.join("report.html");
        let html = page::index(&reports, out).map_err(|error| render_failed(&error))?;
        put(session, &index, html.as_bytes())?;
        pages.push(index);
    }
    show(session, &reports, &pages, &found);
    Ok(found)
}

type Looked = (UnitReport, UnitAnatomy, Option<ProgramLosses>);

/// The anatomy of the deployed units, and the loss of quantization, from the artifacts of the deploy.
fn look(
    session: &Session,
    request: &etbuild_engine::Request,
    deployed: Vec<UnitReport>,
) -> Result<Vec<Looked>, Vec<Diagnostic>> {
    session.terminal.say("analyzing the built files");
    // `--no-cache` does not apply here, because the option would repeat the build.
    let world = session.world_in(Mode::Build, &session.cache_folder()?)?;
    let found = anatomy(&world, request, &deployed)?;
    let losses = quantization(&world, request)?;
    let of = |name: &str| losses.iter().find(|losses| losses.recipe == name).cloned();
    let whole = |(deploy, anatomy): (UnitReport, UnitAnatomy)| {
        let losses = of(&deploy.recipe).filter(|losses| losses.quantizes);
        (deploy, anatomy, losses)
    };
    Ok(deployed.into_iter().zip(found).map(whole).collect())
}

fn write(session: &Session, folder: &Path, report: &DeployReport) -> Result<(), Vec<Diagnostic>> {
    let html = page::html(report).map_err(|error| render_failed(&error))?;
    let noted = note(report.sizes.as_ref(), report.previous.as_ref());
    put(session, &report.page, html.as_bytes())?;
    // A failed deploy is not compared with.
    if report.sizes.is_some() { put(session, &folder.join(NOTE), &noted) } else { Ok(()) }
}

fn render_failed(error: &dyn std::error::Error) -> Vec<Diagnostic> {
    vec![Diagnostic::error(Code::Internal, format!("failed to render the report: {error}"))]
}

fn put(session: &Session, path: &Path, bytes: &[u8]) -> Result<(), Vec<Diagnostic>> {
    session.system.write(path, bytes, false).map_err(|error| vec![unwritable(path, &error)])
}

fn show(session: &Session, reports: &[DeployReport], pages: &[PathBuf], found: &[Diagnostic]) {
    let ok = !found.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let value = serde_json::json!({
        "schema": "etbuild.report/1", "ok": ok, "units": reports, "diagnostics": found,
    });
    let pages: Vec<String> = pages.iter().map(|page| page.display().to_string()).collect();
    session.terminal.present(&value, &pages.join("\n"));
    session.terminal.explain(found);
}
