//! Notes of a unit in the store: the last keys for explanations, and the artifacts to keep.

use std::path::Path;

use etbuild_store::{ActionKey, Root};

use super::{UnitReport, stage_name};
use crate::action::Staged;
use crate::input::Db;
use crate::pipeline::Stage;
use crate::unit::Unit;

/// Keeps the artifacts of the unit from garbage collection, for as long as the results are in the folder.
pub fn keep(db: &dyn Db, unit: &Unit, folder: &Path, report: &UnitReport) {
    let witness = std::path::absolute(folder.join("manifest.json")).unwrap_or_default();
    let actions = report.stages.iter().filter_map(|row| row.key.parse().ok().map(ActionKey)).collect();
    // Without the root, a later deploy may have to run a stage again.
    let _ = db.world().store().keep(&Root { name: unit.instance(), witness, actions });
}

/// Notes a stage for the report and, for `explain`, the key of the stage.
pub fn noted(db: &dyn Db, unit: &Unit, method: Option<&str>, staged: &Staged, report: &mut UnitReport) {
    report.staged(staged, method);
    // Only an explanation is lost where this fails.
    let _ = db.world().store().remember(&slot(unit, staged.stage, method), &staged.key);
}

/// The name under which the last key of a unit's stage is remembered.
pub fn slot(unit: &Unit, stage: Stage, method: Option<&str>) -> String {
    format!("{}/{}/{}", unit.name(), unit.target.name(), stage_name(stage.name(), method))
}
