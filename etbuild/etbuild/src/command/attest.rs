//! `etbuild attest`: a bill of materials and a provenance beside the results of each unit.

use std::path::{Path, PathBuf};

use etbuild_diagnostic::{Diagnostic, Severity, unwritable};
use etbuild_engine::{Goal, Mode, UnitReport};
use etbuild_inspect::{Materials, materials};
use serde_json::Value;

use super::Outcome;
use super::deploy::diagnostics;
use super::lock::deploy_locked;
use crate::arguments::Recipes;
use crate::attest::{PROVENANCE, SBOM, Subject, provenance, sbom};
use crate::feature::Feature;
use crate::session::Session;

pub fn run(session: &Session, recipes: &Recipes) -> Outcome {
    Feature::Git.require("`etbuild attest`")?;
    let request = session.request(recipes)?;
    let world = session.world(Mode::Build)?;
    let reports = deploy_locked(session, &world, &request, Goal::Build, &session.global.out)?;
    let found = diagnostics(&reports, false);
    if found.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Err(found);
    }
    let mut written = Vec::new();
    for (unit, report) in materials(&world, &request)?.iter().zip(&reports) {
        written.extend(attest(session, unit, report)?);
    }
    let lines: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    session.terminal.succeed("attest", serde_json::json!({ "files": written }), &lines.join("\n"));
    session.terminal.explain(&found);
    Ok(found)
}

fn attest(session: &Session, unit: &Materials, report: &UnitReport) -> Result<[PathBuf; 2], Vec<Diagnostic>> {
    let folder = session.global.out.join(&unit.recipe).join(&unit.target);
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // A manifest says also which stages were asked for, and lists the rest.
    let results = report.files.iter().map(|file| name(&file.path)).filter(|name| name != "manifest.json");
    let subjects = results.map(|name| Subject::read(&folder, &name));
    let subjects: Vec<Subject> =
        subjects.collect::<Result<_, _>>().map_err(|error| vec![unwritable(&folder, &error)])?;
    let write = |name: &str, value: &Value| -> Result<PathBuf, Vec<Diagnostic>> {
        let path = folder.join(name);
        let text = serde_json::to_string_pretty(value).unwrap_or_default() + "\n";
        session.system.write(&path, text.as_bytes(), false).map_err(|error| vec![unwritable(&path, &error)])?;
        Ok(path)
    };
    let overrides = &session.global.overrides;
    Ok([write(SBOM, &sbom(unit, &subjects))?, write(PROVENANCE, &provenance(unit, report, overrides, &subjects))?])
}
