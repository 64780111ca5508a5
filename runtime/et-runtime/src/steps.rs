//! Predecoded instructions, for callers with spare memory: a step calls its kernel without access to the file. Firmware
//! has the instructions as constants and links none of this module.

use et_core::{Args, Error, Indices, Kernel, Result};
use et_format::{Chain, Instruction};

use crate::execute::INSTRUCTION_LIMIT;
use crate::{Delegate, Events, Failure, Method, NoEvents, Place, Position};

/// A decoded instruction with its callee.
#[derive(Clone, Copy)]
pub struct Step<'a>(Action<'a>);

#[derive(Clone, Copy)]
enum Action<'a> {
    Kernel(Kernel, Indices<'a>),
    Delegate(&'a dyn Delegate<'a>, Indices<'a>),
    Other(Instruction<'a>),
    /// The error that executing the instruction returns.
    Refused(Error),
}

impl<'a> Method<'a> {
    /// Decodes the instructions of a method with a single chain; empty for a method with several chains, which executes
    /// from the file. An undecodable instruction becomes an error at its execution, the same as without steps.
    pub fn steps(&self) -> Result<impl ExactSizeIterator<Item = Step<'a>> + use<'a>> {
        let (method, chains) = (*self, self.plan.plan.chains()?);
        let chain = if chains.len() == 1 { Some(chains.get(0)?) } else { None };
        let count = chain.map_or(Ok(0), Chain::instruction_count)?;
        Ok((0..count).map(move |index| {
            chain.map_or(Step(Action::Refused(Error::Internal)), |chain| method.step_at(chain, index))
        }))
    }

    /// Executes the method with the steps of [`Method::steps`]; without steps, the same as [`Method::execute`].
    pub fn execute_steps(&self, steps: &[Step<'a>]) -> core::result::Result<(), Failure> {
        self.execute_steps_heard(steps, &mut NoEvents)
    }

    /// The same with a listener. A program without steps, of several chains, is executed unheard.
    pub fn execute_steps_heard(
        &self,
        steps: &[Step<'a>],
        events: &mut impl Events,
    ) -> core::result::Result<(), Failure> {
        if steps.is_empty() {
            return self.execute();
        }
        let (mut left, mut index) = (INSTRUCTION_LIMIT, 0_u32);
        while let Some(step) = steps.get(index as usize) {
            left = left.checked_sub(1).ok_or(Place::Instruction(index).failure(Error::OutOfResources))?;
            let at = Position { chain: 0, instruction: index };
            events.begin(at);
            match self.take(step, index) {
                Ok(next) if next as usize <= steps.len() => {
                    events.end(at).map_err(|error| Place::Instruction(index).failure(error))?;
                    index = next;
                }
                Ok(_) => return Err(Place::Instruction(index).failure(Error::InvalidProgram)),
                Err(error) => return Err(Place::Instruction(index).failure(error)),
            }
        }
        Ok(())
    }

    /// Executes the step at `index` and returns the index of the next step.
    #[inline]
    fn take(&self, step: &Step<'a>, index: u32) -> Result<u32> {
        match step.0 {
            Action::Kernel(kernel, arguments) => kernel(&Args::new(self.values.0, arguments))?,
            Action::Delegate(delegate, arguments) => delegate.execute(&Args::new(self.values.0, arguments))?,
            Action::Other(instruction) => return self.follow(instruction, index),
            Action::Refused(error) => return Err(error),
        }
        Ok(index + 1)
    }

    fn step_at(&self, chain: Chain<'a>, index: usize) -> Step<'a> {
        Step(self.action_of(chain, index).unwrap_or_else(Action::Refused))
    }

    fn action_of(&self, chain: Chain<'a>, index: usize) -> Result<Action<'a>> {
        Ok(match chain.instruction(index)? {
            Instruction::KernelCall { operator, arguments } => Action::Kernel(self.kernel(operator)?, arguments),
            Instruction::DelegateCall { delegate, arguments } => Action::Delegate(self.delegate(delegate)?, arguments),
            other => Action::Other(other),
        })
    }
}

impl core::fmt::Debug for Step<'_> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.0 {
            Action::Kernel(_, arguments) => write!(formatter, "kernel on {arguments:?}"),
            Action::Delegate(_, arguments) => write!(formatter, "delegate on {arguments:?}"),
            Action::Other(instruction) => write!(formatter, "{instruction:?}"),
            Action::Refused(error) => write!(formatter, "{error:?}"),
        }
    }
}
