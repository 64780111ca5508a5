//! The backend as an ExecuTorch delegate.

use core::cell::Cell;

use et_core::{Args, Error, Result};
use et_runtime::{Delegate, DelegateSetup, Listener, Workers};

use crate::driver::{self, Job};
use crate::memory::Operands;
use crate::{ALIGNMENT, Blob, Npu, Port};

/// The backend id in program files.
pub const ID: &str = "EtbuildEthosU";

/// What executes command streams in the place of an NPU and its driver.
pub trait Execute {
    /// Executes the command stream of a blob on the scratch memory.
    ///
    /// # Errors
    /// A command stream that cannot be executed.
    fn execute(&self, blob: &Blob<'_>, scratch: &mut [u8]) -> Result<()>;
}

/// What runs a blob.
#[derive(Clone, Copy, Default)]
enum Means<'a> {
    /// The NPU at the address in the blob.
    #[default]
    OnChip,
    /// An NPU behind its driver.
    Npu(&'a dyn Npu),
    /// Something else.
    Other(&'a dyn Execute),
}

/// The delegate of a partition. The default uses the registers at the address in the blob, on bare metal only.
#[derive(Default)]
pub struct Engine<'a> {
    blob: Cell<Option<Blob<'a>>>,
    means: Means<'a>,
    listener: Listener<'a>,
}

/// A delegate for a process, which checks blobs and has no NPU.
pub fn delegate(_workers: &dyn Workers) -> impl Delegate<'_> {
    Engine::default()
}

impl<'a> Engine<'a> {
    /// A delegate with an NPU.
    pub const fn with(npu: &'a dyn Npu) -> Self {
        Self { blob: Cell::new(None), means: Means::Npu(npu), listener: Listener::SILENT }
    }

    /// A delegate that hands its command streams to something else than an NPU.
    pub const fn executed_by(other: &'a dyn Execute) -> Self {
        Self { blob: Cell::new(None), means: Means::Other(other), listener: Listener::SILENT }
    }

    /// A delegate with a listener, for the registers at the address in the blob.
    pub const fn heard_by(listener: Listener<'a>) -> Self {
        Self { blob: Cell::new(None), means: Means::OnChip, listener }
    }

    /// Runs the blob on an NPU.
    fn run(&self, npu: &dyn Npu, blob: &Blob<'a>, arguments: &Args<'a, '_>) -> Result<()> {
        call(blob, arguments, |memory| {
            let base = memory.as_mut_ptr().expose_provenance();
            if !base.is_multiple_of(ALIGNMENT) || !blob.commands().as_ptr().addr().is_multiple_of(ALIGNMENT) {
                return Err(Error::InvalidProgram);
            }
            npu.clean(memory);
            driver::run(npu, &job(blob, base), self.listener)?;
            npu.invalidate(memory);
            Ok(())
        })
    }
}

/// Copies the inputs to the scratch memory, executes, and copies the outputs.
fn call(blob: &Blob<'_>, arguments: &Args<'_, '_>, execute: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
    let (inputs, outputs) = (blob.header().inputs as usize, blob.header().outputs as usize);
    let (scratch, size) = (inputs + outputs, blob.header().scratch as usize);
    for (index, port) in blob.inputs().enumerate() {
        let mut operands = Operands::default();
        let memory = operands.write(arguments, scratch, size)?;
        let input = operands.read(arguments, index, port.count as usize)?;
        part(memory, port)?.copy_from_slice(input);
    }
    execute(Operands::default().write(arguments, scratch, size)?)?;
    for (index, port) in blob.outputs().enumerate() {
        write(arguments, (scratch, size), inputs + index, port)?;
    }
    Ok(())
}

/// The command stream of a blob, with the scratch memory at an address.
fn job(blob: &Blob<'_>, scratch: usize) -> Job {
    let address = |bytes: &[u8]| bytes.as_ptr().expose_provenance();
    Job {
        commands: (address(blob.commands()), blob.header().commands_size),
        bases: [address(blob.weights()), scratch, scratch],
        regions: blob.header().regions,
        config: blob.header().config,
    }
}

/// The elements of a port in the scratch memory.
fn part(memory: &mut [u8], port: Port) -> Result<&mut [u8]> {
    let rest = memory.get_mut(port.offset as usize..).ok_or(Error::InvalidProgram)?;
    rest.get_mut(..port.count as usize).ok_or(Error::InvalidProgram)
}

/// Writes an output of the call: integers, or dequantized float32.
fn write(arguments: &Args<'_, '_>, (scratch, size): (usize, usize), index: usize, port: Port) -> Result<()> {
    let mut operands = Operands::default();
    let elements = part(operands.write(arguments, scratch, size)?, port)?;
    if port.scale == 0.0 {
        operands.write(arguments, index, port.count as usize)?.copy_from_slice(elements);
        return Ok(());
    }
    let size = (port.count as usize).checked_mul(size_of::<f32>()).ok_or(Error::InvalidProgram)?;
    let numbers = operands.write(arguments, index, size)?.as_chunks_mut::<4>().0;
    for (number, element) in numbers.iter_mut().zip(elements) {
        let integer = i32::from(element.cast_signed()).wrapping_sub(port.zero);
        *number = (integer as f32 * port.scale).to_le_bytes();
    }
    Ok(())
}

impl<'a> Delegate<'a> for Engine<'a> {
    fn init(&self, setup: &DelegateSetup<'a>) -> Result<()> {
        self.blob.set(Some(Blob::read(setup.blob)?));
        Ok(())
    }

    fn execute(&self, arguments: &Args<'a, '_>) -> Result<()> {
        let blob = self.blob.get().ok_or(Error::DelegateInvalidHandle)?;
        match self.means {
            Means::OnChip => on_chip(self, &blob, arguments),
            Means::Npu(npu) => self.run(npu, &blob, arguments),
            Means::Other(other) => call(&blob, arguments, |memory| other.execute(&blob, memory)),
        }
    }
}

/// Runs the blob on the NPU at the address that the blob states. A call during another call is refused.
#[cfg(all(target_os = "none", target_has_atomic = "8"))]
#[allow(unsafe_code, reason = "registers at an address that the target's file states")]
fn on_chip<'a>(engine: &Engine<'a>, blob: &Blob<'a>, arguments: &Args<'a, '_>) -> Result<()> {
    use core::sync::atomic::{AtomicBool, Ordering};

    static IS_BUSY: AtomicBool = AtomicBool::new(false);
    if IS_BUSY.swap(true, Ordering::Acquire) {
        return Err(Error::InvalidState);
    }
    // SAFETY: the program file is trusted, as its command stream is: etbuild wrote the address of the target's file. `IS_BUSY` admits
    // one call at a time.
    let npu = unsafe { crate::Mapped::new(blob.header().registers as usize) };
    let result = engine.run(&npu, blob, arguments);
    IS_BUSY.store(false, Ordering::Release);
    result
}

/// A process has no NPU, and processors without atomic instructions have none beside them.
#[cfg(not(all(target_os = "none", target_has_atomic = "8")))]
fn on_chip<'a>(_engine: &Engine<'a>, _blob: &Blob<'a>, _arguments: &Args<'a, '_>) -> Result<()> {
    Err(Error::NotSupported)
}
