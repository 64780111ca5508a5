//! Which operators support which dtypes, measured by running cases instead of read from the catalogue.

use et_core::{Dtypes, Error, ScalarType};
use et_ops::call::{Argument, OwnedTensor, call_kernel_for};
use et_ops::{Case, CaseTensor, Expectation, OPERATORS, Operator};

use crate::convert::{Owned, bytes_of, owned_arguments};
use crate::{compare, output_metas, run_case};

/// The dtypes that an operator's portable kernel supports, as the operator's cases have shown.
#[derive(Clone, Debug)]
pub struct Support {
    /// The operator.
    pub operator: &'static Operator,
    /// The tensor dtypes for which the kernel matched PyTorch's outputs.
    pub checked: Dtypes,
    /// Further dtypes that gave the same numbers as a checked dtype, on a case with the checked dtype replaced.
    pub carried: Dtypes,
}

/// Runs the portable kernel of every operator on all cases of the operator: unchanged, and with each tensor dtype
/// replaced by each different dtype.
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
            if agrees(operator, case, from, to) {
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

/// The dtypes of the tensors that a case passes, or of the outputs if the case passes no tensor.
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

/// Whether the kernel gives the same numbers with every tensor of dtype `from` replaced by a tensor of dtype `to`.
/// Elements that `to` cannot represent become the same small whole numbers in both runs.
fn agrees(operator: &Operator, case: &Case, from: ScalarType, to: ScalarType) -> bool {
    if from.is_complex() || to.is_complex() {
        return false;
    }
    let outputs = |as_type| {
        let arguments = owned_arguments(case.arguments).into_iter();
        call(operator, case, &arguments.map(|argument| exchange(argument, from, to, as_type)).collect::<Vec<_>>())
    };
    let tolerance = if let Expectation::Outputs { tolerance, .. } = case.expect { tolerance } else { 0.0 };
    let (expected, got) = (outputs(from), outputs(to));
    expected.is_ok_and(|expected| got.is_ok_and(|got| compare::numbers(&expected, &got, tolerance)))
}

fn call(operator: &Operator, case: &Case, owned: &[Owned]) -> Result<Vec<OwnedTensor>, Error> {
    let arguments: Vec<Argument<'_>> = owned.iter().map(Owned::borrow).collect();
    call_kernel_for(operator, operator.kernel, &arguments, &output_metas(operator, case, &arguments)?)
}

/// The argument; if its dtype is `from`, with numbers that `to` can represent, stored as a tensor of dtype `as_type`.
fn exchange(argument: Owned, from: ScalarType, to: ScalarType, as_type: ScalarType) -> Owned {
    let of_type = |tensor: OwnedTensor| {
        if tensor.scalar_type == from { converted(&tensor, to, as_type) } else { tensor }
    };
    match argument {
        Owned::Plain(plain) => Owned::Plain(plain),
        Owned::Tensor(tensor) => Owned::Tensor(of_type(tensor)),
        Owned::Tensors(tensors) => Owned::Tensors(tensors.into_iter().map(|tensor| tensor.map(of_type)).collect()),
    }
}

fn converted(tensor: &OwnedTensor, common: ScalarType, as_type: ScalarType) -> OwnedTensor {
    let numbers = compare::elements(tensor).into_iter().map(|number| number_in(common, number));
    let bytes = numbers.flat_map(|number| bytes_of(as_type, number)).collect();
    OwnedTensor { scalar_type: as_type, sizes: tensor.sizes.clone(), bytes }
}

/// The number if the dtype can represent the number, else a similar number that every dtype can represent.
fn number_in(scalar_type: ScalarType, number: f64) -> f64 {
    let has = |number: f64| {
        let kept = compare::element(scalar_type, &bytes_of(scalar_type, number));
        kept == number || (kept.is_nan() && number.is_nan())
    };
    let whole = number.abs().trunc();
    if has(number) {
        number
    } else if whole <= 100.0 && has(whole) {
        whole
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let hardswish = of("aten::hardswish.out");
        assert!(hardswish.checked.contains(ScalarType::Float));
        assert!(!hardswish.checked.contains(ScalarType::Long) && !hardswish.carried.contains(ScalarType::Long));
    }

    #[test]
    fn numbers_that_a_type_lacks_become_small_whole_ones() {
        let numbers = [1.5, -2.0, f64::NAN, 70_000.0];
        assert_eq!(numbers.map(|number| number_in(ScalarType::Byte, number)), [1.0, 2.0, 1.0, 1.0]);
        assert_eq!(number_in(ScalarType::Half, -1.5), -1.5);
        assert_eq!(number_in(ScalarType::Bool, 3.0), 1.0);
    }
}
