//! The backend of every node of a program, for users, without planning or linking.

use std::sync::Arc;

use etbuild_diagnostic::Diagnostic;
use etbuild_engine::action::Blocked;
use etbuild_engine::input::{Db, EngineDatabase};
use etbuild_engine::partition::NodePlace;
use etbuild_engine::program_source::ProgramSource;
use etbuild_engine::request::{Request, resolve};
use etbuild_engine::session::{World, guarded};
use etbuild_engine::unit::Unit;
use serde::Serialize;

use crate::crossing::{Crossing, crossings};
use crate::methods::methods;

/// The backends of the nodes of one recipe's program on one target.
#[derive(Clone, Debug, Serialize)]
pub struct UnitPartition {
    /// The recipe's name.
    pub recipe: String,
    /// The target's name.
    pub target: String,
    /// The engines that were asked, in order.
    pub engines: Vec<String>,
    /// Every node of the lowered program.
    pub nodes: Vec<NodePlace>,
    /// What crosses between engines.
    pub crossings: Vec<Crossing>,
}

/// Where the nodes of every unit of a request run. `world` must not be in [`etbuild_engine::Mode::Plan`]: programs are partitioned.
///
/// # Errors
/// Mistakes in the recipes, and failures of lowering.
pub fn partitions(world: &Arc<World>, request: &Request) -> Result<Vec<UnitPartition>, Vec<Diagnostic>> {
    let db = EngineDatabase::new(world.clone());
    let found = guarded(|| {
        let units = resolve(&db, request)?;
        units.iter().map(|unit| of_unit(&db, unit).map_err(|blocked| diagnostics(unit, &blocked))).collect()
    });
    found.unwrap_or_else(|transient| Err(vec![transient.into()]))
}

fn of_unit(db: &dyn Db, unit: &Unit) -> Result<UnitPartition, Blocked> {
    let nodes = unit.program.nodes(db)?;
    let (recipe, target) = (unit.name().to_owned(), unit.target.name().to_owned());
    let crossings = crossings(&methods(db, unit, ProgramSource::partitioned)?, &nodes);
    Ok(UnitPartition { recipe, target, engines: unit.program.partition.engines.clone(), nodes, crossings })
}

/// The failure of a unit, at the place of the unit's model.
pub fn diagnostics(unit: &Unit, blocked: &Blocked) -> Vec<Diagnostic> {
    blocked.diagnostics(|diagnostic| match diagnostic.span {
        Some(_) => diagnostic.clone(),
        None => diagnostic.clone().at((*unit.recipe.model.span()).clone()),
    })
}
