//! Kernels for classes of GPUs at sizes that need more than a tile, a lane or a part: what portable kernels compute.

mod common;

use common::large::{self, Large};
use common::{CPU_DRIVER, ENGINES, target};
use etbuild_backend::GpuFacts;
use etbuild_conformance::Candidate;
use etbuild_gpu::BACKEND;

/// A large GPU, whose products are split, and a small one, which has the largest tiles.
const CLASSES: [GpuFacts; 3] = [
    CPU_DRIVER,
    GpuFacts { images: false, subgroup: 0, units: 128, zero_clamp: false, ..CPU_DRIVER },
    GpuFacts { images: false, subgroup: 0, units: 1, zero_clamp: false, ..CPU_DRIVER },
];

/// Checks the result of a program on every class of GPUs.
fn check(program: &Large) {
    let portable = target(Vec::new());
    let on_cpu = Candidate { backend: &BACKEND, engines: ENGINES, target: &portable, threads: 2, tolerance: 0.0 };
    for gpu in CLASSES {
        program.check(&Candidate { target: &target(vec![gpu]), ..on_cpu }, &on_cpu);
    }
}

#[test]
fn a_product_of_partial_tiles_is_split() {
    check(&large::product());
}

#[test]
fn lanes_share_the_inner_dimension_of_few_rows() {
    check(&large::few_rows());
}

#[test]
fn a_convolution_is_split_by_kernel_position_and_channel() {
    check(&large::convolution());
}

#[test]
fn steps_of_a_first_layer_go_on_from_position_to_position() {
    check(&large::first_layer());
}

#[test]
fn a_kernel_folds_a_row_and_stores_it() {
    check(&large::row());
}

#[test]
fn lanes_share_a_fold() {
    check(&large::fold());
}

#[test]
fn the_keys_of_a_decode_step_are_dealt_to_parts() {
    check(&large::attention(1, 5));
    check(&large::attention(1, 350));
}

#[test]
fn a_chunk_of_queries_sees_keys_up_to_each_row() {
    check(&large::attention(100, 0));
    check(&large::attention(100, 250));
}
