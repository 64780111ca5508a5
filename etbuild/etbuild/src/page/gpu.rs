//! What partitions do on the GPU: dispatches, stored tensors, memory.

use etbuild_backend::{GpuDispatch, GpuProgram, GpuScratch, GpuTensor};
use etbuild_inspect::EngineBlob;
use serde::Serialize;

use crate::render::bytes;

/// More dispatches, or tensors, than this are not listed, over all programs: the page stays small.
const MOST: usize = 4000;

#[derive(Serialize)]
pub struct View {
    title: String,
    dispatches: usize,
    kernels: usize,
    read: String,
    written: String,
    weights: String,
    scratch_objects: usize,
    scratch_placed: String,
    scratch_sum: String,
    rows: Vec<Dispatch>,
    tensors: Vec<Tensor>,
    left_out: usize,
}

#[derive(Serialize)]
struct Dispatch {
    number: usize,
    value: String,
    kernel: usize,
    workgroups: String,
    read: String,
    written: String,
    tensors: String,
}

#[derive(Serialize)]
struct Tensor {
    name: String,
    value: String,
    r#type: String,
    storage: &'static str,
    extent: String,
    size: String,
    life: String,
}

/// A view for each program of each partition on a GPU.
pub fn views(blobs: &[EngineBlob]) -> Vec<View> {
    let programs: Vec<_> = blobs.iter().flat_map(|blob| blob.gpu.iter().map(move |program| (blob, program))).collect();
    let most = MOST / programs.len().max(1);
    programs.into_iter().map(|(blob, program)| view(blob, program, most)).collect()
}

fn view(blob: &EngineBlob, program: &GpuProgram, most: usize) -> View {
    let class = if program.on_cpu { "a driver that computes on the CPU" } else { "GPUs" };
    let GpuProgram { on_cpu: _, kernels, dispatches, tensors, scratch: GpuScratch { objects, placed, sum } } = program;
    let (read, written) = program.traffic();
    View {
        title: format!("{}, {} {}, for {class}", blob.method, blob.engine, blob.partition),
        dispatches: dispatches.len(),
        kernels: *kernels,
        read: bytes(read),
        written: bytes(written),
        weights: bytes(program.weights()),
        scratch_objects: *objects,
        scratch_placed: bytes(*placed),
        scratch_sum: bytes(*sum),
        rows: dispatches.iter().take(most).enumerate().map(|of| dispatch(of, tensors)).collect(),
        tensors: tensors.iter().take(most).map(tensor).collect(),
        left_out: dispatches.len().max(tensors.len()).saturating_sub(most),
    }
}

fn dispatch((number, dispatch): (usize, &GpuDispatch), tensors: &[GpuTensor]) -> Dispatch {
    let name = |tensor: &usize| tensors.get(*tensor).map_or("", |tensor| tensor.name.as_str());
    let reads: Vec<&str> = dispatch.reads.iter().map(name).collect();
    Dispatch {
        number,
        value: dispatch.value.clone(),
        kernel: dispatch.kernel,
        workgroups: product(&dispatch.workgroups),
        read: bytes(dispatch.bytes_read),
        written: bytes(dispatch.bytes_written),
        tensors: format!("{} to {}", reads.join(", "), name(&dispatch.writes)),
    }
}

fn tensor(tensor: &GpuTensor) -> Tensor {
    let [first, last] = tensor.life;
    let is_buffer = tensor.storage.name().is_empty();
    Tensor {
        name: tensor.name.clone(),
        value: tensor.value.clone(),
        r#type: format!("{}{:?}", tensor.scalar_type, tensor.sizes),
        storage: if is_buffer { "elements" } else { tensor.storage.name() },
        extent: if is_buffer { "-".to_owned() } else { product(&tensor.extent) },
        size: bytes(tensor.bytes),
        life: format!("{first} to {last}"),
    }
}

/// Numbers as `2 × 4 × 1`.
fn product<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" × ")
}
