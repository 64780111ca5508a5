//! Runs the verification cases.

use core::cell::Cell;

use device_kernels::KERNELS;
use et_core::{Error, Result, Value};
use et_runtime::{Failure, Memory, Method, Program};

use crate::board::Board;
use crate::facts::{self, CASES, INPUTS, OUTPUTS};
use crate::report;

/// The result of all cases.
#[derive(Clone, Copy, Default)]
pub struct Summary {
    /// The largest absolute error, as the bits of a binary32; NaN compares greater than infinity.
    pub max_error_bits: u32,
    /// The number of cases whose argmax equals the expected argmax.
    pub argmax_equal: u32,
}

/// Loads the method, runs every case, and reports the outputs.
pub fn run(board: &mut Board) -> core::result::Result<Summary, Failure> {
    let values = [const { Cell::new(Value::None) }; facts::VALUES];
    let arenas = facts::arenas();
    let mut sizes = [0; facts::SIZES];
    let program = Program::new(&facts::PROGRAM.0)?;
    let memory = Memory { values: &values, arenas: &arenas, sizes: &mut sizes, holds_state: false };
    let method = Method::load(program.method(facts::METHOD)?, &KERNELS, &[], memory)?;
    let mut inputs = facts::CASE_INPUTS.0.as_slice();
    let mut expected = facts::CASE_OUTPUTS.0.as_slice();
    let mut summary = Summary::default();
    if CASES == 0 {
        // Without verification data the program runs once, on zeroed inputs.
        method.execute()?;
    }
    for _ in 0..CASES {
        for (index, size) in INPUTS.into_iter().enumerate() {
            method.copy_input(index, take(&mut inputs, size)?)?;
        }
        method.execute()?;
        report::case(board, &method)?;
        compare(&method, &mut expected, &mut summary)?;
    }
    Ok(summary)
}

/// Compares the outputs of a case, concatenated to a vector, with the expected outputs.
fn compare(method: &Method<'_>, expected: &mut &'static [u8], summary: &mut Summary) -> Result<()> {
    let (mut largest, mut largest_expected) = (Largest::default(), Largest::default());
    for (index, size) in OUTPUTS.into_iter().enumerate() {
        let output = method.output_tensor(index)?.input::<f32>()?;
        for (got, wanted) in output.iter().zip(take(expected, size)?.as_chunks().0) {
            let wanted = f32::from_le_bytes(*wanted);
            summary.max_error_bits = summary.max_error_bits.max((got - wanted).abs().to_bits());
            largest.see(got);
            largest_expected.see(wanted);
        }
    }
    summary.argmax_equal += u32::from(largest.position == largest_expected.position);
    Ok(())
}

/// Finds the first position of the largest number.
#[derive(Default)]
struct Largest {
    count: u32,
    position: u32,
    value: f32,
}

impl Largest {
    fn see(&mut self, value: f32) {
        if self.count == 0 || value > self.value {
            (self.position, self.value) = (self.count, value);
        }
        self.count += 1;
    }
}

/// Splits `size` bytes off the front.
fn take(bytes: &mut &'static [u8], size: usize) -> Result<&'static [u8]> {
    let (front, rest) = bytes.split_at_checked(size).ok_or(Error::Internal)?;
    *bytes = rest;
    Ok(front)
}
