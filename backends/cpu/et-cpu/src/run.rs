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

use et_core::Result;
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

/// Executes an instruction.
pub fn run(context: &Context<'_, '_, '_>, instruction: &Instruction) -> Result<()> {
    match instruction {
        Instruction::Product(fields) => product::run(context, fields),
        Instruction::Depthwise(fields) => depthwise::run(context, fields),
        Instruction::Pool(fields) => image::pool(context, fields),
        Instruction::Mean(fields) => image::mean(context, fields),
        Instruction::Copy(fields) => copy::run(context, fields),
        Instruction::Softmax(fields) => rowwise::softmax(context, fields),
        Instruction::Normalize(fields) => rowwise::normalize(context, fields),
        Instruction::Attention(fields) => attention::run(context, fields),
        Instruction::BatchMatmul(fields) => matmul::run(context, fields),
        Instruction::Gather(fields) => copy::gather(context, fields),
        Instruction::Elementwise(fields) => elementwise::run(context, fields),
        Instruction::QuantizedProduct(fields) => quantized_product::run(context, fields),
        Instruction::QuantizedDepthwise(fields) => quantized_depthwise::run(context, fields),
        Instruction::QuantizeRows(fields) => quantize_rows::quantize(context, fields),
        Instruction::DequantizeRows(fields) => quantize_rows::dequantize(context, fields),
        Instruction::GroupedProduct(fields) => grouped_product::run(context, fields),
        Instruction::GatherColumns(fields) => gather_columns::run(context, fields),
        Instruction::WideProduct(fields) => wide_product::run(context, fields),
        Instruction::Rotate(fields) => text::rotate(context, fields),
        Instruction::AttendCache(fields) => text::attend(context, fields),
        Instruction::BackToBack(fields) => back_to_back::run(context, fields),
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
