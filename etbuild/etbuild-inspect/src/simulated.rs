//! The outputs of quantized programs as an NPU computes them, by the simulation of a backend: on the calibration data, without a build.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use et_ops::call::OwnedTensor;
use etbuild_backend::{Refusal, Simulation};
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_engine::action::Blocked;
use etbuild_engine::action::program::StoredProgram;
use etbuild_engine::deploy::placed;
use etbuild_engine::input::{Db, EngineDatabase};
use etbuild_engine::pipeline::Stage;
use etbuild_engine::quantize::{QuantizeOptions, hashed, no_data, samples, unlabelled};
use etbuild_engine::request::{Request, resolve};
use etbuild_engine::session::{World, guarded};
use etbuild_engine::unit::Unit;
use etbuild_ir::{Graph, Links, PerTensor, interpret};
use etbuild_quantize::{Samples, Tensors, similarity};
use serde::Serialize;

/// An output of a quantized program.
#[derive(Clone, Debug, Serialize)]
pub struct SimulatedOutput {
    /// The recipe's name.
    pub recipe: String,
    /// The method.
    pub method: String,
    /// The name of the output.
    pub output: String,
    /// The number of samples.
    pub samples: usize,
    /// The signal-to-noise ratio of the portable kernels against the program that is not quantized, in decibels; `None` without a loss.
    pub portable_sqnr: Option<f64>,
    /// The same of the simulation.
    pub simulated_sqnr: Option<f64>,
    /// The largest distance between both, in steps of the output's scale; `None` for an output without a scale.
    pub steps: Option<f64>,
    /// The elements of the simulation, the samples along the first dimension.
    #[serde(skip)]
    pub tensor: OwnedTensor,
}

/// What a simulation tells of a request.
#[derive(Clone, Debug, Default)]
pub struct Simulated {
    /// The outputs for the calibration data.
    pub outputs: Vec<SimulatedOutput>,
    /// The calibration data of recipes of language models, which [`crate::language_variants`] are for.
    pub texts: Vec<PathBuf>,
}

/// The outputs of every recipe of a request that quantizes, by the simulation of a backend. `world` must not be in
/// [`etbuild_engine::Mode::Plan`].
///
/// # Errors
/// A backend without a simulation, mistakes in the recipes, data that is missing or does not fit, a program that does not run on the device as a
/// whole.
pub fn simulated(world: &Arc<World>, request: &Request, backend: &str) -> Result<Simulated, Vec<Diagnostic>> {
    let simulation = world.engine(backend).and_then(|engine| engine.simulation());
    let simulation = simulation.ok_or_else(|| vec![no_simulation(world, backend)])?;
    let db = EngineDatabase::new(world.clone());
    let found = guarded(|| {
        let mut units = resolve(&db, request)?;
        units.dedup_by(|left, right| left.recipe == right.recipe);
        let mut all = Simulated::default();
        for unit in &units {
            match unit.program.quantize.as_ref() {
                Some(QuantizeOptions { reader: Some(_), calibrate: Some(text), .. }) => {
                    all.texts.push(text.path(&db).to_owned());
                }
                Some(quantize) => all.outputs.extend(of_unit(&db, unit, quantize, simulation)?),
                None => {}
            }
        }
        Ok(all)
    });
    found.unwrap_or_else(|transient| Err(vec![transient.into()]))
}

fn no_simulation(world: &World, backend: &str) -> Diagnostic {
    let all = world.engines().iter().filter(|engine| engine.simulation().is_some());
    let names: Vec<String> = all.map(|engine| format!("`{}`", engine.name())).collect();
    let message = format!("there is no simulation of the backend `{backend}`");
    Diagnostic::error(Code::UnknownEngine, message).help(format!("write {}", names.join(" or ")))
}

fn of_unit(
    db: &dyn Db,
    unit: &Unit,
    quantize: &QuantizeOptions,
    simulation: Simulation,
) -> Result<Vec<SimulatedOutput>, Vec<Diagnostic>> {
    let of_method = |method: &String| of_method(db, unit, method, quantize, simulation);
    let each: Result<Vec<_>, Blocked> = unit.program.archives.keys().map(of_method).collect();
    let each = each.map_err(|blocked| blocked.diagnostics(|found| placed(unit, found)))?;
    Ok(each.into_iter().flatten().collect())
}

fn of_method(
    db: &dyn Db,
    unit: &Unit,
    method: &str,
    quantize: &QuantizeOptions,
    simulation: Simulation,
) -> Result<Vec<SimulatedOutput>, Blocked> {
    let stuck = |found: Vec<Diagnostic>| Blocked::failed(Stage::Measure, found);
    let graph = |staged| {
        let (program, _) = StoredProgram::of(staged)?.lowered(db.world()).map_err(stuck)?;
        let graph = program.into_program().methods.into_values().next();
        graph.ok_or_else(|| Blocked::internal(Stage::Measure, "a program has no method"))
    };
    let graphs = Graphs {
        float: graph(unit.program.lowered(db, method)?)?,
        quantized: graph(unit.program.prepared(db, method)?)?,
    };
    let data = hashed(db, quantize.calibrate.ok_or_else(|| stuck(vec![no_data()]))?)?;
    let outputs = graphs.outputs(&samples(db, data).map_err(stuck)?, simulation).map_err(stuck)?;
    let name = |output: SimulatedOutput| SimulatedOutput {
        recipe: unit.name().to_owned(),
        method: method.to_owned(),
        ..output
    };
    Ok(outputs.into_iter().map(name).collect())
}

/// A method before and after quantization.
struct Graphs {
    float: Graph,
    quantized: Graph,
}

/// The outputs, each with the bytes of all samples: of the method before quantization, after it, and of the simulation.
type Runs = [Vec<OwnedTensor>; 3];

impl Graphs {
    fn outputs(&self, data: &Tensors, simulation: Simulation) -> Result<Vec<SimulatedOutput>, Vec<Diagnostic>> {
        let samples = Samples::of(&self.float, data).map_err(unlabelled)?;
        let mut all: Runs = Runs::default();
        for sample in 0..samples.len() {
            let named = self.float.inputs.iter().zip(samples.inputs(sample)).map(|(id, tensor)| {
                let (sizes, bytes) = (tensor.sizes.to_vec(), tensor.bytes.to_vec());
                (self.float.value(*id).name.clone(), OwnedTensor { scalar_type: tensor.scalar_type, sizes, bytes })
            });
            let each = self.run(&named.collect(), simulation)?;
            all.iter_mut().zip(each).for_each(|(all, sample)| append(all, sample));
        }
        let [float, portable, simulated] = &all;
        let outputs = self.quantized.outputs.iter().enumerate().map(|(position, id)| {
            let (float, portable) = (&float[position], &portable[position]);
            let simulated = &simulated[position];
            let sqnr = |other| Some(similarity(float, other)).filter(|sqnr| sqnr.is_finite());
            SimulatedOutput {
                recipe: String::new(),
                method: String::new(),
                output: self.quantized.value(*id).name.clone(),
                samples: samples.len(),
                portable_sqnr: sqnr(portable),
                simulated_sqnr: sqnr(simulated),
                steps: self.scale(position).map(|scale| distance(portable, simulated) / scale),
                tensor: stacked(simulated.clone(), samples.len()),
            }
        });
        Ok(outputs.collect())
    }

    fn run(&self, inputs: &BTreeMap<String, OwnedTensor>, simulation: Simulation) -> Result<Runs, Vec<Diagnostic>> {
        let portable = |graph| interpret(graph, inputs).map_err(|error| vec![refused(&error.to_string())]);
        let simulated = (simulation.outputs)(&self.quantized, inputs);
        let simulated = simulated.map_err(|Refusal { reason, .. }| vec![refused(&reason)])?;
        Ok([portable(&self.float)?, portable(&self.quantized)?, simulated])
    }

    /// The scale of an output that is dequantized.
    fn scale(&self, position: usize) -> Option<f64> {
        let node = Links::of(&self.quantized).maker(*self.quantized.outputs.get(position)?)?;
        PerTensor::of_dequantize(node).map(|found| found.scale)
    }
}

fn append(all: &mut Vec<OwnedTensor>, sample: Vec<OwnedTensor>) {
    if all.is_empty() {
        *all = sample;
    } else {
        all.iter_mut().zip(sample).for_each(|(all, sample)| all.bytes.extend(sample.bytes));
    }
}

/// A tensor whose bytes are those of all samples, with the size of the first dimension for all samples.
fn stacked(tensor: OwnedTensor, samples: usize) -> OwnedTensor {
    let mut sizes = tensor.sizes;
    if let Some(first) = sizes.first_mut() {
        *first = i32::try_from(samples).unwrap_or(1).saturating_mul(*first);
    }
    OwnedTensor { sizes, ..tensor }
}

/// The largest difference of two tensors of `float32`.
fn distance(left: &OwnedTensor, right: &OwnedTensor) -> f64 {
    let numbers = |tensor: &OwnedTensor| {
        let chunks = tensor.bytes.as_chunks::<4>().0.iter();
        chunks.map(|bytes| f64::from(f32::from_le_bytes(*bytes))).collect::<Vec<_>>()
    };
    numbers(left).iter().zip(numbers(right)).map(|(left, right)| (left - right).abs()).fold(0.0, f64::max)
}

fn refused(reason: &str) -> Diagnostic {
    let message = format!("the program cannot be simulated: {reason}");
    Diagnostic::error(Code::CompilerRefused, message)
        .help("leave `--simulate` out: the portable kernels compute the same program in float32")
}
