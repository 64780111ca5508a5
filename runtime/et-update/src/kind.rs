//! The kinds of files with a signed header.

/// The kinds of files with a signed header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A delta between two versions.
    Update,
    /// The versions for several targets.
    Bundle,
}

impl Kind {
    /// The first bytes of a file.
    pub(crate) const fn magic(self) -> &'static [u8; 8] {
        match self {
            Self::Update => b"ETDELTA1",
            Self::Bundle => b"ETBUNDL1",
        }
    }

    /// What a signature covers in front of the digest, so that no signature is good for a file of another kind.
    pub(crate) const fn words(self) -> &'static [u8] {
        match self {
            Self::Update => b"etbuild update 1\n",
            Self::Bundle => b"etbuild bundle 1\n",
        }
    }
}
