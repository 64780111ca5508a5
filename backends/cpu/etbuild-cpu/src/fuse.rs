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

use et_cpu::Instruction;

use crate::program::Program;

/// A fusion.
pub struct Fusion {
    /// The name, and the name of the golden file that shows the fusion.
    pub name: &'static str,
    /// Finds a change of the instruction at a position; `None` where the program stays as it is.
    pub find: fn(&mut Program<'_>, usize) -> Option<Change>,
    /// Whether the fusion pays at some sizes only.
    pub weighs_sizes: bool,
}

impl Fusion {
    const fn new(name: &'static str, find: fn(&mut Program<'_>, usize) -> Option<Change>) -> Self {
        Self { name, find, weighs_sizes: false }
    }

    const fn where_it_pays(name: &'static str, find: fn(&mut Program<'_>, usize) -> Option<Change>) -> Self {
        Self { name, find, weighs_sizes: true }
    }
}

/// The fusions to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fusions {
    /// Every fusion.
    All,
    /// Fusions that apply to all sizes or to none.
    AtAllSizes,
}

/// A change of an instruction.
pub enum Change {
    /// The instruction does the work of the producer at this position too.
    Fuse(usize, Box<Instruction>),
    /// The instruction is removed.
    Remove,
}

impl Change {
    fn fuse(producer: usize, instruction: impl Into<Instruction>) -> Self {
        Self::Fuse(producer, Box::new(instruction.into()))
    }
}

/// Every fusion, the most important first.
pub static FUSIONS: &[Fusion] = &[
    Fusion::new("activation", activation::find),
    Fusion::new("residual", residual::find),
    Fusion::new("requantize", requantize::find),
    Fusion::new("int8_kernel", int8_kernel::find),
    Fusion::new("elementwise_chain", elementwise_chain::find),
    Fusion::new("dead_code", dead_code::find),
    Fusion::where_it_pays("fused_mlp", fused_mlp::find),
    Fusion::where_it_pays("channel_scales", channel_scales::find),
];

/// Applies fusions until none applies.
pub fn fuse(program: &mut Program<'_>, fusions: Fusions) {
    let applied = |fusion: &&Fusion| fusions == Fusions::All || !fusion.weighs_sizes;
    while FUSIONS.iter().filter(applied).any(|fusion| sweep(program, fusion)) {}
}

/// Applies a fusion to every consumer, first to last; false where the program stays as it is.
fn sweep(program: &mut Program<'_>, fusion: &Fusion) -> bool {
    let mut is_changed = false;
    for consumer in 0..program.instructions.len() {
        while let Some(change) = (fusion.find)(program, consumer) {
            match change {
                Change::Fuse(producer, instruction) => program.fuse(producer, consumer, *instruction),
                Change::Remove => program.remove(consumer),
            }
            is_changed = true;
        }
    }
    is_changed
}
