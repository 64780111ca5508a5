//! A partition as data, for its text and for reports.

use std::collections::{BTreeSet, HashMap};

use et_gpu::{Item, place};
use etbuild_backend::{GpuDispatch, GpuProgram, GpuRole, GpuScratch, GpuStorage, GpuTensor};

use crate::builder::Builder;
use crate::expr::TensorId;
use crate::kernel::Kernel;
use crate::tensor::{Source, Storage, Tensor};
use crate::write::{Sources, Used};

/// The alignment of objects in scratch memory that is assumed, in bytes; a driver may state another.
const ALIGNMENT: u64 = 64;

/// The dispatches and stored tensors of a partition.
pub fn describe(builder: &Builder<'_>) -> GpuProgram {
    let used = Used::of(builder);
    let tensors: Vec<_> = used.tensors.iter().map(|id| tensor(builder, *id, used.lives[id])).collect();
    let mut sources = Sources::default();
    let number = |kernel| (kernel, sources.kernel(kernel) as usize);
    let numbered: Vec<_> = builder.kernels.iter().map(number).collect();
    let kernels: BTreeSet<_> = numbered.iter().map(|(_, number)| *number).collect();
    let dispatch = |(kernel, number)| dispatch(kernel, number, &used.numbers, &tensors);
    let dispatches = numbered.into_iter().map(dispatch).collect();
    let scratch = scratch(&tensors);
    GpuProgram { on_cpu: builder.profile.on_cpu(), kernels: kernels.len(), dispatches, tensors, scratch }
}

fn dispatch(kernel: &Kernel, number: usize, numbers: &HashMap<TensorId, usize>, tensors: &[GpuTensor]) -> GpuDispatch {
    let reads: Vec<usize> = kernel.reads.iter().map(|id| numbers[id]).collect();
    let writes = numbers[&kernel.output];
    GpuDispatch {
        value: kernel.label.clone(),
        kernel: number,
        workgroups: kernel.workgroups,
        bytes_read: reads.iter().map(|tensor| tensors[*tensor].bytes).sum(),
        bytes_written: tensors[writes].bytes,
        reads,
        writes,
    }
}

fn tensor(builder: &Builder<'_>, id: TensorId, life: [u32; 2]) -> GpuTensor {
    let (tensor, graph) = (builder.tensor(id), builder.links.graph);
    let value = match tensor.source {
        Source::Input(position) | Source::State(position) => graph.inputs.get(position).copied(),
        Source::Weights(number) => builder.weights.get(number).map(|weights| weights.value),
        Source::Output(position) => graph.outputs.get(position).copied(),
        Source::Scratch => None,
    };
    let label = || builder.kernels.iter().find(|kernel| kernel.output == id).map(|kernel| kernel.label.clone());
    let value = value.map(|id| graph.value(id).name.clone()).or_else(label).unwrap_or_default();
    let (name, role) = match tensor.source {
        Source::Input(position) => (format!("input{position}"), GpuRole::Input),
        Source::State(position) => (format!("state{position}"), GpuRole::State),
        Source::Output(position) => (format!("output{position}"), GpuRole::Output),
        Source::Weights(number) => (format!("weights{number}"), GpuRole::Weights),
        Source::Scratch => (format!("%{}", id.0), GpuRole::Scratch),
    };
    let (storage, extent) = storage(tensor);
    let (scalar_type, sizes) = (tensor.scalar_type.name().to_owned(), tensor.sizes.clone());
    GpuTensor { name, value, role, scalar_type, sizes, storage, extent, bytes: tensor.bytes(), life }
}

/// The kind of an object, and the extent in texels.
fn storage(tensor: &Tensor) -> (GpuStorage, [usize; 3]) {
    let Some(texels) = tensor.layout.as_texels() else { return (GpuStorage::Buffer, [1; 3]) };
    let storage = match texels.storage {
        Storage::Buffer => GpuStorage::TexelBuffer,
        Storage::Image if texels.extent[2] > 1 => GpuStorage::ImageArray,
        Storage::Image => GpuStorage::Image,
    };
    (storage, texels.extent)
}

/// The scratch memory as the device half places it: buffers and images apart.
fn scratch(tensors: &[GpuTensor]) -> GpuScratch {
    let scratch: Vec<_> = tensors.iter().filter(|tensor| tensor.role == GpuRole::Scratch).collect();
    let is_image = |tensor: &GpuTensor| matches!(tensor.storage, GpuStorage::Image | GpuStorage::ImageArray);
    let placed = |images: bool| -> u64 {
        let of_class = scratch.iter().filter(|tensor| is_image(tensor) == images);
        let item = |tensor: &&GpuTensor| Item { size: tensor.bytes, alignment: ALIGNMENT, life: tensor.life };
        let items: Vec<_> = of_class.map(item).collect();
        place(&items, u64::MAX).map_or(0, |placement| placement.allocations.iter().sum())
    };
    GpuScratch {
        objects: scratch.len(),
        placed: placed(false) + placed(true),
        sum: scratch.iter().map(|tensor| tensor.bytes).sum(),
    }
}
