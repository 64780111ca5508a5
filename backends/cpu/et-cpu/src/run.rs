//! Executes instructions: each file resolves the operand tensors of an instruction, partitions the work and calls the kernel.

mod attention;
mod conv2d;
mod copy;
mod elementwise;
mod fused_mlp;
mod gather;
mod rows;
mod text;
mod window;

use et_core::{Error, Result};
use et_gemm::{Architecture, Isa};
use et_runtime::Workers;
use et_simd::Level;

use crate::Instruction;
use crate::memory::Memory;

/// The execution context of instructions.
pub struct Context<'r, 'a, 'c> {
    /// The operand memory of the delegate call.
    pub memory: &'r Memory<'a, 'c>,
    /// The thread pool.
    pub workers: &'r dyn Workers,
    /// The maximum number of threads in the memory plan of the blob.
    pub threads: usize,
    /// The instruction set of the GEMM micro-kernels.
    pub isa: Isa,
    /// The SIMD level of all further kernels.
    pub level: Level,
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
pub fn run(context: &Context<'_, '_, '_>, instruction: &Instruction) -> Result<()> {
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
        FusedMlp => fused_mlp::run,
    }
}

/// The workspace size per thread of an instruction on any CPU of an architecture, in bytes.
pub fn workspace(instruction: &Instruction, architecture: Architecture) -> usize {
    architecture.isas().map(|isa| workspace_of(instruction, isa)).max().unwrap_or(0)
}

fn workspace_of(instruction: &Instruction, isa: Isa) -> usize {
    match instruction {
        Instruction::Conv2d(fields) => conv2d::workspace(fields, isa),
        Instruction::Attention(fields) => attention::workspace(fields),
        Instruction::FusedMlp(fields) => fused_mlp::workspace(fields, isa),
        Instruction::AttendCache(fields) => text::workspace(fields),
        Instruction::Elementwise(fields) => elementwise::workspace(fields),
        _ => 0,
    }
}
