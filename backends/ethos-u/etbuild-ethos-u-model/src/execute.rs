//! The execution of a command stream from its first command to its stop.

use crate::command::{Command, Commands, PAYLOAD};
use crate::fault::{Fault, Problem};
use crate::machine::Machine;
use crate::memory::Memory;
use crate::npu::{Npu, Series};
use crate::operation::OPERATIONS;
use crate::registers::name;

/// The command that ends a stream.
const STOP: u16 = 0x000;
/// Commands about interrupts, order and counters: the model finishes each operation before the next.
const ORDER: [u16; 4] = [0x001, 0x011, 0x012, 0x013];
/// Operations that the model knows and does not have.
const ABSENT: [(u16, &str); 2] = [(0x007, "resize"), (0x4100, "branch")];
/// The bit of a code that registers have, or operations where the command has a payload.
const KIND: u16 = 0x100;

/// What a stream did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// Convolutions, pools and operations on elements.
    pub operations: usize,
    /// Copies.
    pub copies: usize,
}

/// The command of a copy.
const COPY: u16 = 0x010;

/// Executes the bytes of a command stream, as an NPU with this configuration register does.
///
/// # Errors
/// A [`Fault`] for a command that the NPU, the model or the memory has not; what commands before it wrote stays.
pub fn execute(commands: &[u8], config: u32, memory: &mut Memory<'_>) -> Result<Executed, Fault> {
    let npu = Npu::of(config).ok_or(Fault { offset: 0, problem: Problem::Npu(config) })?;
    let mut machine = Machine::new(npu, memory);
    let mut commands = Commands::of(commands);
    let mut executed = Executed::default();
    loop {
        let command = commands.next()?;
        if command.code == STOP {
            return Ok(executed);
        }
        step(&mut machine, command, &mut executed).map_err(|problem| Fault { offset: command.offset, problem })?;
    }
}

fn step(machine: &mut Machine<'_, '_>, command: Command, executed: &mut Executed) -> Result<(), Problem> {
    let is_register = (command.code & KIND != 0) != (command.code & PAYLOAD != 0);
    if is_register {
        machine.registers.set(command)?;
        return check_cores(machine, command);
    }
    if ORDER.contains(&command.code) {
        return Ok(());
    }
    let absent = ABSENT.iter().find(|(code, _)| *code == command.code && machine.npu.series == Series::U85);
    let unknown = absent.map_or(Problem::Command(command.code), |(_, what)| Problem::Unsupported(what));
    let (code, operation) = OPERATIONS.iter().find(|(code, _)| *code == command.code).ok_or(unknown)?;
    operation(machine, command.parameter)?;
    if *code == COPY {
        executed.copies += 1
    } else {
        executed.operations += 1
    }
    Ok(())
}

/// The cores of U65 that a stream uses are those of the NPU.
fn check_cores(machine: &Machine<'_, '_>, command: Command) -> Result<(), Problem> {
    let is_other =
        command.code == name::PARALLEL_MODE.code && usize::from(command.parameter) + 1 != machine.npu.cores();
    match is_other && machine.npu.series == Series::U65 {
        true => Err(Problem::Contradiction("the stream is for another number of cores")),
        false => Ok(()),
    }
}
