//! Looking without running: the stages in the store, and the reasons for the missing stages.

use std::path::PathBuf;
use std::sync::Arc;

use etbuild_diagnostic::Diagnostic;
use serde::Serialize;

use super::inputs;
use crate::action::{Blocked, StageResult};
use crate::deploy::{judged, slot, stage_name};
use crate::input::{Db, EngineDatabase};
use crate::pipeline::{Source, Stage};
use crate::request::{Request, resolve};
use crate::session::{World, guarded};
use crate::unit::Unit;
use crate::{export, import, verify};

/// The plan for one unit.
#[derive(Clone, Debug, Serialize)]
pub struct UnitPlan {
    /// The recipe's file.
    pub file: PathBuf,
    /// The recipe's name.
    pub recipe: String,
    /// The target's name.
    pub target: String,
    /// The stages in order.
    pub stages: Vec<PlanRow>,
    /// The files that the unit depends on, as [`crate::inputs`] lists the files.
    #[serde(skip)]
    pub inputs: Option<Vec<PathBuf>>,
}

impl UnitPlan {
    /// `recipe@target`.
    pub fn instance(&self) -> String {
        format!("{}@{}", self.recipe, self.target)
    }

    /// Whether a deploy would run a stage. A stage that cannot run here, such as a verification without an emulator, does not count.
    pub fn is_stale(&self) -> bool {
        self.stages.iter().any(|row| match &row.state {
            PlanState::Cached { .. } | PlanState::Remote { .. } => false,
            PlanState::Missing { .. } | PlanState::Waiting => true,
            PlanState::Failed { .. } => row.stage != Stage::Verify.name(),
        })
    }
}

/// The plan for one stage.
#[derive(Clone, Debug, Serialize)]
pub struct PlanRow {
    /// The stage's name.
    pub stage: &'static str,
    /// The method, for a stage that runs once for each of several methods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The state in the store.
    #[serde(flatten)]
    pub state: PlanState,
}

impl PlanRow {
    /// The stage's name, with the name of the method among several: `import.forward`.
    pub fn name(&self) -> String {
        stage_name(self.stage, self.method.as_deref())
    }
}

/// The state of a stage in the store.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase", tag = "state")]
pub enum PlanState {
    /// The store has the artifacts.
    Cached {
        /// The stage's key.
        key: String,
    },
    /// The remote cache has the artifacts.
    Remote {
        /// The stage's key.
        key: String,
    },
    /// The stage would run.
    Missing {
        /// The stage's key.
        key: String,
        /// The first component in which the key differs from the last key; `None` where the stage never ran for this unit, or
        /// where the artifacts have been removed since.
        difference: Option<String>,
        /// Whether the stage ran for this unit before.
        known: bool,
    },
    /// The key depends on a stage that would run.
    Waiting,
    /// The stage cannot run.
    Failed {
        /// Why not.
        diagnostics: Vec<Diagnostic>,
    },
}

/// The plan for a request. `world` must be in [`crate::Mode::Plan`].
///
/// # Errors
/// Mistakes in the recipes.
pub fn plan(world: &Arc<World>, request: &Request) -> Result<Vec<UnitPlan>, Vec<Diagnostic>> {
    let db = EngineDatabase::new(world.clone());
    let units = guarded(|| resolve(&db, request)).unwrap_or_else(|transient| Err(vec![transient.into()]))?;
    Ok(units.iter().map(|unit| plan_unit(&db, unit)).collect())
}

fn plan_unit(db: &dyn Db, unit: &Unit) -> UnitPlan {
    let stages = Stage::ALL.iter().flat_map(|stage| parts(unit, *stage).into_iter().map(|method| (*stage, method)));
    let rows = stages.filter_map(|(stage, method)| {
        let look = || Some(state(db, &slot(unit, stage, method), look(db, unit, stage, method)?));
        let failed =
            |transient: crate::session::Transient| Some(PlanState::Failed { diagnostics: vec![transient.into()] });
        let state = guarded(look).unwrap_or_else(failed)?;
        Some(PlanRow { stage: stage.name(), method: method.map(str::to_owned), state })
    });
    let (recipe, target) = (unit.name().to_owned(), unit.target.name().to_owned());
    let inputs = guarded(|| inputs(db, unit)).unwrap_or_default();
    UnitPlan { file: unit.source().to_owned(), recipe, target, stages: rows.collect(), inputs }
}

/// The methods of a stage that runs once for each; a single `None` for a stage that runs once.
fn parts(unit: &Unit, stage: Stage) -> Vec<Option<&str>> {
    match stage {
        Stage::Export | Stage::Import | Stage::Lower | Stage::Quantize | Stage::Measure | Stage::Delegate => {
            unit.program.archives.keys().map(|method| unit.part(method)).collect()
        }
        _ => vec![None],
    }
}

/// Asks for a stage; `None` for a stage that the recipe does not want.
fn look(db: &dyn Db, unit: &Unit, stage: Stage, method: Option<&str>) -> Option<StageResult> {
    let maker = || unit.maker(db).map_err(|reason| Blocked::failed(stage, [*reason]));
    let archive = || match method {
        Some(method) => unit.program.archives.get_key_value(method),
        None => unit.program.archives.first_key_value(),
    };
    Some(match stage {
        Stage::Export => export::exported(db, archive()?.1.python(db)?),
        Stage::Import => import::imported(db, *archive()?.1),
        Stage::Lower => unit.program.lowered(db, archive()?.0),
        Stage::Quantize => {
            unit.program.quantize.as_ref()?;
            unit.program.prepared(db, archive()?.0)
        }
        Stage::Measure => judged(db, unit, archive()?.0)?,
        Stage::Delegate if unit.program.partition.engines.is_empty() => return None,
        Stage::Delegate => unit.program.partitioned(db, archive()?.0),
        Stage::Plan => unit.planned(db),
        Stage::Emit => unit.emitted(db),
        Stage::Select => match maker() {
            Ok(maker) => unit.selected(db, &maker)?,
            Err(reason) => Err(reason),
        },
        Stage::Link => maker().and_then(|maker| unit.linked(db, &maker)),
        Stage::Verify => {
            unit.link.verify.as_ref()?;
            match verify::runner(db.world(), &unit.target) {
                Ok(runner) => {
                    maker().and_then(|maker| unit.verified(db, &maker, runner).unwrap_or(Err(Blocked::Waiting)))
                }
                Err(reason) => Err(Blocked::failed(stage, [*reason])),
            }
        }
    })
}

fn state(db: &dyn Db, slot: &str, result: StageResult) -> PlanState {
    match result {
        Ok(staged) => {
            let key = staged.key.action().to_string();
            if matches!(staged.source, Source::Fetched(_)) {
                PlanState::Remote { key }
            } else {
                PlanState::Cached { key }
            }
        }
        Err(Blocked::Missing(missing)) => {
            let last = db.world().store().last(slot);
            let difference = last.as_ref().and_then(|last| missing.key.first_difference(last));
            PlanState::Missing {
                key: missing.key.action().to_string(),
                difference: difference.map(|difference| difference.to_string()),
                known: last.is_some(),
            }
        }
        Err(Blocked::Waiting) => PlanState::Waiting,
        Err(Blocked::Failed(failed)) => PlanState::Failed { diagnostics: failed.diagnostics.to_vec() },
    }
}
