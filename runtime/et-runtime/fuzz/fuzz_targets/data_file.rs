//! Arbitrary bytes as a data file: the target reads every field, and a program takes its constants from the file.
#![no_main]

#[path = "../../../et-format/tests/describe_data/mod.rs"]
mod describe_data;

use std::cell::Cell;

use et_core::{Args, Kernel, Result, Value};
use et_format::DataFile;
use et_runtime::{Memory, Method, Program};
use libfuzzer_sys::fuzz_target;

/// A program with two constants in a data file.
const PROGRAM: &[u8] = include_bytes!("../../../et-format/tests/data/external.pte");
/// The limit of a file in bytes. Offsets of a file may share an entry, so a longer file could expand to more text than
/// the memory holds.
const LONGEST: usize = 4096;

fuzz_target!(|file: &[u8]| {
    let file = &file[..file.len().min(LONGEST)];
    let _ = describe_data::describe_data(file);
    let _ = execute(file);
});

/// Executes the program with a kernel that reads all its arguments.
fn execute(file: &[u8]) -> Result<()> {
    let data = DataFile::parse(file)?;
    let plan = Program::new(PROGRAM)?.method_at(0)?;
    let needs = plan.requirements()?;
    let size = plan.arena_size(0)?;
    let mut memory = vec![0; size + 16];
    let skip = memory.as_ptr().align_offset(16);
    let arenas = [Cell::from_mut(&mut memory[skip..skip + size]).as_slice_of_cells()];
    let values = vec![Cell::new(Value::None); needs.values];
    let kernels = vec![read as Kernel; plan.plan().operators()?.len()];
    let memory = Memory { values: &values, arenas: &arenas, sizes: &mut [], holds_state: false };
    let method = Method::load_with_data(plan, &kernels, &[], memory, &data).map_err(|failure| failure.error)?;
    method.execute().map_err(|failure| failure.error)
}

fn read(args: &Args<'_, '_>) -> Result<()> {
    for position in 0..args.len() {
        if let Ok(tensor) = args.tensor(position) {
            assert!(tensor.bytes()?.iter().count() <= LONGEST);
        }
    }
    Ok(())
}
