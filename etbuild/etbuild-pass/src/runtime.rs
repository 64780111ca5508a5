//! Which runtime a program is for.

use crate::pass::Pass;
use crate::passes::{CHECK_UPSTREAM, FOR_UPSTREAM};

/// The runtime that loads a program: it decides which operators stay in one piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Runtime {
    /// Ours: whatever the kernel catalogue has.
    #[default]
    Etbuild,
    /// ExecuTorch's own, and so ours too: only operators that its libraries have.
    Executorch,
}

impl Runtime {
    /// The name in recipes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Etbuild => "etbuild",
            Self::Executorch => "executorch",
        }
    }

    /// The passes ahead of all others.
    pub(crate) fn first_passes(self) -> &'static [&'static Pass] {
        match self {
            Self::Etbuild => &[],
            Self::Executorch => FOR_UPSTREAM,
        }
    }

    /// The passes behind all others.
    pub(crate) fn last_passes(self) -> &'static [&'static Pass] {
        match self {
            Self::Etbuild => &[],
            Self::Executorch => CHECK_UPSTREAM,
        }
    }
}
