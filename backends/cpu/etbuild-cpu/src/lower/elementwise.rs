//! Element-wise operators: a chain of one step each, which fusion joins with the producers of the operands.

use et_cpu::QParams;
use et_kernels::elementwise::Operation;
use etbuild_ir::Argument;

use crate::Problem;
use crate::builder::Builder;
use crate::call::Call;
use crate::chain::Operand;
use crate::lower::Lowered;

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
pub fn operand(builder: &mut Builder<'_>, call: &Call<'_>, index: usize) -> Result<Operand, Problem> {
    match call.node.arguments.get(index) {
        Some(Argument::Value(id)) => Ok(Operand::Tensor(builder.stored(*id)?)),
        _ => call.number(index)?.map(|number| Operand::Number(number as f32)).ok_or(Problem::Arguments),
    }
}

fn chain(builder: &mut Builder<'_>, call: &Call<'_>, operands: &[Operand], operation: Operation) -> Lowered {
    builder.computed(operands, &call.output_sizes()?, operation, QParams::FLOAT).map(Some)
}
