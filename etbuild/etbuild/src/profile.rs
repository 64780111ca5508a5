//! The steps of backends while a program is measured: delegates are made by functions without state, so that the steps are kept
//! by the thread.

use std::cell::RefCell;
use std::fmt::Debug;
use std::time::Instant;

thread_local! {
    /// The instructions of delegates since the last instruction of the program.
    static STEPS: RefCell<Vec<Step>> = const { RefCell::new(Vec::new()) };
}

/// An instruction of a delegate.
pub struct Step {
    /// The kind.
    pub kind: String,
    /// The end time.
    pub end: Instant,
    /// The earliest start of the next instruction, since noting takes time, too.
    pub noted: Instant,
}

/// Notes that a backend has just executed an instruction, whose kind is the first word of the printed form.
pub fn note(step: &dyn Debug) {
    let end = Instant::now();
    let kind = format!("{step:?}").chars().take_while(char::is_ascii_alphanumeric).collect();
    STEPS.with_borrow_mut(|steps| steps.push(Step { kind, end, noted: Instant::now() }));
}

/// The steps since the last call.
pub fn take() -> Vec<Step> {
    STEPS.take()
}
