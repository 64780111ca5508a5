//! The types of a blob's words that are not those of every delegate: operand slots and element-wise operations.

use et_kernels::elementwise::Operation;
use et_record::{Access, Operand, Record, Text, Words, words};

/// The number of an operand slot, or no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotNumber(pub u32);

impl SlotNumber {
    /// An absent operand.
    pub const NONE: Self = Self(u32::MAX);
}

impl Default for SlotNumber {
    fn default() -> Self {
        Self::NONE
    }
}

impl Record for SlotNumber {
    fn read(words: &mut Words<'_>) -> Option<Self> {
        words.word().map(Self)
    }

    fn write(&self, put: &mut dyn FnMut(u32)) {
        put(self.0);
    }

    fn visit(&mut self, visit: &mut dyn FnMut(Operand<'_>)) {
        if *self != Self::NONE {
            visit(Operand { memory: &mut self.0, offset: None, access: Access::Read });
        }
    }

    fn show(&self, text: &mut dyn Text) {
        text.operand(self.0);
    }
}

/// An element-wise operation, by its number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Opcode(pub Operation);

words! {
    Opcode: |word| Operation::from_number(u8::try_from(word).ok()?).map(Self), |value| value.0 as u32;
}
