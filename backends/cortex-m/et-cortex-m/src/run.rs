//! Executes instructions.

mod border;
mod columns;
#[cfg(any(feature = "convolution", feature = "int4"))]
mod convolution;
#[cfg(feature = "copies")]
mod copy;
#[cfg(feature = "depthwise")]
mod depthwise;
mod elementwise;
#[cfg(any(feature = "float-output", feature = "int4-float-output"))]
mod float_output;
mod int16;
#[cfg(any(feature = "int4", feature = "int4-float-output"))]
mod int4;
#[cfg(any(feature = "pools", feature = "int16-pools"))]
mod pool;
#[cfg(feature = "recurrent")]
mod recurrent;
mod rows;
#[cfg(feature = "softmax")]
mod softmax;
#[cfg(any(feature = "depthwise", feature = "int16-depthwise"))]
mod spot;
#[cfg(any(feature = "arithmetic", feature = "sum"))]
mod sum;
mod tiles;

use et_core::{Error, Result};
use et_runtime::Listener;

use crate::memory::Operands;
use crate::{Bounds, Instruction, Limits};

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
        #[cfg(feature = "copies")]
        Instruction::CopyRows(step) => copy::run(step, operands),
        #[cfg(feature = "transpose")]
        Instruction::Transpose(step) => border::transpose(step, operands),
        #[cfg(feature = "int16-border")]
        Instruction::Quantize16(step) => border::quantize16(step, operands),
        #[cfg(feature = "int16-border")]
        Instruction::Dequantize16(step) => border::dequantize16(step, operands),
        #[cfg(feature = "int16-convolution")]
        Instruction::Convolution16(step) => int16::convolution(step, operands, listener),
        #[cfg(feature = "int16-float-output")]
        Instruction::Convolution16ToFloat(step) => int16::convolution_to_float(step, operands, listener),
        #[cfg(feature = "int16-depthwise")]
        Instruction::Depthwise16(step) => int16::depthwise(step, operands, listener),
        #[cfg(feature = "int16-pools")]
        Instruction::Maximum16(step) => pool::maximum16(step, operands, listener),
        #[cfg(feature = "int16-pools")]
        Instruction::Average16(step) => pool::average16(step, operands, listener),
        #[cfg(feature = "int16-arithmetic")]
        Instruction::Add16(step) => int16::add(step, operands),
        #[cfg(feature = "int16-arithmetic")]
        Instruction::Multiply16(step) => int16::multiply(step, operands),
        #[cfg(feature = "int16-tables")]
        Instruction::Table16(step) => int16::table(step, operands),
        #[cfg(feature = "int16-softmax")]
        Instruction::Softmax16(step) => int16::softmax(step, operands),
        #[cfg(feature = "int16-transpose")]
        Instruction::Transpose16(step) => border::transpose16(step, operands),
        #[cfg(feature = "int4")]
        Instruction::Convolution4(step) => convolution::run4(step, operands, listener),
        #[cfg(feature = "int4-float-output")]
        Instruction::Convolution4ToFloat(step) => float_output::run4(step, operands, listener),
        #[cfg(feature = "recurrent")]
        Instruction::Recurrent(step) => recurrent::run(step, operands, listener),
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

impl Limits {
    /// The result of a requantized value.
    #[inline(always)]
    pub(crate) fn clamp(&self, value: i32) -> i16 {
        value.min(self.most).max(self.least) as i16
    }
}
