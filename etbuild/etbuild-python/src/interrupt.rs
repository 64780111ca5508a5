//! Ctrl-C while a method computes.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// How often Python is asked for signals: a look takes the interpreter's lock.
const PERIOD: Duration = Duration::from_millis(100);

/// The instructions of a method that nobody watches: reading the clock takes as long as a small kernel.
const UNWATCHED: u32 = 4;

/// Watches an execution for signals that Python has a handler for.
#[derive(Default)]
pub struct Watch {
    instructions: u32,
    asked: Option<Instant>,
    raised: Option<PyErr>,
}

impl Watch {
    /// Whether to go on after an instruction; called without the interpreter's lock.
    pub fn goes_on(&mut self) -> bool {
        self.instructions = self.instructions.saturating_add(1);
        if self.instructions < UNWATCHED {
            return true;
        }
        let now = Instant::now();
        if now.duration_since(*self.asked.get_or_insert(now)) < PERIOD {
            return true;
        }
        self.asked = Some(now);
        self.raised = Python::attach(|py| py.check_signals().err());
        self.raised.is_none()
    }

    /// The exception of a signal handler, such as `KeyboardInterrupt`.
    pub fn raised(self) -> PyResult<()> {
        self.raised.map_or(Ok(()), Err)
    }
}
