//! A lowered partition.

/// The alignment of a blob in the program file, in bytes: a cache line, and the widest vector there is. Offsets within a
/// blob that are multiples of it are aligned in memory, where a file is mapped or lies in flash.
pub const ALIGNMENT: usize = 64;

/// A lowered partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blob {
    /// What the device crate executes. The program file carries it at a multiple of [`ALIGNMENT`], and it is used in place.
    pub bytes: Vec<u8>,
    /// Bytes of memory that an execution needs besides inputs and outputs. They are planned with everything else, and
    /// hold nothing between executions; the device crate gets them as the last argument where there are any.
    pub scratch: usize,
}
