//! The loss of quantization, layer by layer: measured on the calibration data, without a build.

use std::sync::Arc;

use etbuild_diagnostic::Diagnostic;
use serde::Serialize;

use crate::db::{Db, EngineDatabase};
use crate::failure;
use crate::guard::guarded;
use crate::losses::{Answers, LayerLoss, Losses};
use crate::query;
use crate::resolve::{Request, resolve};
use crate::stage::{Blocked, StageResult};
use crate::unit::Unit;
use crate::world::World;

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
    let mut found = ProgramLosses {
        recipe: unit.name().to_owned(),
        quantizes: unit.plan.quantize.is_some(),
        layers: Vec::new(),
        answers: None,
        diagnostics: Vec::new(),
    };
    for method in unit.archives.keys() {
        match of_method(db, unit, method) {
            Ok(losses) => {
                found.answers = found.answers.or(losses.answers);
                let layers = losses.layers.into_iter();
                found.layers.extend(layers.map(|layer| LayerLoss { method: method.clone(), ..layer }));
            }
            Err(blocked) => found.diagnostics.extend(failure::blocked(&blocked, |found| placed(unit, found))),
        }
    }
    found
}

/// A diagnostic without a place gets the place of the scheme, or of the labelled data.
pub fn placed(unit: &Unit, diagnostic: &Diagnostic) -> Diagnostic {
    let quantize = unit.recipe.quantize.as_ref();
    let accuracy = quantize.and_then(|quantize| quantize.accuracy.as_ref());
    let span = match (diagnostic.code, accuracy, quantize) {
        (etbuild_diagnostic::Code::LabelsMismatch, Some(accuracy), _) => &accuracy.data.span,
        (_, _, Some(quantize)) => &quantize.scheme.span,
        _ => return diagnostic.clone().at(unit.recipe.model.span().clone()),
    };
    if diagnostic.span.is_some() { diagnostic.clone() } else { diagnostic.clone().at((**span).clone()) }
}

/// `None` for a recipe without quantization. The limits of the recipe are not checked here.
fn of_method(db: &dyn Db, unit: &Unit, method: &str) -> Result<Losses, Blocked> {
    match measured(db, unit, method) {
        Some(staged) => query::losses(db, &*staged?),
        None => Ok(Losses::default()),
    }
}

/// The losses of a method in the store; `None` where the recipe does not quantize.
pub fn measured(db: &dyn Db, unit: &Unit, method: &str) -> Option<StageResult> {
    let (quantize, archive) = (unit.plan.quantize.clone()?, unit.archives.get(method)?);
    let lower = query::lower_options(db, &unit.archives, method, &unit.plan);
    Some(lower.and_then(|lower| query::measured(db, *archive, lower, quantize, unit.measure.clone())))
}

/// The measured losses of a method, or the failure to meet the limits of the recipe.
pub fn judged(db: &dyn Db, unit: &Unit, method: &str) -> Option<StageResult> {
    let quantize = unit.recipe.quantize.as_ref()?;
    if quantize.min_sqnr.is_none() && quantize.accuracy.is_none() {
        return None;
    }
    let judge = |staged: Arc<crate::stage::Staged>| {
        let exceeded = crate::losses::exceeded(&query::losses(db, &staged)?, quantize);
        if exceeded.is_empty() { Ok(staged) } else { Err(Blocked::failed(crate::stage::Stage::Measure, exceeded)) }
    };
    Some(measured(db, unit, method)?.and_then(judge))
}
