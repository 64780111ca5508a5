//! `torchao`: blockwise quantization with explicit qparams, as torchao's tensor subclasses export.

pub mod choose_qparams_affine;
pub mod dequantize_affine;
pub mod quantize_affine;
