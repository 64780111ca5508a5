//! The driver for Ethos-U55, U65 and U85: resets the NPU, hands over a command stream, and waits for its end.
//!
//! Arm's technical reference manuals describe the registers. All three series have the same registers, but for the limits of the memory ports.

use core::sync::atomic::{Ordering, fence};

use et_core::{Error, Result};
use et_runtime::{Events, Listener};

use crate::Npu;

/// The offsets of registers in bytes.
pub mod register {
    /// The state of the NPU: bits of [`super::status`].
    pub const STATUS: usize = 0x04;
    /// Starts the NPU and clears interrupts: bits of [`super::command`].
    pub const COMMAND: usize = 0x08;
    /// Resets the NPU to the levels of privilege and security in the bits.
    pub const RESET: usize = 0x0c;
    /// The address of the command stream: the lower word; the upper one follows.
    pub const QUEUE: usize = 0x10;
    /// The memory port of the command stream.
    pub const QUEUE_CONFIG: usize = 0x1c;
    /// The size of the command stream in bytes.
    pub const QUEUE_SIZE: usize = 0x20;
    /// The levels of privilege and security that the NPU has.
    pub const PROTECTION: usize = 0x24;
    /// The kind and the size of the NPU.
    pub const CONFIG: usize = 0x28;
    /// The memory port of each region, two bits each.
    pub const REGIONS: usize = 0x3c;
    /// The limits of the memory ports of U55 and U65, or the attributes of the memories of U85: four words.
    pub const MEMORIES: usize = 0x40;
    /// The limits of the memory ports of U85: two words.
    pub const PORTS: usize = 0x50;
    /// The address of each region: a lower and an upper word.
    pub const BASES: usize = 0x80;
}

/// The bits of [`register::STATUS`].
pub mod status {
    /// The NPU runs.
    pub const RUNNING: u32 = 1 << 0;
    /// The interrupt is raised.
    pub const INTERRUPT: u32 = 1 << 1;
    /// An access to memory failed.
    pub const BUS_FAULT: u32 = 1 << 2;
    /// The NPU resets.
    pub const RESETTING: u32 = 1 << 3;
    /// The command stream has an invalid command.
    pub const COMMAND_FAULT: u32 = 1 << 4;
    /// The end of the command stream is reached.
    pub const END: u32 = 1 << 5;
    /// The weights cannot be decoded (U55, U65).
    pub const WEIGHT_FAULT: u32 = 1 << 7;
    /// The memory of the NPU has a wrong bit.
    pub const MEMORY_FAULT: u32 = 1 << 8;
    /// A branch of the command stream failed (U85).
    pub const BRANCH_FAULT: u32 = 1 << 9;
    /// All faults.
    pub const FAULTS: u32 = BUS_FAULT | COMMAND_FAULT | WEIGHT_FAULT | MEMORY_FAULT | BRANCH_FAULT;
}

/// The bits of [`register::COMMAND`].
pub mod command {
    /// Runs the command stream.
    pub const RUN: u32 = 1 << 0;
    /// Clears the interrupt.
    pub const CLEAR_INTERRUPT: u32 = 1 << 1;
    /// Allows clock gating and power gating of an idle NPU.
    pub const IDLE: u32 = 0b1100;
}

/// The product in [`register::CONFIG`], from bit 28 on.
const PRODUCT: u32 = 28;
/// The product number of Ethos-U85.
const U85: u32 = 2;
/// The bits of [`register::CONFIG`] that a command stream depends on: products, and the logarithm of multiplications per cycle.
const KIND: u32 = 0xf000_000f;
/// The port of region 0 in [`register::REGIONS`], the weights: the command stream lies beside them.
const WEIGHTS_PORT: u32 = 0b11;
/// Outstanding transfers of a port of U55 and U65: 32 reads and 16 writes.
const LIMIT: u32 = 31 << 16 | 15 << 24;
/// Outstanding transfers of a port of U85: 64 reads, 32 writes, bursts of 256 bytes.
const LIMIT_U85: u32 = 63 | 31 << 8 | 2 << 16;
/// The attributes of the memories of U85: two for SRAM, two for the external port.
const MEMORIES_U85: [u32; 4] = [0, 0, 1 << 2, 1 << 2];
/// Reads of the status before a reset counts as failed.
const PATIENCE: usize = 100_000;

/// A command stream with its memory.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// The address of the command stream, and its size in bytes.
    pub commands: (usize, u32),
    /// The addresses of weights, scratch memory and fast scratch memory; both scratch memories are equal.
    pub bases: [usize; 3],
    /// The memory port of each region.
    pub regions: u32,
    /// The kind of NPU that the command stream is for.
    pub config: u32,
}

/// Whether a command stream for an NPU runs on another: the product and the multiplications per cycle are equal.
pub const fn is_for(stream: u32, npu: u32) -> bool {
    stream & KIND == npu & KIND
}

/// Runs a command stream to its end.
///
/// # Errors
/// [`Error::DelegateInvalidCompatibility`] for a command stream of another NPU; [`Error::AccessFailed`] for an NPU that does not reset or reports a
/// fault, or whose board gives the wait up.
pub fn run(npu: &dyn Npu, job: &Job, listener: Listener<'_>) -> Result<()> {
    if !is_for(job.config, npu.read(register::CONFIG)) {
        return Err(Error::DelegateInvalidCompatibility);
    }
    reset(npu)?;
    set_ports(npu, job);
    set_address(npu, register::QUEUE, job.commands.0);
    npu.write(register::QUEUE_SIZE, job.commands.1);
    for (region, base) in job.bases.iter().enumerate() {
        set_address(npu, register::BASES + 8 * region, *base);
    }
    // The NPU reads what the processor wrote before, and keeps clock and power until its end.
    fence(Ordering::SeqCst);
    npu.write(register::COMMAND, command::RUN);
    let result = finish(npu, listener);
    fence(Ordering::SeqCst);
    result
}

/// Resets the NPU to the program's levels of privilege and security.
fn reset(npu: &dyn Npu) -> Result<()> {
    let levels = npu.levels();
    npu.write(register::RESET, levels);
    let is_ready = |_| npu.read(register::STATUS) & status::RESETTING == 0;
    let has_levels = (0..PATIENCE).any(is_ready) && npu.read(register::PROTECTION) & 0b11 == levels;
    has_levels.then_some(()).ok_or(Error::AccessFailed)
}

fn set_ports(npu: &dyn Npu, job: &Job) {
    let is_u85 = job.config >> PRODUCT == U85;
    let memories = if is_u85 { MEMORIES_U85 } else { [LIMIT; 4] };
    for (index, value) in memories.iter().enumerate() {
        npu.write(register::MEMORIES + 4 * index, *value);
    }
    if is_u85 {
        npu.write(register::PORTS, LIMIT_U85);
        npu.write(register::PORTS + 4, LIMIT_U85);
    }
    npu.write(register::QUEUE_CONFIG, job.regions & WEIGHTS_PORT);
    npu.write(register::REGIONS, job.regions);
}

fn set_address(npu: &dyn Npu, register: usize, address: usize) {
    let address = address as u64;
    npu.write(register, address as u32);
    npu.write(register + 4, (address >> 32) as u32);
}

/// Waits for the interrupt, and says whether the end was reached without a fault. After a failure the NPU is reset, so that it writes no
/// more to memory that the caller takes back.
fn finish(npu: &dyn Npu, mut listener: Listener<'_>) -> Result<()> {
    let (mut state, mut turn) = (npu.read(register::STATUS), 0_u32);
    while state & (status::INTERRUPT | status::FAULTS) == 0 && npu.wait(turn) {
        listener.pulse();
        turn = turn.saturating_add(1);
        state = npu.read(register::STATUS);
    }
    npu.write(register::COMMAND, command::CLEAR_INTERRUPT | command::IDLE);
    if state & status::FAULTS == 0 && state & status::END != 0 {
        return Ok(());
    }
    reset(npu)?;
    Err(Error::AccessFailed)
}
