//! What quantization loses, layer by layer: measured on the calibration data, without building anything.

use std::sync::Arc;

use etbuild_diagnostic::Diagnostic;
use etbuild_quantize::Loss;
use serde::Serialize;

use crate::db::{Db, EngineDatabase};
use crate::failure;
use crate::guard::guarded;
use crate::query;
use crate::resolve::{Request, resolve};
use crate::stage::Blocked;
use crate::unit::Unit;
use crate::world::World;

/// The losses of one recipe's program, which is the same for all of its targets.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramLosses {
    /// The recipe's name.
    pub recipe: String,
    /// The nodes of all methods, the worst of each first. Without those that lose nothing.
    pub layers: Vec<LayerLoss>,
    /// What stands against measuring.
    pub diagnostics: Vec<Diagnostic>,
}

/// What is lost up to a node.
#[derive(Clone, Debug, Serialize)]
pub struct LayerLoss {
    /// The method.
    pub method: String,
    /// The value that the node computes.
    pub value: String,
    /// The operator that it calls.
    pub operator: String,
    /// The module of the model's source; `None` where the archive does not say.
    pub module: Option<String>,
    /// Whether the node itself is quantized.
    pub quantized: bool,
    /// The signal-to-noise ratio against the program that is not quantized, in decibels.
    pub sqnr: f64,
}

/// The losses of every recipe of a request that quantizes. `world` must not be in [`crate::Mode::Plan`].
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
    let mut found = ProgramLosses { recipe: unit.name().to_owned(), layers: Vec::new(), diagnostics: Vec::new() };
    for method in unit.archives.keys() {
        match of_method(db, unit, method) {
            Ok(losses) => found.layers.extend(losses.into_iter().map(|loss| layer(method, loss))),
            Err(Blocked::Failed(failed)) => {
                let span =
                    unit.recipe.quantize.as_ref().map_or(unit.recipe.model.span(), |quantize| &quantize.scheme.span);
                found
                    .diagnostics
                    .extend(failed.diagnostics.iter().map(|diagnostic| diagnostic.clone().at(span.clone())));
            }
            Err(Blocked::Missing(_) | Blocked::Waiting) => {
                found.diagnostics.extend(failure::internal("a stage did not run"));
            }
        }
    }
    found
}

/// None for a recipe that does not quantize. What the recipe allows at least is not asked here.
fn of_method(db: &dyn Db, unit: &Unit, method: &str) -> Result<Vec<Loss>, Blocked> {
    let (Some(quantize), Some(archive)) = (unit.plan.quantize.clone(), unit.archives.get(method)) else {
        return Ok(Vec::new());
    };
    let lower = query::lower_options(db, &unit.archives, method, unit.plan.runtime)?;
    query::measured(db, *archive, lower, query::QuantizeOptions { min_sqnr: None, ..quantize })
}

fn layer(method: &str, loss: Loss) -> LayerLoss {
    let Loss { value, operator, module, quantized, sqnr } = loss;
    let module = (!module.is_empty()).then_some(module);
    LayerLoss { method: method.to_owned(), value, operator, module, quantized, sqnr }
}
