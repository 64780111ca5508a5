//! Arguments of nodes, completed and converted according to the schema of the operator.

use etbuild_ir::{Argument, MemoryFormat, Size};

use super::model::{self, NamedArgument, OptionalTensor, SymBool, SymFloat, SymInt};
use super::scope::Scope;
use super::spec;
use crate::ImportError;
use crate::schema::{Kind, Parameter, Schema, fit};

/// An argument for every parameter of `schema`.
pub fn complete(
    scope: &Scope,
    operator: &str,
    schema: &Schema<'_>,
    given: &[NamedArgument],
) -> Result<Vec<Argument>, ImportError> {
    let refuse = |argument: &str, reason: &str| ImportError::Argument {
        operator: operator.to_owned(),
        argument: argument.to_owned(),
        reason: reason.to_owned(),
    };
    if let Some(extra) = given.iter().find(|given| !schema.parameters.iter().any(|known| known.name == given.name)) {
        return Err(refuse(&extra.name, "is not in its schema"));
    }
    let complete =
        schema.parameters.iter().map(|parameter| match given.iter().find(|given| given.name == parameter.name) {
            Some(given) => convert(scope, operator, parameter, &given.arg),
            None => parameter.default.clone().ok_or_else(|| refuse(parameter.name, "is missing")),
        });
    complete.collect()
}

fn convert(
    scope: &Scope,
    operator: &str,
    parameter: &Parameter<'_>,
    given: &model::Argument,
) -> Result<Argument, ImportError> {
    let wrong = || ImportError::Argument {
        operator: operator.to_owned(),
        argument: parameter.name.to_owned(),
        reason: "has a type that its schema does not allow".to_owned(),
    };
    let plain = plain(scope, operator, given)?.ok_or_else(wrong)?;
    if given.number().is_some() || matches!(given, model::Argument::AsComplex(_)) {
        return if takes_number(parameter.kind) { Ok(plain) } else { Err(wrong()) };
    }
    fit(plain, parameter).ok_or_else(wrong)
}

/// Whether the parameter accepts a computed number.
const fn takes_number(kind: Kind) -> bool {
    matches!(kind, Kind::Int | Kind::Ints | Kind::Float | Kind::Bool | Kind::Scalar | Kind::Tensor)
}

/// The argument as written; `None` for types that no supported operator takes.
pub fn plain(scope: &Scope, operator: &str, given: &model::Argument) -> Result<Option<Argument>, ImportError> {
    use model::Argument as Given;
    let symbolic = || ImportError::DynamicShape(operator.to_owned());
    Ok(Some(match given {
        Given::AsNone(_) | Given::AsOptionalTensor(OptionalTensor::None(_)) => Argument::None,
        Given::AsTensor(named) | Given::AsOptionalTensor(OptionalTensor::Tensor(named)) => {
            Argument::Value(scope.find(&named.name)?)
        }
        Given::AsTensors(items) => {
            Argument::Values(items.iter().map(|item| scope.find(&item.name).map(Some)).collect::<Result<_, _>>()?)
        }
        Given::AsOptionalTensors(items) => {
            Argument::Values(items.iter().map(|item| optional(scope, item)).collect::<Result<_, _>>()?)
        }
        Given::AsInt(value) | Given::AsSymInt(SymInt::Int(value)) => Argument::Int(*value),
        Given::AsInts(values) => Argument::Ints(values.clone()),
        Given::AsSymInts(values) => {
            Argument::sizes(values.iter().map(|value| size(scope, operator, value)).collect::<Result<_, _>>()?)
        }
        Given::AsFloat(value) | Given::AsSymFloat(SymFloat::Float(value)) => Argument::Float(value.value()),
        Given::AsFloats(values) => Argument::Floats(values.iter().map(|value| value.value()).collect()),
        Given::AsBool(value) | Given::AsSymBool(SymBool::Bool(value)) => Argument::Bool(*value),
        Given::AsBools(values) => Argument::Bools(values.clone()),
        Given::AsString(text) => Argument::Text(text.clone()),
        Given::AsScalarType(number) => Argument::Type(
            spec::scalar_type(*number)
                .ok_or(ImportError::ScalarType { value: operator.to_owned(), number: *number })?,
        ),
        Given::AsMemoryFormat(number) => return Ok(memory_format(*number).map(Argument::MemoryFormat)),
        Given::AsLayout(_) | Given::AsDevice(_) => Argument::Place,
        Given::AsSymInt(SymInt::Name(name))
        | Given::AsSymBool(SymBool::Name(name))
        | Given::AsSymFloat(SymFloat::Name(name)) => Argument::Value(scope.find(name)?),
        Given::AsSymInt(_) | Given::AsSymBool(_) | Given::AsSymFloat(_) => return Err(symbolic()),
        Given::AsComplex(number) => Argument::Value(scope.find(&number.name())?),
        Given::AsGraph(_) => return Err(ImportError::HigherOrder(operator.to_owned())),
        Given::AsCustomObj(named) => return Err(ImportError::CustomObject(named.name.clone())),
        _ => return Ok(None),
    }))
}

fn optional(scope: &Scope, item: &OptionalTensor) -> Result<Option<etbuild_ir::ValueId>, ImportError> {
    match item {
        OptionalTensor::Tensor(named) => scope.find(&named.name).map(Some),
        OptionalTensor::None(_) => Ok(None),
    }
}

fn size(scope: &Scope, operator: &str, size: &SymInt) -> Result<Size, ImportError> {
    match size {
        SymInt::Int(value) => Ok(Size::Fixed(*value)),
        SymInt::Name(name) => scope.find(name).map(Size::Value),
        SymInt::Expression(_) => Err(ImportError::DynamicShape(operator.to_owned())),
    }
}

/// Memory formats by their number in the export schema.
const fn memory_format(number: i64) -> Option<MemoryFormat> {
    match number {
        1 => Some(MemoryFormat::Contiguous),
        2 => Some(MemoryFormat::ChannelsLast),
        4 => Some(MemoryFormat::Preserve),
        _ => None,
    }
}
