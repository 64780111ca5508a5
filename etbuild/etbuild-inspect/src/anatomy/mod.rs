//! The anatomy of a deployed unit: where nodes run, the contents of blobs, the linked kernels, and
//! the use of memory over time.

mod blob;
mod calls;
mod host;
mod lines;
mod memory;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use blob::{EngineBlob, Weight};
pub use calls::PlannedCall;
use etbuild_diagnostic::Diagnostic;
use etbuild_engine::action::program::StoredProgram;
use etbuild_engine::action::{ArtifactKind, Blocked, Staged};
use etbuild_engine::deploy::UnitReport;
use etbuild_engine::emit::Interface;
use etbuild_engine::input::{Db, EngineDatabase};
use etbuild_engine::link::{self, read_interface};
use etbuild_engine::partition::{EngineReport, NodePlace};
use etbuild_engine::pipeline::Stage;
use etbuild_engine::program_source::ProgramSource;
use etbuild_engine::request::{Request, resolve};
use etbuild_engine::session::{World, guarded};
use etbuild_engine::unit::Unit;
use etbuild_ir::{PlannedProgram, text};
use etbuild_link::CodePart;
pub use host::{HostAnatomy, MethodGraphs, host_anatomy, host_graphs};
pub use lines::Lines;
pub use memory::{ArenaUse, MethodMemory, Placed};
use serde::Serialize;

use crate::crossing::{Crossing, crossings};
use crate::methods::methods;
use crate::partitions;

/// The anatomy of a recipe for a target.
#[derive(Clone, Debug, Serialize)]
pub struct UnitAnatomy {
    /// The recipe's name.
    pub recipe: String,
    /// The target's name.
    pub target: String,
    /// The engines that were asked, in order.
    pub engines: Vec<String>,
    /// Every node of the lowered program.
    pub nodes: Vec<NodePlace>,
    /// The blobs that engines execute.
    pub blobs: Vec<EngineBlob>,
    /// What crosses between engines.
    pub crossings: Vec<Crossing>,
    /// The names by the model's author of the constants in the program file, by the digests of the elements.
    pub constants: BTreeMap<String, String>,
    /// The sources of packed constants, by the same digests.
    pub packed: BTreeMap<String, String>,
    /// The kernels that the binary has, each with a set of types.
    pub kernels: Vec<String>,
    /// The space of the binary's code and constants, by module; empty where the linker gives no map.
    pub code: Vec<CodePart>,
    /// The nodes of each method in call order, by the first output value; a call of a backend with the values of the
    /// instructions, in each variant of the blob.
    pub calls: BTreeMap<String, Vec<PlannedCall>>,
    /// The lines of the user's Python.
    #[serde(skip)]
    pub lines: Lines,
    /// The plan of each method's memory.
    pub memory: Vec<MethodMemory>,
    /// The failures; with a failure the other fields are empty.
    pub diagnostics: Vec<Diagnostic>,
}

/// The anatomy of every unit of a request. `deployed` are the reports of deploying the same request: everything is then read
/// from the store, and artifacts that a failed unit lacks are not built. `world` must not be in [`etbuild_engine::Mode::Plan`].
///
/// # Errors
/// Mistakes in the recipes.
pub fn anatomy(
    world: &Arc<World>,
    request: &Request,
    deployed: &[UnitReport],
) -> Result<Vec<UnitAnatomy>, Vec<Diagnostic>> {
    let db = EngineDatabase::new(world.clone());
    let found = guarded(|| {
        let units = resolve(&db, request)?;
        let built = deployed.iter().map(|report| !report.files.is_empty()).chain(std::iter::repeat(false));
        Ok(units.iter().zip(built).map(|(unit, built)| of_unit(&db, unit, built)).collect())
    });
    found.unwrap_or_else(|transient| Err(vec![transient.into()]))
}

fn of_unit(db: &dyn Db, unit: &Unit, built: bool) -> UnitAnatomy {
    let mut anatomy = UnitAnatomy {
        recipe: unit.name().to_owned(),
        target: unit.target.name().to_owned(),
        engines: unit.program.partition.engines.clone(),
        nodes: Vec::new(),
        blobs: Vec::new(),
        crossings: Vec::new(),
        constants: BTreeMap::new(),
        packed: BTreeMap::new(),
        kernels: Vec::new(),
        code: Vec::new(),
        calls: BTreeMap::new(),
        lines: Lines::default(),
        memory: Vec::new(),
        diagnostics: Vec::new(),
    };
    if let Err(blocked) = fill(db, unit, built, &mut anatomy) {
        anatomy.diagnostics = partitions::diagnostics(unit, &blocked);
    }
    anatomy
}

fn fill(db: &dyn Db, unit: &Unit, built: bool, anatomy: &mut UnitAnatomy) -> Result<(), Blocked> {
    anatomy.nodes = unit.program.nodes(db)?;
    anatomy.lines = Lines::of(db, &unit.program)?;
    let planned = planned(db, unit)?;
    anatomy.memory = memory::of(&planned);
    anatomy.constants = blob::names(planned.program().program());
    let mut devices = BTreeMap::new();
    for (method, EngineReport { layers, stored, devices: calls, weights, .. }) in unit.program.engine_reports(db)? {
        devices.insert(method.clone(), calls);
        if let Some(graph) = planned.program().program().methods.get(&method) {
            anatomy.calls.insert(method, calls::of(graph, (layers, stored)));
        }
        anatomy.packed.extend(weights);
    }
    let prepared = methods(db, unit, ProgramSource::prepared)?;
    anatomy.blobs = blob::of(planned.program().program(), &prepared, &anatomy.nodes, devices);
    anatomy.crossings = crossings(&methods(db, unit, ProgramSource::partitioned)?, &anatomy.nodes);
    let emitted = unit.emitted(db)?;
    let interface: Interface = read_interface(db, &emitted)?;
    anatomy.kernels = interface.kernel_names(unit.target.memory().is_some());
    if let (true, Ok(maker)) = (built, unit.maker(db)) {
        anatomy.code = code(db, unit, &maker)?;
    }
    Ok(())
}

fn code(db: &dyn Db, unit: &Unit, maker: &link::Maker) -> Result<Vec<CodePart>, Blocked> {
    unit.linked(db, maker)?.json(db.world(), ArtifactKind::Code)
}

fn planned(db: &dyn Db, unit: &Unit) -> Result<PlannedProgram, Blocked> {
    of_stage(db, unit.planned(db)?)
}

/// The planned program that the stage has stored.
fn of_stage(db: &dyn Db, staged: Arc<Staged>) -> Result<PlannedProgram, Blocked> {
    let loaded = StoredProgram::of(staged)?.load(db.world(), text::parse_plan);
    loaded.map(|(planned, _)| planned).map_err(|found| Blocked::failed(Stage::Plan, found))
}
