//! Why a file of `torch.save` cannot be read.

/// A reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TorchError {
    /// Another container.
    #[error("the file is no zip container, as `torch.save` writes since version 1.6: {0}")]
    NotZip(String),
    /// The form of `torch.save` before version 1.6.
    #[error(
        "the file is no zip container, as `torch.save` writes since version 1.6, and has the form of an earlier version"
    )]
    Legacy,
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
    #[error("the pickle names `{module}.{name}` at byte {offset}, which is not executed; only tensors are read")]
    Global {
        /// The module.
        module: String,
        /// The name in the module.
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
    /// An operation of pickles that no dictionary of tensors needs.
    #[error("the pickle is malformed at byte {0}: the operation is not one of a dictionary of tensors")]
    Operation(usize),
    /// An object in the place of a dictionary of tensors by name.
    #[error("the pickle has no dictionary of tensors: {0}")]
    Unnamed(&'static str),
    /// A tensor that reaches beyond the stored elements.
    #[error("the entry `{0}` has elements outside its storage")]
    Outside(String),
    /// An entry of a dictionary without tensors.
    #[error("the entry `{0}` is no tensor, and no entry is")]
    NoTensors(String),
    /// An entry of the dictionary.
    #[error("the entry `{name}` {reason}")]
    Entry {
        /// The key.
        name: String,
        /// The mistake.
        reason: &'static str,
    },
}
