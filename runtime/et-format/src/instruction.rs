//! The instructions of a method.

use et_core::{Error, Indices, Result};

use crate::view::views;
use crate::{List, Table};

/// An instruction. Indices are unchecked: the reader of an index checks the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction<'a> {
    /// Calls an operator's kernel.
    KernelCall {
        /// The operator.
        operator: u32,
        /// The indices of the arguments.
        arguments: Indices<'a>,
    },
    /// Calls a delegate.
    DelegateCall {
        /// The delegate.
        delegate: u32,
        /// The indices of the arguments: inputs, then outputs.
        arguments: Indices<'a>,
    },
    /// Copies a value; tensors keep their memory.
    MoveCall {
        /// The value that is copied.
        from: i32,
        /// The value that is replaced.
        to: i32,
    },
    /// Continues elsewhere when a boolean is false.
    JumpFalseCall {
        /// The boolean.
        condition: i32,
        /// The instruction to continue at.
        destination: u32,
    },
    /// Takes the memory from a tensor.
    FreeCall {
        /// The tensor.
        value: i32,
    },
}

impl<'a> Instruction<'a> {
    pub(crate) fn read(instruction: Table<'a>) -> Result<Self> {
        let content = instruction.required_table(1)?;
        let kind = instruction.u8(0)?;
        let first = content.u32(0)?;
        match kind {
            1 => Ok(Self::KernelCall { operator: first, arguments: arguments(content)? }),
            2 => Ok(Self::DelegateCall { delegate: first, arguments: arguments(content)? }),
            3 => Ok(Self::MoveCall { from: first.cast_signed(), to: content.i32(1)? }),
            4 => Ok(Self::JumpFalseCall { condition: first.cast_signed(), destination: content.u32(1)? }),
            5 => Ok(Self::FreeCall { value: first.cast_signed() }),
            _ => Err(Error::InvalidProgram),
        }
    }
}

fn arguments(content: Table<'_>) -> Result<Indices<'_>> {
    content.vector(1, 4).map(Indices::new)
}

views! {
    /// The Python frames that an instruction came from.
    FrameList;
    /// A Python frame.
    Frame;
}

impl<'a> FrameList<'a> {
    /// The frames.
    pub fn items(self) -> Result<List<'a, Frame<'a>>> {
        self.0.tables(0).map(List::new)
    }
}

impl<'a> Frame<'a> {
    /// The source file.
    pub fn filename(self) -> Result<&'a str> {
        self.0.string(0)
    }

    /// The line in the source file.
    pub fn line(self) -> Result<i32> {
        self.0.i32(1)
    }

    /// The function.
    pub fn name(self) -> Result<&'a str> {
        self.0.string(2)
    }

    /// The source text.
    pub fn context(self) -> Result<&'a str> {
        self.0.string(3)
    }
}
