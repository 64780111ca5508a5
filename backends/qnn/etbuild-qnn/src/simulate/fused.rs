//! Pairs of operations of which the vendor's compiler makes one.

use etbuild_backend::Refusal;

use crate::program::{Operation, Program, TensorId, width};

use super::convolution::{moves_apart, real_numbers};
use super::elementwise::unary;
use super::step::{Elements, Step};

/// `x clamp(x + 3, 0, 6) / 6`: of the accumulator, where a convolution of 8 bits computes the operand for this operation alone.
pub fn hardswish(step: &Step<'_>) -> Result<Elements, Refusal> {
    let function = |number: f64| number * (number + 3.0).clamp(0.0, 6.0) / 6.0;
    match step.operation.inputs.first().and_then(|input| convolution_of(step.program, *input)) {
        Some(operation) => Ok(step.rounded(real_numbers(&Step { operation, ..*step })?.into_iter().map(function))),
        None => unary(step, function),
    }
}

/// Whether an operation is computed by the one that reads the result.
pub fn is_part(program: &Program, operation: &Operation) -> bool {
    let mut readers = program.operations.iter().filter(|reader| reader.inputs.contains(&operation.output));
    readers.next().is_some_and(|reader| reader.type_name == "HardSwish")
        && convolution_of(program, operation.output).is_some()
}

/// The convolution of 8 bits that computes a tensor for a single operation.
fn convolution_of(program: &Program, tensor: TensorId) -> Option<&Operation> {
    let readers = program.operations.iter().filter(|reader| reader.inputs.contains(&tensor));
    let is_byte = width(program.get(tensor).data_type) == 1;
    let mut makers = program.operations.iter().filter(|operation| operation.output == tensor);
    let maker = makers.find(|operation| ["Conv2d", "DepthWiseConv2d"].contains(&operation.type_name.as_str()));
    maker.filter(|maker| is_byte && !moves_apart(maker) && readers.count() == 1)
}
