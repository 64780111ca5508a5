//! What is known of the registers.

use super::instruction::{Register, Write};

/// What is known of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Its value.
    Constant(u32),
    /// A value that was rounded down to a multiple of a number of bytes.
    Rounded(u32),
}

/// The registers of a processor, of which little is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registers([Option<Known>; 32]);

impl Registers {
    pub const fn get(&self, register: Register) -> Option<Known> {
        self.0[register as usize & 31]
    }

    /// The constants in the registers of a mask.
    pub fn constants(&self, mask: u32) -> impl Iterator<Item = u32> + '_ {
        let known = self.0.iter().enumerate().filter(move |(register, _)| mask >> register & 1 == 1);
        known.filter_map(|(_, known)| match known {
            Some(Known::Constant(value)) => Some(*value),
            _ => None,
        })
    }

    /// After an instruction that writes.
    pub fn write(&mut self, write: Write) {
        match write {
            Write::Nothing => {}
            Write::Constant(to, value) => self.set(to, Some(Known::Constant(value))),
            Write::Sum(to, from, by) => self.set(
                to,
                match self.get(from) {
                    Some(Known::Constant(value)) => Some(Known::Constant(value.wrapping_add_signed(by))),
                    known => known.filter(|_| by == 0),
                },
            ),
            Write::High(to, half) => {
                let low = match self.get(to) {
                    Some(Known::Constant(value)) => value & 0xffff,
                    _ => return self.set(to, None),
                };
                self.set(to, Some(Known::Constant(half << 16 | low)));
            }
            Write::Rounded(to, bytes) => self.set(to, Some(Known::Rounded(bytes))),
            Write::Unknown(mask) => self.forget(mask),
        }
    }

    /// The registers of a mask can have any value.
    pub fn forget(&mut self, mask: u32) {
        (0..32).filter(|register| mask >> register & 1 == 1).for_each(|register| self.set(register, None));
    }

    /// Keeps the registers of which both paths know the same; whether a register was forgotten.
    pub fn keep_common(&mut self, other: &Self) -> bool {
        let mut has_changed = false;
        for (known, other) in self.0.iter_mut().zip(&other.0) {
            if known.is_some() && known != other {
                *known = None;
                has_changed = true;
            }
        }
        has_changed
    }

    fn set(&mut self, register: Register, known: Option<Known>) {
        self.0[register as usize & 31] = known;
    }
}
