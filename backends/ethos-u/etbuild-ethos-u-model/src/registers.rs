//! The state of the registers that commands set.

pub mod name;

use std::collections::BTreeMap;

use crate::command::Command;
use crate::fault::Problem;
use crate::npu::{Npu, Series};
use name::Register;

/// The registers of an NPU. Nothing is set at the beginning.
#[derive(Debug)]
pub struct Registers {
    known: [&'static [Register]; 2],
    values: BTreeMap<Register, (u16, u32)>,
}

impl Registers {
    /// The registers of an NPU.
    pub const fn of(npu: Npu) -> Self {
        let own = match npu.series {
            Series::U55 | Series::U65 => name::U55,
            Series::U85 => name::U85,
        };
        Self { known: [name::COMMON, own], values: BTreeMap::new() }
    }

    /// Sets the register of a command.
    ///
    /// # Errors
    /// [`Problem::Command`] for a register that the NPU has not.
    pub fn set(&mut self, command: Command) -> Result<(), Problem> {
        let registers = self.known.into_iter().flatten();
        let register = registers.copied().find(|register| register.code == command.code);
        let register = register.ok_or(Problem::Command(command.code))?;
        self.values.insert(register, (command.parameter, command.payload));
        Ok(())
    }

    fn get(&self, register: Register) -> Result<(u16, u32), Problem> {
        self.values.get(&register).copied().ok_or(Problem::NeverSet(register.name))
    }

    /// The parameter of 16 bits.
    pub fn parameter(&self, register: Register) -> Result<u16, Problem> {
        Ok(self.get(register)?.0)
    }

    /// The parameter as a signed integer.
    pub fn signed(&self, register: Register) -> Result<i64, Problem> {
        Ok(i64::from(self.parameter(register)?.cast_signed()))
    }

    /// A size, of which registers have one less.
    pub fn size(&self, register: Register) -> Result<usize, Problem> {
        Ok(usize::from(self.parameter(register)?) + 1)
    }

    /// The payload of 32 bits.
    pub fn payload(&self, register: Register) -> Result<u32, Problem> {
        Ok(self.get(register)?.1)
    }

    /// An address or distance: the payload, with the parameter as upper bits.
    pub fn address(&self, register: Register) -> Result<u64, Problem> {
        let (upper, lower) = self.get(register)?;
        Ok(u64::from(upper) << 32 | u64::from(lower))
    }
}

/// Some bits of a parameter.
pub const fn bits(parameter: u16, start: u32, count: u32) -> u16 {
    parameter >> start & ((1 << count) - 1)
}
