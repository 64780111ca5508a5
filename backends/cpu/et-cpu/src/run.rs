//! Executes instructions: one file for each, which finds the operands, splits the work and calls the kernel.

mod attention;
mod back_to_back;
mod copy;
mod depthwise;
mod elementwise;
mod gather_columns;
mod grouped_product;
mod image;
mod images;
mod matmul;
mod product;
mod quantize_rows;
mod quantized_depthwise;
mod quantized_product;
mod rectangle;
mod rowwise;
mod text;
mod wide_product;

use et_core::{Error, Result};
use et_gemm::Isa;
use et_runtime::Workers;
use et_simd::Level;

use crate::Instruction;
use crate::memory::Memory;

/// What instructions run with.
pub struct Context<'r, 'a, 'c> {
    /// The memory of the call.
    pub memory: &'r Memory<'a, 'c>,
    /// The threads.
    pub workers: &'r dyn Workers,
    /// The most threads that there is memory for.
    pub threads: usize,
    /// The instruction set that weights are packed for.
    pub isa: Isa,
    /// The instruction set of everything else.
    pub level: Level,
}

/// Executes an instruction by the function beside its name. What is not compiled is not called, so that neither are the
/// kernels of what the program does not have.
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
/// [`Error::NotSupported`] for one that this build leaves out.
pub fn run(context: &Context<'_, '_, '_>, instruction: &Instruction) -> Result<()> {
    execute! { instruction, context,
        Product => product::run,
        Depthwise => depthwise::run,
        Pool => image::pool,
        Mean => image::mean,
        Copy => copy::run,
        Softmax => rowwise::softmax,
        Normalize => rowwise::normalize,
        Attention => attention::run,
        BatchMatmul => matmul::run,
        Gather => copy::gather,
        Elementwise => elementwise::run,
        QuantizedProduct => quantized_product::run,
        QuantizedDepthwise => quantized_depthwise::run,
        QuantizeRows => quantize_rows::quantize,
        DequantizeRows => quantize_rows::dequantize,
        GroupedProduct => grouped_product::run,
        GatherColumns => gather_columns::run,
        WideProduct => wide_product::run,
        Rotate => text::rotate,
        AttendCache => text::attend,
        BackToBack => back_to_back::run,
    }
}

/// The bytes of its own memory that a thread needs for an instruction.
pub fn workspace(instruction: &Instruction, isa: Isa) -> usize {
    match instruction {
        Instruction::Product(fields) => product::workspace(fields, isa),
        Instruction::QuantizedProduct(fields) => quantized_product::workspace(fields, isa),
        Instruction::GroupedProduct(fields) => grouped_product::workspace(fields, isa),
        Instruction::WideProduct(fields) => wide_product::workspace(fields, isa),
        Instruction::Attention(fields) => attention::workspace(fields),
        Instruction::BackToBack(fields) => back_to_back::workspace(fields, isa),
        Instruction::AttendCache(fields) => text::workspace(fields),
        Instruction::Elementwise(fields) => elementwise::workspace(fields),
        _ => 0,
    }
}
