//! Numbers as operands: the `Scalar` overload, or a tensor of rank 0.

use et_core::ScalarType;
use etbuild_ir::{Argument, OperatorName, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// The overloads with a tensor and with a number as second operand.
const OVERLOADS: [(&str, &str); 3] =
    [("Tensor", "Scalar"), ("Tensor_mode", "Scalar_mode"), ("Tensor_Tensor", "Tensor_Scalar")];

/// A call of a `Tensor` overload, possibly with a number: the `Scalar` overload for a number.
pub fn unwrap(editor: &mut Editor, call: &Call) -> Rewritten {
    let overload = OVERLOADS.iter().find(|(tensor, _)| *tensor == call.operator.overload());
    let is_tensor = |argument: &Argument| matches!(argument, Argument::Value(id) if !editor.is_number(*id));
    match (is_tensor(call.argument(0)?), is_tensor(call.argument(1)?), overload) {
        (true, true, _) | (_, _, None) => Ok(keep(editor, call, &call.operator)),
        (true, false, Some((_, scalar))) => {
            let named = OperatorName::aten(call.operator.name(), scalar);
            wrap(editor, &Call { operator: named, arguments: call.arguments.clone(), outputs: call.outputs.clone() })
        }
        _ => with_tensor(editor, call, 0, &call.operator),
    }
}

/// A call of a `Scalar` overload: kept if the overload has a kernel, else with the number as a tensor.
pub fn wrap(editor: &mut Editor, call: &Call) -> Rewritten {
    let overload = OVERLOADS.iter().find(|(_, scalar)| *scalar == call.operator.overload());
    let tensor = overload.map(|(tensor, _)| OperatorName::aten(call.operator.name(), tensor));
    match tensor.filter(|tensor| !has_kernel(&call.operator) && has_kernel(tensor)) {
        Some(tensor) => with_tensor(editor, call, 1, &tensor),
        None => Ok(keep(editor, call, &call.operator)),
    }
}

fn has_kernel(operator: &OperatorName) -> bool {
    et_ops::find_functional(&operator.qualified()).is_some()
}

fn keep(editor: &mut Editor, call: &Call, operator: &OperatorName) -> Vec<ValueId> {
    editor.keep(Call { operator: operator.clone(), ..call.clone() })
}

/// The call of `operator` with the number at `index` as a tensor of rank 0, which does not promote the other operand.
fn with_tensor(editor: &mut Editor, call: &Call, index: usize, operator: &OperatorName) -> Rewritten {
    let other = editor.spec(call.value(1 - index)?).scalar_type;
    let number = match call.argument(index)? {
        Argument::Value(id) => computed(editor, *id, other)?,
        argument => {
            let (scalar_type, elements) = stored(argument, other)?;
            editor.constant(TensorSpec::contiguous(scalar_type, []), elements)
        }
    };
    let mut arguments = call.arguments.clone();
    *arguments.get_mut(index).ok_or(Reason::Arguments)? = Argument::Value(number);
    Ok(editor.keep(Call { operator: operator.clone(), arguments, outputs: call.outputs.clone() }))
}

/// The type and the bytes of a number beside an operand of type `other`.
fn stored(number: &Argument, other: ScalarType) -> Result<(ScalarType, Vec<u8>), Reason> {
    Ok(match number {
        Argument::Bool(value) => (ScalarType::Bool, vec![u8::from(*value)]),
        Argument::Int(value) => (ScalarType::Long, value.to_le_bytes().to_vec()),
        Argument::Float(value) if other == ScalarType::Double => (ScalarType::Double, value.to_le_bytes().to_vec()),
        Argument::Float(value) => (ScalarType::Float, (*value as f32).to_le_bytes().to_vec()),
        _ => return Err(Reason::Arguments),
    })
}

/// A number that the program computes, such as a size, as a tensor beside an operand of type `other`.
fn computed(editor: &mut Editor, id: ValueId, other: ScalarType) -> Result<ValueId, Reason> {
    let scalar_type = match editor.spec(id).scalar_type {
        ScalarType::Double if other != ScalarType::Double => ScalarType::Float,
        own => own,
    };
    let full = Call {
        operator: OperatorName::aten("full", "default"),
        arguments: vec![Argument::Ints(Vec::new()), Argument::Value(id)],
        outputs: vec![TensorSpec::contiguous(scalar_type, [])],
    };
    editor.keep(full).first().copied().ok_or(Reason::Arguments)
}
