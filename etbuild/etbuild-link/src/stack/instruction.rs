//! What an instruction means for the stack, for the flow of control and for the registers.

/// A decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Bytes.
    pub size: u32,
    pub stack: Stack,
    pub flow: Flow,
    pub write: Write,
    /// The registers whose values go to memory, as a mask.
    pub stores: u32,
}

impl Instruction {
    /// An instruction of `size` bytes without an effect.
    pub const fn new(size: u32) -> Self {
        Self { size, stack: Stack::Same, flow: Flow::Next, write: Write::Nothing, stores: 0 }
    }

    pub const fn stack(self, stack: Stack) -> Self {
        Self { stack, ..self }
    }

    pub const fn grows(self, bytes: i32) -> Self {
        self.stack(Stack::Changes(bytes))
    }

    pub const fn flow(self, flow: Flow) -> Self {
        Self { flow, ..self }
    }

    pub const fn write(self, write: Write) -> Self {
        Self { write, ..self }
    }

    pub const fn stores(self, mask: u32) -> Self {
        Self { stores: mask, ..self }
    }

    /// The instruction writes a register in a way that is not followed.
    pub const fn clobbers(self, register: u32) -> Self {
        self.write(Write::Unknown(1 << register))
    }
}

/// The number of a register.
pub type Register = u32;

/// The change of the stack pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    Same,
    /// Bytes more, or less, in use.
    Changes(i32),
    /// A register, times the number, is added to the pointer.
    Adds(Register, i32),
    /// The pointer gets the value of a register.
    Moves(Register),
}

/// Where the control goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// To the next instruction.
    Next,
    /// To an address.
    Jump(u32),
    /// To an address or to the next instruction.
    Branch(u32),
    /// To the function at an address, and then to the next instruction.
    Call(u32),
    /// To the function at an offset from a register, and then to the next instruction.
    CallRegister(Register, i32),
    /// To an offset from a register, with no return: to another function, or by a table to a place of this one.
    JumpRegister(Register, i32, Target),
    /// To a place of this function, by a table of offsets in half-words behind the instruction, of so many bytes each.
    Table(u32),
    /// To the caller.
    Return,
    /// Nowhere: the instruction is undefined.
    Stop,
}

/// Where a jump by a register goes, as far as the instruction says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Function,
    Place,
    Either,
}

/// What an instruction writes into registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    Nothing,
    /// A number.
    Constant(Register, u32),
    /// The sum of another register and a number.
    Sum(Register, Register, i32),
    /// The upper half of a number, whose lower half is there.
    High(Register, u32),
    /// The register's own value, rounded down to a multiple of a number of bytes.
    Rounded(Register, u32),
    /// Anything, into the registers of a mask.
    Unknown(u32),
}

/// A decoder of machine code, which gets the instructions in order of their addresses.
pub trait Decoder {
    /// The instruction at `address`, whose bytes are the first of `code`; `None` where they are cut off.
    /// `read` has the word at an address of the image.
    fn decode(&mut self, address: u32, code: &[u8], read: &dyn Fn(u32) -> Option<u32>) -> Option<Instruction>;

    /// The registers that a call may change, as a mask.
    fn of_callers(&self) -> u32;

    /// The registers with the arguments of a call, as a mask.
    fn arguments(&self) -> u32;
}
