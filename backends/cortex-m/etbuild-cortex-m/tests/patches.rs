//! Layers in patches: the same integers with less scratch.

mod net;

use etbuild_backend::{MemoryFacts, TargetFacts};
use etbuild_conformance::{compile, load, run};
use etbuild_ir::{DelegateCall, LoweredProgram};
use net::{Form, ROWS, board, candidate, random_inputs, residual, separable};

/// The scratch of the only call of a program, and the outputs.
fn computed(program: LoweredProgram, row: &str, memory: Option<MemoryFacts>) -> (u64, Vec<Vec<u8>>) {
    let inputs = random_inputs(&program, 1);
    let target = TargetFacts { memory, ..board(row) };
    let candidate = candidate(&target);
    let compiled = compile(program, &candidate).unwrap();
    let graph = &compiled.partitioned.program.program().methods["forward"];
    let calls: Vec<DelegateCall<'_>> = graph.nodes.iter().filter_map(DelegateCall::of).collect();
    assert_eq!(calls.len(), 1, "one call computes the network");
    let scratch = graph.spec(*calls[0].outputs.last().unwrap()).nbytes() as u64;
    let outputs = run(&mut load(&compiled.file, &candidate).unwrap(), &inputs).unwrap();
    (scratch, outputs.into_iter().map(|output| output.bytes).collect())
}

/// Compares a network in memories of 3/4, 1/2 and 1/3 of its scratch with the network without patches.
fn compare(make: impl Fn() -> LoweredProgram) {
    for row in ROWS {
        let (whole, expected) = computed(make(), row, None);
        let mut least = whole;
        for (part, of) in [(3, 4), (1, 2), (1, 3)] {
            let largest = whole * part / of;
            let (scratch, outputs) = computed(make(), row, Some(MemoryFacts { largest, total: u64::MAX }));
            assert_eq!(outputs, expected, "{row}: {scratch} of {whole} bytes");
            assert!(scratch <= least, "{row}: {scratch} bytes where {least} were enough");
            assert!(scratch <= largest || (part, of) != (3, 4), "{row}: {scratch} bytes in {largest}");
            least = scratch;
        }
        assert!(least * 4 < whole * 3, "{row}: {least} of {whole} bytes");
    }
}

#[test]
fn separable_convolutions_of_every_form() {
    [Form::Int8, Form::Int4, Form::Int16].into_iter().for_each(|form| compare(|| separable(form)));
}

#[test]
fn sums_of_every_form() {
    [Form::Int8, Form::Int4, Form::Int16].into_iter().for_each(|form| compare(|| residual(form)));
}
