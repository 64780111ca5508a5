//! Operators on numbers: sizes, positions and conditions.

use et_core::ScalarType;
use etbuild_ir::OperatorName;

use super::model::Argument;

/// Python's functions on symbolic numbers, with the primitive operators that compute the same.
const FUNCTIONS: &[(&str, &str)] = &[
    ("_operator.add", "add.Scalar"),
    ("_operator.sub", "sub.Scalar"),
    ("_operator.mul", "mul.Scalar"),
    ("_operator.floordiv", "floordiv.Scalar"),
    ("_operator.truediv", "truediv.Scalar"),
    ("_operator.mod", "mod.Scalar"),
    ("_operator.neg", "neg.Scalar"),
    ("_operator.eq", "eq.Scalar"),
    ("_operator.gt", "gt.Scalar"),
    ("_operator.lt", "lt.Scalar"),
    ("_operator.ge", "ge.Scalar"),
    ("_operator.le", "le.Scalar"),
    ("math.ceil", "ceil.Scalar"),
    ("math.trunc", "trunc.Scalar"),
    ("torch.sym_float", "sym_float.Scalar"),
    ("torch.sym_int", "sym_int.Scalar"),
    ("torch.sym_ite", "sym_ite.Scalar"),
    ("torch.sym_max", "sym_max.Scalar"),
    ("torch.sym_min", "sym_min.Scalar"),
    ("torch.sym_not", "sym_not.Scalar"),
];

/// The operator that computes what a function of Python does.
pub fn operator(target: &str) -> Option<OperatorName> {
    let (_, name) = FUNCTIONS.iter().find(|(function, _)| *function == target)?;
    OperatorName::parse(&format!("executorch_prim.{name}"))
}

/// The operator under the name that kernels have for it.
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
