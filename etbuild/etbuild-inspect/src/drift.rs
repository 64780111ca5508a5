//! Where the values of two runs of a model begin to differ: the reference values, and the errors in the order of execution.

use std::ops::Range;

use et_ops::call::OwnedTensor;
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_ir::Graph;
pub use etbuild_quantize::{Loss as ValueError, Tensors, drift, similarity};
use etbuild_quantize::{QuantizeError, Samples};

/// The inputs of a graph on each of the first `most` cases, in the order of the signature. `tensors` hold a case or several, stacked
/// along the first dimension.
///
/// # Errors
/// Tensors that do not fit the inputs.
pub fn case_inputs(graph: &Graph, tensors: &Tensors, most: usize) -> Result<Vec<Vec<OwnedTensor>>, Diagnostic> {
    let samples = Samples::of(graph, tensors).map_err(unfit)?;
    let owned = |case| {
        let inputs = samples.inputs(case).into_iter();
        inputs.map(|input| OwnedTensor {
            scalar_type: input.scalar_type,
            sizes: input.sizes.to_vec(),
            bytes: input.bytes.to_vec(),
        })
    };
    Ok(cases(&samples, most).map(|case| owned(case).collect()).collect())
}

/// The `float32` values of a graph on each of the first `most` cases, computed by the portable kernels.
///
/// # Errors
/// Tensors that do not fit the inputs, control flow, failures of kernels.
pub fn portable_values(graph: &Graph, tensors: &Tensors, most: usize) -> Result<Vec<Tensors>, Diagnostic> {
    let samples = Samples::of(graph, tensors).map_err(unfit)?;
    cases(&samples, most).map(|case| etbuild_quantize::values(graph, &samples, case).map_err(unfit)).collect()
}

/// The first `most` samples, at least one.
fn cases(samples: &Samples<'_>, most: usize) -> Range<usize> {
    0..samples.len().min(most.max(1))
}

fn unfit(error: QuantizeError) -> Diagnostic {
    Diagnostic::error(Code::InputsMismatch, error.to_string())
        .help("name a safetensors file with a tensor for each input: `--inputs FILE`")
}
