//! The execution of a program file of arbitrary bytes, on a host and on a board.

extern crate alloc;

use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;

use et_core::{Args, Kernel, Result, Value};
use et_runtime::{Delegate, DelegateSetup, Memory, Method, MethodPlan, Program};

/// Loads the first methods with the memory that the file requires, at most `limit` bytes each, and executes them; how many ended without
/// an error.
pub fn execute(file: &[u8], limit: usize) -> Result<usize> {
    let program = Program::new(file)?;
    let mut ended = 0;
    for index in 0..program.method_count()?.min(3) {
        let plan = program.method_at(index)?;
        let _ = plan.plan().name().and_then(|name| program.method(name));
        ended += usize::from(execute_method(plan, limit).is_ok());
    }
    Ok(ended)
}

fn execute_method(plan: MethodPlan<'_>, limit: usize) -> Result<()> {
    let needs = plan.requirements()?;
    let mut memory = Vec::new();
    for index in 0..needs.arenas.min(8) {
        let size = plan.arena_size(index)?.min(limit);
        memory.push((vec![0; size + 16], size));
    }
    let arenas: Vec<&[Cell<u8>]> = memory.iter_mut().map(|(bytes, size)| aligned(bytes, *size)).collect();
    let mut sizes = vec![0; needs.sizes.min(limit)];
    let kernels = vec![touch as Kernel; plan.plan().operators()?.len()];
    let delegates = vec![&Engine as &dyn Delegate<'_>; plan.plan().delegates()?.len()];
    let values = vec![Cell::new(Value::None); needs.values];
    let mut unplanned = vec![0; 4096];
    let memory = Memory { values: &values, arenas: &arenas, sizes: &mut sizes, holds_state: false };
    let method = Method::load(plan, &kernels, &delegates, memory).map_err(|failure| failure.error)?;
    give_memory(&method, &mut unplanned);
    give_inputs(&method)?;
    method.execute_at_most(1000).map_err(|failure| failure.error)?;
    let read = method.output_tensor(0)?.bytes()?.iter().count();
    assert!(read <= limit * 8);
    Ok(())
}

/// Supplies memory for the first inputs and outputs without planned memory, in unequal parts.
fn give_memory<'a>(method: &Method<'a>, unplanned: &'a mut [u8]) {
    for (index, part) in unplanned.chunks_mut(512).enumerate() {
        let (odd, even) = part.split_at_mut(64 << (index % 3));
        let _ = (method.set_input_memory(index, odd), method.set_output_memory(index, even));
    }
}

/// Fills each input with the previous input's bytes and some fresh bytes.
fn give_inputs(method: &Method<'_>) -> Result<()> {
    for index in 0..method.input_count()?.min(8) {
        let value = method.input(index)?;
        let _ = (method.set_input(index, &value), method.set_input(index + 1, &value));
        let _ = method.input_tensor(index).map(|tensor| method.share_input(index + 1, tensor));
        let _ = method.copy_input(index, &[1; 16]);
    }
    Ok(())
}

fn aligned(bytes: &mut [u8], size: usize) -> &[Cell<u8>] {
    let skip = bytes.as_ptr().align_offset(16);
    Cell::from_mut(&mut bytes[skip..skip + size]).as_slice_of_cells()
}

/// Reads the whole blob and all options, and calls [`touch`] on the arguments.
struct Engine;

impl<'a> Delegate<'a> for Engine {
    fn init(&self, setup: &DelegateSetup<'a>) -> Result<()> {
        let _ = setup.blob.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        for option in setup.compile_specs.iter().take(8) {
            let option = option?;
            let _ = (setup.file.named_data(option.key()?), option.value());
        }
        Ok(())
    }

    fn execute(&self, args: &Args<'a, '_>) -> Result<()> {
        touch(args)
    }
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
