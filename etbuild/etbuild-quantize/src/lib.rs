//! Quantization: integers in place of floating-point numbers, with scales and zero points.
//!
//! [`quantize`] reads a lowered program and gives one again. What is quantized is spelled out as PyTorch's exported
//! programs spell it: a `quantize` and a `dequantize` around every quantized tensor, weights as constants of 8 bits before a
//! `dequantize`. Such a program runs with the portable kernels; engines recognize the pattern. The steps, each a module:
//! `annotate` decides by the list of rules and the options what is quantized, `calibrate` measures on samples what the rules
//! need, `convert` rewrites the graph. [`compare`] measures what is lost, [`right_answers`]
//! how good a program is.

mod annotate;
mod answers;
mod calibrate;
mod compare;
mod compensate;
mod convert;
mod elements;
mod error;
mod factor;
mod moments;
mod observer;
mod options;
mod parameters;
mod pattern;
mod prune;
mod rule;
mod run;
mod samples;
mod search;
mod source;
mod step;
mod weight;
mod work;

use etbuild_ir::{Graph, LoweredProgram};

pub use answers::right_answers;
pub use compare::{Loss, compare};
pub use error::QuantizeError;
pub use moments::{Moments, moments};
pub use observer::Observer;
pub use options::{Embedding, Layer, Options, Scheme};
pub use parameters::{Bounds, Parameters};
pub use rule::{Kind, RULES};
pub use samples::{Samples, Tensors};
pub use search::{Effect, Limit, Proposal, Score, search};
pub use work::{InMemory, Keeper, Kept, Work};

/// What quantization knows of a model's inputs.
#[derive(Clone, Copy, Debug)]
pub struct Data<'a> {
    /// Samples; read only where a static scheme needs ranges.
    pub samples: Option<&'a Tensors>,
    /// What weights are multiplied with: the errors of those that are here are compensated, others are rounded.
    pub moments: &'a Moments,
}

impl<'a> Data<'a> {
    /// Samples, and no moments.
    pub const fn samples(samples: Option<&'a Tensors>) -> Self {
        const NONE: &Moments = &Moments::new();
        Self { samples, moments: NONE }
    }
}

/// The program with every method quantized. `keeper` makes weights integers, one tensor after the other; no more of them is in
/// memory than it keeps there.
///
/// Weights are constants of `float32`, or of halves with a node that converts them, which goes when nobody reads it any more.
///
/// # Errors
/// Missing or unfit samples, layers that match nothing, methods that cannot be calibrated, kernels that fail.
pub fn quantize(
    program: LoweredProgram,
    options: &Options,
    data: Data<'_>,
    keeper: &dyn Keeper,
) -> Result<LoweredProgram, QuantizeError> {
    let mut program = program.into_program();
    options.check(&program)?;
    for (method, graph) in &mut program.methods {
        let whole = std::mem::take(graph);
        *graph = of_method(method, whole, (options, data), keeper)?;
    }
    LoweredProgram::verify(program).map_err(QuantizeError::Invalid)
}

fn of_method(
    method: &str,
    graph: Graph,
    (options, data): (&Options, Data<'_>),
    keeper: &dyn Keeper,
) -> Result<Graph, QuantizeError> {
    let annotation = annotate::annotate(&graph, options);
    let measured = if annotation.needs_samples() {
        let samples = data.samples.ok_or_else(|| QuantizeError::NoSamples { method: method.to_owned() })?;
        calibrate::calibrate(&graph, &annotation, options.observer, &Samples::of(&graph, samples)?)?
    } else {
        calibrate::Measured::default()
    };
    let graph = convert::convert(graph, &annotation, &measured, options, (keeper, data.moments))?;
    Ok(prune::prune(graph))
}
