//! Special functions in terms of special functions with kernels.

use et_core::ScalarType;
use etbuild_ir::Argument;

use super::formula::operands;
use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// `special_ndtr(self)`: half of `1 + erf(self / sqrt(2))`, which is 0 for the tail that PyTorch's is 0 for.
pub fn normal_distribution(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = editor.convert(call.value(0)?, call.output()?.scalar_type)?;
    let scaled = editor.times(input, std::f64::consts::FRAC_1_SQRT_2)?;
    let error = editor.apply("erf", scaled)?;
    let above = editor.plus(error, 1.0)?;
    Ok(vec![editor.times(above, 0.5)?])
}

/// `mvlgamma(self, p)`: the sum of `lgamma(self - index / 2)` below `p`, and a constant.
pub fn log_of_multivariate_gamma(editor: &mut Editor, call: &Call) -> Rewritten {
    let (mut input, output) = (call.value(0)?, call.output()?);
    input = editor.convert(input, output.scalar_type)?;
    let count = call.int(1)?;
    if !(1..=64).contains(&count) {
        return Err(Reason::Unsupported("`mvlgamma` of more than 64 dimensions"));
    }
    let mut sum = editor.apply("lgamma", input)?;
    for index in 1..count {
        let moved = editor.plus(input, -0.5 * index as f64)?;
        let next = editor.apply("lgamma", moved)?;
        sum = editor.pair("add", sum, next)?;
    }
    let pairs = (count * (count - 1)) as f64 / 4.0;
    Ok(vec![editor.plus(sum, pairs * std::f64::consts::PI.ln())?])
}

/// The overloads with a number as an operand: the overload of two tensors, with the number as a tensor of rank 0.
pub fn with_tensors(editor: &mut Editor, call: &Call) -> Rewritten {
    let (mut arguments, output) = (call.arguments.clone(), call.output()?);
    for argument in arguments.iter_mut().take(2).filter(|argument| !matches!(argument, Argument::Value(_))) {
        let scalar_type = if matches!(argument, Argument::Float(_)) { output.scalar_type } else { ScalarType::Long };
        *argument = Argument::Value(editor.number(argument.clone(), scalar_type)?);
    }
    let name = call.operator.name();
    let overload = if matches!(name, "copysign" | "xlogy" | "float_power") { "Tensor" } else { "default" };
    let name = format!("{name}.{overload}");
    Ok(vec![editor.call(&name, arguments, output)?])
}

/// `lcm(self, other)`: `|self / gcd * other|`, 0 if both are 0.
pub fn common_multiple(editor: &mut Editor, call: &Call) -> Rewritten {
    let ([left, right], output) = (operands(editor, call)?, call.output()?);
    let divisor = editor.combine("gcd.default", [left, right])?;
    let none = editor.compare("eq.Scalar", divisor, Argument::Int(0))?;
    let one = editor.number(Argument::Int(1), output.scalar_type)?;
    let divisor = editor.choose(none, one, divisor, output.clone())?;
    let arguments = vec![Argument::Value(left), Argument::Value(divisor), Argument::Text("trunc".into())];
    let part = editor.call("div.Tensor_mode", arguments, output)?;
    let product = editor.pair("mul", part, right)?;
    Ok(vec![editor.apply("abs", product)?])
}
