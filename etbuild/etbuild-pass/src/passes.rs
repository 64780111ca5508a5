//! The passes, one per file, and the order in which they run.

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
pub mod widen_halves;

use crate::pass::Pass;

/// Before [`TO_CORE_ATEN`], for backends without arithmetic in half precision.
pub static TO_FLOAT32: &[&Pass] = &[&widen_halves::PASS];

/// From a captured program to Core ATen.
pub static TO_CORE_ATEN: &[&Pass] = &[
    &decompose_to_core::PASS,
    &remove_identities::PASS,
    &fold_batch_norm::PASS,
    &hoist_slices::PASS,
    &eliminate_dead_code::PASS,
    &require_core::PASS,
];

/// From Core ATen to Edge.
pub static TO_EDGE: &[&Pass] = &[
    &legalize_to_edge::PASS,
    &fold_constants::PASS,
    &remove_identities::PASS,
    &eliminate_dead_code::PASS,
    &require_kernels::PASS,
];

/// From Edge to a lowered program: nested graphs become labels and jumps.
pub static TO_LOWERED: &[&Pass] = &[&flatten_control_flow::PASS];

/// Before [`TO_CORE_ATEN`], for ExecuTorch's runtime.
pub static FOR_UPSTREAM: &[&Pass] = &[&decompose_for_upstream::PASS];

/// After [`TO_EDGE`], for ExecuTorch's runtime.
pub static CHECK_UPSTREAM: &[&Pass] = &[&require_upstream_kernels::PASS];
