//! The names of what instructions call.

use et_format::Instruction;
use et_runtime::MethodPlan;

/// The callee of an instruction: an operator, or a backend.
pub(crate) fn callee(plan: MethodPlan<'_>, instruction: Instruction<'_>) -> Option<String> {
    match instruction {
        Instruction::KernelCall { operator, .. } => operator_name(plan, operator),
        Instruction::DelegateCall { delegate, .. } => {
            Some(plan.plan().delegate(delegate as usize).ok()?.id().ok()?.to_owned())
        }
        _ => None,
    }
}

/// The name of an operator with the overload, such as `aten::add.out`.
pub(crate) fn operator_name(plan: MethodPlan<'_>, index: u32) -> Option<String> {
    let operator = plan.plan().operators().ok()?.get(index as usize).ok()?;
    let (name, overload) = (operator.name().ok()?, operator.overload().ok()?);
    Some(if overload.is_empty() { name.to_owned() } else { format!("{name}.{overload}") })
}
