//! Arithmetic in terms of simpler arithmetic.

use etbuild_ir::Argument;

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// `square(self)`.
pub fn square(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = editor.convert(call.value(0)?, call.output()?.scalar_type)?;
    Ok(vec![editor.map("mul.Tensor", input, vec![Argument::Value(input)])?])
}

/// `rsub(self, other, alpha)` of two tensors: `other - alpha * self`.
pub fn subtract_from(editor: &mut Editor, call: &Call) -> Rewritten {
    let arguments = [1, 0, 2].into_iter().map(|index| call.argument(index).cloned()).collect::<Result<_, _>>()?;
    Ok(vec![editor.call("sub.Tensor", arguments, call.output()?)?])
}

/// `rsub(self, number, alpha)`: `number - alpha * self`.
pub fn subtract_from_scalar(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let factor = match call.argument(2)? {
        Argument::Int(alpha) => Argument::Int(alpha.wrapping_neg()),
        _ => Argument::Float(-call.number(2)?),
    };
    let negated = editor.call("mul.Scalar", vec![call.argument(0)?.clone(), factor], output.clone())?;
    let arguments = vec![Argument::Value(negated), call.argument(1)?.clone(), Argument::Int(1)];
    Ok(vec![editor.call("add.Scalar", arguments, output)?])
}

/// `addcmul(self, tensor1, tensor2, value)`: `self + value * tensor1 * tensor2`.
pub fn add_product(editor: &mut Editor, call: &Call) -> Rewritten {
    add_result(editor, call, "mul.Tensor")
}

/// `addcdiv(self, tensor1, tensor2, value)`: `self + value * tensor1 / tensor2`.
pub fn add_quotient(editor: &mut Editor, call: &Call) -> Rewritten {
    add_result(editor, call, "div.Tensor")
}

fn add_result(editor: &mut Editor, call: &Call, name: &str) -> Rewritten {
    let output = call.output()?;
    let combined = editor.combine(name, [call.value(1)?, call.value(2)?])?;
    let arguments = vec![call.argument(0)?.clone(), Argument::Value(combined), call.argument(3)?.clone()];
    Ok(vec![editor.call("add.Tensor", arguments, output)?])
}

/// `floor_divide(self, other)`; a number becomes a tensor of rank 0.
pub fn floor_quotient(editor: &mut Editor, call: &Call) -> Rewritten {
    let mut arguments = call.arguments.clone();
    let divisor = editor.operand(call.argument(1)?, call.output()?.scalar_type)?;
    *arguments.get_mut(1).ok_or(Reason::Arguments)? = Argument::Value(divisor);
    Ok(editor.keep(Call { operator: call.operator.clone(), arguments, outputs: call.outputs.clone() }))
}
