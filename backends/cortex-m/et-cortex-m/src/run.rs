//! Executes instructions.

mod border;
mod columns;
#[cfg(feature = "convolution")]
mod convolution;
#[cfg(feature = "depthwise")]
mod depthwise;
mod elementwise;
#[cfg(feature = "float-output")]
mod float_output;
#[cfg(feature = "pools")]
mod pool;
#[cfg(any(feature = "convolution", feature = "depthwise", feature = "float-output", feature = "pools"))]
mod rows;
#[cfg(feature = "softmax")]
mod softmax;
#[cfg(any(feature = "arithmetic", feature = "sum"))]
mod sum;
mod tiles;

use et_core::{Error, Result};
use et_runtime::Listener;

use crate::memory::Operands;
use crate::{Bounds, Instruction};

/// Executes an instruction. A listener hears of rows of long layers.
#[allow(unused_variables, reason = "no layer of a program may be long")]
pub fn run(instruction: &Instruction, operands: Operands<'_, '_>, listener: &mut Listener<'_>) -> Result<()> {
    match instruction {
        Instruction::Quantize(step) => border::quantize(step, operands),
        Instruction::Dequantize(step) => border::dequantize(step, operands),
        #[cfg(feature = "convolution")]
        Instruction::Convolution(step) => convolution::run(step, operands, listener),
        #[cfg(feature = "residual")]
        Instruction::ConvolutionResidual(step) => convolution::run_residual(step, operands, listener),
        #[cfg(feature = "sum")]
        Instruction::ConvolutionAdd(step) => convolution::run_add(step, operands, listener),
        #[cfg(feature = "float-output")]
        Instruction::ConvolutionToFloat(step) => float_output::run(step, operands, listener),
        #[cfg(feature = "depthwise")]
        Instruction::Depthwise(step) => depthwise::run(step, operands, listener),
        #[cfg(feature = "pools")]
        Instruction::Maximum(step) => pool::maximum(step, operands, listener),
        #[cfg(feature = "pools")]
        Instruction::Average(step) => pool::average(step, operands, listener),
        #[cfg(feature = "arithmetic")]
        Instruction::Add(step) => elementwise::add(step, operands),
        #[cfg(feature = "arithmetic")]
        Instruction::Multiply(step) => elementwise::multiply(step, operands),
        #[cfg(feature = "tables")]
        Instruction::Table(step) => elementwise::table(step, operands),
        #[cfg(feature = "softmax")]
        Instruction::Softmax(step) => softmax::run(step, operands),
        #[cfg(feature = "transpose")]
        Instruction::Transpose(step) => border::transpose(step, operands),
        #[allow(unreachable_patterns, reason = "reachable where a feature is missing")]
        _ => Err(Error::DelegateInvalidCompatibility),
    }
}

impl Bounds {
    /// The result of a requantized value.
    #[inline(always)]
    pub(crate) fn clamp(&self, value: i32) -> i8 {
        value.wrapping_add(self.zero).min(self.most).max(self.least) as i8
    }

    /// Whether the limits are those of int8.
    pub const fn is_whole(&self) -> bool {
        self.least <= -128 && self.most >= 127
    }
}
