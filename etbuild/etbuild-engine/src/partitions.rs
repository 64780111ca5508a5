//! The backend of every node of a program, for users, without planning or linking.

use std::sync::Arc;

use etbuild_diagnostic::Diagnostic;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::db::{Db, EngineDatabase, ModelSource};
use crate::engine_report::EngineReport;
use crate::guard::guarded;
use crate::partition_report::NodePlace;
use crate::resolve::{Request, resolve};
use crate::stage::Blocked;
use crate::unit::Unit;
use crate::world::World;
use crate::{ArtifactKind, failure, query};

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
}

/// Where the nodes of every unit of a request run. `world` must not be in [`crate::Mode::Plan`]: programs are partitioned.
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
    let nodes = nodes(db, unit)?;
    let (recipe, target) = (unit.name().to_owned(), unit.target.name().to_owned());
    Ok(UnitPartition { recipe, target, engines: unit.plan.partition.engines.clone(), nodes })
}

/// Where the nodes of all methods of a unit run.
pub fn nodes(db: &dyn Db, unit: &Unit) -> Result<Vec<NodePlace>, Blocked> {
    let found = of_methods::<Vec<NodePlace>>(db, unit, ArtifactKind::Partition)?;
    let placed = |(method, nodes): (String, Vec<NodePlace>)| {
        nodes.into_iter().map(move |node| NodePlace { method: method.clone(), ..node })
    };
    Ok(found.into_iter().flat_map(placed).collect())
}

/// The reports of backends on each method.
pub fn engines(db: &dyn Db, unit: &Unit) -> Result<Vec<(String, EngineReport)>, Blocked> {
    of_methods(db, unit, ArtifactKind::Engines)
}

/// An artifact of the partitioned program of each method.
fn of_methods<T: DeserializeOwned>(db: &dyn Db, unit: &Unit, kind: ArtifactKind) -> Result<Vec<(String, T)>, Blocked> {
    let of_method = |(method, archive): (&String, &ModelSource)| {
        let staged = query::delegated(db, &unit.archives, (method, *archive), &unit.plan)?;
        let bytes = db.world().open_blob(&staged.blob(kind)?);
        let found = serde_json::from_slice(&bytes);
        Ok((method.clone(), found.map_err(|error| Blocked::internal(staged.stage, &error.to_string()))?))
    };
    unit.archives.iter().map(of_method).collect()
}

/// The failure of a unit, at the place of the unit's model.
pub fn diagnostics(unit: &Unit, blocked: &Blocked) -> Vec<Diagnostic> {
    failure::blocked(blocked, |diagnostic| match diagnostic.span {
        Some(_) => diagnostic.clone(),
        None => diagnostic.clone().at((*unit.recipe.model.span()).clone()),
    })
}
