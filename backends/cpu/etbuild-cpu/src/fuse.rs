//! Operator fusion: the list of all fusions, in order of priority.
//!
//! A fusion looks at a consumer, finds the producer of an operand by the [legality rule](legal), and replaces both instructions by one.
//! A fusion applies where no earlier fusion of the list applies any more, so the list decides between alternatives: an addition
//! becomes the residual of a GEMM before it becomes a part of a chain.

mod activation;
mod channel_scales;
mod dead_code;
mod elementwise_chain;
mod fused_mlp;
mod int8_kernel;
mod legal;
mod requantize;
mod residual;

use crate::program::Program;

/// A fusion.
pub struct Fusion {
    /// The name, and the name of the golden file that shows the fusion.
    pub name: &'static str,
    /// Fuses a producer into the instruction at a position; false where the program stays as it is.
    pub apply: fn(&mut Program<'_>, usize) -> bool,
}

/// Every fusion, the most important first.
pub static FUSIONS: &[Fusion] = &[
    Fusion { name: "activation", apply: activation::apply },
    Fusion { name: "residual", apply: residual::apply },
    Fusion { name: "requantize", apply: requantize::apply },
    Fusion { name: "int8_kernel", apply: int8_kernel::apply },
    Fusion { name: "elementwise_chain", apply: elementwise_chain::apply },
    Fusion { name: "dead_code", apply: dead_code::apply },
    Fusion { name: "fused_mlp", apply: fused_mlp::apply },
    Fusion { name: "channel_scales", apply: channel_scales::apply },
];

/// Applies all fusions until none applies.
pub fn fuse(program: &mut Program<'_>) {
    while FUSIONS.iter().any(|fusion| sweep(program, fusion)) {}
}

/// Applies a fusion to every consumer, first to last; false where the program stays as it is.
fn sweep(program: &mut Program<'_>, fusion: &Fusion) -> bool {
    let mut is_changed = false;
    for consumer in 0..program.instructions.len() {
        while (fusion.apply)(program, consumer) {
            is_changed = true;
        }
    }
    is_changed
}
