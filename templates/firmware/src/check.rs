//! Runs the verification cases.
#![allow(unsafe_code)] // Lends the model its memory.

use et_core::{BFloat16, Error, Half, Result, ScalarType};
use et_runtime::Failure;

use crate::board::Board;
use crate::cases::{BENCH, CASE_INPUTS, CASE_OUTPUTS, CASES, INPUTS, OUTPUT_TYPES, OUTPUTS};
use crate::model::{self, Method};
use crate::{counter, memory, report};

/// The result of all cases.
#[derive(Clone, Copy, Default)]
pub struct Summary {
    /// The largest absolute error, as the bits of a binary32; NaN compares greater than infinity.
    pub max_error_bits: u32,
    /// The number of cases whose argmax equals the expected argmax.
    pub argmax_equal: u32,
    /// The most ticks of the processor's counter that an inference took.
    pub ticks: u32,
}

/// Loads the method, runs every case, and reports the outputs.
pub fn run(board: &mut Board) -> core::result::Result<Summary, Failure> {
    // SAFETY: this is the only caller, once.
    let method = unsafe { model::load(memory::room(), model::SIZE) }?;
    let mut inputs = CASE_INPUTS.0.as_slice();
    let mut expected = CASE_OUTPUTS.0.as_slice();
    let mut summary = Summary::default();
    if CASES == 0 {
        // Without verification data the program runs once, on zeroed inputs.
        method.execute()?;
    }
    for _ in 0..CASES {
        set_inputs(method, &mut inputs)?;
        let (executed, ticks) = counter::around(|| method.execute());
        executed?;
        summary.ticks = summary.ticks.max(ticks);
        report::case(board, method)?;
        compare(method, &mut expected, &mut summary)?;
    }
    if BENCH > 0 {
        bench(board, method)?;
    }
    Ok(summary)
}

/// Executes every case again, [`BENCH`] times, and reports the ticks of each execution. The outputs have been reported: the state of a
/// program goes on here.
fn bench(board: &mut Board, method: &Method<'_>) -> core::result::Result<(), Failure> {
    let mut inputs = CASE_INPUTS.0.as_slice();
    for _ in 0..CASES {
        let case = take(&mut inputs, const { sum(INPUTS) })?;
        let mut line = report::Ticks::begin(board);
        for _ in 0..BENCH {
            set_inputs(method, &mut { case })?;
            let (executed, ticks) = counter::around(|| method.execute());
            executed?;
            line.add(ticks);
        }
        line.end();
    }
    Ok(())
}

/// Copies the inputs of a case, which are split off the front. An execution may overwrite inputs.
fn set_inputs(method: &Method<'_>, inputs: &mut &'static [u8]) -> Result<()> {
    for (index, size) in INPUTS.into_iter().enumerate() {
        method.copy_input(index, take(inputs, size)?)?;
    }
    Ok(())
}

const fn sum<const N: usize>(sizes: [usize; N]) -> usize {
    let (mut index, mut sum) = (0, 0);
    while index < N {
        sum += sizes[index];
        index += 1;
    }
    sum
}

/// Compares the outputs of a case, concatenated to a vector, with the expected outputs.
fn compare(method: &Method<'_>, expected: &mut &'static [u8], summary: &mut Summary) -> Result<()> {
    let (mut largest, mut largest_expected) = (Largest::default(), Largest::default());
    for (index, size) in OUTPUTS.into_iter().enumerate() {
        let (output, expected) = (method.output_tensor(index)?, take(expected, size)?);
        let (mut error, number) = (0.0_f32, OUTPUT_TYPES[index]);
        if number == INT8 && const { has(INT8) } {
            // In integers: many processors have no instructions for floats.
            let (mut got, mut wanted, mut greatest) = (Largest::default(), Largest::default(), 0);
            for (output, expected) in output.input::<i8>()?.iter().zip(expected) {
                greatest = greatest.max(output.abs_diff(expected.cast_signed()));
                got.see(output);
                wanted.see(expected.cast_signed());
            }
            (largest, largest_expected) = (largest.and(got, f32::from), largest_expected.and(wanted, f32::from));
            error = f32::from(greatest);
        } else if number == FLOAT32 && const { has(FLOAT32) } {
            let (mut got, mut wanted) = (Largest::default(), Largest::default());
            for (output, expected) in output.input::<f32>()?.iter().zip(expected.as_chunks().0) {
                let expected = f32::from_le_bytes(*expected);
                error = f32::from_bits(error.to_bits().max((output - expected).abs().to_bits()));
                got.see(output);
                wanted.see(expected);
            }
            (largest, largest_expected) = (largest.and(got, |got| got), largest_expected.and(wanted, |wanted| wanted));
        } else if const { has_others() } {
            let scalar_type = ScalarType::from_number(number).ok_or(Error::InvalidType)?;
            let (output, size) = (output.bytes()?, part(scalar_type).size().max(1));
            let (mut got, mut wanted) = (Largest::default(), Largest::default());
            for (position, expected) in expected.chunks_exact(size).enumerate() {
                let output = number_of(scalar_type, output.window(position * size, size).iter());
                let expected = number_of(scalar_type, expected.iter().copied());
                error = f32::from_bits(error.to_bits().max(((output - expected).abs() as f32).to_bits()));
                got.see(output);
                wanted.see(expected);
            }
            let narrow = |number: f64| number as f32;
            (largest, largest_expected) = (largest.and(got, narrow), largest_expected.and(wanted, narrow));
        }
        summary.max_error_bits = summary.max_error_bits.max(error.to_bits());
    }
    summary.argmax_equal += u32::from(largest.position == largest_expected.position);
    Ok(())
}

/// The types that firmware compares without a detour.
const INT8: u8 = ScalarType::Char as u8;
const FLOAT32: u8 = ScalarType::Float as u8;

/// Whether an output has the type of this number: code for other types is not in the binary.
const fn has(number: u8) -> bool {
    let mut index = 0;
    while index < OUTPUT_TYPES.len() {
        if OUTPUT_TYPES[index] == number {
            return true;
        }
        index += 1;
    }
    false
}

/// Whether an output has a type that is compared as binary64.
const fn has_others() -> bool {
    let mut index = 0;
    while index < OUTPUT_TYPES.len() {
        if OUTPUT_TYPES[index] != INT8 && OUTPUT_TYPES[index] != FLOAT32 {
            return true;
        }
        index += 1;
    }
    false
}

/// The type of the parts of an element: of a complex number, those of both parts.
fn part(scalar_type: ScalarType) -> ScalarType {
    match scalar_type {
        ScalarType::ComplexFloat => ScalarType::Float,
        ScalarType::ComplexDouble => ScalarType::Double,
        real => real,
    }
}

/// The number that the bytes of an element, or of a part, stand for.
fn number_of(scalar_type: ScalarType, bytes: impl Iterator<Item = u8>) -> f64 {
    let mut word = [0; 8];
    let mut size = 0;
    for (slot, byte) in word.iter_mut().zip(bytes) {
        *slot = byte;
        size += 1;
    }
    let bits = u64::from_le_bytes(word);
    match part(scalar_type) {
        ScalarType::Half => f64::from(Half(bits as u16).to_f32()),
        ScalarType::BFloat16 => f64::from(BFloat16(bits as u16).to_f32()),
        ScalarType::Float => f64::from(f32::from_bits(bits as u32)),
        ScalarType::Double => f64::from_bits(bits),
        ScalarType::Byte | ScalarType::Bool => bits as f64,
        _ => {
            let unused = u64::BITS - 8 * size;
            ((bits << unused).cast_signed() >> unused) as f64
        }
    }
}

/// Finds the first position of the largest number.
#[derive(Clone, Copy, Default)]
struct Largest<T> {
    count: u32,
    position: u32,
    value: T,
}

impl<T: Copy + PartialOrd> Largest<T> {
    fn see(&mut self, value: T) {
        if self.count == 0 || value > self.value {
            (self.position, self.value) = (self.count, value);
        }
        self.count += 1;
    }
}

impl Largest<f32> {
    /// The same for the numbers of both, one behind another.
    fn and<T>(mut self, other: Largest<T>, number: impl Fn(T) -> f32) -> Self {
        let value = number(other.value);
        if other.count > 0 && (self.count == 0 || value > self.value) {
            (self.position, self.value) = (self.count + other.position, value);
        }
        self.count += other.count;
        self
    }
}

/// Splits `size` bytes off the front.
fn take(bytes: &mut &'static [u8], size: usize) -> Result<&'static [u8]> {
    let (front, rest) = bytes.split_at_checked(size).ok_or(Error::Internal)?;
    *bytes = rest;
    Ok(front)
}
