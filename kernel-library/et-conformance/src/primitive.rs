//! The primitives' cases, which give numbers.

use et_core::{Error, Scalar};
use et_ops::call::{Argument, call_primitive};
use et_ops::{CaseArgument, PRIMITIVES, Primitive, PrimitiveCase};

use crate::convert::{Owned, owned_arguments};

/// Runs all cases of all primitives. Returns the number of cases, and a sentence for each failed case.
pub fn run_primitives() -> (usize, Vec<String>) {
    let cases = PRIMITIVES.iter().flat_map(|primitive| primitive.cases.iter().map(move |case| (*primitive, case)));
    let (mut ran, mut failures) = (0, Vec::new());
    for (primitive, case) in cases {
        ran += 1;
        let outcome = run_case(primitive, case);
        if outcome != case.outcome.as_ref().map(number).map_err(|error| *error) {
            failures.push(format!("{}: {:?}: {outcome:?}", primitive.name(), case));
        }
    }
    (ran, failures)
}

fn run_case(primitive: &Primitive, case: &PrimitiveCase) -> Result<Option<Scalar>, Error> {
    let owned = owned_arguments(case.arguments);
    let arguments: Vec<Argument<'_>> = owned.iter().map(Owned::borrow).collect();
    call_primitive(primitive, &arguments).map(Some)
}

const fn number(argument: &CaseArgument) -> Option<Scalar> {
    match argument {
        CaseArgument::Int(value) => Some(Scalar::Int(*value)),
        CaseArgument::Bool(value) => Some(Scalar::Bool(*value)),
        CaseArgument::Double(value) => Some(Scalar::Double(*value)),
        _ => None,
    }
}
