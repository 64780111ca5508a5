//! A lowered partition.

use std::fmt;
use std::sync::Arc;

use crate::Refusal;

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
    /// What an execution gets as further inputs, behind those of the partition. A program has equal ones once, whichever
    /// partitions of whichever methods read them.
    pub weights: Vec<Weights>,
    /// For people who look at an execution: the value of the partition that each step of the device crate computes, in order. One
    /// list for each form that the blob has; none where the engine does not say.
    pub layers: Vec<Vec<String>>,
}

/// Constant bytes in the form that the engine reads them in, which are made when they are asked for.
#[derive(Clone)]
pub struct Weights {
    /// What they are made of and how, as a text that no other bytes have: what was made once is not made again.
    pub identity: String,
    /// The name that they go by in data files, where others may come in their place: those of another adapter. It depends on
    /// their form, not on what they are made of. Others go by what they are.
    pub name: Option<String>,
    /// For people who look at sizes: what they are made of, where it has a name in the model.
    pub origin: Option<Origin>,
    /// How many there are.
    pub size: usize,
    /// What makes them.
    pub content: Arc<dyn Content>,
}

/// What weights are made of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The constant's name in the model.
    pub constant: String,
    /// Their form: the instruction set that they are packed for. Empty where all read the same.
    pub form: String,
}

/// What makes constant bytes.
pub trait Content: Send + Sync {
    /// Gives all of them to `take`, a piece after the other.
    ///
    /// # Errors
    /// What they are made of contradicts itself.
    fn write(&self, take: &mut dyn FnMut(&[u8])) -> Result<(), Refusal>;
}

impl Weights {
    /// The bytes in memory.
    ///
    /// # Errors
    /// As [`Content::write`].
    pub fn bytes(&self) -> Result<Vec<u8>, Refusal> {
        let mut bytes = Vec::with_capacity(self.size);
        self.content.write(&mut |piece| bytes.extend_from_slice(piece))?;
        Ok(bytes)
    }
}

impl PartialEq for Weights {
    fn eq(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}

impl Eq for Weights {}

impl fmt::Debug for Weights {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { identity, name, size, .. } = self;
        let mut weights = formatter.debug_struct("Weights");
        weights.field("identity", identity).field("name", name).field("size", size).finish()
    }
}
