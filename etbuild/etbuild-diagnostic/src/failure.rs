//! The classes of failure, and the exit code of each.

use crate::{Diagnostic, Severity};

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

/// The exit code of a command that reported `diagnostics`: the code of the first error, 0 without errors.
pub fn exit_code(diagnostics: &[Diagnostic]) -> u8 {
    let first = diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error);
    first.map_or(0, |diagnostic| diagnostic.code.failure().exit_code())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    #[test]
    fn the_first_error_decides() {
        let warning = Diagnostic::warning(Code::ToolMissing, "no qemu");
        let error = Diagnostic::error(Code::UnknownKey, "no such key");
        let later = Diagnostic::error(Code::RunFailed, "crashed");
        assert_eq!(exit_code(&[warning.clone(), error, later]), 3);
        assert_eq!(exit_code(&[warning]), 0);
    }
}
