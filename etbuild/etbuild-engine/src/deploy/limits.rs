//! The limits of a recipe on the loss of quantization.

use std::sync::Arc;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_recipe::LayerScheme;

use crate::action::{Blocked, StageResult, Staged};
use crate::input::Db;
use crate::pipeline::Stage;
use crate::quantize::{exceeded, losses};
use crate::unit::Unit;

/// A diagnostic without a place gets the place of its key: the labelled data, the calibration data, the layer without a match, or
/// else the scheme.
pub fn placed(unit: &Unit, diagnostic: &Diagnostic) -> Diagnostic {
    if diagnostic.span.is_some() {
        return diagnostic.clone();
    }
    let Some(quantize) = &unit.recipe.quantize else {
        return diagnostic.clone().at(unit.recipe.model.span().clone());
    };
    let calibrate = quantize.calibrate.as_ref().map(|file| &*file.span);
    let labelled = quantize.accuracy.as_ref().map(|accuracy| &*accuracy.data.span);
    let span = match diagnostic.code {
        Code::LabelsMismatch => labelled,
        Code::CalibrationMismatch | Code::FileUnreadable | Code::InputsMismatch => calibrate.or(labelled),
        Code::LayerUnmatched => quantize.layers.iter().find(|layer| is_about(layer, diagnostic)).map(LayerScheme::span),
        _ => None,
    };
    diagnostic.clone().at(span.unwrap_or(&quantize.scheme.span).clone())
}

/// Whether the diagnostic quotes the pattern of an exception.
fn is_about(layer: &LayerScheme, diagnostic: &Diagnostic) -> bool {
    let mut patterns = [&layer.name, &layer.operator].into_iter().flatten();
    patterns.all(|pattern| diagnostic.message.contains(&pattern.value))
}

/// The measured losses of a method, or the failure to meet the limits of the recipe.
pub fn judged(db: &dyn Db, unit: &Unit, method: &str) -> Option<StageResult> {
    let quantize = unit.recipe.quantize.as_ref()?;
    if quantize.min_sqnr.is_none() && quantize.accuracy.is_none() {
        return None;
    }
    let judge = |staged: Arc<Staged>| {
        let exceeded = exceeded(&losses(db, &staged)?, quantize);
        if exceeded.is_empty() { Ok(staged) } else { Err(Blocked::failed(Stage::Measure, exceeded)) }
    };
    Some(unit.program.measured(db, method, &unit.measure)?.and_then(judge))
}
