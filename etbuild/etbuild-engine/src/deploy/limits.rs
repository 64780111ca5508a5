//! The limits of a recipe on the loss of quantization.

use std::sync::Arc;

use etbuild_diagnostic::{Code, Diagnostic};

use crate::action::{Blocked, StageResult, Staged};
use crate::input::Db;
use crate::pipeline::Stage;
use crate::quantize::{exceeded, losses};
use crate::unit::Unit;

/// A diagnostic without a place gets the place of the scheme, or of the labelled data.
pub fn placed(unit: &Unit, diagnostic: &Diagnostic) -> Diagnostic {
    let quantize = unit.recipe.quantize.as_ref();
    let accuracy = quantize.and_then(|quantize| quantize.accuracy.as_ref());
    let span = match (diagnostic.code, accuracy, quantize) {
        (Code::LabelsMismatch, Some(accuracy), _) => &accuracy.data.span,
        (_, _, Some(quantize)) => &quantize.scheme.span,
        _ => return diagnostic.clone().at(unit.recipe.model.span().clone()),
    };
    if diagnostic.span.is_some() { diagnostic.clone() } else { diagnostic.clone().at((**span).clone()) }
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
