//! The classes of failure, and the exit code of each.

/// The kind of failure, which decides the exit code of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Failure {
    /// A stage failed.
    StageFailed = 1,
    /// The command line is wrong.
    Usage = 2,
    /// The recipe is invalid.
    RecipeInvalid = 3,
    /// The recipe is valid and cannot be met: an operator, a memory bank, a budget.
    RecipeUnmet = 4,
    /// `--locked` found a difference from the lock file.
    Locked = 5,
    /// A rebuild gave other bytes.
    NotReproducible = 6,
    /// A remote cache is required and was lost.
    RemoteLost = 7,
    /// A device, a run or the accuracy failed.
    RunFailed = 8,
    /// A signal such as Ctrl-C ended the command.
    Interrupted = 130,
}

impl Failure {
    /// The exit code of a command that fails this way.
    pub fn exit_code(self) -> u8 {
        self as u8
    }
}
