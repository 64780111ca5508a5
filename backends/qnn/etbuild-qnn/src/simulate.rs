//! What the NPU computes, without the vendor's kit: the operations of a lowered graph, executed by rules that were measured on the vendor's
//! simulator (SDK 2.51, v79), one operation at a time.
//!
//! | operation, 8 bits | rule | measured |
//! |---|---|---|
//! | convolutions, `MatMul` | [`fixed_point::Rescale`]: the accumulator is cut to 4 bits below the result's step, and multiplied by 12 bits | equal, apart from a bias that the compiler changes by 1 |
//! | depthwise convolutions with a stride | rounded once | 0.1 % differ by 1 |
//! | `ElementWiseAdd`, `ElementWiseSubtract` | [`fixed_point::Sum`]: 14-bit multipliers, an offset in steps of 256 | equal for 118 of 120 pairs of scales, else 1.6 % differ by 1 |
//! | `ElementWiseMultiply` | [`fixed_point::Product`]: a 15-bit multiplier, rounded twice | 0.2 to 2 % differ by 1 |
//! | `LayerNorm` | [`normalize`]: a factor of 16 bits behind the point, the offset rounded apart | 0 to 0.3 % differ by 1 |
//! | `RmsNorm` | the same factor, rounded down | 6 % differ by 1 |
//! | `Softmax` | rounded once | 2 % differ by 1 |
//! | `HardSwish` that alone reads a convolution | of the accumulator: the compiler makes one operation of both | 2 % differ by 1 |
//! | other functions of an element | a table of 256 correctly rounded results | equal |
//! | means, average pools | rounded once | equal |
//! | `Convert` | rounded once | 0.5 % differ by 1 |
//! | `Quantize` | the number by the scale, rounded to fp16, then to an integer, halves away from zero | equal |
//! | `Dequantize` to fp16 | the scale in fp16 times the integer | equal |
//!
//! | operation, 16 bits | rule | measured |
//! |---|---|---|
//! | convolutions | [`convolution`]: sums of unsigned integers lose 8 bits | equal for blocks of int4, 1 % differ by 1 for int8, 10 % with a bias |
//! | sums | [`fixed_point::WordSum`]: 16-bit multipliers | equal |
//! | `RmsNorm` | rounded down | 0.2 % differ by 1 |
//! | `LayerNorm` | product and offset rounded apart | 3 % differ by 1 |
//! | `Sigmoid` | rounded down to an even integer | 45 % differ by 2 or 4 |
//! | others | rounded once | products: 1.4 % differ by 1; softmax and GELU by up to 26 |
//!
//! Operations in fp16 round once, and are equal for sums, products, convolutions, norms and `MatMul`; [`fp16`] has the steps of softmax, 98 %
//! of whose results are within a step.

mod call;
mod convolution;
mod delegate;
mod elementwise;
mod engine;
mod fixed_point;
mod fp16;
mod fused;
mod moves;
mod normalize;
mod product;
mod reduce;
mod step;
mod window;

pub use delegate::{ID, delegate};
pub use engine::SIMULATED;

use std::collections::BTreeMap;
use std::sync::Arc;

use et_ops::call::OwnedTensor;
use et_qnn::Role;
use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::{Graph, Links};

use crate::lower::{WHOLE, lower};
use crate::program::{Operation, Program};

use step::{Elements, Step};

/// The computation of an operation.
type Kernel = fn(&Step<'_>) -> Result<Elements, Refusal>;

/// A kernel per operation, sorted.
static KERNELS: &[(&str, Kernel)] = &[
    ("Cast", elementwise::convert),
    ("Concat", moves::concat),
    ("Conv2d", convolution::convolution),
    ("Convert", elementwise::convert),
    ("DepthWiseConv2d", convolution::convolution),
    ("Dequantize", elementwise::convert),
    ("ElementWiseAbs", |step| elementwise::unary(step, f64::abs)),
    ("ElementWiseAdd", |step| elementwise::sum(step, 1)),
    ("ElementWiseDivide", |step| elementwise::binary(step, |left, right| left / right)),
    ("ElementWiseExp", |step| elementwise::unary(step, f64::exp)),
    ("ElementWiseLog", |step| elementwise::unary(step, f64::ln)),
    ("ElementWiseMaximum", |step| elementwise::binary(step, f64::max)),
    ("ElementWiseMinimum", |step| elementwise::binary(step, f64::min)),
    ("ElementWiseMultiply", elementwise::product),
    ("ElementWiseNeg", |step| elementwise::unary(step, |number| -number)),
    ("ElementWiseNeuron", elementwise::neuron),
    ("ElementWiseRsqrt", |step| elementwise::unary(step, |number| number.sqrt().recip())),
    ("ElementWiseSquareRoot", |step| elementwise::unary(step, f64::sqrt)),
    ("ElementWiseSubtract", |step| elementwise::sum(step, -1)),
    ("Gather", moves::gather),
    ("HardSwish", fused::hardswish),
    ("LayerNorm", normalize::layer_norm),
    ("MatMul", product::matmul),
    ("Pad", moves::pad),
    ("PoolAvg2d", reduce::average_pool),
    ("PoolMax2d", reduce::max_pool),
    ("Quantize", elementwise::convert),
    ("ReduceMax", |step| reduce::over(step, reduce::most)),
    ("ReduceMean", |step| reduce::over(step, reduce::mean)),
    ("ReduceMin", |step| reduce::over(step, reduce::least)),
    ("ReduceSum", |step| reduce::over(step, |numbers| numbers.iter().sum())),
    ("ReluMinMax", elementwise::clamp),
    ("Reshape", elementwise::convert),
    ("RmsNorm", normalize::rms_norm),
    ("Sigmoid", elementwise::sigmoid),
    ("Softmax", normalize::softmax),
    ("StridedSlice", moves::slice),
    ("Tanh", |step| elementwise::unary(step, f64::tanh)),
    ("Tile", moves::tile),
    ("Transpose", moves::transpose),
];

/// The outputs of a graph that runs on the NPU as a whole, for inputs by name.
///
/// # Errors
/// A node that does not run on the NPU, a missing input, an operation that the simulation lacks.
pub fn simulate(graph: &Graph, inputs: &BTreeMap<String, OwnedTensor>) -> Result<Vec<OwnedTensor>, Refusal> {
    let program = lower(&Links::of(graph), WHOLE)?;
    let mut memory: Vec<Option<Arc<Elements>>> = vec![None; program.tensors.len()];
    for (id, binding) in &program.inputs {
        let name = graph.inputs.get(binding.argument as usize).map(|input| graph.value(*input).name.as_str());
        let tensor = name.filter(|_| binding.role == Role::Argument).and_then(|name| inputs.get(name));
        let tensor = tensor.ok_or_else(|| lacks(&format!("the input `{}`", program.get(*id).name)))?;
        memory[id.0] = Some(Arc::new(Elements::of_bytes(program.get(*id), &tensor.bytes)?));
    }
    compute(&program, &mut memory)?;
    let outputs = program.outputs.iter().zip(&graph.outputs).map(|((id, _), value)| {
        let spec = graph.spec(*value);
        let elements = memory[id.0].as_ref().ok_or_else(|| lacks("an output that no operation computes"))?;
        let bytes = elements.bytes(program.get(*id).data_type);
        Ok(OwnedTensor { scalar_type: spec.scalar_type, sizes: spec.sizes.clone(), bytes })
    });
    outputs.collect()
}

/// Computes the tensors of a graph. `memory` has the inputs, and may have the constants.
fn compute(program: &Program, memory: &mut [Option<Arc<Elements>>]) -> Result<(), Refusal> {
    for operation in program.operations.iter().filter(|operation| !fused::is_part(program, operation)) {
        memory[operation.output.0] = Some(Arc::new(computed(program, operation, memory)?));
    }
    Ok(())
}

fn computed(program: &Program, operation: &Operation, memory: &[Option<Arc<Elements>>]) -> Result<Elements, Refusal> {
    let name = operation.type_name.as_str();
    let kernel = KERNELS.binary_search_by(|(known, _)| (*known).cmp(name)).map(|position| KERNELS[position].1);
    let kernel = kernel.map_err(|_| lacks(&format!("`{name}`")))?;
    kernel(&Step { program, operation, memory })
}

fn lacks(what: &str) -> Refusal {
    Refusal::new(RefusalKind::Operator, format!("the simulation of the NPU lacks {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_sorted() {
        assert!(KERNELS.is_sorted_by(|left, right| left.0 < right.0));
    }
}
