//! `etbuild verify`: whether a build is right, and whether a rebuild gives the same bytes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use etbuild_diagnostic::{Code, Diagnostic, Severity, unwritable};
use etbuild_engine::{Goal, Mode, UnitReport, World, deploy};
use etbuild_inspect::{ProgramLosses, quantization};

use super::Outcome;
use super::bundle;
use super::deploy::diagnostics;
use super::lock::deploy_locked;
use crate::arguments;
use crate::render::{deployment_table, junit, worst_text};
use crate::session::Session;

pub fn run(session: &Session, arguments: &arguments::Verify) -> Outcome {
    if arguments.recipes.recipes.iter().all(|path| path.is_dir()) {
        return bundle::run(session, &arguments.recipes.recipes);
    }
    let request = session.request(&arguments.recipes)?;
    let goal = if arguments.rebuild { Goal::Build } else { Goal::Deploy };
    let reports = deploy_locked(session, &session.world(Mode::Build)?, &request, goal, &session.global.out)?;
    let mut found = diagnostics(&reports, !arguments.rebuild);
    if arguments.rebuild && found.is_empty() {
        found = rebuild(session, &request, &reports)?;
    }
    let losses = if arguments.rebuild { Vec::new() } else { losses(session, &request)? };
    if let Some(file) = &arguments.junit {
        let text = junit(&reports, &found);
        session.system.write(file, text.as_bytes(), false).map_err(|error| vec![unwritable(file, &error)])?;
    }
    show(session, &reports, &losses, &found);
    if arguments.rebuild && found.is_empty() {
        session.terminal.say("the rebuild is identical: same bytes and same keys");
    }
    Ok(found)
}

/// The loss of quantization by layer. All inputs come from the cache of the build.
fn losses(session: &Session, request: &etbuild_engine::Request) -> Result<Vec<ProgramLosses>, Vec<Diagnostic>> {
    // `--no-cache` does not apply here, because the option would repeat the build.
    let world = session.world_in(Mode::Build, &session.cache_folder()?)?;
    quantization(&world, request)
}

fn show(session: &Session, reports: &[UnitReport], losses: &[ProgramLosses], found: &[Diagnostic]) {
    let ok = !found.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let value = serde_json::json!({
        "schema": "etbuild.result/1", "ok": ok, "units": reports, "losses": losses, "diagnostics": found,
    });
    let text = [deployment_table(reports), worst_text(losses)].join("\n\n");
    session.terminal.present(&value, text.trim_end());
    session.terminal.explain(found);
}

/// Repeats the build with an empty cache in another folder, and compares every file and every action key.
fn rebuild(
    session: &Session,
    request: &etbuild_engine::Request,
    first: &[UnitReport],
) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let folder = tempfile::tempdir().map_err(|error| vec![no_folder(&error)])?;
    let world: Arc<World> = session.world_alone(Mode::Build, &folder.path().join("cache"))?;
    let out = folder.path().join("out");
    let second = deploy(&world, request, Goal::Build, &out)?;
    Ok(first.iter().zip(&second).flat_map(|(first, second)| differences(session, &out, first, second)).collect())
}

fn differences(session: &Session, out: &Path, first: &UnitReport, second: &UnitReport) -> Vec<Diagnostic> {
    let unit = format!("{}@{}", first.recipe, first.target);
    if !second.diagnostics.is_empty() {
        return second.diagnostics.clone();
    }
    let (files, others) = (digests(first, &session.global.out), digests(second, out));
    let changed = files.iter().filter(|(name, digest)| others.get(*name) != Some(digest));
    let keys = first.stages.iter().zip(&second.stages).filter(|(first, second)| first.key != second.key);
    let changed = changed.map(|(name, _)| format!("{unit}: `{name}` differs after a rebuild"));
    let keys = keys.map(|(row, _)| format!("{unit}: the inputs of stage {} differ after a rebuild", row.stage));
    changed.chain(keys).map(|message| Diagnostic::error(Code::NotReproducible, message)).collect()
}

fn digests<'a>(report: &'a UnitReport, out: &Path) -> BTreeMap<String, &'a str> {
    let name = |path: &Path| path.strip_prefix(out).unwrap_or(path).display().to_string();
    report.files.iter().map(|file| (name(&file.path), file.digest.as_str())).collect()
}

fn no_folder(error: &std::io::Error) -> Diagnostic {
    Diagnostic::error(Code::OutputUnwritable, format!("failed to create a temporary folder: {error}"))
        .help("set TMPDIR to a writable folder")
}
