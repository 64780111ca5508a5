//! The ways of weights to the device. One test, because faults count the allocations of the process.

mod common;

use common::{Memory, Program, call_parts, check_silence, map, start};
use et_core::Error;
use et_gpu::{Role, device_summary, faults};

/// More than a staging buffer.
const WORDS: usize = 5 << 20;

fn program() -> Program {
    let mut program = Program::default();
    let weights = program.buffer(Role::Weights, 0, WORDS as u64);
    let output = program.buffer(Role::Output, 1, WORDS as u64);
    let kernel = program.kernel(&map("u32", "x + 1u").replace("let i = id.x", "let i = id.y * 4096u + id.x"));
    program.dispatch(kernel, [64, WORDS.div_ceil(4096) as u32, 1], &[weights], &[output]);
    program
}

/// Executes the program with weights after `skipped` bytes, and returns whether weights need an allocation.
fn check(skipped: usize) -> bool {
    let count = WORDS + skipped / 4;
    let words: Vec<u32> = (0..count as u32).map(|index| index.wrapping_mul(2_654_435_761)).collect();
    let (weights, output) = (Memory::of(&words), Memory::new(4 * WORDS));
    let parts = [weights.from(skipped), output.from(0)];
    let expected = words.iter().skip(skipped / 4).map(|word| word.wrapping_add(1));
    let session = program().load();
    faults::fail_allocation_at(0);
    let first = call_parts(&session, &parts, None);
    let allocates = !faults::clear();
    match first {
        Ok(()) => assert!(!allocates),
        Err(problem) => {
            assert!(allocates && problem.error == Error::DelegateMemoryAllocationFailed);
            call_parts(&session, &parts, None).unwrap();
        }
    }
    assert!(output.words().into_iter().eq(expected));
    allocates
}

#[test]
fn weights_are_imported_or_copied_through_staging_buffers() {
    start();
    // Weights of a program file are aligned, and their pages become GPU memory.
    let imports = device_summary().unwrap().imports_weights;
    assert_eq!(check(0), !imports);
    assert!(check(4));
    faults::treat_as_discrete(true);
    assert!(check(0));
    assert!(check(4));
    check_silence();
}
