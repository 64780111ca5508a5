//! Executions that a caller can end, such as at Ctrl-C.

use crate::{Error, Module};

impl Module {
    /// Executes the method as long as `goes_on` holds, which is asked after each instruction; false for an execution that was ended.
    /// A program of several chains is executed to the end.
    pub fn execute_while(&mut self, mut goes_on: impl FnMut() -> bool) -> Result<bool, Error> {
        if !self.loaded.has_steps() {
            return self.execute().map(|()| true);
        }
        let mut ended = false;
        let executed = self.loaded.execute_telling(|_| {
            ended = !goes_on();
            if ended { Err(et_core::Error::InvalidState) } else { Ok(()) }
        });
        match executed {
            Err(_) if ended => Ok(false),
            Err(failure) => Err(self.explain(failure)),
            Ok(()) => Ok(true),
        }
    }
}
