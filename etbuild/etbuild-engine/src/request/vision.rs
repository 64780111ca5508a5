//! Refusals of options that models that read pictures or hear lack.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_recipe::{Model, Recipe};
use etbuild_system::System;

use super::quantization::needs_data;
use crate::input::{hears, reads_pictures};

/// Refuses calibrated quantization for a model that reads pictures or hears.
pub fn refusals(system: &dyn System, recipe: &Recipe) -> Vec<Diagnostic> {
    let Model::Checkpoint(folder) = &recipe.model else { return Vec::new() };
    let calibrated = recipe.quantize.as_ref().filter(|quantize| needs_data(quantize));
    let does = match hears(system, &folder.path) {
        Some(_) => Some(["hears", "no sound"]),
        None => reads_pictures(system, &folder.path).then_some(["reads pictures", "no pictures"]),
    };
    let (Some(quantize), Some([does, lacks])) = (calibrated, does) else { return Vec::new() };
    let message = format!("a model that {does} has no calibrated quantization: calibration text has {lacks}");
    let help = "choose `8da4w`, `dynamic-int8`, `int8-weights` or `int4-weights`, without `method: gptq` and limits";
    vec![Diagnostic::error(Code::OptionUnavailable, message).at((*quantize.scheme.span).clone()).help(help)]
}
