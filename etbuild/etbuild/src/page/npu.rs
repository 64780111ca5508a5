//! What partitions take on an NPU, by the estimate of its compiler.

use etbuild_backend::{NpuEstimate, NpuOperator};
use etbuild_inspect::EngineBlob;
use serde::Serialize;

#[derive(Serialize)]
pub struct View {
    title: String,
    cycles: u64,
    time: String,
    clock: String,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    value: String,
    operator: String,
    cycles: u64,
    share: String,
    arithmetic: u64,
    sram: u64,
    beyond: u64,
    multiplications: u64,
}

/// A view for each partition on an NPU.
pub fn views(blobs: &[EngineBlob]) -> Vec<View> {
    blobs.iter().filter_map(|blob| Some(view(blob, blob.npu.as_ref()?))).collect()
}

fn view(blob: &EngineBlob, estimate: &NpuEstimate) -> View {
    let all: u64 = estimate.operators.iter().map(|operator| operator.cycles).sum();
    View {
        title: format!("{}, {} {}", blob.method, blob.engine, blob.partition),
        cycles: estimate.cycles,
        time: format!("{:.3} ms", estimate.microseconds() / 1e3),
        clock: format!("{} MHz", estimate.clock / 1_000_000),
        rows: estimate.operators.iter().map(|operator| row(operator, all)).collect(),
    }
}

fn row(operator: &NpuOperator, all: u64) -> Row {
    let NpuOperator { value, name, cycles, arithmetic, sram, beyond, multiplications } = operator.clone();
    let share = format!("{:.1} %", cycles as f64 * 100.0 / all.max(1) as f64);
    Row { value, operator: name, cycles, share, arithmetic, sram, beyond, multiplications }
}
