//! The text of a partition's kernels, for golden tests and for people: a kernel per line, with the tensors that it accesses.

use std::fmt::Write as _;

use crate::builder::Builder;
use crate::expr::TensorId;
use crate::kernel::Kernel;
use crate::tensor::{Layout, Source, Storage, Tensor};

/// The kernels in order; with `sources`, the WGSL of each.
pub fn text(builder: &Builder<'_>, sources: bool) -> String {
    let mut text = String::new();
    for kernel in &builder.kernels {
        _ = writeln!(text, "{}", line(builder, kernel));
        if sources {
            kernel.source.lines().for_each(|line| _ = writeln!(text, "    {line}"));
        }
    }
    text
}

fn line(builder: &Builder<'_>, kernel: &Kernel) -> String {
    let reads: Vec<String> = kernel.reads.iter().map(|id| tensor(builder, *id)).collect();
    let Kernel { label, output, workgroups: [x, y, z], .. } = kernel;
    format!("{label}: {} = kernel({}), {x} x {y} x {z} workgroups", tensor(builder, *output), reads.join(", "))
}

fn tensor(builder: &Builder<'_>, id: TensorId) -> String {
    let Tensor { scalar_type, sizes, layout, source } = builder.tensor(id);
    let name = match source {
        Source::Input(position) => format!("input{position}"),
        Source::State(position) => format!("state{position}"),
        Source::Output(position) => format!("output{position}"),
        Source::Weights(number) => format!("weights{number}"),
        Source::Scratch => format!("%{}", id.0),
    };
    let place = match layout {
        Layout::Elements(_) => "",
        Layout::Texels(texels) => match texels.storage {
            Storage::Image => " image",
            Storage::Buffer => " texels",
        },
    };
    format!("{name}{place} {}{sizes:?}", scalar_type.name())
}
