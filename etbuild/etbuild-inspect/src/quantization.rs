//! The loss of quantization, layer by layer: measured on the calibration data, without a build.

use std::sync::Arc;

use etbuild_diagnostic::Diagnostic;
use etbuild_engine::action::Blocked;
use etbuild_engine::deploy::placed;
use etbuild_engine::input::{Db, EngineDatabase};
use etbuild_engine::quantize::{self, Answers, LayerLoss, Losses};
use etbuild_engine::request::{Request, resolve};
use etbuild_engine::session::{World, guarded};
use etbuild_engine::unit::Unit;
use serde::Serialize;

/// The losses of one recipe's program, which is the same for all targets of the recipe.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramLosses {
    /// The recipe's name.
    pub recipe: String,
    /// Whether the recipe quantizes at all.
    pub quantizes: bool,
    /// The nodes of all methods, the largest loss first. Nodes without loss are left out.
    pub layers: Vec<LayerLoss>,
    /// Right answers on labelled data, where the recipe names some.
    pub answers: Option<Answers>,
    /// The diagnostics that prevent the measurement.
    pub diagnostics: Vec<Diagnostic>,
}

/// The losses of every recipe of a request that quantizes. `world` must not be in [`etbuild_engine::Mode::Plan`].
///
/// # Errors
/// Mistakes in the recipes.
pub fn quantization(world: &Arc<World>, request: &Request) -> Result<Vec<ProgramLosses>, Vec<Diagnostic>> {
    let db = EngineDatabase::new(world.clone());
    let measured = guarded(|| {
        let mut units = resolve(&db, request)?;
        units.dedup_by(|left, right| left.recipe == right.recipe);
        Ok(units.iter().map(|unit| of_program(&db, unit)).collect())
    });
    measured.unwrap_or_else(|transient| Err(vec![transient.into()]))
}

fn of_program(db: &dyn Db, unit: &Unit) -> ProgramLosses {
    let mut found = ProgramLosses {
        recipe: unit.name().to_owned(),
        quantizes: unit.program.quantize.is_some(),
        layers: Vec::new(),
        answers: None,
        diagnostics: Vec::new(),
    };
    for method in unit.program.archives.keys() {
        match of_method(db, unit, method) {
            Ok(losses) => {
                found.answers = found.answers.or(losses.answers);
                let layers = losses.layers.into_iter();
                found.layers.extend(layers.map(|layer| LayerLoss { method: method.clone(), ..layer }));
            }
            Err(blocked) => found.diagnostics.extend(blocked.diagnostics(|found| placed(unit, found))),
        }
    }
    found
}

/// `None` for a recipe without quantization. The limits of the recipe are not checked here.
fn of_method(db: &dyn Db, unit: &Unit, method: &str) -> Result<Losses, Blocked> {
    match unit.program.measured(db, method, &unit.measure) {
        Some(staged) => quantize::losses(db, &*staged?),
        None => Ok(Losses::default()),
    }
}
