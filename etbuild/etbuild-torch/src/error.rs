//! Why a file of `torch.save` cannot be read.

/// A reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TorchError {
    /// Another container.
    #[error("the file is no zip container, as `torch.save` writes since version 1.6: {0}")]
    NotZip(String),
    /// A member that the pickle needs.
    #[error("the member `{0}` is missing")]
    MemberMissing(String),
    /// A member whose bytes cannot be used where they lie.
    #[error("the member `{0}` is compressed")]
    MemberCompressed(String),
    /// Elements of a machine with the most significant byte first.
    #[error("the elements are in the byte order of a big-endian machine")]
    BigEndian,
    /// A global that does not rebuild tensors.
    #[error("the pickle names `{name}` at byte {offset}, which is not executed; only tensors are read")]
    Global {
        /// The module and the name.
        name: String,
        /// The place in the pickle.
        offset: usize,
    },
    /// A pickle that is malformed, or has what no dictionary of tensors needs.
    #[error("the pickle is malformed at byte {offset}: {reason}")]
    Pickle {
        /// The place in the pickle.
        offset: usize,
        /// The mistake.
        reason: &'static str,
    },
    /// An entry of the dictionary.
    #[error("the entry `{name}` {reason}")]
    Entry {
        /// The key.
        name: String,
        /// The mistake.
        reason: &'static str,
    },
}

impl TorchError {
    /// Whether saving the file again with a present version of `torch` helps.
    pub const fn is_of_old_form(&self) -> bool {
        matches!(self, Self::NotZip(_) | Self::MemberCompressed(_))
    }
}
