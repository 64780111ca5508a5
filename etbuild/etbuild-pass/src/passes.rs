//! The passes, one per file.

pub mod decompose_for_upstream;
pub mod decompose_to_core;
pub mod eliminate_dead_code;
pub mod flatten_control_flow;
pub mod fold_batch_norm;
pub mod fold_constants;
pub mod hoist_slices;
pub mod legalize_to_edge;
pub mod remove_identities;
pub mod require_core;
pub mod require_kernels;
pub mod require_upstream_kernels;
