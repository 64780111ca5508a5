//! The instruction loop of a decoded method.

use et_core::{Args, Error, Indices, Result};

use super::load::bytes;
use super::{DecodedInstruction, DecodedMethod, DecodedPlan, Span};
use crate::{Events, Failure, INSTRUCTION_LIMIT, Place, Position};

impl<'a, P: DecodedPlan, L: Events + Copy> DecodedMethod<'a, P, L> {
    /// Executes the method on the inputs that were set.
    pub fn execute(&self) -> core::result::Result<(), Failure> {
        let mut events = self.listener;
        let (mut left, mut index) = (INSTRUCTION_LIMIT, 0_u32);
        while let Some(instruction) = P::INSTRUCTIONS.get(index as usize) {
            let failure = |error| Place::Instruction(index).failure(error);
            if const { !DecodedInstruction::is_straight(P::INSTRUCTIONS) } {
                left = left.checked_sub(1).ok_or(failure(Error::OutOfResources))?;
            }
            let at = Position { chain: 0, instruction: index };
            events.begin(at);
            let next = self.follow(*instruction, index).map_err(failure)?;
            events.end(at).map_err(failure)?;
            index = next;
        }
        Ok(())
    }

    /// Executes the instruction at `index` and returns the index of the next instruction.
    fn follow(&self, instruction: DecodedInstruction, index: u32) -> Result<u32> {
        match instruction {
            DecodedInstruction::Kernel(kernel, arguments) => {
                let kernel = P::KERNELS.get(usize::from(kernel)).ok_or(Error::InvalidProgram)?;
                kernel(&self.arguments(arguments)?)?;
            }
            DecodedInstruction::Delegate(delegate, arguments) => {
                let delegate = self.delegates.get(usize::from(delegate)).ok_or(Error::InvalidProgram)?;
                delegate.execute(&self.arguments(arguments)?)?;
            }
            _ if const { DecodedInstruction::is_straight(P::INSTRUCTIONS) } => return Err(Error::Internal),
            DecodedInstruction::Move(from, to) => self.values.copy(from, to)?,
            DecodedInstruction::JumpFalse(condition, destination) => {
                if !self.values.is_true(condition)? {
                    return Ok(destination);
                }
            }
            DecodedInstruction::Free(value) => self.values.free(value)?,
        }
        Ok(index + 1)
    }

    fn arguments(&self, arguments: Span) -> Result<Args<'a, 'a>> {
        Ok(Args::new(self.values.0, Indices::new(bytes::<P>(arguments)?)))
    }
}
