//! Building, verifying and writing out units, several at a time.

use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use etbuild_diagnostic::{Code, Diagnostic};

use crate::db::{Db, EngineDatabase};
use crate::environment::{self, Tools};
use crate::judge;
use crate::package::{self, Deliverable};
use crate::query;
use crate::report::{UnitReport, Verification};
use crate::resolve::{Request, resolve};
use crate::stage::{Blocked, StageResult, Staged, Transient};
use crate::unit::Unit;
use crate::world::World;
use crate::{ArtifactKind, budget};

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Binaries in the output folder.
    Build,
    /// The same, and run where that is possible.
    Deploy,
}

/// Builds every unit of a request and returns what came of each, in the order of recipes and targets. A unit that fails
/// does not keep the others from being built.
///
/// # Errors
/// Mistakes in the recipes; nothing has run then.
pub fn deploy(
    world: &Arc<World>,
    request: &Request,
    goal: Goal,
    out: &Path,
) -> Result<Vec<UnitReport>, Vec<Diagnostic>> {
    let db = EngineDatabase::new(world.clone());
    let units = guarded(|| resolve(&db, request)).unwrap_or_else(|transient| Err(vec![diagnostic(transient)]))?;
    let reports: Vec<Mutex<Option<UnitReport>>> = units.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..world.jobs().min(units.len()) {
            let (db, next, units, reports) = (db.clone(), &next, &units, &reports);
            scope.spawn(move || {
                while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let report = deploy_unit(&db, unit, goal, out);
                    let place = units.iter().position(|other| std::ptr::eq(other, unit)).and_then(|at| reports.get(at));
                    if let Some(place) = place {
                        *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
                    }
                }
            });
        }
    });
    Ok(reports.into_iter().filter_map(|report| report.into_inner().unwrap_or_else(PoisonError::into_inner)).collect())
}

/// Builds one unit. A blob that was lost between look-up and use is derived again, once, from a database that remembers
/// nothing.
fn deploy_unit(db: &EngineDatabase, unit: &Unit, goal: Goal, out: &Path) -> UnitReport {
    let mut report = UnitReport::new(unit.name(), unit.target.name());
    let first = guarded(|| build(db, unit, goal, out, &mut report));
    let outcome = match first {
        Err(Transient::BlobLost) => {
            report = UnitReport::new(unit.name(), unit.target.name());
            let fresh = db.forgetting();
            guarded(|| build(&fresh, &unit.in_database(&fresh), goal, out, &mut report))
        }
        other => other,
    };
    match outcome {
        Ok(Ok(())) => {}
        Ok(Err(blocked)) => report.diagnostics.extend(blocked_diagnostics(&blocked)),
        Err(transient) => report.diagnostics.push(diagnostic(transient)),
    }
    report
}

fn build(
    db: &EngineDatabase,
    unit: &Unit,
    goal: Goal,
    out: &Path,
    report: &mut UnitReport,
) -> Result<(), Blocked> {
    let mut note = |result: StageResult| result.inspect(|staged| report.staged(staged));
    note(query::imported(db, unit.model))?;
    note(query::lowered(db, unit.model))?;
    note(query::planned(db, unit.model, unit.plan.clone()))?;
    let emitted = note(query::emitted(db, unit.model, unit.plan.clone()))?;
    let tools = environment::tools(db.world(), unit);
    note(query::selected(db, unit.clone(), tools.clone()))?;
    let linked = note(query::linked(db, unit.clone(), tools.clone()))?;
    finish(db, unit, &emitted, &linked, report);
    report.files = package::write(
        db.world(),
        &out.join(unit.folder()),
        (unit.name(), unit.target.name()),
        &deliverables(unit, &emitted, &linked)?,
        &report.stages,
    );
    if goal == Goal::Deploy {
        verify(db, unit, &tools, report)?;
    }
    Ok(())
}
