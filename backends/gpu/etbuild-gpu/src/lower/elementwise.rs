//! Element-wise operators.

use et_core::ScalarType;
use etbuild_backend::{Call, Refusal, RefusalKind};
use etbuild_ir::{Argument, ValueId};

use crate::builder::Builder;
use crate::expr::ExprId;
use crate::types::Type;

use super::Done;

/// A function of the operands at these positions that is computed in float32; integers are converted.
pub fn float(builder: &mut Builder<'_>, call: Call<'_>, positions: &[usize], template: &'static str) -> Done {
    refuse_double(builder, call.output()?)?;
    apply(builder, call, positions, Type::Float, template)
}

/// A function in the type of the output, with the template for floating point and for integers.
pub fn number(builder: &mut Builder<'_>, call: Call<'_>, positions: &[usize], templates: [&'static str; 2]) -> Done {
    let ty = builder.ty(call.output()?)?;
    let ty = if ty == Type::Bool { Type::Int } else { ty };
    apply(builder, call, positions, ty, templates[usize::from(!ty.is_float())])
}

/// The same with a template for float32 only.
pub fn single(builder: &mut Builder<'_>, call: Call<'_>, positions: &[usize], templates: [&'static str; 2]) -> Done {
    refuse_double(builder, call.output()?)?;
    number(builder, call, positions, templates)
}

/// Refuses a value in float64.
pub fn refuse_double(builder: &Builder<'_>, id: ValueId) -> Done {
    match builder.ty(id)? {
        Type::Double => Err(Refusal::new(RefusalKind::Type, "the function is not computed in float64")),
        _ => Ok(()),
    }
}

/// The operands at these positions as a type, and a template.
fn apply(builder: &mut Builder<'_>, call: Call<'_>, positions: &[usize], ty: Type, template: &'static str) -> Done {
    let mut operands = operands(builder, &call, positions, ty)?;
    if call.graph.spec(call.output()?).scalar_type == ScalarType::Byte {
        // A negative number becomes a byte.
        for (position, operand) in positions.iter().zip(&mut operands) {
            if let Some(Argument::Int(number)) = call.node.arguments.get(*position) {
                *operand = builder.exprs.number(f64::from(*number as u8), ty);
            }
        }
    }
    let expr = builder.exprs.apply(template, &operands, ty);
    builder.set(call.output()?, expr)
}

/// The operands at these positions, tensors or numbers, broadcast to the shape of the first output and converted to a type.
pub fn operands(
    builder: &mut Builder<'_>,
    call: &Call<'_>,
    positions: &[usize],
    ty: Type,
) -> Result<Vec<ExprId>, Refusal> {
    let sizes = call.output_sizes()?;
    let arguments: Vec<&Argument> =
        positions.iter().filter_map(|position| call.node.arguments.get(*position)).collect();
    let ids: Vec<ValueId> = arguments
        .iter()
        .filter_map(|argument| if let Argument::Value(id) = argument { Some(*id) } else { None })
        .collect();
    let mut tensors = builder.operands(&ids, &sizes)?.into_iter();
    let mut exprs = Vec::new();
    for argument in arguments {
        let expr = match argument {
            Argument::Value(_) => tensors.next().ok_or_else(super::no_arguments)?,
            number => builder.argument_as(number, &sizes, ty)?,
        };
        exprs.push(builder.exprs.cast(expr, ty));
    }
    Ok(exprs)
}

/// The type of the promoted operands, in which a comparison is computed.
pub fn promoted(builder: &Builder<'_>, call: &Call<'_>) -> Type {
    let graph = call.graph;
    let has_float_number = call.node.arguments.iter().any(|argument| matches!(argument, Argument::Float(_)));
    let types: Vec<Type> = call.node.uses().filter_map(|id| Type::of(graph.spec(id).scalar_type)).collect();
    let has = |ty: Type| types.contains(&ty);
    match () {
        () if has(Type::Double) && builder.profile.float64 => Type::Double,
        () if has(Type::Float) || has(Type::Double) || has_float_number => Type::Float,
        () if has(Type::Long) && builder.profile.int64 => Type::Long,
        () => Type::Int,
    }
}

/// -1, 0 or 1.
pub fn sign(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    refuse_double(builder, call.output()?)?;
    let ty = builder.ty(call.output()?)?;
    let template = match ty {
        Type::Float | Type::Double => "sign_f32({0})",
        Type::Int => "sign_i32({0})",
        Type::Long => "sign_i64({0})",
        Type::Bool => "{0}",
    };
    apply(builder, call, &[0], ty, template)
}

/// A quotient.
pub fn divide(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let ty = builder.ty(call.output()?)?;
    let ty = if ty.is_float() { ty } else { Type::Float };
    let operands = operands(builder, &call, &[0, 1], ty)?;
    let expr = builder.exprs.quotient(operands[0], operands[1]);
    builder.set(call.output()?, expr)
}

/// `b - alpha * a`.
pub fn reversed_difference(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let ty = builder.ty(call.output()?)?;
    let mut operands = operands(builder, &call, &[0, 1], ty)?;
    let alpha = builder.exprs.number(call.number(2)?.unwrap_or(1.0), ty);
    operands.push(alpha);
    let expr = builder.exprs.apply("({1} - {2} * {0})", &operands, ty);
    builder.set(call.output()?, expr)
}

/// A sum or difference; the second operand is multiplied by `alpha`.
pub fn scaled(builder: &mut Builder<'_>, call: Call<'_>, template: &'static str) -> Done {
    let ty = builder.ty(call.output()?)?;
    let ty = if ty == Type::Bool { Type::Int } else { ty };
    let mut operands = operands(builder, &call, &[0, 1], ty)?;
    let alpha = call.number(2)?.unwrap_or(1.0);
    if alpha != 1.0 {
        let alpha = builder.exprs.number(alpha, ty);
        operands[1] = builder.exprs.apply("({0} * {1})", &[operands[1], alpha], ty);
    }
    let expr = builder.exprs.apply(template, &operands, ty);
    builder.set(call.output()?, expr)
}

/// A power.
pub fn power(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let ty = builder.ty(call.output()?)?;
    match (ty, call.node.arguments.get(1)) {
        (Type::Float | Type::Double, Some(Argument::Float(_) | Argument::Int(_))) => {
            let template = match call.number(1)?.unwrap_or(1.0) {
                1.0 => "{0}",
                2.0 => "({0} * {0})",
                3.0 => "({0} * {0} * {0})",
                -1.0 if ty == Type::Float => "(1.0f / {0})",
                0.5 => "sqrt({0})",
                -0.5 if ty == Type::Float => "inverseSqrt({0})",
                _ => return float(builder, call, &[0, 1], "pow_f32({0}, {1})"),
            };
            apply(builder, call, &[0], ty, template)
        }
        (Type::Float | Type::Double, _) => float(builder, call, &[0, 1], "pow_f32({0}, {1})"),
        (Type::Long, _) => apply(builder, call, &[0, 1], Type::Long, "pow_i64({0}, {1})"),
        _ => {
            let operands = operands(builder, &call, &[0, 1], Type::Int)?;
            let expr = builder.exprs.apply("pow_i32({0}, {1})", &operands, Type::Int);
            builder.set(call.output()?, expr)
        }
    }
}

/// A division with a rounding mode.
pub fn divide_with_mode(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    match call.node.arguments.get(2) {
        Some(Argument::Text(mode)) if mode == "floor" => floor_divide(builder, call),
        Some(Argument::Text(_)) => {
            let ty = builder.ty(call.output()?)?;
            apply(builder, call, &[0, 1], ty, if ty.is_float() { "trunc({0} / {1})" } else { "({0} / {1})" })
        }
        _ => divide(builder, call),
    }
}

/// A division rounded down.
pub fn floor_divide(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let ty = builder.ty(call.output()?)?;
    let template = match ty {
        Type::Float => "floor_divide_f32({0}, {1})",
        Type::Double => "floor({0} / {1})",
        Type::Long => "floor_divide_i64({0}, {1})",
        Type::Int | Type::Bool => "floor_divide_i32({0}, {1})",
    };
    apply(builder, call, &[0, 1], if ty == Type::Bool { Type::Int } else { ty }, template)
}

/// A remainder with the sign of the divisor.
pub fn remainder(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let ty = builder.ty(call.output()?)?;
    let template = match ty {
        Type::Float => "remainder_f32({0}, {1})",
        Type::Double => "({0} - floor({0} / {1}) * {1})",
        Type::Long => "({0} - floor_divide_i64({0}, {1}) * {1})",
        Type::Int | Type::Bool => "({0} - floor_divide_i32({0}, {1}) * {1})",
    };
    apply(builder, call, &[0, 1], if ty == Type::Bool { Type::Int } else { ty }, template)
}

/// A comparison in the type of the promoted operands.
pub fn compare(builder: &mut Builder<'_>, call: Call<'_>, template: &'static str) -> Done {
    let ty = promoted(builder, &call);
    let mut operands = operands(builder, &call, &[0, 1], ty)?;
    if let (Some(number), 1) = (call.number(1).ok().flatten(), call.node.uses().count()) {
        operands[1] = builder.exprs.number(rounded(number, call.graph.spec(call.value(0)?).scalar_type), ty);
    }
    let expr = builder.exprs.apply(template, &operands, Type::Bool);
    builder.set(call.output()?, expr)
}

/// A number as a narrow floating-point type.
fn rounded(number: f64, scalar_type: ScalarType) -> f64 {
    match scalar_type {
        ScalarType::Half => f64::from(et_core::Half::from_f32(number as f32).to_f32()),
        ScalarType::BFloat16 => f64::from(et_core::BFloat16::from_f32(number as f32).to_f32()),
        _ => number,
    }
}

/// A test of one floating-point operand.
pub fn test(builder: &mut Builder<'_>, call: Call<'_>, template: &'static str) -> Done {
    refuse_double(builder, call.value(0)?)?;
    let operands = operands(builder, &call, &[0], Type::Float)?;
    let expr = builder.exprs.apply(template, &operands, Type::Bool);
    builder.set(call.output()?, expr)
}

/// An operator on booleans; numbers but 0 are true.
pub fn logical(builder: &mut Builder<'_>, call: Call<'_>, template: &'static str) -> Done {
    let count = call.node.uses().count();
    let positions: Vec<usize> = (0..count).collect();
    let operands = operands(builder, &call, &positions, Type::Bool)?;
    let expr = builder.exprs.apply(template, &operands, Type::Bool);
    builder.set(call.output()?, expr)
}

/// A bitwise operator, logical on booleans.
pub fn bitwise(builder: &mut Builder<'_>, call: Call<'_>, positions: &[usize], templates: [&'static str; 2]) -> Done {
    let ty = builder.ty(call.output()?)?;
    apply(builder, call, positions, ty, templates[usize::from(ty == Type::Bool)])
}

/// A shift.
pub fn shift(builder: &mut Builder<'_>, call: Call<'_>, [narrow, wide]: [&'static str; 2]) -> Done {
    let ty = builder.ty(call.output()?)?;
    apply(builder, call, &[0, 1], ty, if ty == Type::Long { wide } else { narrow })
}

/// `where`, with the condition first.
pub fn choose(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    select(builder, call, [0, 1, 2])
}

/// `masked_fill`: the third argument where the mask is true.
pub fn masked_fill(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    select(builder, call, [1, 2, 0])
}

fn select(builder: &mut Builder<'_>, call: Call<'_>, [condition, then, otherwise]: [usize; 3]) -> Done {
    let ty = builder.ty(call.output()?)?;
    let mut all = positions_in_order(builder, &call, &[condition, then, otherwise], ty)?;
    all[0] = builder.exprs.cast(all[0], Type::Bool);
    let expr = builder.exprs.apply("select({2}, {1}, {0})", &all, ty);
    builder.set(call.output()?, expr)
}

/// The operands at these positions: the first in its own type.
fn positions_in_order(
    builder: &mut Builder<'_>,
    call: &Call<'_>,
    positions: &[usize; 3],
    ty: Type,
) -> Result<Vec<ExprId>, Refusal> {
    let own = builder.ty(call.value(positions[0])?)?;
    let condition = operands(builder, call, &positions[..1], own)?[0];
    let rest = operands(builder, call, &positions[1..], ty)?;
    Ok(vec![condition, rest[0], rest[1]])
}

/// `clamp`: limits are numbers or tensors, and NaN stays.
pub fn clamp(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let output = call.output()?;
    let ty = builder.ty(output)?;
    let mut expr = operands(builder, &call, &[0], ty)?[0];
    let templates = match ty {
        Type::Float => ["clamped_f32({0}, {1})", "capped_f32({0}, {1})"],
        _ => ["select({0}, {1}, {0} < {1})", "select({0}, {1}, {0} > {1})"],
    };
    for (position, template) in [1, 2].into_iter().zip(templates) {
        if matches!(call.node.arguments.get(position), None | Some(Argument::None)) {
            continue;
        }
        let limit = operands(builder, &call, &[position], ty)?[0];
        expr = builder.exprs.apply(template, &[expr, limit], ty);
    }
    builder.set(output, expr)
}

/// A function of a tensor and of number arguments, which follow it in the template.
pub fn with_numbers(builder: &mut Builder<'_>, call: Call<'_>, template: &'static str, defaults: &[f64]) -> Done {
    let output = call.output()?;
    let ty = builder.ty(output)?;
    if ty != Type::Float {
        return Err(Refusal::new(RefusalKind::Type, "the function is computed in float32 only"));
    }
    let mut all = operands(builder, &call, &[0], ty)?;
    for (position, default) in defaults.iter().enumerate() {
        let number = call.number(position + 1)?.unwrap_or(*default);
        all.push(builder.exprs.number(number, ty));
    }
    let expr = builder.exprs.apply(template, &all, ty);
    builder.set(output, expr)
}

/// GELU, exact or by tanh.
pub fn gelu(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let is_tanh = call.text(1)? == "tanh";
    float(builder, call, &[0], if is_tanh { "gelu_tanh_f32({0})" } else { "gelu_f32({0})" })
}

/// `log(x / (1 - x))`, with x clamped to `eps` from both ends.
pub fn logit(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    match call.number(1)? {
        None => float(builder, call, &[0], "log_f32({0} / (1.0f - {0}))"),
        Some(_) => with_numbers(builder, call, "logit_f32({0}, {1})", &[0.0]),
    }
}

/// Another type.
pub fn cast(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let expr = operands(builder, &call, &[0], builder.ty(input)?)?[0];
    let to = call.graph.spec(output).scalar_type;
    let expr = match to {
        ScalarType::Byte | ScalarType::Char | ScalarType::Short => builder.exprs.cast(expr, Type::Int),
        // The value is rounded here, so that readers in the same kernel get the rounded value.
        ScalarType::Half | ScalarType::BFloat16 if call.graph.spec(input).scalar_type != to => {
            let expr = builder.exprs.cast(expr, Type::Float);
            let template = if to == ScalarType::Half { "as_half({0})" } else { "as_bf16({0})" };
            builder.exprs.apply(template, &[expr], Type::Float)
        }
        _ => expr,
    };
    builder.set(output, expr)
}
