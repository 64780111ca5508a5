//! `signal`: sound and pictures of sensors as inputs of models, in fixed point.

mod memory;

pub mod advance;
pub mod log_mel;
pub mod pixels;
