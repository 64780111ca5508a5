//! The program of a model for this machine, for tools that run the program and look into the run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etbuild_diagnostic::Diagnostic;
use etbuild_engine::action::Blocked;
use etbuild_engine::action::program::StoredProgram;
use etbuild_engine::input::Db;
use etbuild_engine::memory;
use etbuild_engine::partition::{EngineReport, NodePlace};
use etbuild_engine::pipeline::Stage;
use etbuild_engine::request::{HostProgram, of_host};
use etbuild_engine::session::World;
use etbuild_ir::Graph;
use etbuild_recipe::{Override, Recipe};
use etbuild_store::Blob;

use super::{Lines, PlannedCall, calls, of_stage};

/// A program for this machine with what is known about the instructions.
pub struct HostAnatomy {
    /// The recipe that the model stands for.
    pub recipe: Recipe,
    /// The program file, with weights inside.
    pub program: Blob,
    /// The nodes of each method in call order.
    pub calls: BTreeMap<String, Vec<PlannedCall>>,
    /// Every node of the lowered program.
    pub nodes: Vec<NodePlace>,
    /// The lines of the user's Python.
    pub lines: Lines,
    /// The data that the recipe names for calibration, if any.
    pub calibrate: Option<PathBuf>,
}

/// The graphs of a method.
pub struct MethodGraphs {
    /// Before quantization.
    pub float: Graph,
    /// Before partitioning: quantized where the recipe asks for quantization.
    pub prepared: Graph,
}

/// The program of the model at `path` for this machine. `world` must not be in [`etbuild_engine::Mode::Plan`].
///
/// # Errors
/// Mistakes in the recipe, and failures of the compilation.
pub fn host_anatomy(world: &Arc<World>, path: &Path, overrides: &[Override]) -> Result<HostAnatomy, Vec<Diagnostic>> {
    of_host(world, path, overrides, |db, host| of_program(db, &host))
}

/// The same with the graphs of each method.
///
/// # Errors
/// As of [`host_anatomy`].
pub fn host_graphs(
    world: &Arc<World>,
    path: &Path,
    overrides: &[Override],
) -> Result<(HostAnatomy, BTreeMap<String, MethodGraphs>), Vec<Diagnostic>> {
    of_host(world, path, overrides, |db, host| Ok((of_program(db, &host)?, graphs(db, &host)?)))
}

fn of_program(db: &dyn Db, host: &HostProgram) -> Result<HostAnatomy, Blocked> {
    let program = host.open(db)?;
    let nodes = host.program.nodes(db)?;
    let planned = of_stage(db, memory::planned(db, host.program.clone(), host.memory.clone())?)?;
    let (mut calls, lines) = (BTreeMap::new(), Lines::of(db, &host.program)?);
    for (method, EngineReport { layers, stored, .. }) in host.program.engine_reports(db)? {
        if let Some(graph) = planned.program().program().methods.get(&method) {
            calls.insert(method.clone(), calls::of(graph, (layers, stored)));
        }
    }
    let calibrate = host.program.quantize.as_ref().and_then(|options| options.calibrate);
    let calibrate = calibrate.map(|file| file.path(db).to_owned());
    Ok(HostAnatomy { recipe: host.recipe.clone(), program, calls, nodes, lines, calibrate })
}

fn graphs(db: &dyn Db, host: &HostProgram) -> Result<BTreeMap<String, MethodGraphs>, Blocked> {
    let of_method = |method: &String| {
        let float = graph(db, host.program.lowered(db, method)?)?;
        let prepared = graph(db, host.program.prepared(db, method)?)?;
        Ok((method.clone(), MethodGraphs { float, prepared }))
    };
    host.program.archives.keys().map(of_method).collect()
}

/// The only graph of a stored program of a method.
fn graph(db: &dyn Db, staged: Arc<etbuild_engine::Staged>) -> Result<Graph, Blocked> {
    let stage = staged.stage;
    let loaded = StoredProgram::of(staged)?.lowered(db.world()).map_err(|found| Blocked::failed(stage, found))?;
    let graph = loaded.0.into_program().methods.into_values().next();
    graph.ok_or_else(|| Blocked::internal(Stage::Lower, "a program has no method"))
}
