//! A digest of a method: methods with equal digests have equal instructions and values.

use std::collections::BTreeMap;

use et_core::Result;
use et_format::{EValue, ExecutionPlan, Instruction, Kind};
use etbuild_store::Digest;

use super::constant::{Constant, Source};
use super::tensor::TensorType;

/// The digest of all instructions and all values. For a constant the elements count, not the position in the file.
pub fn digest(plan: ExecutionPlan<'_>, constants: &BTreeMap<Source, Constant>) -> Result<String> {
    let mut text = format!("{:?}\n", operator_names(plan)?);
    for (index, value) in plan.values()?.iter().enumerate() {
        text += &describe(plan, index, value?, constants)?;
        text.push('\n');
    }
    for chain in plan.chains()?.iter() {
        let chain = chain?;
        for index in 0..chain.instruction_count()? {
            text += &instruction(chain.instruction(index)?);
            text.push('\n');
        }
    }
    Ok(Digest::of(text.as_bytes()).to_string())
}

/// The names of the operators that instructions refer to.
pub fn operator_names(plan: ExecutionPlan<'_>) -> Result<Vec<String>> {
    let name = |operator: et_format::Operator<'_>| {
        let (name, overload) = (operator.name()?, operator.overload()?);
        Ok(if overload.is_empty() { name.to_owned() } else { format!("{name}.{overload}") })
    };
    plan.operators()?.iter().map(|operator| name(operator?)).collect()
}

fn describe(
    plan: ExecutionPlan<'_>,
    index: usize,
    value: EValue<'_>,
    constants: &BTreeMap<Source, Constant>,
) -> Result<String> {
    Ok(match value.kind()? {
        Kind::Null => "none".to_owned(),
        Kind::Int => format!("int {}", value.int()?),
        Kind::Bool => format!("bool {}", value.bool()?),
        Kind::Double => format!("double {}", value.double()?.to_bits()),
        Kind::String => format!("text {:?}", value.string()?),
        Kind::IntList => format!("ints {:?}", value.int_list()?.iter().collect::<Vec<_>>()),
        Kind::DoubleList => {
            format!("doubles {:?}", value.double_list()?.iter().map(f64::to_bits).collect::<Vec<_>>())
        }
        Kind::BoolList => format!("bools {:?}", value.bool_list()?),
        kind @ (Kind::TensorList | Kind::OptionalTensorList) => {
            format!("{kind:?} {:?}", value.tensor_list()?.iter().collect::<Vec<_>>())
        }
        Kind::Tensor => {
            let tensor = plan.tensor(index)?;
            let elements = Source::of(tensor)?.and_then(|source| constants.get(&source));
            let digest = elements.and_then(|constant| constant.digest.as_ref());
            format!("{} {:?} {digest:?}", TensorType::of(tensor)?, tensor.allocation()?)
        }
    })
}

fn instruction(instruction: Instruction<'_>) -> String {
    match instruction {
        Instruction::KernelCall { operator, arguments } => {
            format!("kernel {operator} {:?}", arguments.iter().collect::<Vec<_>>())
        }
        Instruction::DelegateCall { delegate, arguments } => {
            format!("delegate {delegate} {:?}", arguments.iter().collect::<Vec<_>>())
        }
        plain => format!("{plain:?}"),
    }
}
