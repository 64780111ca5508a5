//! Element-wise operators: a chain of one step each, which fusion joins with the producers of the operands.
//!
//! Comparisons write boolean tensors; `where` and masks read boolean tensors. A boolean is an int8 0 or 1.

use et_core::ScalarType;
use et_cpu::QParams;
use et_kernels::elementwise::Operation;
use etbuild_ir::{Argument, ValueId};

use crate::Problem;
use crate::builder::Builder;
use crate::chain::Operand;
use crate::lower::Lowered;
use crate::tensor::Tensor;
use etbuild_backend::Call;

/// A unary operator with optional number arguments.
pub fn unary(builder: &mut Builder<'_>, call: Call<'_>, operation: Operation, numbers: &[f32]) -> Lowered {
    let input = Operand::Tensor(builder.stored(call.value(0)?)?);
    let numbers = numbers.iter().map(|number| Operand::Number(*number));
    let operands: Vec<Operand> = [input].into_iter().chain(numbers).collect();
    chain(builder, &call, &operands, operation)
}

/// An operator on two tensors, or on a tensor and a number.
pub fn binary(builder: &mut Builder<'_>, call: Call<'_>, operation: Operation) -> Lowered {
    let (left, right) = (operand(builder, &call, 0)?, operand(builder, &call, 1)?);
    let alpha = match operation {
        Operation::Add | Operation::Sub => call.number(2)?.unwrap_or(1.0) as f32,
        _ => 1.0,
    };
    let right = scaled(builder, right, alpha)?;
    chain(builder, &call, &[left, right], operation)
}

/// The operand times `alpha`.
fn scaled(builder: &mut Builder<'_>, operand: Operand, alpha: f32) -> Result<Operand, Problem> {
    match operand {
        Operand::Number(number) => Ok(Operand::Number(number * alpha)),
        Operand::Tensor(tensor) if alpha != 1.0 => {
            let sizes = tensor.sizes.clone();
            let operands = [Operand::Tensor(tensor), Operand::Number(alpha)];
            Ok(Operand::Tensor(builder.computed(&operands, &sizes, Operation::Mul, QParams::FLOAT)?))
        }
        unscaled => Ok(unscaled),
    }
}

/// The tensor or number argument at a position.
fn operand(builder: &mut Builder<'_>, call: &Call<'_>, index: usize) -> Result<Operand, Problem> {
    match call.node.arguments.get(index) {
        Some(Argument::Value(id)) => Ok(Operand::Tensor(builder.stored(*id)?)),
        _ => call.number(index)?.map(|number| Operand::Number(number as f32)).ok_or(Problem::Arguments),
    }
}

fn chain(builder: &mut Builder<'_>, call: &Call<'_>, operands: &[Operand], operation: Operation) -> Lowered {
    builder.computed(operands, &call.output_sizes()?, operation, QParams::FLOAT).map(Some)
}

/// The qparams of a boolean tensor.
const TRUTH: QParams = QParams { scale: 1.0, zero_point: 0 };

/// The tensor of a boolean value.
fn truth(builder: &mut Builder<'_>, id: ValueId) -> Result<Tensor, Problem> {
    Ok(Tensor { qparams: TRUTH, scalar_type: ScalarType::Char, ..builder.stored(id)? })
}

/// A comparison of the arguments at two positions.
pub fn compare(builder: &mut Builder<'_>, call: Call<'_>, operation: Operation, [left, right]: [usize; 2]) -> Lowered {
    let operands = [operand(builder, &call, left)?, operand(builder, &call, right)?];
    decide(builder, &call, &operands, operation)
}

/// An operator on booleans.
pub fn logical(builder: &mut Builder<'_>, call: Call<'_>, operation: Operation, numbers: &[f32]) -> Lowered {
    let tensors = call.node.uses().map(|id| truth(builder, id).map(Operand::Tensor));
    let numbers = numbers.iter().map(|number| Ok(Operand::Number(*number)));
    let operands = tensors.chain(numbers).collect::<Result<Vec<_>, Problem>>()?;
    decide(builder, &call, &operands, operation)
}

fn decide(builder: &mut Builder<'_>, call: &Call<'_>, operands: &[Operand], operation: Operation) -> Lowered {
    let decided = builder.computed(operands, &call.output_sizes()?, operation, TRUTH)?;
    Ok(Some(Tensor { qparams: QParams::FLOAT, scalar_type: ScalarType::Bool, ..decided }))
}

/// `where`: elements of the second operand where the condition is true, else of the third operand.
pub fn choose(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let condition = Operand::Tensor(truth(builder, call.value(0)?)?);
    let operands = [condition, operand(builder, &call, 1)?, operand(builder, &call, 2)?];
    builder.computed(&operands, &call.output_sizes()?, Operation::Where, QParams::FLOAT).map(Some)
}

/// The additive attention mask of a boolean mask: 0 for true, minus infinity for false.
pub fn mask(builder: &mut Builder<'_>, id: ValueId) -> Result<Tensor, Problem> {
    if builder.links.graph.spec(id).scalar_type != ScalarType::Bool {
        return builder.tensor(id);
    }
    let truth = truth(builder, id)?;
    let sizes = truth.sizes.clone();
    let operands = [Operand::Tensor(truth), Operand::Number(0.0), Operand::Number(f32::NEG_INFINITY)];
    builder.computed(&operands, &sizes, Operation::Where, QParams::FLOAT)
}
