//! The runtimes that programs are lowered for.

use crate::pass::Pass;
use crate::passes::{CHECK_UPSTREAM, FOR_UPSTREAM};

/// The runtime that loads a program. Decides which operators stay whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Runtime {
    /// Our runtime: all operators of the kernel catalogue.
    #[default]
    Etbuild,
    /// ExecuTorch's runtime, and so ours: only operators of ExecuTorch's libraries.
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

    /// The passes before all lists.
    pub(crate) fn first_passes(self) -> &'static [&'static Pass] {
        match self {
            Self::Etbuild => &[],
            Self::Executorch => FOR_UPSTREAM,
        }
    }

    /// The passes after all lists.
    pub(crate) fn last_passes(self) -> &'static [&'static Pass] {
        match self {
            Self::Etbuild => &[],
            Self::Executorch => CHECK_UPSTREAM,
        }
    }
}
