//! Any bytes: loaded with exactly the memory that they ask for, within reason, and executed.
#![no_main]

use std::cell::Cell;

use et_core::{Args, Kernel, Result, Value};
use et_runtime::{Memory, Method, Program};
use libfuzzer_sys::fuzz_target;

/// More memory than any file of interest asks for.
const LIMIT: usize = 1 << 20;

fuzz_target!(|file: &[u8]| {
    let _ = execute(file);
});

fn execute(file: &[u8]) -> Result<()> {
    let plan = Program::new(file)?.method_at(0)?;
    let needs = plan.requirements()?;
    let mut memory = Vec::new();
    for index in 0..needs.arenas.min(8) {
        let size = plan.arena_size(index)?.min(LIMIT);
        memory.push((vec![0; size + 16], size));
    }
    let arenas: Vec<&[Cell<u8>]> = memory.iter_mut().map(|(bytes, size)| aligned(bytes, *size)).collect();
    let mut sizes = vec![0; needs.sizes.min(LIMIT)];
    let kernels = vec![touch as Kernel; plan.plan().operators()?.len()];
    let values = vec![Cell::new(Value::None); needs.values];
    let memory = Memory { values: &values, arenas: &arenas, sizes: &mut sizes };
    let method = Method::load(plan, &kernels, &[], memory).map_err(|failure| failure.error)?;
    let _ = method.copy_input(0, &[0; 16]);
    method.execute_at_most(1000).map_err(|failure| failure.error)?;
    let read = method.output_tensor(0)?.bytes()?.iter().count();
    assert!(read <= LIMIT * 8);
    Ok(())
}

fn aligned(bytes: &mut [u8], size: usize) -> &[Cell<u8>] {
    let skip = bytes.as_ptr().align_offset(16);
    Cell::from_mut(&mut bytes[skip..skip + size]).as_slice_of_cells()
}

/// Reads every argument in every way, and writes every tensor that can be written.
fn touch(args: &Args<'_, '_>) -> Result<()> {
    for position in 0..args.len().min(32) {
        let _ = (args.ints(position), args.scalar(position), args.optional_string(position), args.doubles(position));
        for index in 0..args.tensors_len(position).unwrap_or(0).min(8) {
            let _ = args.optional_tensor_of(position, index).map(|tensor| tensor.map(|tensor| tensor.strides()));
        }
        if let Ok(tensor) = args.tensor(position) {
            let _ = (tensor.strides(), tensor.resize(&tensor.shape()));
            if let (Ok(from), Ok(to)) = (tensor.bytes(), tensor.bytes_mut()) {
                to.copy_from(from);
            }
        }
    }
    Ok(())
}
