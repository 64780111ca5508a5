//! Rules against expectations: types and shapes must follow from arguments that have no elements.

use et_ops::call::{Argument, TensorRef};
use et_ops::{Case, CaseTensor, Expectation, Meta, OPERATORS, Operator};

use crate::convert::{Owned, owned_arguments};
use crate::{Failure, output_metas};

/// Compares the outputs that the shape rule of each operator states for each case with the case's expected outputs.
pub fn check_rules() -> Vec<Failure> {
    let cases = OPERATORS.iter().flat_map(|operator| operator.cases.iter().map(move |case| (operator, case)));
    let failures = cases.filter_map(|(operator, case)| {
        let reason = check(operator, case).err()?;
        Some(Failure { operator: operator.name(), case: case.name, reason })
    });
    failures.collect()
}

fn check(operator: &Operator, case: &Case) -> Result<(), String> {
    let owned = owned_arguments(case.arguments);
    let arguments: Vec<Argument<'_>> = owned.iter().map(Owned::borrow).map(without_elements).collect();
    let metas = || output_metas(operator, case, &arguments).map_err(|error| error.to_string());
    match case.expect {
        Expectation::Outputs { tensors, .. } | Expectation::Conversion(tensors) => {
            compare(&metas()?, tensors, describes)
        }
        Expectation::Bounded(tensors) => compare(&metas()?, tensors, bounds),
        Expectation::Refusal(_) => Ok(()),
    }
}

fn compare(metas: &[Meta], tensors: &[CaseTensor], agree: fn(&Meta, &CaseTensor) -> bool) -> Result<(), String> {
    let all = metas.len() == tensors.len() && metas.iter().zip(tensors).all(|(meta, tensor)| agree(meta, tensor));
    if all { Ok(()) } else { Err(format!("the rule says {metas:?}")) }
}

fn describes(meta: &Meta, tensor: &CaseTensor) -> bool {
    (meta.scalar_type, meta.shape.sizes()) == (tensor.scalar_type, tensor.sizes)
}

fn bounds(meta: &Meta, tensor: &CaseTensor) -> bool {
    let within = meta.shape.sizes().iter().zip(tensor.sizes).all(|(bound, size)| size <= bound);
    within && (meta.scalar_type, meta.shape.rank()) == (tensor.scalar_type, tensor.sizes.len())
}

fn without_elements(argument: Argument<'_>) -> Argument<'_> {
    match argument {
        Argument::Tensor(tensor) => Argument::Tensor(shape_of(tensor)),
        Argument::Tensors(tensors) => {
            Argument::Tensors(tensors.into_iter().map(|tensor| tensor.map(shape_of)).collect())
        }
        other => other,
    }
}

fn shape_of(tensor: TensorRef<'_>) -> TensorRef<'_> {
    TensorRef { bytes: &[], ..tensor }
}
