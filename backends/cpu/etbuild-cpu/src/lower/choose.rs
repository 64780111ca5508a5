//! Booleans: comparisons write boolean tensors, `where` and masks read boolean tensors. A boolean is an int8 0 or 1.

use et_core::ScalarType;
use et_cpu::QParams;
use et_kernels::elementwise::Operation;
use etbuild_ir::ValueId;

use crate::Problem;
use crate::builder::Builder;
use crate::call::Call;
use crate::chain::Operand;
use crate::lower::Lowered;
use crate::lower::elementwise::operand;
use crate::tensor::Tensor;

/// The qparams of a boolean tensor.
const TRUTH: QParams = QParams { scale: 1.0, zero_point: 0 };

/// The tensor of a boolean value.
pub fn truth(builder: &mut Builder<'_>, id: ValueId) -> Result<Tensor, Problem> {
    Ok(Tensor { qparams: TRUTH, scalar_type: ScalarType::Char, ..builder.stored(id)? })
}

/// A comparison.
pub fn compare(builder: &mut Builder<'_>, call: Call<'_>, operation: Operation) -> Lowered {
    let operands = [operand(builder, &call, 0)?, operand(builder, &call, 1)?];
    decide(builder, &call, &operands, operation)
}

/// A comparison with swapped operands.
pub fn compare_reversed(builder: &mut Builder<'_>, call: Call<'_>, operation: Operation) -> Lowered {
    let operands = [operand(builder, &call, 1)?, operand(builder, &call, 0)?];
    decide(builder, &call, &operands, operation)
}

/// An operator on booleans.
pub fn logical(builder: &mut Builder<'_>, call: Call<'_>, operation: Operation, numbers: &[f32]) -> Lowered {
    let ids: Vec<ValueId> = call.node.uses().collect();
    let mut operands = Vec::new();
    for id in ids {
        operands.push(Operand::Tensor(truth(builder, id)?));
    }
    operands.extend(numbers.iter().map(|number| Operand::Number(*number)));
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
