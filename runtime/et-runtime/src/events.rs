//! Events of an execution: what a profiler or a debugger hears.
//!
//! The loop over predecoded instructions is generic over its listener. With [`NoEvents`] the compiler removes every call, so that a
//! binary without a listener has the instructions of a loop without events.

use core::fmt::Debug;
use core::time::Duration;

use et_core::Result;

/// The position of an instruction in a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The chain; the predecoded instructions are those of the only chain, 0.
    pub chain: u32,
    /// The instruction in the chain.
    pub instruction: u32,
}

/// A listener of the instruction loop. The listener reads the platform's clock where it needs times.
pub trait Events {
    /// Called before an instruction.
    fn begin(&mut self, at: Position) {
        let _ = at;
    }

    /// Called after an instruction that succeeded; an error ends the execution there.
    fn end(&mut self, at: Position) -> Result<()> {
        let _ = at;
        Ok(())
    }

    /// Called in the call of a delegate, before each layer that the delegate computes; `part` counts from 0.
    fn part(&mut self, part: u32) {
        let _ = part;
    }

    /// Whether [`Events::pulse`] is wanted. A delegate then computes no more than a row at once.
    fn is_listening(&self) -> bool {
        false
    }

    /// Called in long layers of a delegate, after each row of an image.
    fn pulse(&mut self) {}
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEvents;

impl Events for NoEvents {}

/// Calls a function with the bytes of each tensor that an instruction has written.
pub type Results<'r> = dyn Fn(&mut dyn FnMut(&[u8])) + 'r;

/// An instruction of a delegate, just executed.
#[derive(Clone, Copy)]
pub struct DelegateEvent<'e> {
    /// The kind of the instruction, such as `Conv2d`.
    pub name: &'static str,
    /// The instruction with its operands.
    pub instruction: &'e dyn Debug,
    /// The time of the instruction by the clock of the delegate's device, where events come after the whole call. `None`: the
    /// instruction has just ended, by the clock of the listener.
    pub duration: Option<Duration>,
    /// Calls a function with the bytes of each tensor that the instruction wrote, in the delegate's own layout; calls nothing
    /// where the results are not in the memory of the host.
    pub results: &'e Results<'e>,
}

impl Debug for DelegateEvent<'_> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.instruction.fmt(formatter)
    }
}
