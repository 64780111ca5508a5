//! Arguments in the form that a parameter has.

use etbuild_ir::Argument;

use super::{Kind, Parameter};

/// The argument as the parameter takes it. A number may stand for a tensor: torch's dispatcher wraps the number.
pub fn fit(argument: Argument, parameter: &Parameter<'_>) -> Option<Argument> {
    match (parameter.kind, argument) {
        (_, Argument::None) if parameter.optional || parameter.kind == Kind::Place => Some(Argument::None),
        (Kind::Tensor, found @ (Argument::Value(_) | Argument::Int(_) | Argument::Float(_) | Argument::Bool(_))) => {
            Some(found)
        }
        (Kind::Scalar, found @ (Argument::Int(_) | Argument::Float(_) | Argument::Bool(_))) => Some(found),
        (Kind::Float, Argument::Int(value)) => Some(Argument::Float(value as f64)),
        (Kind::Ints, Argument::Int(value)) => Some(Argument::Ints(vec![value; parameter.length?])),
        (Kind::Ints | Kind::Floats | Kind::Bools, Argument::Values(items)) if items.is_empty() => {
            Some(empty_list(parameter.kind))
        }
        (Kind::Floats, Argument::Ints(values)) => {
            Some(Argument::Floats(values.into_iter().map(|value| value as f64).collect()))
        }
        (kind, found) => matches_kind(kind, &found).then_some(found),
    }
}

/// Archives write an empty list as a list of tensors, whatever the type of the items.
fn empty_list(kind: Kind) -> Argument {
    match kind {
        Kind::Floats => Argument::Floats(Vec::new()),
        Kind::Bools => Argument::Bools(Vec::new()),
        _ => Argument::Ints(Vec::new()),
    }
}

const fn matches_kind(kind: Kind, argument: &Argument) -> bool {
    matches!(
        (kind, argument),
        (Kind::Tensors, Argument::Values(_))
            | (Kind::Int, Argument::Int(_))
            | (Kind::Ints, Argument::Ints(_) | Argument::Sizes(_))
            | (Kind::Float, Argument::Float(_))
            | (Kind::Floats, Argument::Floats(_))
            | (Kind::Bool, Argument::Bool(_))
            | (Kind::Bools, Argument::Bools(_))
            | (Kind::Text, Argument::Text(_))
            | (Kind::ScalarType, Argument::Type(_))
            | (Kind::MemoryFormat, Argument::MemoryFormat(_))
            | (Kind::Place, Argument::Place)
    )
}
