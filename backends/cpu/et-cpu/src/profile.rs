//! Where the time of an execution goes: for those who tune kernels.

use std::collections::BTreeMap;
use std::string::String;
use std::time::{Duration, Instant};
use std::{eprintln, format, vec, vec::Vec};

use et_core::{Args, Result};
use et_runtime::Workers;
use et_simd::Level;

use crate::memory::Memory;
use crate::run::{Context, run};
use crate::{Blob, Instruction, best};

/// Executes a blob `rounds` times and prints the least time of each kind of instruction, and of all together.
///
/// # Errors
/// Those of an execution.
pub fn profile<'a, 'c>(
    bytes: &'a [u8],
    arguments: &'c Args<'a, 'c>,
    rounds: usize,
    workers: &dyn Workers,
) -> Result<()> {
    let (isa, bytes) = best(bytes)?;
    let blob = Blob::parse(bytes)?;
    let instructions: Vec<Instruction> = blob.instructions().collect::<Result<_>>()?;
    let memory = Memory::new(blob, arguments)?;
    let threads = blob.header().threads as usize;
    let context = Context { memory: &memory, workers, threads, isa, level: Level::detect() };
    let mut least = vec![Duration::MAX; instructions.len()];
    let mut total = Duration::MAX;
    for _ in 0..rounds {
        let begin = Instant::now();
        for (instruction, least) in instructions.iter().zip(&mut least) {
            let start = Instant::now();
            run(&context, instruction)?;
            *least = start.elapsed().min(*least);
        }
        total = total.min(begin.elapsed());
    }
    let mut kinds: BTreeMap<String, (usize, Duration)> = BTreeMap::new();
    for (instruction, least) in instructions.iter().zip(least) {
        let name = format!("{instruction:?}");
        let name = name.split(['(', ' ']).next().unwrap_or_default();
        let kind = kinds.entry(name.into()).or_default();
        *kind = (kind.0 + 1, kind.1 + least);
    }
    for (name, (count, time)) in kinds {
        eprintln!("{time:>12.3?} {count:>5} {name}");
    }
    eprintln!("{total:>12.3?} {:>5} in all", instructions.len());
    Ok(())
}
