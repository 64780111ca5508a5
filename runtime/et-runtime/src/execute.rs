//! The instruction loop.

use et_core::{Args, Error, Kernel, Result};
use et_format::{Chain, Instruction};

use crate::{Delegate, Failure, Method, Place};

/// The limit of instructions per execution, the same as upstream's: a malformed file could loop forever.
pub const INSTRUCTION_LIMIT: u32 = 10_000_000;

impl<'a> Method<'a> {
    /// Executes the method on the inputs that were set.
    pub fn execute(&self) -> core::result::Result<(), Failure> {
        self.execute_at_most(INSTRUCTION_LIMIT)
    }

    /// Executes the method; after `limit` instructions, gives up.
    pub fn execute_at_most(&self, limit: u32) -> core::result::Result<(), Failure> {
        let mut left = limit;
        let mut base = 0;
        for chain in self.plan.plan.chains()?.iter() {
            let chain = chain?;
            let count = chain.instruction_count()? as u32;
            self.execute_chain(chain, count, base, &mut left)?;
            base = base.wrapping_add(count);
        }
        Ok(())
    }

    fn execute_chain(
        &self,
        chain: Chain<'a>,
        count: u32,
        base: u32,
        left: &mut u32,
    ) -> core::result::Result<(), Failure> {
        let mut next = 0;
        while next < count {
            let instruction = Place::Instruction(base.wrapping_add(next));
            *left = left.checked_sub(1).ok_or(instruction.failure(Error::OutOfResources))?;
            next = self.step(chain, next).map_err(|error| instruction.failure(error))?;
            if next > count {
                return Err(instruction.failure(Error::InvalidProgram));
            }
        }
        Ok(())
    }

    /// Executes instruction `index` and returns the index of the next instruction.
    fn step(&self, chain: Chain<'a>, index: u32) -> Result<u32> {
        self.follow(chain.instruction(index as usize)?, index)
    }

    /// Executes `instruction`, the instruction at `index`, and returns the index of the next instruction.
    pub(crate) fn follow(&self, instruction: Instruction<'a>, index: u32) -> Result<u32> {
        match instruction {
            Instruction::KernelCall { operator, arguments } => {
                self.kernel(operator)?(&Args::new(self.values.0, arguments))?;
            }
            Instruction::DelegateCall { delegate, arguments } => {
                self.delegate(delegate)?.execute(&Args::new(self.values.0, arguments))?;
            }
            Instruction::MoveCall { from, to } => self.values.copy(from, to)?,
            Instruction::JumpFalseCall { condition, destination } => {
                if !self.values.is_true(condition)? {
                    return Ok(destination);
                }
            }
            Instruction::FreeCall { value } => self.values.free(value)?,
        }
        Ok(index + 1)
    }

    pub(crate) fn kernel(&self, operator: u32) -> Result<Kernel> {
        self.kernels.get(operator as usize).copied().ok_or(Error::InvalidProgram)
    }

    pub(crate) fn delegate(&self, delegate: u32) -> Result<&'a dyn Delegate<'a>> {
        self.delegates.get(delegate as usize).copied().ok_or(Error::InvalidProgram)
    }
}
