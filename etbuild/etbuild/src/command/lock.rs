//! `etbuild lock`, and the checks of `--locked`.

use std::path::Path;
use std::sync::Arc;

use etbuild_diagnostic::{Code, Diagnostic, Severity, unwritable};
use etbuild_engine::{Goal, Mode, Request, UnitReport, World, deploy};
use etbuild_inspect::materials;

use super::Outcome;
use crate::arguments;
use crate::feature::Feature;
use crate::lock::{self, LOCK_FILE, Lock, add_outputs, changed_outputs, changed_sources, gather};
use crate::session::Session;

pub fn run(session: &Session, arguments: &arguments::Lock) -> Outcome {
    Feature::Git.require("`etbuild lock`")?;
    let request = session.request(&arguments.recipes)?;
    let world = if arguments.update { session.world_of_newest()? } else { session.world(Mode::Build)? };
    let known = lock::read(&*session.system)?;
    let reports = deploy(&world, &request, Goal::Build, &session.global.out)?;
    let failures: Vec<Diagnostic> = reports.iter().flat_map(|report| report.diagnostics.clone()).collect();
    if failures.iter().any(|failure| failure.severity == Severity::Error) {
        return Err(failures);
    }
    let mut now = gather(&materials(&world, &request)?, true);
    add_outputs(&mut now, &reports);
    if let Some(known) = &known {
        let changed: Vec<Diagnostic> = changes(known, &now);
        if !arguments.update && !changed.is_empty() {
            return Err(changed);
        }
        keep_others(known, &mut now);
    }
    lock::write(&*session.system, &now)?;
    let counts = format!("{} sources, {} tools, {} units", now.sources.len(), now.tools.len(), now.units.len());
    let value = serde_json::json!({ "file": LOCK_FILE, "units": now.units.len() });
    session.terminal.succeed("lock", value, &format!("{LOCK_FILE}: {counts}"));
    Ok(Vec::new())
}

/// Changed entries of the lock; an entry without a counterpart in the lock is not a change.
fn changes(known: &Lock, now: &Lock) -> Vec<Diagnostic> {
    let all = [changed_sources(known, now), changed_outputs(known, now)].concat();
    // A difference has notes with the locked value; an addition has no such note.
    all.into_iter().filter(|diagnostic| diagnostic.notes.len() > 1).collect()
}

/// Entries of units that were not asked for stay.
fn keep_others(known: &Lock, now: &mut Lock) {
    let others = |id: &str| !now.units.iter().any(|unit| unit.id == id);
    let units: Vec<_> = known.units.iter().filter(|unit| others(&unit.id)).cloned().collect();
    if !units.is_empty() {
        let fresh = |path: &str| now.sources.iter().any(|source| source.path == path);
        let sources: Vec<_> = known.sources.iter().filter(|source| !fresh(&source.path)).cloned().collect();
        let fresh = |name: &str| now.tools.iter().any(|tool| tool.name == name);
        let tools: Vec<_> = known.tools.iter().filter(|tool| !fresh(&tool.name)).cloned().collect();
        let fresh = |name: &str| now.targets.iter().any(|target| target.name == name);
        let targets: Vec<_> = known.targets.iter().filter(|target| !fresh(&target.name)).cloned().collect();
        now.sources.extend(sources);
        now.tools.extend(tools);
        now.targets.extend(targets);
    }
    now.units.extend(units);
    now.sort();
}

/// Builds with `--locked`: nothing runs if a source, a tool or a target differs, and different results are errors.
pub fn deploy_locked(
    session: &Session,
    world: &Arc<World>,
    request: &Request,
    goal: Goal,
    out: &Path,
) -> Result<Vec<UnitReport>, Vec<Diagnostic>> {
    check_out(session, out)?;
    if !session.global.locked {
        return deploy(world, request, goal, out);
    }
    let lock = lock::read(&*session.system)?.ok_or_else(|| {
        let message = format!("`--locked` requires `{LOCK_FILE}`, which does not exist");
        vec![Diagnostic::error(Code::LockedMismatch, message).help("create the file with `etbuild lock`")]
    })?;
    let materials_before = materials(world, request)?;
    let changed = changed_sources(&lock, &gather(&materials_before, false));
    if !changed.is_empty() {
        return Err(changed);
    }
    let mut reports = deploy(world, request, goal, out)?;
    if materials_before.iter().any(|unit| !unit.complete) {
        let found = changed_sources(&lock, &gather(&materials(world, request)?, false));
        reports.iter_mut().take(1).for_each(|report| report.diagnostics.extend(found.iter().cloned()));
    }
    for report in &mut reports {
        let mut now = Lock::new();
        add_outputs(&mut now, std::slice::from_ref(report));
        report.diagnostics.extend(changed_outputs(&lock, &now));
    }
    Ok(reports)
}

/// Refuses a path for results that can be no folder, before compilers work for it.
fn check_out(session: &Session, out: &Path) -> Result<(), Vec<Diagnostic>> {
    let existing = out.ancestors().find(|part| session.system.stamp(part).is_ok());
    match existing.filter(|part| !session.system.is_dir(part)) {
        Some(_) => Err(vec![unwritable(out, &std::io::ErrorKind::NotADirectory.into())]),
        None => Ok(()),
    }
}
