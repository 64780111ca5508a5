//! Executions that a caller can end, such as at Ctrl-C.

use et_runtime::{Events, Position};

use crate::{Error, Module};

impl Module {
    /// Executes the method as long as `goes_on` holds, which is asked after each instruction; false for an execution that was ended.
    /// A program of several chains is executed to the end.
    pub fn execute_while(&mut self, goes_on: impl FnMut() -> bool) -> Result<bool, Error> {
        let mut asking = Asking { goes_on, ended: false };
        let executed = self.loaded.execute_heard(&mut asking);
        match executed {
            Err(_) if asking.ended => Ok(false),
            Err(failure) => Err(self.explain(failure)),
            Ok(()) => Ok(true),
        }
    }
}

/// Asks after each instruction whether the execution goes on.
struct Asking<F> {
    goes_on: F,
    ended: bool,
}

impl<F: FnMut() -> bool> Events for Asking<F> {
    fn end(&mut self, _at: Position) -> et_core::Result<()> {
        self.ended = !(self.goes_on)();
        if self.ended { Err(et_core::Error::InvalidState) } else { Ok(()) }
    }
}
