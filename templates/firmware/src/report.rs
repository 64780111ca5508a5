//! The report: a JSON line per case with the bytes of the outputs, and a summary line.

use et_core::Result;
use et_platform::Console;
use et_runtime::{Failure, Place};

use crate::board::Board;
use crate::cases::{CASES, OUTPUTS};
use crate::check::Summary;
use crate::model::Method;
use crate::stack;

/// Writes all outputs of the last executed case in hexadecimal.
pub fn case(board: &mut Board, method: &Method<'_>) -> Result<()> {
    board.write("{\"outputs\":\"");
    for index in 0..OUTPUTS.len() {
        let bytes = method.output_tensor(index)?.bytes()?;
        for start in (0..bytes.len()).step_by(CHUNK) {
            write_hexadecimal(board, bytes.window(start, CHUNK.min(bytes.len() - start)).iter());
        }
    }
    board.write_line("\"}");
    Ok(())
}

/// The line with the ticks of the executions of a case, which is written as they come: firmware has no memory to keep them in.
pub struct Ticks<'a> {
    board: &'a mut Board,
    is_first: bool,
}

impl<'a> Ticks<'a> {
    /// Begins the line.
    pub fn begin(board: &'a mut Board) -> Self {
        board.write("{\"bench\":[");
        Self { board, is_first: true }
    }

    /// Adds the ticks of an execution.
    pub fn add(&mut self, ticks: u32) {
        if !self.is_first {
            self.board.write(",");
        }
        self.is_first = false;
        self.board.write_number(ticks);
    }

    /// Ends the line.
    pub fn end(self) {
        self.board.write_line("]}");
    }
}

/// Writes the summary of all cases.
pub fn summary(board: &mut Board, summary: &Summary) {
    board.write("{\"cases\":");
    board.write_number(CASES as u32);
    board.write(",\"max_error_bits\":");
    board.write_number(summary.max_error_bits);
    board.write(",\"argmax_equal\":");
    board.write_number(summary.argmax_equal);
    board.write(",\"ticks\":");
    board.write_number(summary.ticks);
    board.write(",\"stack\":");
    board.write_number(stack::used());
    board.write_line("}");
}

/// Writes the number of an error and its position in the method.
pub fn failure(board: &mut Board, failure: Failure) {
    let (place, index) = match failure.place {
        Place::Method => ("method", 0),
        Place::Value(index) => ("value", index),
        Place::Delegate(index) => ("delegate", index),
        Place::Instruction(index) => ("instruction", index),
    };
    board.write("{\"error\":");
    board.write_number(failure.error as u32);
    board.write(",\"place\":\"");
    board.write(place);
    board.write("\",\"index\":");
    board.write_number(index);
    board.write_line("}");
}

/// Bytes per write to the console.
const CHUNK: usize = 31;

/// Writes at most [`CHUNK`] bytes.
fn write_hexadecimal(board: &mut Board, bytes: impl Iterator<Item = u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [0; 2 * CHUNK];
    let mut length = 0;
    for (pair, byte) in text.as_chunks_mut().0.iter_mut().zip(bytes) {
        *pair = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
        length += 2;
    }
    board.write_bytes(&text[..length]);
}
