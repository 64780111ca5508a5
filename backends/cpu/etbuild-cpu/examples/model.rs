//! `model MODEL.pt2 INPUTS.safetensors EXPECTED.safetensors [THREADS]`: lowers a whole model to one blob, executes it, compares, and
//! says where the time goes.

#![allow(unsafe_code, reason = "memory is aligned by hand")]

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use et_core::{Args, Indices, ScalarType, Storage, Tensor, TensorLayout, Value};
use etbuild_backend::{Backend, TargetFacts};
use etbuild_cpu::BACKEND as CPU;
use etbuild_ir::Graph;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let bytes = std::fs::read(&arguments[1]).unwrap();
    let program = etbuild_import::import_pt2(Arc::new(bytes)).unwrap();
    let lowered = etbuild_pass::lower(program, etbuild_pass::Runtime::Etbuild).unwrap();
    let graph = lowered.program().methods.values().next().unwrap();
    let isa = std::env::var("ISA").unwrap_or_else(|_| "avx512".to_owned());
    let target = TargetFacts { architecture: "x86_64".into(), features: vec![isa], hosted: true };
    for node in &graph.nodes {
        if let Some(refusal) = CPU.refusal(graph, node, &target) {
            println!("refused {}: {refusal}", node.operator);
        }
    }
    let start = Instant::now();
    let blob = CPU.lower(graph, &target).unwrap();
    println!("lowered in {:?}: {} bytes, scratch {}", start.elapsed(), blob.bytes.len(), blob.scratch);
    execute(graph, &blob, &arguments);
}

#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line([u8; 64]);

fn aligned(bytes: usize) -> &'static mut [u8] {
    let lines: &'static mut [Line] = vec![Line([0; 64]); bytes.div_ceil(64) + 1].leak();
    let start = lines.as_mut_ptr().cast::<u8>();
    // SAFETY: so many lines have so many bytes.
    unsafe { std::slice::from_raw_parts_mut(start, bytes) }
}

fn execute(graph: &Graph, blob: &etbuild_backend::Blob, arguments: &[String]) {
    let bytes = aligned(blob.bytes.len());
    bytes.copy_from_slice(&blob.bytes);
    let bytes: &'static [u8] = bytes;
    let (inputs, expected) = (std::fs::read(&arguments[2]).unwrap(), std::fs::read(&arguments[3]).unwrap());
    let inputs = et_module::safetensors::SafeTensors::parse(&inputs).unwrap();
    let expected = et_module::safetensors::SafeTensors::parse(&expected).unwrap();
    let mut values = Vec::new();
    let mut place = |scalar_type, sizes: &[i32], data: Option<&[u8]>| {
        let order: &'static [u8] = (0..sizes.len() as u8).collect::<Vec<_>>().leak();
        let sizes_bytes: &'static [u8] = sizes.iter().flat_map(|size| size.to_le_bytes()).collect::<Vec<_>>().leak();
        let layout = TensorLayout { scalar_type, sizes: Indices::new(sizes_bytes), dim_order: order };
        let memory = aligned(layout.nbytes().unwrap());
        if let Some(data) = data {
            memory.copy_from_slice(data);
        }
        let tensor = Tensor::place(layout, Storage::exclusive(memory), None).unwrap();
        values.push(Cell::new(Value::Tensor(tensor)));
        tensor
    };
    for id in &graph.inputs {
        let value = graph.value(*id);
        let view = &inputs.tensors[&value.name];
        place(value.spec.scalar_type, &value.spec.sizes, Some(view.bytes));
    }
    let mut outputs = Vec::new();
    for id in &graph.outputs {
        outputs.push(place(graph.spec(*id).scalar_type, &graph.spec(*id).sizes, None));
    }
    place(ScalarType::Byte, &[blob.scratch as i32], None);
    let indices: Vec<u8> = (0..values.len() as i32).flat_map(i32::to_le_bytes).collect();
    let args = Args::new(&values, Indices::new(indices.leak()));
    et_cpu::profile(bytes, &args, 10, &et_runtime::Serial).unwrap();
    for (index, output) in outputs.iter().enumerate() {
        let view = &expected.tensors[&format!("output_{index}")];
        let got = output.input::<f32>().unwrap();
        let (wanted, _) = view.bytes.as_chunks::<4>();
        let mut worst = 0_f32;
        let mut most = 0_f32;
        for (position, wanted) in wanted.iter().enumerate() {
            let wanted = f32::from_le_bytes(*wanted);
            worst = worst.max((got.get(position) - wanted).abs());
            most = most.max(wanted.abs());
            if std::env::var("SHOW").is_ok() && (got.get(position) - wanted).abs() > 1e-4 {
                println!("{position} {} {wanted}", got.get(position));
            }
        }
        println!("output_{index}: max error {worst:e} of {most}");
    }
}
