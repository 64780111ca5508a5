//! The CPU backend as an ExecuTorch delegate, and the execution of instructions: each file below resolves the operand tensors of an
//! instruction, partitions the work and calls the kernel.

mod attention;
mod col2im;
mod conv2d;
mod copy;
mod elementwise;
mod embedding_bag;
mod experts;
mod fused_mlp;
mod gather;
mod recurrence;
mod recurrent;
mod rows;
mod segments;
mod text;
mod window;

use core::cell::Cell;

use et_core::{Args, Error, Result};
use et_gemm::{Architecture, Isa};
use et_runtime::{Delegate, DelegateEvent, DelegateSetup, Workers};
use et_simd::Level;

use crate::memory::Memory;
use crate::split::Context;
use crate::{Blob, Instruction, SlotNumber};

/// The backend id in program files.
pub const ID: &str = "EtbuildCpu";

/// The delegate instance of a partition.
struct Cpu<'a, F> {
    workers: &'a dyn Workers,
    loaded: Cell<Option<(Blob<'a>, Isa, Level)>>,
    /// Called after each instruction, with the memory of the call.
    observe: F,
    /// The ISA of the kernels instead of the best ISA of this CPU.
    isa: Option<Isa>,
}

/// A delegate that executes its kernels on `workers`, with the best ISA of this CPU.
pub fn delegate(workers: &dyn Workers) -> impl Delegate<'_> {
    Cpu { workers, loaded: Cell::new(None), observe: ignore, isa: None }
}

/// A delegate as of [`delegate`] with the GEMM kernels of `isa`. Loading a blob fails if this CPU lacks the ISA, or if the blob
/// is for another architecture.
pub fn delegate_of(workers: &dyn Workers, isa: Isa) -> impl Delegate<'_> {
    Cpu { workers, loaded: Cell::new(None), observe: ignore, isa: Some(isa) }
}

/// A delegate as of [`delegate`] that calls `observe` after each instruction, on the calling thread, with the memory of the call.
pub fn observed_delegate<'a>(
    workers: &'a dyn Workers,
    observe: impl Fn(&Instruction, &Memory<'_, '_>) + 'a,
) -> impl Delegate<'a> {
    Cpu { workers, loaded: Cell::new(None), observe, isa: None }
}

/// A delegate as of [`delegate`] that reports each instruction to `listen`, on the calling thread.
pub fn reporting_delegate<'a>(workers: &'a dyn Workers, listen: impl Fn(&DelegateEvent<'_>) + 'a) -> impl Delegate<'a> {
    observed_delegate(workers, move |instruction, memory| {
        let results = |visit: &mut dyn FnMut(&[u8])| memory.written(instruction, visit);
        listen(&DelegateEvent { name: instruction.name(), instruction, duration: None, results: &results });
    })
}

const fn ignore(_instruction: &Instruction, _memory: &Memory<'_, '_>) {}

impl<'a, F: Fn(&Instruction, &Memory<'_, '_>)> Delegate<'a> for Cpu<'a, F> {
    /// Selects the ISA and validates every instruction; packed weights are not copied.
    fn init(&self, setup: &DelegateSetup<'a>) -> Result<()> {
        let blob = Blob::parse(setup.blob)?;
        let architecture = Architecture::from_number(blob.header().architecture).ok_or(Error::InvalidProgram)?;
        let isa = match self.isa {
            Some(isa) => Some(isa).filter(|isa| isa.architecture() == architecture && isa.is_available()),
            None => architecture.detect(),
        };
        let isa = isa.ok_or(Error::DelegateInvalidCompatibility)?;
        for instruction in blob.instructions() {
            if !instruction?.is_compiled() {
                // The kernels of this binary were selected for another program.
                return Err(Error::DelegateInvalidCompatibility);
            }
        }
        if blob.has_dynamic_sizes() && !cfg!(feature = "dynamic-sizes") {
            return Err(Error::DelegateInvalidCompatibility);
        }
        let level = Level::detect().ok_or(Error::DelegateInvalidCompatibility)?;
        self.loaded.set(Some((blob, isa, level)));
        Ok(())
    }

    fn execute(&self, arguments: &Args<'a, '_>) -> Result<()> {
        let (blob, isa, level) = self.loaded.get().ok_or(Error::DelegateInvalidHandle)?;
        let memory = Memory::new(blob, arguments)?;
        let threads = blob.header().threads as usize;
        let context = Context { memory: &memory, workers: self.workers, threads, isa, level };
        memory.blob().instructions().try_for_each(|instruction| {
            let instruction = instruction?;
            run(&context, &instruction)?;
            (self.observe)(&instruction, &memory);
            Ok(())
        })
    }
}

/// Executes an instruction by the function beside its name. An instruction that is not compiled references no function,
/// so the linker drops the kernels that the program does not use.
macro_rules! execute {
    ($instruction:ident, $context:ident, $($name:ident => $function:path,)*) => {
        match $instruction {
            $(Instruction::$name(fields) if crate::$name::IS_COMPILED => $function($context, fields),)*
            _ => Err(Error::NotSupported),
        }
    };
}

/// Executes an instruction.
///
/// # Errors
/// [`Error::NotSupported`] for an instruction whose kernel is not compiled.
fn run(context: &Context<'_, '_, '_>, instruction: &Instruction) -> Result<()> {
    execute! { instruction, context,
        Conv2d => conv2d::run,
        Depthwise => window::depthwise_conv2d,
        Pool => window::pool,
        Mean => rows::mean,
        Copy => copy::run,
        Softmax => rows::softmax,
        Normalize => rows::normalize,
        Attention => attention::run,
        BatchMatmul => attention::batch_matmul,
        Gather => gather::rows,
        Elementwise => elementwise::run,
        QuantizeRows => rows::quantize,
        DequantizeRows => rows::dequantize,
        GatherColumns => gather::columns,
        Rotate => text::rotate,
        AttendCache => text::attend,
        AttendBlock => text::attend_block,
        AttendSegments => segments::run,
        FusedMlp => fused_mlp::run,
        ExpertGemm => experts::run,
        TopK => rows::topk,
        TopKWithin => rows::topk_within,
        Recurrence => recurrence::run,
        ConvCache => recurrence::convolve,
        Col2im => col2im::run,
        RecurrentLayer => recurrent::run,
        EmbeddingBag => embedding_bag::run,
    }
}

/// The workspace size per thread of an instruction on any CPU of an architecture, in bytes. `size` is the size of a slot in bytes.
pub fn workspace(instruction: &Instruction, architecture: Architecture, size: impl Fn(SlotNumber) -> usize) -> usize {
    architecture.isas().map(|isa| workspace_of(instruction, isa, &size)).max().unwrap_or(0)
}

fn workspace_of(instruction: &Instruction, isa: Isa, size: &dyn Fn(SlotNumber) -> usize) -> usize {
    match instruction {
        Instruction::Conv2d(fields) => conv2d::workspace(fields, isa, size(fields.weights.slot)),
        Instruction::RecurrentLayer(fields) => recurrent::workspace(fields, isa, size(fields.gemm.weights.slot)),
        Instruction::Attention(fields) => attention::workspace(fields),
        Instruction::AttendSegments(fields) => segments::workspace(fields),
        Instruction::ExpertGemm(fields) => experts::workspace(fields, isa),
        Instruction::FusedMlp(fields) => fused_mlp::workspace(fields, isa),
        Instruction::AttendCache(fields) | Instruction::AttendBlock(crate::AttendBlock { causal: fields }) => {
            text::workspace(fields)
        }
        Instruction::Elementwise(fields) => elementwise::workspace(fields),
        Instruction::TopKWithin(fields) => rows::workspace(fields),
        _ => 0,
    }
}
