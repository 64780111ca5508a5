//! Reports on the units of a request, for people: each asks the queries of [`etbuild_engine`] and stores nothing of its own.

#![deny(clippy::iter_over_hash_type, reason = "the order of a hash map reaches no result")]

mod anatomy;
mod crossing;
mod drift;
mod language;
mod materials;
mod methods;
mod operators;
mod partitions;
mod placed_call;
mod quantization;
mod search;
mod simulated;
mod tool_check;

pub use anatomy::{
    ArenaUse, EngineBlob, HostAnatomy, Lines, MethodGraphs, MethodMemory, Placed, PlannedCall, UnitAnatomy, Weight,
    anatomy, host_anatomy, host_graphs,
};
pub use crossing::Crossing;
pub use drift::{Tensors, ValueError, case_inputs, drift, portable_values, similarity};
pub use language::{LanguageVariants, language_variants};
pub use materials::{Materials, Role, Source as SourceFile, materials};
pub use operators::{KernelCalls, Missing, ProgramOperators, operators};
pub use partitions::{UnitPartition, partitions};
pub use quantization::{ProgramLosses, quantization};
pub use search::{AllowedLoss, KeptLayer, LayerProposal, Reached, propose_layers};
pub use simulated::{Simulated, SimulatedOutput, simulated};
pub use tool_check::{ToolCheck, check_tools};
