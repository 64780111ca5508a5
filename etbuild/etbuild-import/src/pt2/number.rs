//! Operators on numbers: sizes, indices and conditions.

use et_core::ScalarType;
use etbuild_ir::OperatorName;

use super::model::Argument;

/// The primitive for a Python function.
pub fn operator(target: &str) -> Option<OperatorName> {
    let primitive = et_ops::PRIMITIVES.iter().find(|primitive| primitive.exported == target)?;
    OperatorName::parse(&primitive.name().replace("::", "."))
}

/// The operator under the name of its kernel.
pub fn as_primitive(operator: OperatorName) -> OperatorName {
    match operator.as_str() {
        "aten.item.default" => OperatorName::aten("_local_scalar_dense", "default"),
        "aten.size.int" => OperatorName::aten("sym_size", "int"),
        _ => operator,
    }
}

/// The type of a number.
pub const fn scalar_type(argument: &Argument) -> ScalarType {
    match argument {
        Argument::AsSymBool(_) => ScalarType::Bool,
        Argument::AsSymFloat(_) => ScalarType::Double,
        _ => ScalarType::Long,
    }
}
