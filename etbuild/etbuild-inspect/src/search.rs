//! Which layers a recipe should keep real for a loss that is allowed.

use std::sync::Arc;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_engine::action::Blocked;
use etbuild_engine::action::program::StoredProgram;
use etbuild_engine::deploy::placed;
use etbuild_engine::input::{Db, EngineDatabase};
use etbuild_engine::pipeline::Stage;
use etbuild_engine::quantize::{QuantizeOptions, hashed, labelled, no_data, samples, unlabelled};
use etbuild_engine::request::{Request, resolve};
use etbuild_engine::session::{World, guarded};
use etbuild_engine::unit::Unit;
use etbuild_quantize::{Limit, Proposal};
use serde::Serialize;

/// The loss that is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase", tag = "unit", content = "value")]
pub enum AllowedLoss {
    /// The outputs keep at least this signal-to-noise ratio, in decibels.
    Decibels(f64),
    /// The most points of accuracy that may be lost on the labelled data.
    Points(f64),
}

/// The text for a recipe.
#[derive(Clone, Debug, Serialize)]
pub struct LayerProposal {
    /// The recipe's name.
    pub recipe: String,
    /// The method.
    pub method: String,
    /// The loss that is allowed.
    pub allowed: AllowedLoss,
    /// The layers to keep float, the layer with the greatest effect first.
    pub layers: Vec<KeptLayer>,
    /// The number of layers to choose from.
    pub candidates: usize,
    /// As the recipe is.
    pub before: Reached,
    /// With these layers real.
    pub after: Reached,
    /// How many quantized programs were run.
    pub runs: usize,
}

/// A layer to keep real.
#[derive(Clone, Debug, Serialize)]
pub struct KeptLayer {
    /// The module; `None` where the archive does not name the module.
    pub name: Option<String>,
    /// The operator, for a layer without a module.
    pub operator: Option<String>,
    /// The improvement of the outputs in decibels where only this layer is float; `None` without a loss then.
    pub gain: Option<f64>,
}

/// How good a quantized program is.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Reached {
    /// The outputs' signal-to-noise ratio, in decibels; `None` without a loss.
    pub sqnr: Option<f64>,
    /// The lost points of accuracy, where counted.
    pub lost: Option<f64>,
}

/// A proposal for every method of every recipe of a request that quantizes. Runs the program as often as
/// [`etbuild_quantize::search`] says; nothing of that is stored. `world` must not be in [`etbuild_engine::Mode::Plan`].
///
/// # Errors
/// Mistakes in the recipes, and data that is missing or does not fit.
pub fn propose_layers(
    world: &Arc<World>,
    request: &Request,
    allowed: AllowedLoss,
) -> Result<Vec<LayerProposal>, Vec<Diagnostic>> {
    let db = EngineDatabase::new(world.clone());
    let found = guarded(|| {
        let mut units = resolve(&db, request)?;
        units.dedup_by(|left, right| left.recipe == right.recipe);
        let each: Vec<Vec<LayerProposal>> =
            units.iter().map(|unit| of_unit(&db, unit, allowed)).collect::<Result<_, _>>()?;
        Ok(each.into_iter().flatten().collect())
    });
    found.unwrap_or_else(|transient| Err(vec![transient.into()]))
}

fn of_unit(db: &dyn Db, unit: &Unit, allowed: AllowedLoss) -> Result<Vec<LayerProposal>, Vec<Diagnostic>> {
    let Some(quantize) = &unit.program.quantize else { return Ok(Vec::new()) };
    let methods = unit.program.archives.keys();
    let of_method = |method: &String| of_method(db, unit, method, quantize, allowed);
    methods
        .map(of_method)
        .collect::<Result<_, Blocked>>()
        .map_err(|blocked| blocked.diagnostics(|found| placed(unit, found)))
}

fn of_method(
    db: &dyn Db,
    unit: &Unit,
    method: &str,
    quantize: &QuantizeOptions,
    allowed: AllowedLoss,
) -> Result<LayerProposal, Blocked> {
    let stuck = |found: Vec<Diagnostic>| Blocked::failed(Stage::Measure, found);
    let stored = StoredProgram::of(unit.program.lowered(db, method)?)?;
    let (program, _) = stored.lowered(db.world()).map_err(stuck)?;
    let graph = program.program().methods.values().next();
    let graph = graph.ok_or_else(|| Blocked::internal(Stage::Measure, "a program has no method"))?;
    let answers = unit.measure.labelled.as_ref();
    let answers = answers.map(|(file, name)| labelled(db, hashed(db, *file)?, name).map_err(stuck)).transpose()?;
    let limit = limit(allowed, answers.as_ref()).map_err(|found| stuck(vec![found]))?;
    let data = quantize.calibrate.or(unit.measure.labelled.as_ref().map(|(file, _)| *file));
    let data = hashed(db, data.ok_or_else(|| stuck(vec![no_data()]))?)?;
    let data = samples(db, data).map_err(stuck)?;
    let found = etbuild_quantize::search(graph, &quantize.options, &data, &limit);
    let cases = answers.map_or(0, |(_, labels)| labels.len());
    Ok(proposal(unit, method, allowed, found.map_err(|error| stuck(unlabelled(error)))?, cases))
}

fn limit<'a>(
    allowed: AllowedLoss,
    answers: Option<&'a (etbuild_quantize::Tensors, Vec<i64>)>,
) -> Result<Limit<'a>, Diagnostic> {
    match (allowed, answers) {
        (AllowedLoss::Decibels(least), _) => Ok(Limit::Sqnr(least)),
        (AllowedLoss::Points(points), Some((data, labels))) => {
            let lost = (points / 100.0 * labels.len() as f64 + 1e-9).floor() as usize;
            Ok(Limit::Answers { data, labels, lost })
        }
        (AllowedLoss::Points(_), None) => {
            let message = "points of accuracy are counted on labelled data, and the recipe names none";
            Err(Diagnostic::error(Code::LabelsMismatch, message)
                .help("write `quantize: { accuracy: { data: FILE.safetensors } }`, or state the loss in dB"))
        }
    }
}

fn proposal(unit: &Unit, method: &str, allowed: AllowedLoss, found: Proposal, cases: usize) -> LayerProposal {
    let finite = |value: f64| value.is_finite().then_some(value);
    let points = |lost: i64| lost as f64 / cases.max(1) as f64 * 100.0;
    let [before, after] = found.scores.map(|score| Reached { sqnr: finite(score.sqnr), lost: score.lost.map(points) });
    let kept = found.kept.into_iter().map(|effect| KeptLayer {
        name: effect.layer.name,
        operator: effect.layer.operator,
        gain: finite(effect.gain),
    });
    LayerProposal {
        recipe: unit.name().to_owned(),
        method: method.to_owned(),
        allowed,
        layers: kept.collect(),
        candidates: found.layers,
        before,
        after,
        runs: found.runs,
    }
}
