//! Descriptors: the kinds of buffers and images that kernels access.

use crate::blob::Kind;

/// What a binding of a kernel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Descriptor {
    /// A storage buffer.
    Buffer,
    /// A sampled image.
    Sampled {
        /// An array image.
        array: bool,
    },
    /// A storage image.
    Storage {
        /// An array image.
        array: bool,
        /// Channels of fp16.
        half: bool,
    },
}

impl Descriptor {
    /// The descriptor of an object.
    pub const fn of(kind: Kind, writes: bool) -> Self {
        let array = matches!(kind, Kind::Array32 | Kind::Array16);
        let half = matches!(kind, Kind::Image16 | Kind::Array16);
        match kind {
            Kind::Buffer => Self::Buffer,
            _ if writes => Self::Storage { array, half },
            _ => Self::Sampled { array },
        }
    }
}
