//! The instructions of delegates while a program is measured.

use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Records the instructions of delegates since the last instruction of the program.
#[derive(Default)]
pub struct Steps(Mutex<Vec<Step>>);

/// An instruction of a delegate.
pub struct Step {
    /// The kind.
    pub kind: String,
    /// The end time.
    pub end: Instant,
    /// The earliest start of the next instruction, since noting takes time, too.
    pub noted: Instant,
}

impl Steps {
    /// Notes that a backend has just executed an instruction, whose kind is the first word of the printed form.
    pub fn note(&self, instruction: &dyn Debug) {
        let end = Instant::now();
        let kind = format!("{instruction:?}").chars().take_while(char::is_ascii_alphanumeric).collect();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Step { kind, end, noted: Instant::now() });
    }

    /// The instructions since the last call.
    pub fn take(&self) -> Vec<Step> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
