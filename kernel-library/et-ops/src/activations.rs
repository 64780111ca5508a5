//! Activation functions, softmax and gated linear units.

mod exponentials;

pub mod elu;
pub mod gelu;
pub mod glu;
pub mod hardsigmoid;
pub mod hardswish;
pub mod hardtanh;
pub mod leaky_relu;
pub mod log_sigmoid;
pub mod log_softmax;
pub mod mish;
pub mod relu;
pub mod sigmoid;
pub mod silu;
pub mod softmax;
pub mod softplus;
pub mod tanh;
