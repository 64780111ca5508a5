//! The report: one line of JSON per case with the bytes of its outputs, and one at the end.

use et_core::Result;
use et_runtime::{Failure, Method, Place};

use crate::check::Summary;
use crate::console::Console;
use crate::facts::{CASES, OUTPUTS};

/// Writes all outputs of the case that was just executed, one after the other.
pub fn case(console: &Console, method: &Method<'_>) -> Result<()> {
    console.write(b"{\"outputs\":\"");
    for index in 0..OUTPUTS.len() {
        let bytes = method.output_tensor(index)?.bytes()?;
        for start in (0..bytes.len()).step_by(CHUNK) {
            hexadecimal(console, bytes.window(start, CHUNK.min(bytes.len() - start)).iter());
        }
    }
    console.write(b"\"}\n");
    Ok(())
}

/// Writes what is known after all cases.
pub fn summary(console: &Console, summary: &Summary) {
    console.write(b"{\"cases\":");
    decimal(console, CASES as u32);
    console.write(b",\"max_error_bits\":");
    decimal(console, summary.max_error_bits);
    console.write(b",\"argmax_equal\":");
    decimal(console, summary.argmax_equal);
    console.write(b"}\n");
}

/// Writes the number of an error and where in the method it happened.
pub fn failure(console: &Console, failure: Failure) {
    let (place, index): (&[u8], u32) = match failure.place {
        Place::Method => (b"method", 0),
        Place::Value(index) => (b"value", index),
        Place::Delegate(index) => (b"delegate", index),
        Place::Instruction(index) => (b"instruction", index),
    };
    console.write(b"{\"error\":");
    decimal(console, failure.error as u32);
    console.write(b",\"place\":\"");
    console.write(place);
    console.write(b"\",\"index\":");
    decimal(console, index);
    console.write(b"}\n");
}

/// Bytes per write to the console.
const CHUNK: usize = 32;

/// Writes at most [`CHUNK`] bytes.
fn hexadecimal(console: &Console, bytes: impl Iterator<Item = u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [0; 2 * CHUNK];
    let mut length = 0;
    for (pair, byte) in text.as_chunks_mut().0.iter_mut().zip(bytes) {
        *pair = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
        length += 2;
    }
    console.write(&text[..length]);
}

fn decimal(console: &Console, mut number: u32) {
    let mut text = [0; 10];
    let mut start = text.len();
    for digit in text.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
        start -= 1;
        if number == 0 {
            break;
        }
    }
    console.write(&text[start..]);
}
