//! The faults of command streams.

/// A command that cannot be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the command at byte {offset} of the command stream: {problem}")]
pub struct Fault {
    /// The offset of the command's first word in bytes.
    pub offset: usize,
    /// What is wrong with the command.
    pub problem: Problem,
}

/// What is wrong with a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The configuration names no NPU of the model.
    #[error("configuration {0:#010x} is none of Ethos-U55, U65 and U85")]
    Npu(u32),
    /// The NPU has no such command.
    #[error("code {0:#06x} is unknown")]
    Command(u16),
    /// The stream ends before the stop.
    #[error("the stream ends without a stop")]
    End,
    /// A register that the operation reads was never set.
    #[error("register {0} was never set")]
    NeverSet(&'static str),
    /// An access outside a region, or a write to constant memory.
    #[error("region {region} has no {size} bytes at {address:#x}")]
    Memory {
        /// The region; 8 for the memory inside the NPU.
        region: u8,
        /// The first byte of the access.
        address: u64,
        /// The bytes of the access.
        size: u64,
    },
    /// A feature map that is larger than its region.
    #[error("the feature map is larger than region {0}")]
    Size(u8),
    /// An operation that takes minutes.
    #[error("the operations are more than those of any network")]
    Work,
    /// The weights cannot be decoded, or are more or fewer than those of the kernel.
    #[error("the weights cannot be decoded for this kernel")]
    Weights,
    /// Registers contradict each other.
    #[error("{0}")]
    Contradiction(&'static str),
    /// The NPU can do this, and the model cannot.
    #[error("the model has no {0}")]
    Unsupported(&'static str),
}
