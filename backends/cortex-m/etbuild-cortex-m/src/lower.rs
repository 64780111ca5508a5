//! Lowering: every quantized value of a partition is computed by one kernel.

pub mod arithmetic;
mod border;
pub mod concatenation;
mod groups;
pub mod int16;
pub mod pool;
pub mod product;
pub mod recurrent;
mod residual;
pub mod row;
pub mod slice;
mod sum;
mod table;
mod window;

use std::collections::BTreeMap;

use et_cortex_m::{Bounds, Row};
use etbuild_backend::{Blob, MemoryFacts, Refusal, RefusalKind};
use etbuild_ir::{Graph, IdMap, Links, Node, ValueId};

use crate::program::{Buffer, Program, Storage};
use etbuild_backend::int8::pattern::{self, Epilogue, QParams, Width};

/// The order of the elements of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The order of the spec.
    RowMajor,
    /// Channels last.
    Nhwc,
}

/// An int8 or int16 tensor.
#[derive(Clone, Copy, Debug)]
pub struct Stored {
    /// The memory.
    pub buffer: Buffer,
    /// The order of the elements.
    pub order: Order,
}

/// The state of lowering.
pub struct Lowering<'g> {
    /// The partition.
    pub links: &'g Links<'g>,
    /// The row of kernels.
    row: Row,
    /// The program so far.
    pub program: Program,
    /// The int8 tensors.
    stored: IdMap<Stored>,
    /// The buffers of the inputs and outputs of the call.
    inputs: IdMap<Buffer>,
    outputs: BTreeMap<usize, Buffer>,
}

/// Lowers a partition for a row of kernels, and for the memory of the target where that is known. The memory of the inputs at the positions
/// `ended` is free behind their last use.
///
/// # Errors
/// A pattern that is cut by the border of the partition.
pub fn lower(graph: &Graph, ended: &[usize], row: Row, memory: Option<MemoryFacts>) -> Result<Blob, Refusal> {
    let links = Links::of(graph);
    let mut lowering = Lowering::new(&links, ended, row);
    for node in &graph.nodes {
        if let Some(qparams) = pattern::quantizes(node) {
            lowering.quantized(node, qparams)?;
        }
    }
    for (position, id) in graph.outputs.iter().enumerate() {
        lowering.output(position, *id)?;
    }
    let arguments = graph.inputs.len() + graph.outputs.len();
    let most = memory.map(|memory| most_scratch(graph, memory));
    Ok(lowering.program.finish(row, arguments as u32, most))
}

/// The bytes for scratch beside the arguments of the call.
fn most_scratch(graph: &Graph, memory: MemoryFacts) -> usize {
    let arguments = graph.inputs.iter().chain(&graph.outputs).map(|id| graph.spec(*id).nbytes() as u64);
    let beside = memory.total.saturating_sub(arguments.sum());
    usize::try_from(beside.min(memory.largest)).unwrap_or(usize::MAX)
}

/// The refusal of a partition that cuts a pattern.
pub fn cut() -> Refusal {
    Refusal::new(RefusalKind::Partition, "the partition separates an int8 operator from its quantization")
}

impl<'g> Lowering<'g> {
    fn new(links: &'g Links<'g>, ended: &[usize], row: Row) -> Self {
        let (graph, mut program) = (links.graph, Program::default());
        let (mut stored, mut inputs) = (IdMap::default(), IdMap::default());
        for (position, id) in graph.inputs.iter().enumerate() {
            let free = if ended.contains(&position) { graph.spec(*id).nbytes() } else { 0 };
            let buffer = program.buffer(Storage::Argument { position: position as u32, free });
            inputs.insert(*id, buffer);
            stored.insert(*id, Stored { buffer, order: Order::RowMajor });
        }
        let argument =
            |position: usize| Storage::Argument { position: (graph.inputs.len() + position) as u32, free: 0 };
        let outputs = (0..graph.outputs.len()).map(|position| (position, argument(position)));
        let outputs = outputs.map(|(position, storage)| (position, program.buffer(storage))).collect();
        Self { links, row, program, stored, inputs, outputs }
    }

    /// Lowers a quantize node together with the operator of its operand.
    fn quantized(&mut self, node: &Node, qparams: QParams) -> Result<(), Refusal> {
        let (Some(from), Some(to)) = (pattern::first(node), node.outputs.first().copied()) else { return Err(cut()) };
        if let Some(buffer) = self.inputs.get(from).copied() {
            return self.quantize(buffer, to, qparams);
        }
        if let Some((operand, functions)) = pattern::function(self.links, from) {
            return self.table(operand, &functions, to, qparams);
        }
        let head = pattern::head(self.links, from).ok_or_else(cut)?;
        let output = head.outputs.first().copied().ok_or_else(cut)?;
        let epilogue = pattern::epilogue(self.links, head, output);
        if epilogue.quantized != Some((to, qparams)) {
            return Err(cut());
        }
        match head.operator.name() {
            "cat" => return self.concatenation(head, &epilogue),
            "slice_copy" => return self.slice(head, &epilogue),
            _ => {}
        }
        if qparams.width == Width::Int16 && !pattern::is_view(head) {
            return self.int16(head, &epilogue);
        }
        match head.operator.name() {
            "convolution" | "linear" => self.product(head, &epilogue),
            "add" | "sub" | "mul" => self.arithmetic(head, &epilogue),
            "mean" | "avg_pool2d" | "max_pool2d_with_indices" => self.pool(head, &epilogue),
            "_softmax" => self.softmax(head, &epilogue),
            "lstm" | "gru" => self.recurrent(head, &epilogue),
            _ if pattern::is_view(head) => self.view(head, to),
            _ => Err(cut()),
        }
    }

    /// Writes an output of the partition.
    fn output(&mut self, position: usize, id: ValueId) -> Result<(), Refusal> {
        let target = *self.outputs.get(&position).ok_or_else(cut)?;
        if self.stored.get(id).is_some() {
            return self.copy_out(id, target);
        }
        if let Some(operand) = pattern::operand(self.links, id) {
            return self.dequantize(operand, id, target);
        }
        let head = pattern::head(self.links, id).filter(|head| pattern::is_product(head)).ok_or_else(cut)?;
        let output = head.outputs.first().copied().ok_or_else(cut)?;
        let epilogue = pattern::epilogue(self.links, head, output);
        if epilogue.last != id || epilogue.quantized.is_some() {
            return Err(cut());
        }
        match pattern::width(self.links, head)? {
            Some(Width::Int16) => self.product16_to_float(head, &epilogue, target),
            _ => self.product_to_float(head, &epilogue, target),
        }
    }

    /// The integers of a value.
    ///
    /// # Errors
    /// A value that is computed elsewhere.
    pub fn stored(&self, id: ValueId) -> Result<Stored, Refusal> {
        self.stored.get(id).copied().ok_or_else(cut)
    }

    /// Memory for a quantized value in an order: the memory of the output of the call where that has the same order.
    pub fn create(&mut self, id: ValueId, order: Order) -> Buffer {
        let graph = self.links.graph;
        let keeps = order == Order::RowMajor || self.is_ordered(id);
        let output = graph.outputs.iter().position(|output| *output == id).filter(|_| keeps);
        let output = output.and_then(|position| self.outputs.get(&position).copied());
        let buffer = output.unwrap_or_else(|| self.program.buffer(Storage::Scratch(graph.spec(id).nbytes())));
        self.stored.insert(id, Stored { buffer, order });
        buffer
    }

    /// Lets a value be another value's memory.
    pub fn alias(&mut self, id: ValueId, stored: Stored) {
        self.stored.insert(id, stored);
    }

    /// Images, channels and pixels of a value: sizes without spatial dimensions have a pixel.
    pub fn image(&self, id: ValueId) -> [usize; 3] {
        let sizes: Vec<usize> =
            self.links.graph.spec(id).sizes.iter().map(|size| usize::try_from(*size).unwrap_or(0)).collect();
        match &sizes[..] {
            [images, channels, pixels @ ..] if !pixels.is_empty() => [*images, *channels, pixels.iter().product()],
            sizes => [1, 1, sizes.iter().product()],
        }
    }

    /// Whether both orders of an image are the same.
    pub fn is_ordered(&self, id: ValueId) -> bool {
        let [_, channels, pixels] = self.image(id);
        channels <= 1 || pixels <= 1
    }

    /// The width of a quantized value.
    fn width(&self, id: ValueId) -> Width {
        if self.links.graph.spec(id).scalar_type == Width::Int16.scalar_type() { Width::Int16 } else { Width::Int8 }
    }

    /// The name of a value.
    pub fn name(&self, id: ValueId) -> &'g str {
        &self.links.graph.value(id).name
    }
}

/// The limits of a result: the integers of the real limits.
pub fn bounds(epilogue: &Epilogue, qparams: QParams) -> Bounds {
    let integer =
        |number: f64| ((number / qparams.scale).round_ties_even() + f64::from(qparams.zero)).clamp(-128.0, 127.0);
    Bounds { zero: qparams.zero, least: integer(epilogue.least) as i32, most: integer(epilogue.most) as i32 }
}
