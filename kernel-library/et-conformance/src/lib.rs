//! Runs the cases of the operator catalogue on the kernels of any provider.
//!
//! A provider gives a kernel for an operator or declines. [`run`] calls the kernel on every case of the operator and
//! compares the outputs with PyTorch's.

mod compare;
mod convert;
mod hostile;
mod order;
mod primitive;
mod rule;
mod support;

pub use compare::outputs as compare_outputs;
pub use convert::tensor_of;
pub use hostile::call_changed;
pub use order::run_reversed;
pub use primitive::run_primitives;
pub use rule::check_rules;
pub use support::{Support, support};

use et_core::{Error, Kernel};
use et_ops::call::{Argument, OwnedTensor, call_kernel_for, infer};
use et_ops::{Case, Expectation, Meta, OPERATORS, Operator};

/// A case that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The operator's name.
    pub operator: &'static str,
    /// The case's name.
    pub case: &'static str,
    /// Why the case failed.
    pub reason: String,
}

/// Runs all cases of the operators for which `provider` has a kernel; returns how many ran, and the failures.
pub fn run(provider: impl Fn(&'static Operator) -> Option<Kernel>) -> (usize, Vec<Failure>) {
    let mut ran = 0;
    let mut failures = Vec::new();
    for operator in OPERATORS {
        let Some(kernel) = provider(operator) else { continue };
        for case in operator.cases {
            ran += 1;
            if let Err(reason) = run_case(operator, kernel, case) {
                failures.push(Failure { operator: operator.name(), case: case.name, reason });
            }
        }
    }
    (ran, failures)
}

fn run_case(operator: &Operator, kernel: Kernel, case: &Case) -> Result<(), String> {
    let owned = convert::owned_arguments(case.arguments);
    let arguments: Vec<Argument<'_>> = owned.iter().map(convert::Owned::borrow).collect();
    let metas = output_metas(operator, case, &arguments);
    judge(&case.expect, metas.and_then(|metas| call_kernel_for(operator, kernel, &arguments, &metas)))
}

/// Dtype and shape of each output of a case, by the operator's shape rule. In a conversion case the rule reads the
/// output dtypes.
fn output_metas(operator: &Operator, case: &Case, arguments: &[Argument<'_>]) -> Result<Vec<Meta>, Error> {
    let wanted = match case.expect {
        Expectation::Conversion(tensors) => convert::metas(tensors)?.into_iter().map(Some).collect(),
        Expectation::Outputs { tensors, .. } | Expectation::Bounded(tensors) => vec![None; tensors.len()],
        Expectation::Refusal(_) => vec![None; operator.outs().count().unwrap_or(1)],
    };
    infer(operator, arguments, &wanted)
}

fn judge(expect: &Expectation, outcome: Result<Vec<OwnedTensor>, Error>) -> Result<(), String> {
    match (expect, outcome) {
        (Expectation::Outputs { tensors, tolerance }, Ok(outputs)) => compare::outputs(tensors, &outputs, *tolerance),
        (Expectation::Conversion(tensors) | Expectation::Bounded(tensors), Ok(outputs)) => {
            compare::outputs(tensors, &outputs, 0.0)
        }
        (Expectation::Refusal(expected), Err(error)) if *expected == error => Ok(()),
        (expected, outcome) => Err(format!("expected {expected:?}, got {outcome:?}")),
    }
}
