//! `torchao`: quantization with parameters per block, as torchao's tensor subclasses spell it out.

pub mod choose_qparams_affine;
pub mod dequantize_affine;
pub mod quantize_affine;
