//! Which operators take which types: what cases that ran have shown, not what the catalogue says.

use et_core::{Dtypes, ScalarType};
use et_ops::call::{Argument, OwnedTensor, call_kernel_for};
use et_ops::{Case, CaseTensor, Expectation, OPERATORS, Operator};

use crate::convert::{Owned, bytes_of, owned_arguments};
use crate::{compare, output_metas, run_case};

/// What the cases of an operator have shown of its portable kernel.
#[derive(Clone, Debug)]
pub struct Support {
    /// The operator.
    pub operator: &'static Operator,
    /// The types of tensors for which the kernel gave what PyTorch gives.
    pub checked: Dtypes,
    /// Further types for which it gave the same numbers as for a checked one.
    pub carried: Dtypes,
}

/// Runs the portable kernel of every operator on all its cases, as they are and with each type of a tensor exchanged for
/// each other type.
pub fn support() -> Vec<Support> {
    OPERATORS.iter().map(|operator| of_operator(operator)).collect()
}

fn of_operator(operator: &'static Operator) -> Support {
    let (mut checked, mut carried) = (Dtypes::NONE, Dtypes::NONE);
    for case in operator.cases {
        let Some(expected) = outputs(case).filter(|_| run_case(operator, operator.kernel, case).is_ok()) else {
            continue;
        };
        let types = types(case, expected);
        checked = Dtypes(checked.0 | types.0);
        let others = Dtypes(operator.dtypes.0 & !carried.0);
        for (from, to) in types.iter().flat_map(|from| others.iter().map(move |to| (from, to))) {
            if agrees(operator, case, expected, from, to) {
                carried = carried.with(to);
            }
        }
    }
    Support { operator, checked, carried: Dtypes(carried.0 & !checked.0) }
}

fn outputs(case: &Case) -> Option<&'static [CaseTensor]> {
    match case.expect {
        Expectation::Outputs { tensors, .. } | Expectation::Conversion(tensors) | Expectation::Bounded(tensors) => {
            Some(tensors)
        }
        Expectation::Refusal(_) => None,
    }
}

/// The types of the tensors that a case passes; of the outputs where it passes none.
fn types(case: &Case, expected: &[CaseTensor]) -> Dtypes {
    let owned = owned_arguments(case.arguments);
    let tensors = owned.iter().flat_map(tensors).map(|tensor| tensor.scalar_type);
    let types = tensors.fold(Dtypes::NONE, Dtypes::with);
    if types != Dtypes::NONE { types } else { expected.iter().fold(types, |types, out| types.with(out.scalar_type)) }
}

fn tensors(argument: &Owned) -> Vec<&OwnedTensor> {
    match argument {
        Owned::Plain(_) => Vec::new(),
        Owned::Tensor(tensor) => vec![tensor],
        Owned::Tensors(tensors) => tensors.iter().flatten().collect(),
    }
}

/// Whether the kernel gives the same numbers with every tensor of type `from` as one of type `to`. A type that cannot hold the
/// numbers of the case shows nothing.
fn agrees(operator: &Operator, case: &Case, expected: &[CaseTensor], from: ScalarType, to: ScalarType) -> bool {
    let owned = owned_arguments(case.arguments).into_iter().map(|argument| exchange(argument, from, to));
    let Some(owned) = owned.collect::<Option<Vec<Owned>>>() else { return false };
    let arguments: Vec<Argument<'_>> = owned.iter().map(Owned::borrow).collect();
    let metas = output_metas(operator, case, &arguments);
    let outputs = metas.and_then(|metas| call_kernel_for(operator, operator.kernel, &arguments, &metas));
    let tolerance = if let Expectation::Outputs { tolerance, .. } = case.expect { tolerance } else { 0.0 };
    outputs.is_ok_and(|outputs| compare::numbers(expected, &outputs, tolerance))
}

/// The same argument with the other type; `None` where that cannot hold it.
fn exchange(argument: Owned, from: ScalarType, to: ScalarType) -> Option<Owned> {
    let of_type = |tensor: OwnedTensor| if tensor.scalar_type == from { converted(&tensor, to) } else { Some(tensor) };
    Some(match argument {
        Owned::Plain(plain) => Owned::Plain(plain),
        Owned::Tensor(tensor) => Owned::Tensor(of_type(tensor)?),
        Owned::Tensors(tensors) => {
            let converted =
                tensors.into_iter().map(|tensor| tensor.map_or(Some(None), |tensor| of_type(tensor).map(Some)));
            Owned::Tensors(converted.collect::<Option<_>>()?)
        }
    })
}

/// The same numbers in another type; `None` where it has not all of them.
fn converted(tensor: &OwnedTensor, to: ScalarType) -> Option<OwnedTensor> {
    if to.is_complex() || tensor.scalar_type.is_complex() {
        return None;
    }
    let numbers = compare::elements(tensor);
    let bytes = numbers.iter().flat_map(|number| bytes_of(to, *number)).collect();
    let converted = OwnedTensor { scalar_type: to, sizes: tensor.sizes.clone(), bytes };
    let same = |(new, old): (&f64, &f64)| new == old || (new.is_nan() && old.is_nan());
    let kept = compare::elements(&converted).iter().zip(&numbers).all(same);
    kept.then_some(converted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::tensor_of;

    fn of(name: &str) -> Support {
        of_operator(et_ops::find(name).unwrap())
    }

    #[test]
    fn a_type_of_a_case_is_checked_and_one_that_gives_the_same_numbers_is_carried() {
        let relu = of("aten::relu.out");
        assert!(relu.checked.contains(ScalarType::Float));
        assert_eq!(relu.checked.0 & relu.carried.0, 0);
        assert_eq!(Dtypes(relu.checked.0 | relu.carried.0), Dtypes::NUMBERS);
    }

    #[test]
    fn a_type_that_the_kernel_refuses_is_neither() {
        let cosine = of("aten::hardswish.out");
        assert!(cosine.checked.contains(ScalarType::Float));
        assert!(!cosine.checked.contains(ScalarType::Long) && !cosine.carried.contains(ScalarType::Long));
    }

    #[test]
    fn numbers_that_a_type_does_not_have_show_nothing() {
        let tensor = tensor_of(&CaseTensor::float(&[2], &[1.5, -2.0]));
        assert!(converted(&tensor, ScalarType::Half).is_some());
        assert!(converted(&tensor, ScalarType::Int).is_none());
    }
}
