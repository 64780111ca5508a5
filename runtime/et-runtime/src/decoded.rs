//! Methods that the build has decoded: firmware has the values and instructions of its only program as constants, and reads from the
//! program file nothing but lists and weights.
//!
//! The reader of program files takes several KiB of flash, and all that it checks is known at build time. What a plan refers to in the file
//! is looked up with bounds checks all the same, so that a wrong plan is an error and no access outside the file or the arenas.

mod execute;
mod load;

use et_core::{Kernel, ScalarType};

pub use load::DecodedMethod;

/// A method as constants. Lists and tensors refer to the program file by the offset of their first byte.
pub trait DecodedPlan {
    /// The program file, aligned to 16 bytes.
    const FILE: &'static [u8];
    /// The value table.
    const VALUES: &'static [DecodedValue];
    /// The tensors whose sizes are upper bounds.
    const DYNAMIC: &'static [DecodedTensor];
    /// The initial values of mutable buffers.
    const INITIAL: &'static [InitialValue];
    /// The values that are inputs.
    const INPUTS: &'static [i32];
    /// The values that are outputs.
    const OUTPUTS: &'static [i32];
    /// The kernels that instructions call.
    const KERNELS: &'static [Kernel];
    /// The blobs of the delegates.
    const BLOBS: &'static [Span];
    /// The instructions of all chains.
    const INSTRUCTIONS: &'static [DecodedInstruction];
}

/// Bytes of the program file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u32,
    /// The number of bytes.
    pub size: u32,
}

/// A value at load time, in 16 bytes: no field needs an alignment of more than 4.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DecodedValue {
    /// An absent value.
    None,
    /// An integer: the low and the high half.
    Int([u32; 2]),
    /// A boolean.
    Bool(bool),
    /// The bits of a floating-point number: the low and the high half.
    Double([u32; 2]),
    /// A list in the program file.
    List(DecodedList, Span),
    /// A tensor of a static shape.
    Tensor(DecodedTensor),
    /// A tensor of [`DecodedPlan::DYNAMIC`].
    DynamicTensor(u32),
}

/// The kind of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodedList {
    /// ASCII text.
    Text,
    /// Indices of integers in the value table, 64 bits each.
    Int,
    /// Floating-point numbers, 64 bits each.
    Double,
    /// Booleans, a byte each.
    Bool,
    /// Indices of tensors in the value table, 32 bits each.
    Tensor,
    /// Indices of tensors in the value table, 32 bits each, -1 for an absent tensor.
    OptionalTensor,
}

/// A tensor at load time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodedTensor {
    /// The offset of the sizes, 32 bits each.
    pub sizes: u32,
    /// The offset of the dim order.
    pub dim_order: u32,
    /// The offset of the elements in their memory.
    pub elements: u32,
    /// The type of the elements.
    pub scalar_type: ScalarType,
    /// The number of dimensions.
    pub rank: u8,
    /// The memory of the elements.
    pub memory: DecodedMemory,
}

/// The memory of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodedMemory {
    /// No memory before the caller lends some.
    Missing,
    /// The program file.
    File,
    /// An arena, counted from 0.
    Arena(u8),
}

/// An initial value of a mutable buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitialValue {
    /// The bytes.
    pub bytes: Span,
    /// The arena, counted from 0.
    pub arena: u32,
    /// The offset of the buffer in the arena.
    pub offset: u32,
}

/// An instruction. Arguments are indices of values, 32 bits each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodedInstruction {
    /// Calls a kernel.
    Kernel(u16, Span),
    /// Calls a delegate.
    Delegate(u16, Span),
    /// Copies a value, from the first index to the second.
    Move(i32, i32),
    /// Continues at an instruction where a condition is false.
    JumpFalse(i32, u32),
    /// Takes the memory from a tensor.
    Free(i32),
}

impl DecodedInstruction {
    /// Whether the instructions are calls only, so that each is executed once.
    const fn is_straight(instructions: &[Self]) -> bool {
        let mut index = 0;
        while index < instructions.len() {
            if !matches!(instructions[index], Self::Kernel(..) | Self::Delegate(..)) {
                return false;
            }
            index += 1;
        }
        true
    }
}

impl DecodedValue {
    /// Joins the halves of 64 bits.
    const fn join([low, high]: [u32; 2]) -> u64 {
        low as u64 | (high as u64) << 32
    }
}
