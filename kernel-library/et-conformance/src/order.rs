//! Kernels on tensors that do not lie in memory row by row: the logical results must be the same.

use et_core::{DimOrder, Kernel, Shape};
use et_ops::call::{Argument, OwnedTensor, call_ordered};
use et_ops::{Case, OPERATORS, Operator};

use crate::convert::{Owned, owned_arguments};
use crate::{Failure, judge, output_metas};

/// Runs all cases of the operators for which `provider` has a kernel with the dimensions of every single tensor, inputs and
/// outputs, in reverse order in memory; returns how many ran, and the failures.
pub fn run_reversed(provider: impl Fn(&'static Operator) -> Option<Kernel>) -> (usize, Vec<Failure>) {
    let cases = OPERATORS.iter().flat_map(|operator| operator.cases.iter().map(move |case| (*operator, case)));
    let (mut ran, mut failures) = (0, Vec::new());
    for (operator, case) in cases {
        let Some(kernel) = provider(operator) else { continue };
        ran += 1;
        if let Err(reason) = run_case(operator, kernel, case) {
            failures.push(Failure { operator: operator.name(), case: case.name, reason });
        }
    }
    (ran, failures)
}

fn run_case(operator: &Operator, kernel: Kernel, case: &Case) -> Result<(), String> {
    let owned: Vec<Owned> = owned_arguments(case.arguments).into_iter().map(reversed_argument).collect();
    let arguments: Vec<Argument<'_>> = owned.iter().map(|argument| borrow_ordered(argument, reversed)).collect();
    let metas = output_metas(operator, case, &arguments);
    let outcome = metas.and_then(|metas| call_ordered(operator, kernel, &arguments, &metas, reversed));
    judge(&case.expect, outcome.map(|outputs| outputs.iter().map(to_row_major).collect()))
}

/// The dimensions in reverse order.
pub fn reversed(rank: usize) -> DimOrder {
    let dims: Vec<u8> = (0..rank as u8).rev().collect();
    DimOrder::new(&dims).unwrap_or(DimOrder::contiguous(rank))
}

fn reversed_argument(argument: Owned) -> Owned {
    match argument {
        Owned::Tensor(tensor) => Owned::Tensor(moved(&tensor, DimOrder::contiguous, reversed)),
        other => other,
    }
}

/// Borrows an argument; a single tensor lies in memory in the order for its rank.
pub fn borrow_ordered(argument: &Owned, order: fn(usize) -> DimOrder) -> Argument<'_> {
    match argument.borrow() {
        Argument::Tensor(tensor) => Argument::Ordered(tensor, order(tensor.sizes.len())),
        other => other,
    }
}

fn to_row_major(tensor: &OwnedTensor) -> OwnedTensor {
    moved(tensor, reversed, DimOrder::contiguous)
}

/// The same logical elements in another order in memory.
fn moved(tensor: &OwnedTensor, from: fn(usize) -> DimOrder, to: fn(usize) -> DimOrder) -> OwnedTensor {
    let (size, mut bytes) = (tensor.scalar_type.size(), tensor.bytes.clone());
    let (sources, targets) = (offsets(&tensor.sizes, from), offsets(&tensor.sizes, to));
    for (source, target) in sources.into_iter().zip(targets) {
        bytes[target * size..][..size].copy_from_slice(&tensor.bytes[source * size..][..size]);
    }
    OwnedTensor { bytes, ..tensor.clone() }
}

/// Where each element lies, in logical order.
fn offsets(sizes: &[i32], order: fn(usize) -> DimOrder) -> Vec<usize> {
    let strides = Shape::new(sizes).map_or([0; et_core::MAX_RANK], |shape| order(sizes.len()).strides(&shape));
    sizes.iter().zip(strides).fold(vec![0], |starts, (size, stride)| {
        starts.iter().flat_map(|start| (0..*size as usize).map(move |index| start + index * stride)).collect()
    })
}
