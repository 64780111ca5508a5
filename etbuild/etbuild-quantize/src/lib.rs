//! Quantization: integers with scales and zero points in place of floating-point tensors.
//!
//! [`quantize`] reads a lowered program and returns a lowered program. Quantized tensors have the form of PyTorch's
//! exported programs: `quantize` and `dequantize` nodes around every quantized tensor, weights as integer constants
//! before a `dequantize`. Portable kernels run the program as written; backends match the pattern. Each step is a
//! module: `annotate` selects the quantized tensors by rules and options, `calibrate` measures ranges on samples,
//! `convert` rewrites the graph. [`compare`] measures the loss per layer, [`right_answers`] the accuracy.

#![deny(clippy::iter_over_hash_type, reason = "the order of a hash map reaches no result")]

mod absorb;
mod annotate;
mod answers;
mod calibrate;
mod compare;
mod compensate;
mod convert;
mod drift;
mod elements;
mod error;
mod factor;
mod moments;
mod observer;
mod options;
mod parameters;
mod pattern;
mod places;
mod prune;
mod ranges;
mod rule;
mod run;
mod samples;
mod search;
mod second_level;
mod source;
mod state;
mod want;
mod weight;
mod work;

use etbuild_ir::{Graph, LoweredProgram};

pub use answers::right_answers;
pub use compare::{Loss, compare};
pub use drift::{drift, similarity, values};
pub use error::QuantizeError;
pub use moments::{Moments, moments};
pub use observer::Observer;
pub use options::{Embedding, Layer, Options, Scheme};
pub use parameters::{Bounds, Parameters};
pub use places::Ranges;
pub use ranges::ranges;
pub use rule::{Kind, RULES};
pub use samples::{Samples, Tensors};
pub use search::{Effect, Limit, Proposal, Score, search};
pub use work::{InMemory, Keeper, Kept, Work};

/// Data about the inputs of a model.
#[derive(Clone, Copy, Debug)]
pub struct Data<'a> {
    /// Calibration samples; needed for static schemes only.
    pub samples: Option<&'a Tensors>,
    /// The qparams of activations, in place of samples.
    pub ranges: Option<&'a Ranges>,
    /// Second moments of activations, by weight. The rounding errors of these weights are compensated (GPTQ).
    pub moments: &'a Moments,
}

impl<'a> Data<'a> {
    /// Samples without moments.
    pub const fn samples(samples: Option<&'a Tensors>) -> Self {
        const NONE: &Moments = &Moments::new();
        Self { samples, ranges: None, moments: NONE }
    }
}

/// Quantizes every method. `keeper` computes the integers, a weight at a time, and decides how much of the result
/// stays in memory.
///
/// Weights are `float32` constants, or half-precision constants with a conversion. A conversion without readers is
/// removed.
///
/// # Errors
/// Missing or unfit samples, exceptions that match no layer, methods that cannot be calibrated, kernel errors.
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
    if !matches!(options.scheme, Scheme::W8A8 | Scheme::W8A16 | Scheme::W4A16) {
        // The graphs of an NPU have forms of state of their own.
        state::keep_integers(&mut program);
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
    let measured = match (annotation.needs_samples(), data.ranges) {
        (false, _) => calibrate::Measured::default(),
        (true, Some(ranges)) => calibrate::Measured::at_places(&graph, &annotation, ranges)?,
        (true, None) => {
            let samples = data.samples.ok_or_else(|| QuantizeError::NoSamples { method: method.to_owned() })?;
            calibrate::calibrate(&graph, &annotation, options.observer, &Samples::of(&graph, samples)?)?
        }
    };
    let mut graph = convert::convert(graph, &annotation, &measured, options, (keeper, data.moments))?;
    absorb::absorb(&mut graph);
    Ok(prune::prune(graph))
}
