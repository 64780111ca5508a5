//! The error of device code: a number that crosses every boundary, including the C ABI.

/// An error with the number of ExecuTorch's `Error` (`runtime/core/error.h`), so that logs of both runtimes agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Error {
    /// A bug of ours.
    Internal = 0x01,
    /// The call does not fit the state of the object, such as an execution before all inputs are set.
    InvalidState = 0x02,
    /// Well-formed, but not supported here.
    NotSupported = 0x10,
    /// An argument or operand does not fit: shape, rank, range.
    InvalidArgument = 0x12,
    /// A value has another type than the operator takes.
    InvalidType = 0x13,
    /// The program calls an operator that the kernel table lacks.
    OperatorMissing = 0x14,
    /// An unknown method, input, output or key.
    NotFound = 0x20,
    /// The memory handed in is too small.
    MemoryAllocationFailed = 0x21,
    /// Data outside the file or the arena was asked for.
    AccessFailed = 0x22,
    /// The program file is malformed.
    InvalidProgram = 0x23,
    /// A data file is malformed or contradicts the program.
    InvalidExternalData = 0x24,
    /// An instruction limit was reached.
    OutOfResources = 0x25,
    /// A delegate rejected its blob.
    DelegateInvalidCompatibility = 0x30,
    /// A delegate could not get memory.
    DelegateMemoryAllocationFailed = 0x31,
    /// The delegate handle is not usable.
    DelegateInvalidHandle = 0x32,
}

impl Error {
    /// The error as a plain sentence without a full stop.
    pub const fn message(self) -> &'static str {
        match self {
            Self::Internal => "internal error",
            Self::InvalidState => "the call does not fit the state",
            Self::NotSupported => "not supported",
            Self::InvalidArgument => "an argument does not fit",
            Self::InvalidType => "a value has the wrong type",
            Self::OperatorMissing => "an operator has no kernel",
            Self::NotFound => "not found",
            Self::MemoryAllocationFailed => "the program needs more memory than there is",
            Self::AccessFailed => "data outside the file or the arena was asked for",
            Self::InvalidProgram => "the program file is malformed",
            Self::InvalidExternalData => "a data file is malformed or does not fit the program",
            Self::OutOfResources => "the instruction limit was reached",
            Self::DelegateInvalidCompatibility => "the blob of a delegate is for another device or version",
            Self::DelegateMemoryAllocationFailed => "a delegate could not get memory",
            Self::DelegateInvalidHandle => "a delegate handle is not usable",
        }
    }
}

impl core::fmt::Display for Error {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str(self.message())
    }
}

impl core::error::Error for Error {}
