//! The text of a partition's kernels, for golden tests and for people: a kernel per line, with the tensors that it accesses.

use std::fmt::Write as _;

use etbuild_backend::{GpuDispatch, GpuProgram, GpuTensor};

use crate::builder::Builder;
use crate::description::describe;

/// The kernels in order; with `sources`, the WGSL of each.
pub fn text(builder: &Builder<'_>, sources: bool) -> String {
    let (mut text, program) = (String::new(), describe(builder));
    for (dispatch, kernel) in program.dispatches.iter().zip(&builder.kernels) {
        _ = writeln!(text, "{}", line(&program, dispatch));
        if sources {
            kernel.source.lines().for_each(|line| _ = writeln!(text, "    {line}"));
        }
    }
    text
}

fn line(program: &GpuProgram, dispatch: &GpuDispatch) -> String {
    let named = |number: &usize| program.tensors.get(*number).map(tensor).unwrap_or_default();
    let reads: Vec<String> = dispatch.reads.iter().map(named).collect();
    let GpuDispatch { value, writes, workgroups: [x, y, z], .. } = dispatch;
    format!("{value}: {} = kernel({}), {x} x {y} x {z} workgroups", named(writes), reads.join(", "))
}

fn tensor(tensor: &GpuTensor) -> String {
    let GpuTensor { name, storage, scalar_type, sizes, .. } = tensor;
    let space = if storage.name().is_empty() { "" } else { " " };
    format!("{name}{space}{} {scalar_type}{sizes:?}", storage.name())
}
